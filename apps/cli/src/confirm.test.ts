import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { describeCall } from "./cli.ts";
import { confirm } from "./confirm.ts";
import { createTerminal } from "./terminal.ts";

function ask(typed: string[], isTTY: boolean) {
  let asked = "";
  const terminal = createTerminal({
    stdout: { write: () => undefined },
    stderr: { write: (text) => (asked += text) },
    isJson: false,
    env: {},
  });
  const cli = {
    ...describeCall({ env: {}, workingFolder: "/", program: "svc" }),
    terminal,
    setExitCode: () => undefined,
    openInput: () => Object.assign(Readable.from(typed), { isTTY }),
  };
  return confirm(cli, "Remove all?", "--yes").then((isAgreed) => ({ isAgreed, asked }));
}

describe("a person is asked", () => {
  test.each([
    [["yes\n"], true],
    [["Y", "\r\n"], true],
    [["no\n"], false],
    [["\n"], false],
    [["yes please\n"], false],
    [[], false],
  ])("and types %j", async (typed, isAgreed) => {
    expect(await ask(typed, true)).toEqual({ isAgreed, asked: "Remove all? Type yes and press Enter:\n" });
  });

  test("only where there is one; else the option that agrees is named", async () => {
    await expect(ask(["yes\n"], false)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("--yes"),
    });
  });
});
