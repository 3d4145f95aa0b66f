import type { Cli, InputStream } from "./cli.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";
import { readSecret } from "./read-secret.ts";

/** A terminal whose echo can be switched off. */
interface SilentInput extends InputStream {
  setRawMode(isRaw: boolean): unknown;
}

const canBeSilent = (input: InputStream): input is SilentInput =>
  input.isTTY === true && "setRawMode" in input && typeof input.setRawMode === "function";

/** The keys that do something else than write a letter, as a terminal without echo sends them. */
const KEYS = { enter: ["\r", "\n"], erase: ["\b", "\u007F"], end: ["\u0003", "\u0004"] };

const bad = (message: string) => new CliError("bad_input", EXIT.failed, message);

/**
 * Reads a password: typed twice where a person sits at a terminal, which does not show it; else the one line that is
 * piped in. Never from the command line, which every user of the machine can see. Throws CliError `bad_input`.
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
