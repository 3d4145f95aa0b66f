import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { readInput } from "../read-input.ts";
import { safeLine } from "../safe-text.ts";
import { parseEvalLines } from "./parse-eval-lines.ts";
import type { ParsedLines } from "./parse-eval-lines.ts";

const MAX_BYTES = 64 * 1024 * 1024;
const MAX_LINES = 100_000;

/** More unknown fields than these are not named. */
const SHOWN_FIELDS = 20;

const bad = (message: string, cause?: unknown) => new CliError("bad_input", EXIT.failed, message, { cause });

/**
 * Reads a file to evaluate, at most 64 MB and 100,000 lines; `-` is standard input. Fields that mean nothing are named
 * on standard error, as they may be misspelt. `name` is what to call the file. Throws CliError `bad_input` for a file
 * that cannot be read or has no lines.
 */
export async function readEvalFile(cli: Cli, file: string): Promise<ParsedLines & { name: string }> {
  const name = file === "-" ? "standard input" : safeLine(file);
  const parsed = parseEvalLines(await readText(cli, file, name));
  const count = parsed.lines.length + parsed.faults.length;
  if (count === 0) throw bad(`${name} is empty. Each line must be one message; see: ${cli.self} eval --help`);
  if (count > MAX_LINES) throw bad(`${name} has ${count} lines; the maximum is ${MAX_LINES}. Split it.`);
  for (const [field, lines] of [...parsed.unknownFields].slice(0, SHOWN_FIELDS)) {
    const of = lines === 1 ? "1 line" : `${lines} lines`;
    cli.terminal.note(`The unknown field "${safeLine(field, 80)}" is ignored (${of}).`);
  }
  return { ...parsed, name };
}

async function readText(cli: Cli, file: string, name: string): Promise<string> {
  const bytes = await readInput(cli, file, { what: "messages to evaluate", maxBytes: MAX_BYTES });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw bad(`${name} is not UTF-8 text. Save it as UTF-8.`, error);
  }
}
