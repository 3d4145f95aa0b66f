import { expect, test, describe } from "@jest/globals";
import { createDiskWatch, isRejectedSetting, judgeConnections } from "./server-checks.ts";

const error = (code: string) => Object.assign(new Error("could not extend file"), { code });

test("a full disk is said once a minute, and counts for ten seconds after the last call that failed", () => {
  const clock = { ms: 0 };
  const said: string[] = [];
  const log = { error: (_fields: object, text: string) => void said.push(text) };
  const watch = createDiskWatch({ log, now: () => clock.ms });
  watch.note(error("23505"));
  watch.note("no error at all");
  expect(watch.isFull()).toBe(false);
  for (clock.ms = 1_000; clock.ms < 90_000; clock.ms += 1_000) watch.note(error("53100"));
  expect(said).toHaveLength(2);
  expect(said[0]).toMatch(/disk is full/);
  expect(watch.isFull()).toBe(true);
  clock.ms += 10_000;
  expect(watch.isFull()).toBe(false);
  watch.note(error("58030"));
  expect(watch.isFull()).toBe(true);
});

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
