import { END_OF_ROWS } from "./backup-format.ts";
import { BackupFileError } from "./backup-file-error.ts";

const LINE_FEED = 0x0a;
const END = Buffer.from(END_OF_ROWS);
/** The same after a row. */
const END_AFTER_ROW = Buffer.from(`\n${END_OF_ROWS}`);

/** Reads lines, and rows up to their end, from bytes that come in any pieces. */
export interface LineScanner {
  /** The next line with its line feed; null at the end. Throws BackupFileError when it is longer than `maxBytes`. */
  readLine(maxBytes: number): Promise<Buffer | null>;
  /** The bytes of the rows up to the line that ends them, which is passed over. Throws BackupFileError `cut_off`. */
  readRows(): AsyncGenerator<Buffer>;
}

/** A scanner that keeps no more than a piece and a line. */
export function scanLines(pieces: AsyncIterable<Buffer>): LineScanner {
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
        // The end may have begun in the last bytes.
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
