import { endianness } from "node:os";

/** How often a word stands in the fields of a passage. */
export interface FieldCounts {
  title: number;
  heading: number;
  body: number;
}

/** The postings of a document. Plain data of few parts, so that another thread can make it. */
export interface DocumentPostings {
  /** Every distinct term: see `packWords`. */
  terms: readonly string[];
  /** For each term, in their order, where its postings end in `units`. */
  ends: Uint32Array;
  /**
   * Four numbers a posting: ordinal of the passage in the document, its length, counts of the fields, forms. Those of
   * one term come in the order of the passages.
   */
  units: Uint32Array;
  /** Every distinct word without accents, and every term: what a misspelt word may stand for. See `packWords`. */
  words: readonly string[];
}

/** Numbers of passages that one row of postings covers: bounds what a change of one passage has to write again. */
export const BLOCK_CHUNKS = 4_096;

/** A posting is so many 16-bit numbers: number within the block, counts, length, forms. */
export const POSTING_UNITS = 4;

export const POSTING_BYTES = 2 * POSTING_UNITS;

/** What one statement writes: so much is put together and handed over in some milliseconds. */
const MAX_ROWS = 10_000;
const MAX_UNITS = 200_000;

const MAX_HEADING_COUNT = 15;
const MAX_BODY_COUNT = 255;
const MAX_LENGTH = 65_535;
const IS_BIG_ENDIAN = endianness() === "BE";

/** The bit of `forms` that a form of a word sets. Two forms of one word share it in one case of sixteen. */
export function formBit(form: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let index = 0; index < form.length; index += 1)
    hash = Math.imul(hash ^ form.charCodeAt(index), 0x01_00_01_93) >>> 0;
  return 1 << ((hash ^ (hash >>> 16)) & 15);
}

/** The counts of the fields as a posting has them, in one number; more than it can hold counts as the most. */
export const packCounts = ({ title, heading, body }: FieldCounts): number =>
  (Math.min(title, MAX_HEADING_COUNT) << 12) |
  (Math.min(heading, MAX_HEADING_COUNT) << 8) |
  Math.min(body, MAX_BODY_COUNT);

/** The length of a passage in words as a posting has it. */
export const packLength = (length: number): number => Math.min(length, MAX_LENGTH);

/** The counts of the fields from that number. */
export const titleCountOf = (counts: number): number => counts >> 12;
export const headingCountOf = (counts: number): number => (counts >> 8) & 15;
export const bodyCountOf = (counts: number): number => counts & 255;

/** Postings as they are stored, four numbers each: number within the block, counts, length, forms. */
export function decodePostings(bytes: Buffer): Uint16Array {
  // A view needs an even place in memory.
  const aligned = bytes.byteOffset % 2 === 0 && !IS_BIG_ENDIAN ? bytes : Buffer.from(new Uint8Array(bytes).buffer);
  if (IS_BIG_ENDIAN) aligned.swap16();
  return new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.length >> 1);
}

/** Rows of postings to be appended: what is added to each word of each block. */
export interface PostingRows {
  blocks: number[];
  terms: string[];
  /** Where each row's bytes begin in `bytes`, from 1, and how many there are. */
  starts: number[];
  lengths: number[];
  bytes: Buffer;
}

/** Collects postings as rows by block and term. They come by the numbers of their passages within each term. */
export function createPostingRows(): {
  /** Adds one posting as it is stored. */
  addOne(number: number, term: string, counts: number, length: number, forms: number): void;
  /** True when there is as much as one statement should write. */
  isFull(): boolean;
  /** Returns what was added, and starts again. */
  take(): PostingRows;
} {
  let byBlock = new Map<number, Map<string, number[]>>();
  let rowCount = 0;
  let unitCount = 0;
  return {
    // oxlint-disable-next-line max-params -- called for each posting: an object for each would cost as much as the work
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
      // One order for all writers; and a row of the tree next to the one before is the cheaper to find.
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
 * Words in pieces, those of each joined by line ends: a few long strings pass from thread to thread in an instant, a
 * million short ones do not. No word holds a line end.
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

/** The words of one piece. */
export const unpackWords = (piece: string): string[] => piece.split("\n");
