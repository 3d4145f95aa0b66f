import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { LIMITS, hasControlCharacters } from "@svc/contracts";
import { errorCode } from "@svc/primitives";
import { failure, usageError } from "./cli.ts";
import type { Cli, InputStream } from "./cli.ts";
import { safeLine } from "./terminal.ts";

/** What is read, in words for advice, and its maximum size. */
interface Expectation {
  what: string;
  maxBytes: number;
}

/** Reasons why the system cannot read a file, in words. */
const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  ENAMETOOLONG: "the name is too long",
  EISDIR: "is a directory",
  EACCES: "permission denied",
  EPERM: "permission denied",
};

const bad = (message: string, cause?: unknown) => failure("bad_input", message, { cause });

async function readAll(stream: InputStream, { what, maxBytes }: Expectation): Promise<Buffer> {
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  for await (const part of stream) {
    const bytes = typeof part === "string" ? Buffer.from(part, "utf8") : Buffer.from(part);
    parts.push(bytes);
    sizeBytes += bytes.length;
    if (sizeBytes > maxBytes) throw bad(`The input for ${what} is too large: more than ${maxBytes} bytes.`);
  }
  return Buffer.concat(parts);
}

/**
 * Reads a file, also a pipe such as `<(pass show x)`, or standard input if no file is given or it is `-`. Throws
 * CliError `bad_input` with the reason.
 */
export async function readInput(cli: Cli, file: string | undefined, expectation: Expectation): Promise<Buffer> {
  if (file === undefined || file === "-") {
    const input = cli.openInput();
    if (input.isTTY === true)
      cli.terminal.note(`Reading ${expectation.what} from standard input; press Ctrl-D to finish.`);
    return readAll(input, expectation);
  }
  try {
    return await readAll(createReadStream(resolve(cli.folder, file)), expectation);
  } catch (error) {
    throw explainReadError(file, error);
  }
}

/** Returns the argument, else the content of a file, else standard input, without the line break at its end. */
export async function readText(cli: Cli, text: string | undefined, file: string | undefined): Promise<string> {
  if (text !== undefined && file !== undefined) {
    throw usageError("Pass the text either as an argument or with --file, not both.");
  }
  if (text !== undefined) return text;
  const bytes = await readInput(cli, file, { what: "the text", maxBytes: LIMITS.bodyMaxBytes });
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, "");
}

/** Returns why a file could not be read, as CliError `bad_input`; any other error unchanged. */
export function explainReadError(file: string, error: unknown): unknown {
  const code = errorCode(error);
  const reason = code === undefined ? undefined : READ_ERRORS[code];
  return reason === undefined ? error : bad(`Cannot read ${safeLine(file)}: ${reason}.`, error);
}

const MAX_ANSWER_CHARS = 1_000;

/**
 * Asks a user at a terminal for one line. Throws CliError `usage` without a terminal: `instead` explains what to do
 * then. `question` must be safe for a terminal.
 */
export async function askLine(
  cli: Cli,
  { question, request, instead }: { question: string; request: string; instead: string },
): Promise<string> {
  const input = cli.openInput();
  if (input.isTTY !== true) throw usageError(`${question} ${instead}`);
  cli.terminal.note(`${question} ${request}:`);
  let answer = "";
  for await (const part of input) {
    answer += typeof part === "string" ? part : Buffer.from(part).toString("utf8");
    if (/[\r\n]/.test(answer) || answer.length > MAX_ANSWER_CHARS) break;
  }
  return answer.split(/[\r\n]/)[0] ?? "";
}

/**
 * Asks a user at a terminal for confirmation; any answer but yes is a no. Throws CliError `usage` without a terminal:
 * `instead` explains how to confirm in advance, as with `--yes`. `question` must be safe for a terminal.
 */
export async function confirm(cli: Cli, question: string, instead: string): Promise<boolean> {
  const answer = await askLine(cli, {
    question,
    request: "Type yes and press Enter",
    instead: `Cannot ask for confirmation, because the input is not a terminal. Add ${instead}.`,
  });
  return /^\s*y(?:es)?\s*$/i.test(answer);
}

const SECRET_MAX_BYTES = 4_096;

function decodeSecret(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw bad(`The input is not valid UTF-8, so it is not ${what}.`, error);
    throw error;
  }
}

/**
 * Reads a secret of one line from a file or standard input: never from the command line, which every user of the
 * machine can see. `what` names it in errors, which never show it.
 */
export async function readSecret(
  cli: Cli,
  { file, what }: { file: string | undefined; what: string },
): Promise<string> {
  const text = decodeSecret(await readInput(cli, file, { what, maxBytes: SECRET_MAX_BYTES }), what).replace(
    /\r?\n$/,
    "",
  );
  if (text === "")
    throw bad(`The input for ${what} is empty. Pipe it to standard input, or pass a file that contains it.`);
  if (hasControlCharacters(text)) throw bad(`The input must contain only ${what}, on one line.`);
  return text;
}

/** A terminal whose echo can be switched off. */
interface SilentInput extends InputStream {
  setRawMode(isRaw: boolean): unknown;
}

const canBeSilent = (input: InputStream): input is SilentInput =>
  input.isTTY === true && "setRawMode" in input && typeof input.setRawMode === "function";

/** Keys that do not enter a character, as a terminal without echo sends them. */
const KEYS = { enter: ["\r", "\n"], erase: ["\b", "\u007F"], end: ["\u0003", "\u0004"] };

/**
 * Reads a password: typed twice at a terminal, which does not show it, otherwise the single line of a pipe. Never
 * from the command line, which every user of the machine can see. Throws CliError `bad_input`.
 */
export async function readPassword(cli: Cli): Promise<string> {
  const input = cli.openInput();
  if (!canBeSilent(input))
    return readSecret({ ...cli, openInput: () => input }, { file: undefined, what: "the password" });
  input.setRawMode(true);
  try {
    const [first, second] = await readTyped(cli, input);
    if (first !== second) throw bad("The passwords do not match. Try again.");
    return first;
  } finally {
    input.setRawMode(false);
  }
}

async function readTyped(cli: Cli, input: InputStream): Promise<[string, string]> {
  cli.terminal.note("Password (hidden):");
  const lines: string[] = [];
  let line: string[] = [];
  const decoder = new TextDecoder();
  for await (const part of input) {
    for (const sign of typeof part === "string" ? part : decoder.decode(part, { stream: true })) {
      if (KEYS.end.includes(sign)) throw bad("No password was given.");
      if (KEYS.erase.includes(sign)) line.pop();
      else if (!KEYS.enter.includes(sign)) line.push(sign);
      else {
        lines.push(line.join(""));
        line = [];
        const [first, second] = lines;
        if (first !== undefined && second !== undefined) return [first, second];
        cli.terminal.note("Repeat the password:");
      }
    }
  }
  throw bad("No password was given.");
}
