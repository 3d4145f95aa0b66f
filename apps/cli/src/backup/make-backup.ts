import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { stdout } from "node:process";
import { Readable } from "node:stream";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { errorCode } from "@svc/primitives";
import { createSealer, openObjectStore, openStore, takeStoreCopy } from "@svc/store";
import type { Sealer, StoreCopy, StoreCopyErrorKind } from "@svc/store";
import { BACKUP_FORMAT, END_OF_ROWS, MARKS, countLines, sealedText, STANDARD_STREAM } from "./read-backup.ts";
import type { BackupHead, BackupTotal } from "./read-backup.ts";
import { failure, readVersion, usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { fillNewFile } from "../private-files.ts";
import { safeLine } from "../terminal.ts";
import type { Database } from "../with-resources.ts";

/** Dependencies of a backup. */
interface WriteOptions {
  program: string;
  sealer: Pick<Sealer, "seal">;
  onTable: (name: string, rows: number) => void;
  onTotal: (total: BackupTotal) => void;
}

/** Yields the lines of a backup in uncompressed chunks. Holds at most one row in memory. */
export async function* writeBackup(copy: StoreCopy, options: WriteOptions): AsyncGenerator<Buffer> {
  const all = createHash("sha256");
  const noted = (bytes: Buffer) => {
    all.update(bytes);
    return bytes;
  };
  const line = (mark: string, value: object) => Buffer.from(`${mark}${JSON.stringify(value)}\n`);
  const head: BackupHead = { format: BACKUP_FORMAT, program: options.program, ...copy.head };
  yield noted(line(MARKS.head, head));
  let tables = 0;
  let total = 0;
  for await (const { table, rows } of copy.tables()) {
    yield noted(line(MARKS.table, table));
    const hash = createHash("sha256");
    let count = 0;
    for await (const piece of rows) {
      hash.update(piece);
      count += countLines(piece);
      yield noted(piece);
    }
    yield noted(Buffer.from(END_OF_ROWS));
    yield noted(line(MARKS.end, { rows: count, sha256: hash.digest("hex") }));
    options.onTable(table.name, count);
    tables += 1;
    total += count;
  }
  const sha256 = all.digest("hex");
  const end: BackupTotal = { tables, rows: total, sha256, seal: options.sealer.seal(sealedText(sha256)).sealed };
  yield line(MARKS.total, end);
  options.onTotal(end);
}

const formatCount = (count: number) => count.toLocaleString("en");

/** Returns a function that reports each copied table that has rows on standard error. */
export function watchTables({ terminal }: Cli): (name: string, rows: number) => void {
  return (name, rows) => {
    if (rows > 0) terminal.note(`  ${safeLine(name, 80).padEnd(24)} ${formatCount(rows).padStart(12)}`);
  };
}

/** Returns the number of rows and tables, in words. */
export function describeRows({ rows, tables }: { rows: number; tables: number }): string {
  return `${formatCount(rows)} ${rows === 1 ? "row" : "rows"} of ${tables} tables`;
}

const KEY_ADVICE =
  "Set SVC_SECRET_KEY to the key of the installation that the backup comes from. An embedded installation stores it in\n" +
  "the file secret-key in its data folder: copy that file into this data folder.";

/** Advice for each error. */
const ADVICE: Record<StoreCopyErrorKind, (cli: Cli) => string> = {
  busy: () => "Retry when it is complete.",
  newer_database: () => "Nothing was changed.",
  no_schema: ({ startWith }) => `Start the service once with: ${startWith}`,
  newer_copy: () => "Restore it with that version.",
  wrong_key: () => KEY_ADVICE,
  in_use: () =>
    "Stop it first. A killed process is still counted for some seconds. With --force, the check is skipped.",
  not_empty: () => "To replace the existing content with the backup, add --replace.",
  bad_copy: () => "Nothing was changed.",
};

/** Returns an error of a copy with advice; any other error unchanged. */
export function explainCopyError(cli: Cli, error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "StoreCopyError" || !("fault" in error)) return error;
  const problem = error.fault as StoreCopyErrorKind;
  return failure(problem, `${error.message}\n${ADVICE[problem](cli)}`, { cause: error });
}

/** Actor of all command-line operations in the audit log. */
const ACTOR = "command-line";

/** Maintenance of the installation, as an action of the audit log. */
type MaintenanceAction = "service.backup" | "service.restore" | "service.upgrade";

/** Adds a row to the audit log of a database whose schema has this version. */
export async function recordInAudit({ config, log }: Database, action: MaintenanceAction): Promise<void> {
  const store = openStore({ url: config.directUrl, secretKey: config.secretKey, log, app: "svc-cli" });
  try {
    await store.audit.append({ actor: ACTOR, action, object: null, project: null, result: "ok", requestId: null });
  } finally {
    await store.close();
  }
}

/** Destination of a backup. */
export interface BackupTarget {
  /** A path, or `-` for standard output. */
  file: string;
  mayReplace: boolean;
}

/** Result of a backup. */
export interface BackupResult {
  file: string;
  takenAt: string;
  tables: number;
  rows: number;
  sha256: string;
  /** Number of rows by table. */
  counts: Map<string, number>;
}

/** Returns the default name of a backup. Names sort by time. */
export const usualName = (now: Date) => `svc-${now.toISOString().slice(0, 19).replaceAll(":", "-")}Z.backup.gz`;

const FILE_ERRORS: Readonly<Record<string, (name: string) => string>> = {
  EEXIST: (name) => `${name} already exists. Choose another file, or add --force to overwrite it.`,
  ENOENT: (name) => `Cannot write ${name}: its folder does not exist.`,
  ENOTDIR: (name) => `Cannot write ${name}: its folder does not exist.`,
  EISDIR: (name) => `${name} is a directory. Specify a file.`,
  EPIPE: () => "The reader of the backup has closed the pipe: the backup is incomplete.",
};

function explainFileError(file: string, error: unknown): unknown {
  const code = errorCode(error);
  const explain = code === undefined ? undefined : FILE_ERRORS[code];
  if (explain === undefined) return error;
  return failure("bad_input", explain(safeLine(file, 200)), { cause: error });
}

/** Throws if the backup would be written to a terminal. */
export function checkTarget(cli: Cli, { file }: BackupTarget): void {
  if (file !== STANDARD_STREAM) return;
  if (cli.terminal.isJson) throw usageError("--json cannot be used with the backup on standard output.");
  if (stdout.isTTY) throw usageError("Standard output is a terminal. Specify a file, or use a pipe.");
}

/**
 * Makes a backup of a database that may be in use. The file appears complete or not at all, and only its owner can
 * read it; memory use does not depend on its size. Throws CliError with advice.
 */
export async function makeBackup(cli: Cli, database: Database, target: BackupTarget): Promise<BackupResult> {
  const { config, log, signal } = database;
  const { file, mayReplace } = target;
  const counts = new Map<string, number>();
  const note = watchTables(cli);
  let total: BackupTotal | undefined;
  const objects = config.filesUrl === undefined ? null : openObjectStore(config.filesUrl);
  const position = { url: config.directUrl, secretKey: config.secretKey, log, signal, objects };
  cli.terminal.note("Copying …");
  try {
    const takenAt = await takeStoreCopy(position, async (copy) => {
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
    throw explainFileError(file, explainCopyError(cli, error));
  }
}
