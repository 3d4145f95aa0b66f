import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { createTerminal, safeJson, safeLine, safeText } from "./terminal.ts";

/** Everything that a terminal interprets: C0 except line feed and tab, DEL, C1, and bidirectional controls. */
// oxlint-disable-next-line no-control-regex -- These are what must not come through.
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "\u001b",
        "\u001b[",
        "\u009b",
        "\u001b]",
        "\u0007",
        "\u001b\\",
        "31m",
        "\u202e",
        "\u2066",
        "\r\n",
      ),
    ),
  )
  .map((parts) => parts.join(""));

describe("an external text", () => {
  test.each([
    ["a colour", "a\u001b[31mred\u001b[0m", "ared"],
    ["a cleared screen", "\u001b[2J\u001b[Hfake prompt", "fake prompt"],
    ["a window title", "\u001b]0;owned\u0007text", "text"],
    ["a link", "\u001b]8;;https://evil.example\u001b\\here\u001b]8;;\u001b\\", "here"],
    ["an eight-bit sequence", "\u009b31mred", "red"],
    ["a terminal reset", "\u001bcgone", "gone"],
    ["a sequence inside a sequence", "\u001b\u001b[31m[31mx", "31mx"],
    ["an unfinished sequence", "\u001b]0;text", "0;text"],
    ["backspaces", "safe\b\b\b\bevil", "safeevil"],
    ["a bell and NUL", "a\u0007b\u0000c", "abc"],
    ["an overwritten line", "first\rsecond", "first\nsecond"],
  ])("loses %s", (_, text, shown) => {
    expect(safeText(text)).toBe(shown);
  });

  test("shows bidirectional controls as text", () => {
    expect(safeText("user\u202egnp.exe \u2066x\u2069")).toBe("user<U+202E>gnp.exe <U+2066>x<U+2069>");
  });

  test("keeps letters of every script, emojis, lines and tabs", () => {
    const text = "Grüße, שלום, مرحبا, 日本語 👩‍👩‍👧\n\tnext";
    expect(safeText(text)).toBe(text);
  });

  test("never contains control characters, for any input", () => {
    fc.assert(
      fc.property(hostile, (text) => !CONTROL_CHARACTERS.test(safeText(text)) && safeText(text).isWellFormed()),
    );
  });

  test("fits in one line of a table, truncated between characters", () => {
    expect(safeLine(" two\r\nlines\tof text ")).toBe("two lines of text");
    expect(safeLine("👍👍👍👍", 3)).toBe("👍👍…");
  });
});

describe("a document in JSON", () => {
  test("parses to the same value, and contains no control characters", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const json = safeJson({ text });
        return !CONTROL_CHARACTERS.test(json) && (JSON.parse(json) as { text: string }).text === text;
      }),
    );
  });
});

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
