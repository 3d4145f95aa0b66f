import { stdout } from "node:process";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { errorCode } from "@svc/primitives";
import { createSealer, takeStoreCopy } from "@svc/store";
import type { Cli } from "../cli.ts";
import { CliError } from "../cli-error.ts";
import { EXIT } from "../exit-codes.ts";
import { fillNewFile } from "../fill-new-file.ts";
import { readVersion } from "../read-version.ts";
import { safeLine } from "../safe-text.ts";
import type { Database } from "../with-database.ts";
import type { BackupTotal } from "./backup-format.ts";
import { explainCopyFault } from "./explain-copy-fault.ts";
import { STANDARD_STREAM } from "./open-backup.ts";
import { watchTables } from "./watch-tables.ts";
import { writeBackup } from "./write-backup.ts";

/** Where a backup goes. */
export interface BackupTarget {
  /** A path, or `-` for standard output. */
  file: string;
  mayReplace: boolean;
}

/** A backup that was made. */
export interface MadeBackup {
  file: string;
  takenAt: string;
  tables: number;
  rows: number;
  sha256: string;
  /** Rows of each table. */
  counts: Map<string, number>;
}

/** The name of a backup that nobody has named: sorts by time. */
export const usualName = (now: Date) => `svc-${now.toISOString().slice(0, 19).replaceAll(":", "-")}Z.backup.gz`;

const FILE_FAULTS: Readonly<Record<string, (name: string) => string>> = {
  EEXIST: (name) => `${name} already exists. Choose another file, or add --force to overwrite it.`,
  ENOENT: (name) => `Cannot write ${name}: its folder does not exist.`,
  ENOTDIR: (name) => `Cannot write ${name}: its folder does not exist.`,
  EISDIR: (name) => `${name} is a directory. Specify a file.`,
  EPIPE: () => "The reader of the backup has closed the pipe: the backup is incomplete.",
};

function explainFileFault(file: string, error: unknown): unknown {
  const code = errorCode(error);
  const explain = code === undefined ? undefined : FILE_FAULTS[code];
  if (explain === undefined) return error;
  return new CliError("bad_input", EXIT.failed, explain(safeLine(file, 200)), { cause: error });
}

/** Refuses to write bytes to a terminal. */
export function checkTarget(cli: Cli, { file }: BackupTarget): void {
  if (file !== STANDARD_STREAM) return;
  if (cli.terminal.isJson)
    throw new CliError("usage", EXIT.usage, "--json cannot be used with the backup on standard output.");
  if (stdout.isTTY)
    throw new CliError("usage", EXIT.usage, "Standard output is a terminal. Specify a file, or use a pipe.");
}

/**
 * Makes a backup of a database while it may be worked on. A file appears whole or not at all, and is for its owner alone;
 * memory is not taken for it, however large it is. Throws CliError with what to do.
 */
export async function makeBackup(cli: Cli, database: Database, target: BackupTarget): Promise<MadeBackup> {
  const { config, log, signal } = database;
  const { file, mayReplace } = target;
  const counts = new Map<string, number>();
  const note = watchTables(cli);
  let total: BackupTotal | undefined;
  const place = { url: config.databaseUrl, secretKey: config.secretKey, log, signal };
  cli.terminal.note("Copying …");
  try {
    const takenAt = await takeStoreCopy(place, async (copy) => {
      const lines = writeBackup(copy, {
        program: readVersion(),
        sealer: createSealer(config.secretKey),
        onTable(name, rows) {
          counts.set(name, rows);
          note(name, rows);
        },
        onTotal: (made) => {
          total = made;
        },
      });
      const fill = (sink: Writable, isLast: boolean) =>
        pipeline(Readable.from(lines, { objectMode: false }), createGzip(), sink, { signal, end: isLast });
      if (file === STANDARD_STREAM) await fill(stdout, false);
      else await fillNewFile(resolve(cli.folder, file), { mayReplace }, (draft) => fill(draft, true));
      return copy.head.takenAt;
    });
    if (total === undefined) throw new Error("the backup has no end marker");
    const { tables, rows, sha256 } = total;
    return { file, takenAt, tables, rows, sha256, counts };
  } catch (error) {
    throw explainFileFault(file, explainCopyFault(cli, error));
  }
}
