import { createHash } from "node:crypto";
import type { Sealer, StoreCopy } from "@svc/store";
import { BACKUP_FORMAT, END_OF_ROWS, MARKS, sealedText } from "./backup-format.ts";
import type { BackupHead, BackupTotal } from "./backup-format.ts";
import { countLines } from "./count-lines.ts";

/** What a backup is written with. */
export interface WriteOptions {
  program: string;
  sealer: Pick<Sealer, "seal">;
  onTable: (name: string, rows: number) => void;
  onTotal: (total: BackupTotal) => void;
}

/** The lines of a backup, in pieces and before they are packed. It takes no more memory than a row. */
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
