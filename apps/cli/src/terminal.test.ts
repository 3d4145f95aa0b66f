import { describe, expect, test } from "@jest/globals";
import { createTerminal } from "./terminal.ts";

function openTerminal(options: { isTTY?: boolean; isJson?: boolean; env?: Record<string, string> }) {
  const written = { stdout: "", stderr: "" };
  const terminal = createTerminal({
    stdout: { write: (text) => (written.stdout += text), isTTY: options.isTTY ?? true, columns: 80 },
    stderr: { write: (text) => (written.stderr += text) },
    isJson: options.isJson ?? false,
    env: options.env ?? {},
  });
  return { terminal, written };
}

describe("colors", () => {
  test("are shown on a terminal", () => {
    expect(openTerminal({}).terminal.paint.red("no")).toBe("\u001b[31mno\u001b[39m");
  });

  test.each([
    ["in a pipe or file", { isTTY: false }],
    ["with NO_COLOR", { env: { NO_COLOR: "1" } }],
    ["on a dumb terminal", { env: { TERM: "dumb" } }],
  ])("are left out %s", (_, options) => {
    expect(openTerminal(options).terminal.paint.red("no")).toBe("no");
  });
});

describe("the output of a command", () => {
  test("is a text on standard output, with remarks on standard error", () => {
    const { terminal, written } = openTerminal({});
    terminal.note("working");
    terminal.show({ ok: true }, () => "Done.");
    expect(written).toEqual({ stdout: "Done.\n", stderr: "working\n" });
  });

  test("is one document with --json, with remarks on standard error", () => {
    const { terminal, written } = openTerminal({ isJson: true });
    terminal.note("working");
    terminal.show({ ok: true }, () => "Done.");
    expect(JSON.parse(written.stdout)).toEqual({ ok: true });
    expect(written.stderr).toBe("working\n");
  });
});
