import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { errorCode } from "@svc/primitives";
import type { Cli, InputStream } from "./cli.ts";
import { CliError } from "./cli-error.ts";
import { EXIT } from "./exit-codes.ts";
import { safeLine } from "./safe-text.ts";

/** What is read, in words for advice, and how much of it there may be. */
interface Expectation {
  what: string;
  maxBytes: number;
}

/** Why the system does not let a file be read, in words. */
const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  ENAMETOOLONG: "the name is too long",
  EISDIR: "is a directory",
  EACCES: "permission denied",
  EPERM: "permission denied",
};

const bad = (message: string, cause?: unknown) => new CliError("bad_input", EXIT.failed, message, { cause });

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
 * Reads a file, also a pipe such as `<(pass show x)`, or standard input where none is named or its name is `-`. Throws
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
    throw explainReadFault(file, error);
  }
}

/** Why a file could not be read, as CliError `bad_input`; an error of another kind stays what it is. */
export function explainReadFault(file: string, error: unknown): unknown {
  const code = errorCode(error);
  const reason = code === undefined ? undefined : READ_FAULTS[code];
  return reason === undefined ? error : bad(`Cannot read ${safeLine(file)}: ${reason}.`, error);
}
