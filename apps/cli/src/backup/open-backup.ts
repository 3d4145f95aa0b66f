import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { explainReadFault } from "../read-input.ts";
import { safeLine } from "../safe-text.ts";
import { readBackup } from "./read-backup.ts";
import type { BackupReading } from "./read-backup.ts";
import { unpackBackup } from "./unpack-backup.ts";

/** The name of the file that is standard input, or standard output. */
export const STANDARD_STREAM = "-";

/** How a backup is called in messages. */
export const nameOf = (file: string) => (file === STANDARD_STREAM ? "standard input" : safeLine(file, 200));

function openPacked(cli: Cli, file: string): Readable {
  if (file !== STANDARD_STREAM) return createReadStream(resolve(cli.folder, file));
  const input = cli.openInput();
  if (input.isTTY === true)
    throw new CliError("usage", EXIT.usage, "Pipe a backup to standard input, or specify its file.");
  return Readable.from(asBytes(input), { objectMode: false });
}

async function* asBytes(input: AsyncIterable<string | Uint8Array>): AsyncGenerator<Buffer> {
  for await (const part of input) yield typeof part === "string" ? Buffer.from(part, "utf8") : Buffer.from(part);
}

/** Reads a backup from a file or from standard input while `work` works with it. Throws CliError where it cannot be read. */
export async function withBackup<Result>(
  cli: Cli,
  file: string,
  work: (backup: BackupReading) => Promise<Result>,
): Promise<Result> {
  const packed = openPacked(cli, file);
  let readFault: unknown;
  packed.once("error", (error) => {
    readFault = error;
  });
  try {
    return await work(await readBackup(unpackBackup(packed)));
  } catch (error) {
    // Others may have the same codes, such as a database that cannot be used.
    throw error === readFault ? explainReadFault(nameOf(file), error) : error;
  } finally {
    packed.destroy();
  }
}
