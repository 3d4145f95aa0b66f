import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { z } from "zod";
import { errorCode } from "@svc/primitives";
import type { CopiedTable } from "@svc/store";
import { CliError, EXIT, usageError } from "../cli.ts";
import type { Cli } from "../cli.ts";
import { explainReadError } from "../read-input.ts";
import { safeLine } from "../terminal.ts";

/** The format that this version writes, and the only one that it reads. */
export const BACKUP_FORMAT = 1;

/**
 * Prefixes of the lines around the rows. No row of COPY is mistaken for them, since only rows are between a table and
 * its end.
 */
export const MARKS = { head: "#svc-backup ", table: "#table ", end: "#end ", total: "#total " } as const;

/** The line after the last row of a table. */
export const END_OF_ROWS = "\\.\n";

/** Returns the text that is sealed with the secret key, which proves that the writer of the file had the key. */
export const sealedText = (sha256: string) => `svc backup ${sha256}`;

const countSchema = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
const nameSchema = z.string().min(1).max(255);
const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** The first line. */
const headSchema = z.object({
  format: z.literal(BACKUP_FORMAT),
  /** Version of the program that wrote the backup. */
  program: z.string().max(100),
  takenAt: z.iso.datetime(),
  postgres: z.string().max(200),
  migrations: z.array(nameSchema).min(1).max(10_000),
  /** A constant sealed with the secret key of the installation; null if there was none. */
  secretKeyCheck: z.string().max(1_000).nullable(),
});
export type BackupHead = z.output<typeof headSchema>;

/** The line before the rows of a table. */
const tableSchema = z.object({
  name: nameSchema,
  columns: z.array(nameSchema).min(1).max(2_000),
  sequences: z.record(nameSchema, countSchema),
});

/** The line after the rows of a table: their number, and the SHA-256 of their lines. */
const endSchema = z.object({ rows: countSchema, sha256: sha256Schema });

/** The last line: the SHA-256 of all lines before it, and that hash sealed with the secret key. */
const totalSchema = z.object({
  tables: countSchema,
  rows: countSchema,
  sha256: sha256Schema,
  seal: z.string().max(1_000),
});
export type BackupTotal = z.output<typeof totalSchema>;

/** Error of a backup file: `cut_off`, `damaged`, or `no_backup` if it is not a backup. */
export class BackupFileError extends CliError {
  constructor(code: "cut_off" | "damaged" | "no_backup", message: string, options?: ErrorOptions) {
    super(code, EXIT.failed, message, options);
    this.name = "BackupFileError";
  }
}

const LINE_FEED = 0x0a;

const END = Buffer.from(END_OF_ROWS);
/** The end of the rows after a row. */
const END_AFTER_ROW = Buffer.from(`\n${END_OF_ROWS}`);

/** Reads lines, and rows up to their end, from chunks of any size. */
interface LineScanner {
  /**
   * Returns the next line with its line feed; null at the end. Throws BackupFileError if it is longer than
   * `maxBytes`.
   */
  readLine(maxBytes: number): Promise<Buffer | null>;
  /** Yields the bytes of the rows up to the line that ends them, which it skips. Throws BackupFileError `cut_off`. */
  readRows(): AsyncGenerator<Buffer>;
}

/** Creates a scanner that buffers at most one chunk and one line. */
function scanLines(pieces: AsyncIterable<Buffer>): LineScanner {
  const iterator = pieces[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);

  async function readMore(): Promise<boolean> {
    const next = await iterator.next();
    if (next.done === true) return false;
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
    return true;
  }

  return {
    async readLine(maxBytes) {
      let end = rest.indexOf(LINE_FEED);
      while (end === -1) {
        if (rest.length > maxBytes) throw new BackupFileError("damaged", "The file is damaged: a line is too long.");
        if (await readMore()) end = rest.indexOf(LINE_FEED);
        else if (rest.length === 0) return null;
        else throw new BackupFileError("cut_off", "The file is truncated in the middle of a line.");
      }
      const line = rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
      return line;
    },

    async *readRows() {
      const cutOff = () => new BackupFileError("cut_off", "The file is truncated in the middle of a table.");
      while (rest.length < END.length) if (!(await readMore())) throw cutOff();
      if (rest.subarray(0, END.length).equals(END)) {
        rest = rest.subarray(END.length);
        return;
      }
      for (;;) {
        const end = rest.indexOf(END_AFTER_ROW);
        if (end !== -1) {
          const last = rest.subarray(0, end + 1);
          rest = rest.subarray(end + END_AFTER_ROW.length);
          yield last;
          return;
        }
        // The last bytes may be the beginning of the end line.
        const safe = rest.length - END_AFTER_ROW.length + 1;
        if (safe > 0) {
          const piece = rest.subarray(0, safe);
          rest = rest.subarray(safe);
          yield piece;
        }
        if (!(await readMore())) throw cutOff();
      }
    },
  };
}

const CHUNK_BYTES = 262_144;

/** Error codes of zlib for a truncated file and for a damaged one. */
const ZLIB_ERRORS: Readonly<Record<string, (isBegun: boolean, cause: unknown) => BackupFileError>> = {
  Z_BUF_ERROR: (_, cause) => new BackupFileError("cut_off", "The file is truncated.", { cause }),
  Z_DATA_ERROR: (isBegun, cause) =>
    isBegun
      ? new BackupFileError("damaged", "The file is damaged: it cannot be decompressed.", { cause })
      : new BackupFileError("no_backup", "This is not a backup of this product.", { cause }),
};

/** Yields the decompressed bytes of a backup. Throws BackupFileError, and errors of reading. */
export async function* unpackBackup(packed: Readable): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // Its errors are also thrown by the decompressed stream below; this only waits for its end.
  const ended = pipeline(packed, gunzip).catch(() => undefined);
  let isBegun = false;
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      isBegun = true;
      yield piece;
    }
  } catch (error) {
    const code = errorCode(error);
    const explain = code === undefined ? undefined : ZLIB_ERRORS[code];
    throw explain?.(isBegun, error) ?? error;
  } finally {
    gunzip.destroy();
    await ended;
  }
}

/** No line other than rows is nearly as long. */
const MAX_LINE_BYTES = 1_048_576;

/** A backup that is being read. */
export interface BackupReading {
  head: BackupHead;
  /**
   * Yields the tables in order; the rows of one must be read before the next one is requested. Throws BackupFileError
   * as soon as a count or hash is wrong, and if the file does not end correctly.
   */
  tables(): AsyncGenerator<{ table: CopiedTable; rows: AsyncGenerator<Buffer> }>;
  /** Returns the last line, once all tables have been read. */
  total(): BackupTotal;
}

const damaged = (what: string, cause?: unknown) =>
  new BackupFileError("damaged", `The file is damaged: ${what}.`, { cause });

function parseLine<Schema extends z.ZodType>(line: Buffer, mark: string, schema: Schema): z.output<Schema> {
  const text = line.toString("utf8");
  if (!text.startsWith(mark)) throw damaged(`unexpected line that starts with ${mark.trim()}`);
  let value: unknown;
  try {
    value = JSON.parse(text.slice(mark.length));
  } catch (error) {
    throw damaged(`a line after ${mark.trim()} is not JSON`, error);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw damaged(`a line after ${mark.trim()} lacks required fields`, parsed.error);
  return parsed.data;
}

const begins = (line: Buffer, mark: string) => line.subarray(0, mark.length).equals(Buffer.from(mark));

function parseHead(line: Buffer | null): BackupHead {
  if (line === null || !begins(line, MARKS.head)) {
    throw new BackupFileError("no_backup", "This is not a backup of this product.");
  }
  const format = /"format":(\d{1,9})\b/.exec(line.toString("utf8"))?.[1];
  if (format !== undefined && Number(format) > BACKUP_FORMAT) {
    throw new BackupFileError(
      "no_backup",
      `This backup has format ${format}; it was written by a newer version of the product.`,
    );
  }
  return parseLine(line, MARKS.head, headSchema);
}

async function requireLine(scanner: LineScanner): Promise<Buffer> {
  const line = await scanner.readLine(MAX_LINE_BYTES);
  if (line === null) throw new BackupFileError("cut_off", "The file is truncated: its last line is missing.");
  return line;
}

/** Reads a backup from its decompressed bytes, and validates everything that needs no key. */
export async function readBackup(pieces: AsyncIterable<Buffer>): Promise<BackupReading> {
  const scanner = scanLines(pieces);
  const all = createHash("sha256");
  const firstLine = await scanner.readLine(MAX_LINE_BYTES).catch((error: unknown) => {
    // Another kind of file has no such line.
    throw error instanceof BackupFileError ? asNoBackup(error) : error;
  });
  const head = parseHead(firstLine);
  if (firstLine !== null) all.update(firstLine);
  let total: BackupTotal | null = null;

  async function* readRows(counts: { rows: number; hash: Hash }): AsyncGenerator<Buffer> {
    for await (const piece of scanner.readRows()) {
      all.update(piece);
      counts.hash.update(piece);
      counts.rows += countLines(piece);
      yield piece;
    }
  }

  async function* readTable(name: string, counts: { rows: number; hash: Hash }): AsyncGenerator<Buffer> {
    yield* readRows(counts);
    all.update("\\.\n");
    const line = await requireLine(scanner);
    all.update(line);
    const end = parseLine(line, MARKS.end, endSchema);
    if (end.rows !== counts.rows || end.sha256 !== counts.hash.digest("hex")) {
      throw damaged(`the rows of the table ${name} differ from those that were written`);
    }
  }

  async function* tables(): ReturnType<BackupReading["tables"]> {
    const sums = { tables: 0, rows: 0 };
    for (;;) {
      const line = await requireLine(scanner);
      if (!begins(line, MARKS.table)) {
        const end = parseLine(line, MARKS.total, totalSchema);
        if (end.sha256 !== all.digest("hex") || end.tables !== sums.tables || end.rows !== sums.rows) {
          throw damaged("the checksum does not match");
        }
        if ((await scanner.readLine(MAX_LINE_BYTES)) !== null) throw damaged("there is data after the end");
        total = end;
        return;
      }
      all.update(line);
      const table = parseLine(line, MARKS.table, tableSchema);
      const counts = { rows: 0, hash: createHash("sha256") };
      yield { table, rows: readTable(table.name, counts) };
      sums.tables += 1;
      sums.rows += counts.rows;
    }
  }

  return {
    head,
    tables,
    total() {
      if (total === null) throw new Error("the backup was not read completely");
      return total;
    },
  };
}

/** Returns the error of a file whose first line is not the head of a backup. */
function asNoBackup(error: BackupFileError): BackupFileError {
  return error.code === "damaged"
    ? new BackupFileError("no_backup", "This is not a backup of this product.", { cause: error })
    : error;
}

/** Name that stands for standard input or standard output. */
export const STANDARD_STREAM = "-";

/** Name of a backup in messages. */
export const nameOf = (file: string) => (file === STANDARD_STREAM ? "standard input" : safeLine(file, 200));

function openPacked(cli: Cli, file: string): Readable {
  if (file !== STANDARD_STREAM) return createReadStream(resolve(cli.folder, file));
  const input = cli.openInput();
  if (input.isTTY === true) throw usageError("Pipe a backup to standard input, or specify its file.");
  return Readable.from(asBytes(input), { objectMode: false });
}

async function* asBytes(input: AsyncIterable<string | Uint8Array>): AsyncGenerator<Buffer> {
  for await (const part of input) yield typeof part === "string" ? Buffer.from(part, "utf8") : Buffer.from(part);
}

/** Opens a backup from a file or standard input for `work`. Throws CliError if it cannot be read. */
export async function withBackup<Result>(
  cli: Cli,
  file: string,
  work: (backup: BackupReading) => Promise<Result>,
): Promise<Result> {
  const packed = openPacked(cli, file);
  let readError: unknown;
  packed.once("error", (error) => {
    readError = error;
  });
  try {
    return await work(await readBackup(unpackBackup(packed)));
  } catch (error) {
    // Other errors may have the same codes, such as that of a database that cannot be used.
    throw error === readError ? explainReadError(nameOf(file), error) : error;
  } finally {
    packed.destroy();
  }
}

/** Returns the number of lines that end in these bytes. */
export function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}
