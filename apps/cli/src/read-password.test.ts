import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { describeCall } from "./cli.ts";
import { readPassword } from "./read-password.ts";
import { createTerminal } from "./terminal.ts";

function read(typed: string[], isTTY: boolean) {
  const modes: boolean[] = [];
  let shown = "";
  const show = { write: (text: string) => (shown += text) };
  const cli = {
    ...describeCall({ env: {}, workingFolder: "/", program: "svc" }),
    terminal: createTerminal({ stdout: show, stderr: show, isJson: false, env: {} }),
    setExitCode: () => undefined,
    openInput: () =>
      Object.assign(Readable.from(typed), {
        isTTY,
        ...(isTTY ? { setRawMode: (raw: boolean) => modes.push(raw) } : {}),
      }),
  };
  return readPassword(cli).then(
    (password) => ({ password, modes, shown }),
    (error: unknown) => ({ error: String(error), modes, shown }),
  );
}

describe("a password", () => {
  test("is typed twice at a terminal, which shows nothing of it", async () => {
    const typed = ["correct ho", "rsxy\u007f\b", "e\r", "correct horse\r"];
    const { modes, shown, ...rest } = await read(typed, true);
    expect([rest, modes]).toEqual([{ password: "correct horse" }, [true, false]]);
    expect(shown).not.toContain("correct");
  });

  test.each([
    ["the second one is another", ["one password\r", "another password\r"]],
    ["it is broken off", ["one pass\u0003"]],
    ["the input ends", ["one password\r"]],
  ])("is not taken when %s", async (_, typed) => {
    expect(await read(typed, true)).toMatchObject({ error: expect.stringContaining("assword"), modes: [true, false] });
  });

  test("is the one line that is piped in", async () => {
    expect(await read(["correct horse battery\n"], false)).toMatchObject({ password: "correct horse battery" });
    expect(await read(["one\ntwo\n"], false)).toHaveProperty("error");
  });
});
