import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { describeCall } from "./cli.ts";
import type { Cli } from "./cli.ts";
import { confirm, readPassword, readSecret } from "./read-input.ts";
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

describe("a user is asked", () => {
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

  test("only at a terminal; otherwise the error contains the option that confirms", async () => {
    await expect(ask(["yes\n"], false)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining("--yes"),
    });
  });
});

let folder: string;
let notes: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-read-secret-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function cliWith(input: Buffer | string, isTTY = false): Cli {
  notes = [];
  const stream = { write: (text: string) => notes.push(text) };
  return {
    env: {},
    folder,
    terminal: createTerminal({ stdout: stream, stderr: stream, isJson: false, env: {} }),
    openInput: () => Object.assign(Readable.from([Buffer.from(input)]), { isTTY }),
    self: "svc",
    silentSelf: "svc",
    startWith: "svc up",
    setExitCode: () => undefined,
  };
}

const read = (input: Buffer | string, file?: string) => readSecret(cliWith(input), { file, what: "the key" });

describe("a secret is one line", () => {
  test.each([
    ["as it is", "ключ with spaces ", "ключ with spaces "],
    ["without the end of its line", "secret\n", "secret"],
    ["without that of Windows, and its byte order mark", "\ufeffsecret\r\n", "secret"],
  ])("from standard input, %s", async (_, input, secret) => {
    expect(await read(input)).toBe(secret);
  });

  test("from a file relative to the user's folder, and from standard input as -", async () => {
    await writeFile(join(folder, "secret.txt"), "from a file\n");
    expect(await read("from standard input", "secret.txt")).toBe("from a file");
    expect(await read("from standard input", "-")).toBe("from standard input");
  });

  test("asks a user at a terminal to type it", async () => {
    await readSecret(cliWith("typed\n", true), { file: undefined, what: "the key" });
    expect(notes).toEqual(["Reading the key from standard input; press Ctrl-D to finish.\n"]);
  });

  test.each([
    ["nothing", ""],
    ["an empty line", "\n"],
    ["two lines", "planted\nsecret"],
    ["control characters", "planted\u001b[2J"],
    ["what is no UTF-8", Buffer.from([0x70, 0xff, 0xfe])],
    ["too much", "planted".repeat(1_000)],
  ])("and not %s; the fault names what was read for, and never shows it", async (_, input) => {
    const error = { code: "bad_input", message: expect.stringContaining("the key") };
    await expect(read(input)).rejects.toMatchObject(error);
    await expect(read(input)).rejects.not.toMatchObject({ message: expect.stringContaining("planted") });
  });

  test.each([
    ["missing.txt", "no such file"],
    [".", "is a directory"],
  ])("a file %s that cannot be read: %s", async (file, reason) => {
    await expect(read("", file)).rejects.toMatchObject({ message: expect.stringContaining(reason) });
  });
});

function typePassword(typed: string[], isTTY: boolean) {
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
  test("is typed twice at a terminal, which does not show it", async () => {
    const typed = ["correct ho", "rsxy\u007f\b", "e\r", "correct horse\r"];
    const { modes, shown, ...rest } = await typePassword(typed, true);
    expect([rest, modes]).toEqual([{ password: "correct horse" }, [true, false]]);
    expect(shown).not.toContain("correct");
  });

  test.each([
    ["the second one is another", ["one password\r", "another password\r"]],
    ["it is broken off", ["one pass\u0003"]],
    ["the input ends", ["one password\r"]],
  ])("is not taken when %s", async (_, typed) => {
    expect(await typePassword(typed, true)).toMatchObject({
      error: expect.stringContaining("assword"),
      modes: [true, false],
    });
  });

  test("is the single line of a pipe", async () => {
    expect(await typePassword(["correct horse battery\n"], false)).toMatchObject({ password: "correct horse battery" });
    expect(await typePassword(["one\ntwo\n"], false)).toHaveProperty("error");
  });
});
