import { endianness } from "node:os";

/** Number of occurrences of a word in the fields of a passage. */
export interface FieldCounts {
  title: number;
  heading: number;
  body: number;
}

/** The postings of a document. Plain data in few parts, so that another thread can create it. */
export interface DocumentPostings {
  /** Every distinct term: see `packWords`. */
  terms: readonly string[];
  /** End of each term's postings in `units`, in the order of the terms. */
  ends: Uint32Array;
  /**
   * Four numbers per posting: ordinal of the passage in the document, its length, counts of the fields, forms. Postings
   * of a term are in the order of the passages.
   */
  units: Uint32Array;
  /** Every distinct word without accents, and every term: candidates for misspelled words. See `packWords`. */
  words: readonly string[];
}

/** Numbers of passages that one row of postings covers: bounds the data that a change of one passage rewrites. */
export const BLOCK_CHUNKS = 4_096;

/** Number of 16-bit numbers per posting: number within the block, counts, length, forms. */
export const POSTING_UNITS = 4;

export const POSTING_BYTES = 2 * POSTING_UNITS;

/** Maximum of rows in one statement: they are prepared and sent within milliseconds. */
const MAX_ROWS = 10_000;
const MAX_UNITS = 200_000;

const MAX_HEADING_COUNT = 15;
const MAX_BODY_COUNT = 255;
const MAX_LENGTH = 65_535;
const IS_BIG_ENDIAN = endianness() === "BE";

/** Returns the bit of `forms` for a form of a word. The probability that two forms share a bit is 1/16. */
export function formBit(form: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let index = 0; index < form.length; index += 1)
    hash = Math.imul(hash ^ form.charCodeAt(index), 0x01_00_01_93) >>> 0;
  return 1 << ((hash ^ (hash >>> 16)) & 15);
}

/** Packs the counts of the fields into one number; counts beyond its range are capped. */
export const packCounts = ({ title, heading, body }: FieldCounts): number =>
  (Math.min(title, MAX_HEADING_COUNT) << 12) |
  (Math.min(heading, MAX_HEADING_COUNT) << 8) |
  Math.min(body, MAX_BODY_COUNT);

/** Returns the length of a passage in words, as stored in a posting. */
export const packLength = (length: number): number => Math.min(length, MAX_LENGTH);

/** Unpack the counts of the fields. */
export const titleCountOf = (counts: number): number => counts >> 12;
export const headingCountOf = (counts: number): number => (counts >> 8) & 15;
export const bodyCountOf = (counts: number): number => counts & 255;

/** Decodes stored postings, four numbers each: number within the block, counts, length, forms. */
export function decodePostings(bytes: Buffer): Uint16Array {
  // A typed array view requires an even offset.
  const aligned = bytes.byteOffset % 2 === 0 && !IS_BIG_ENDIAN ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  if (IS_BIG_ENDIAN) aligned.swap16();
  return new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.length >> 1);
}

/** Rows of postings to append, by word and block. */
export interface PostingRows {
  blocks: number[];
  terms: string[];
  /** Start of each row's bytes in `bytes`, from 1, and their number. */
  starts: number[];
  lengths: number[];
  bytes: Buffer;
}

/**
 * Collects postings as rows by block and term. Within each term they must be added in the order of their passages'
 * numbers.
 */
export function createPostingRows(): {
  /** Adds one posting as it is stored. */
  addOne(number: number, term: string, counts: number, length: number, forms: number): void;
  /** Returns true when there is enough for one statement. */
  isFull(): boolean;
  /** Returns the collected rows, and starts again. */
  take(): PostingRows;
} {
  let byBlock = new Map<number, Map<string, number[]>>();
  let rowCount = 0;
  let unitCount = 0;
  return {
    // oxlint-disable-next-line max-params -- called for each posting, for which an object would be too expensive
    addOne(number, term, counts, length, forms) {
      const block = Math.floor(number / BLOCK_CHUNKS);
      let rows = byBlock.get(block);
      if (rows === undefined) byBlock.set(block, (rows = new Map()));
      const units = rows.get(term);
      unitCount += POSTING_UNITS;
      if (units !== undefined) {
        units.push(number % BLOCK_CHUNKS, counts, length, forms);
        return;
      }
      rows.set(term, [number % BLOCK_CHUNKS, counts, length, forms]);
      rowCount += 1;
    },
    isFull: () => rowCount >= MAX_ROWS || unitCount >= MAX_UNITS,
    take() {
      const rows = [...byBlock].flatMap(([block, terms]) =>
        [...terms].map(([term, units]) => ({ block, term, units })),
      );
      // The same order for all writers, to avoid deadlocks; adjacent index entries are also cheaper to find.
      rows.sort((a, b) => a.block - b.block || (a.term < b.term ? -1 : 1));
      const bytes = Buffer.alloc(2 * unitCount);
      let at = 0;
      const starts: number[] = [];
      for (const { units } of rows) {
        starts.push(at + 1);
        for (const unit of units) at = bytes.writeUInt16LE(unit, at);
      }
      byBlock = new Map();
      rowCount = 0;
      unitCount = 0;
      return {
        blocks: rows.map(({ block }) => block),
        terms: rows.map(({ term }) => term),
        starts,
        lengths: rows.map(({ units }) => 2 * units.length),
        bytes,
      };
    },
  };
}

/** Words of one piece. */
const PIECE_WORDS = 5_000;

/**
 * Returns words in pieces, joined by newlines: a few long strings are passed between threads much faster than a million
 * short ones. Words contain no newlines.
 */
export function packWords(words: Iterable<string>): string[] {
  const pieces: string[] = [];
  let open: string[] = [];
  for (const word of words) {
    open.push(word);
    if (open.length < PIECE_WORDS) continue;
    pieces.push(open.join("\n"));
    open = [];
  }
  if (open.length > 0) pieces.push(open.join("\n"));
  return pieces;
}

/** Returns the words of one piece. */
export const unpackWords = (piece: string): string[] => piece.split("\n");
