import { describe, expect, test } from "@jest/globals";
import { isRejectedSetting, judgeConnections } from "./find-pooler.ts";

const DIRECT = { keepsSettings: true, firstPids: [11, 11], secondPid: 12 } as const;

describe("what two connections say of a pooler before PostgreSQL", () => {
  test.each([
    ["nothing where each keeps its own server process and its settings", {}, null],
    ["that it drops settings", { keepsSettings: false }, "loses_settings"],
    ["that both use one server process", { secondPid: 11 }, "shares_connections"],
    ["that a connection changes its server process", { firstPids: [11, 13] as const }, "shares_connections"],
    [
      "that it shares connections, which is worse than lost settings",
      { keepsSettings: false, secondPid: 11 },
      "shares_connections",
    ],
  ])("is %s", (_, change, problem) => {
    expect(judgeConnections({ ...DIRECT, ...change })).toBe(problem);
  });
});

test.each([
  ["08P01", "unsupported startup parameter: options", true],
  ["08P01", "unsupported startup parameter in options: search_path", true],
  ["08P01", "invalid message format", false],
  ["28P01", "password authentication failed", false],
])("%s %s is a rejected setting: %s", (code, message, isRejected) => {
  expect(isRejectedSetting(Object.assign(new Error(message), { code }))).toBe(isRejected);
});
