import { endianness } from "node:os";

/** How often a word stands in the fields of a passage, and in which forms. */
export interface ChunkWord {
  titleCount: number;
  headingCount: number;
  bodyCount: number;
  /** A bit for each form in which the word stands there (`index`, `indices`): see `formBit`. */
  forms: number;
}

/**
 * The passages of a document in which a term stands: for each, in their order, its ordinal in the document, its length
 * in words, the counts of title, headings and body as one number, and the forms. Made by `addPosting`.
 */
export type TermPostings = number[];

/** Numbers of passages that one row of postings covers: bounds what a change of one passage has to write again. */
export const BLOCK_CHUNKS = 4_096;

/** A posting is so many 16-bit numbers: number within the block, counts, length, forms. */
export const POSTING_UNITS = 4;

export const POSTING_BYTES = 2 * POSTING_UNITS;

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

/** Adds a passage to the postings of a term; passages come in their order. */
export function addPosting(postings: TermPostings, ordinal: number, length: number, word: ChunkWord): void {
  const counts =
    (Math.min(word.titleCount, MAX_HEADING_COUNT) << 12) |
    (Math.min(word.headingCount, MAX_HEADING_COUNT) << 8) |
    Math.min(word.bodyCount, MAX_BODY_COUNT);
  postings.push(ordinal, Math.min(length, MAX_LENGTH), counts, word.forms);
}

/** Counts of the fields in the second number of a posting. */
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
  /** Adds a document's postings; its first passage has the number `first`. */
  add(first: number, terms: ReadonlyMap<string, TermPostings>): void;
  /** Adds one posting as it is stored. */
  addOne(number: number, term: string, counts: number, length: number, forms: number): void;
  end(): PostingRows;
} {
  const byBlock = new Map<number, Map<string, number[]>>();
  const addOne = (number: number, term: string, counts: number, length: number, forms: number): void => {
    const block = Math.floor(number / BLOCK_CHUNKS);
    let rows = byBlock.get(block);
    if (rows === undefined) byBlock.set(block, (rows = new Map()));
    const units = rows.get(term);
    if (units === undefined) rows.set(term, [number % BLOCK_CHUNKS, counts, length, forms]);
    else units.push(number % BLOCK_CHUNKS, counts, length, forms);
  };
  return {
    addOne,
    add(first, terms) {
      for (const [term, postings] of terms) {
        for (let at = 0; at < postings.length; at += POSTING_UNITS) {
          addOne(
            first + (postings[at] ?? 0),
            term,
            postings[at + 2] ?? 0,
            postings[at + 1] ?? 0,
            postings[at + 3] ?? 0,
          );
        }
      }
    },
    end() {
      const rows = [...byBlock].flatMap(([block, terms]) =>
        [...terms].map(([term, units]) => ({ block, term, units })),
      );
      // One order for all writers; and a row of the tree next to the one before is the cheaper to find.
      rows.sort((a, b) => a.block - b.block || (a.term < b.term ? -1 : 1));
      const bytes = Buffer.alloc(2 * rows.reduce((sum, { units }) => sum + units.length, 0));
      let at = 0;
      const starts: number[] = [];
      for (const { units } of rows) {
        starts.push(at + 1);
        for (const unit of units) at = bytes.writeUInt16LE(unit, at);
      }
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
