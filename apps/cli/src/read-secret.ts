import { hasControlCharacters } from "@svc/contracts";
import type { Cli } from "./cli.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";
import { readInput } from "./read-input.ts";

const MAX_BYTES = 4_096;

const bad = (message: string, cause?: unknown) => new CliError("bad_input", EXIT.failed, message, { cause });

function decode(bytes: Buffer, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw bad(`The input is not valid UTF-8, so it is not ${what}.`, error);
    throw error;
  }
}

/**
 * Reads a secret, which is one line, from a file or from standard input: never from the command line, which every
 * user of the machine can see. `what` names it in errors, which never show it.
 */
export async function readSecret(
  cli: Cli,
  { file, what }: { file: string | undefined; what: string },
): Promise<string> {
  const text = decode(await readInput(cli, file, { what, maxBytes: MAX_BYTES }), what).replace(/\r?\n$/, "");
  if (text === "")
    throw bad(`The input for ${what} is empty. Pipe it to standard input, or pass a file that contains it.`);
  if (hasControlCharacters(text)) throw bad(`The input must contain only ${what}, on one line.`);
  return text;
}
