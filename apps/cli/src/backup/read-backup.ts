import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import type { CopiedTable } from "@svc/store";
import type { z } from "zod";
import { BackupFileError } from "./backup-file-error.ts";
import { BACKUP_FORMAT, MARKS, endSchema, headSchema, tableSchema, totalSchema } from "./backup-format.ts";
import type { BackupHead, BackupTotal } from "./backup-format.ts";
import { countLines } from "./count-lines.ts";
import { scanLines } from "./scan-lines.ts";

/** No line between the rows is nearly as long. */
const MAX_LINE_BYTES = 1_048_576;

/** A backup while it is read. */
export interface BackupReading {
  head: BackupHead;
  /**
   * The tables one after the other; the rows of one must be read before the next one is asked for. Throws BackupFileError
   * as soon as a count or a hash is wrong, and when the file does not end as it was written.
   */
  tables(): AsyncGenerator<{ table: CopiedTable; rows: AsyncGenerator<Buffer> }>;
  /** The last line, once the tables have been read to their end. */
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

/** Reads a backup from its unpacked bytes, and checks all of it that can be checked without a key. */
export async function readBackup(pieces: AsyncIterable<Buffer>): Promise<BackupReading> {
  const scanner = scanLines(pieces);
  const all = createHash("sha256");
  const firstLine = await scanner.readLine(MAX_LINE_BYTES).catch((error: unknown) => {
    // A file of another kind has no such line.
    throw error instanceof BackupFileError ? parseFault(error) : error;
  });
  const head = parseHead(firstLine);
  if (firstLine !== null) all.update(firstLine);
  let total: BackupTotal | null = null;

  const nextLine = async () => {
    const line = await scanner.readLine(MAX_LINE_BYTES);
    if (line === null) throw new BackupFileError("cut_off", "The file is truncated: its last line is missing.");
    return line;
  };

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
    const line = await nextLine();
    all.update(line);
    const end = parseLine(line, MARKS.end, endSchema);
    if (end.rows !== counts.rows || end.sha256 !== counts.hash.digest("hex")) {
      throw damaged(`the rows of the table ${name} differ from those that were written`);
    }
  }

  async function* tables(): ReturnType<BackupReading["tables"]> {
    const sums = { tables: 0, rows: 0 };
    for (;;) {
      const line = await nextLine();
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

/** What is wrong with a first line that is none. */
function parseFault(error: BackupFileError): BackupFileError {
  return error.code === "damaged"
    ? new BackupFileError("no_backup", "This is not a backup of this product.", { cause: error })
    : error;
}
