import { Readable } from "node:stream";
import { expect, test } from "@jest/globals";
import type { Cli } from "../cli.ts";
import { runCli } from "../run-cli.ts";
import { createTerminal } from "../terminal.ts";
import { readEvalFile } from "./read-eval-file.ts";

const silent = { write: () => undefined };

/** Reads this from standard input; answers what was read and what was said of it. */
async function read(input: string | Uint8Array) {
  let notes = "";
  const stderr = { write: (text: string) => (notes += text) };
  const cli: Cli = {
    env: {},
    folder: "/nowhere",
    terminal: createTerminal({ stdout: silent, stderr, isJson: false, env: {} }),
    openInput: () => Readable.from([Buffer.from(input)]),
    self: "svc",
    silentSelf: "svc",
    startWith: "svc up",
    setExitCode: () => undefined,
  };
  const { name, lines, faults } = await readEvalFile(cli, "-");
  return { name, lines, faults, notes };
}

test.each([
  ["", "standard input is empty. Each line must be one message; see: svc eval --help"],
  [" \n\n", "standard input is empty. Each line must be one message; see: svc eval --help"],
  [Uint8Array.of(0x7b, 0xff, 0xfe), "standard input is not UTF-8 text. Save it as UTF-8."],
  ["1\n".repeat(100_001), "standard input has 100001 lines; the maximum is 100000. Split it."],
])("a file without lines that could be used is refused", async (input, message) => {
  await expect(read(input)).rejects.toThrow(message);
});

test("a file may have only bad lines: they are reported with those that name what is unknown", async () => {
  expect(await read("\uFEFFoops\n")).toMatchObject({ lines: [], faults: [{ line: 1 }], notes: "" });
});

test("fields that mean nothing are named, as they may be misspelt", async () => {
  const { lines, notes } = await read('{"text": "x", "anwser": "y"}\n{"text": "z", "anwser": 1, "\\u001b[2Jodd": 1}');
  expect(lines).toHaveLength(2);
  expect(notes.trim().split("\n")).toEqual([
    'The unknown field "anwser" is ignored (2 lines).',
    'The unknown field "odd" is ignored (1 line).',
  ]);
});

test.each([
  ["--fail-under", "80"],
  ["--fail-under", ""],
  ["--show", "201"],
  ["--show", "-1"],
])("%s %j is refused before the file is read", async (...options) => {
  const code = await runCli(["eval", "file.jsonl", ...options], {
    env: {},
    workingFolder: "/nowhere",
    program: "/usr/bin/svc",
    openInput: () => Readable.from([]),
    stdout: silent,
    stderr: silent,
  });
  expect(code).toBe(2);
});
