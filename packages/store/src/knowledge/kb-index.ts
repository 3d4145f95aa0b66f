import { setImmediate as nextTurn } from "node:timers/promises";
import { stateOf } from "../context.ts";
import { statements } from "../sql.ts";
import type { Db } from "../db.ts";
import { BLOCK_CHUNKS, POSTING_UNITS, createPostingRows, decodePostings, unpackWords } from "./postings.ts";
import type { DocumentPostings, PostingRows } from "./postings.ts";

/** Maximum time for which a long computation blocks the event loop. */
const SLICE_MS = 10;

/** Maximum number of cached stems: about 10 MB. */
const MAX_KEPT = 100_000;

/** Words that one statement stems. */
const STEM_BATCH = 20_000;

/** Cache of stems. */
const stemsOf = stateOf((_db: Db) => new Map<string, string>());

/**
 * Returns the stem of each of the words, by Postgres's own stemmers. Stems are cached: words repeat, and a round trip
 * costs more than the stemming. Words of a language without a stemmer in this version of Postgres, and words that the
 * stemmer considers stop words, are returned unchanged.
 */
export async function stem(db: Db, config: string, words: Iterable<string>, on: Db = db): Promise<Map<string, string>> {
  const kept = stemsOf(db);
  const stems = new Map<string, string>();
  const unknown: string[] = [];
  for (const word of new Set(words)) {
    const known = kept.get(`${config} ${word}`);
    if (known === undefined) unknown.push(word);
    else stems.set(word, known);
  }
  for (let first = 0; first < unknown.length; first += STEM_BATCH) {
    const batch = unknown.slice(first, first + STEM_BATCH);
    const rows = await sql.stem.all(on, { word: batch, config });
    if (kept.size + batch.length > MAX_KEPT) kept.clear();
    for (const [index, word] of batch.entries()) {
      const found = rows[index]?.stem ?? word;
      stems.set(word, found);
      kept.set(`${config} ${word}`, found);
    }
  }
  return stems;
}

/** The index of a knowledge base, in a transaction that has locked the base. */
export interface KbIndex {
  kbId: string;
  kbNumber: number;
  nextChunkNumber: number;
  blocks: Set<number>;
  /** Runs of deleted numbers, in order and not adjacent: from the first to before the second. */
  dead: [from: number, to: number][];
}

/** Numbers of the passages of one document. */
export interface ChunkRange {
  first: number;
  count: number;
}

/** Number of deleted numbers from which a block is compacted. */
const MAX_DEAD_CHUNKS = BLOCK_CHUNKS / 2;

/**
 * Maximum number of runs of deleted numbers, which every search reads: beyond it, the block with the most is compacted.
 */
const MAX_DEAD_RUNS = 500;

/** Rows of postings that one statement reads. */
const READ_BATCH = 2_000;

/** Words that one statement adds. */
const WORD_BATCH = 10_000;

/** Rows of a deleted base's index removed per statement. */
const REMOVE_BATCH = 20_000;

const sql = statements("knowledge/kb-index", {
  readBatch: READ_BATCH,
  removeBatch: REMOVE_BATCH,
});

/** Reads the index of a knowledge base that this transaction has locked; null if the base is deleted. */
export async function loadKbIndex(tx: Db, kbId: string): Promise<KbIndex | null> {
  const row = await sql.loadKbIndex.one(tx, { kbId });
  if (row === null) return null;
  return {
    kbId,
    kbNumber: row.number,
    nextChunkNumber: row.nextChunkNumber,
    blocks: new Set(row.blocks),
    dead: runsOf(row.deadNumbers),
  };
}

/** Saves the changed index. */
export const saveKbIndex = (tx: Db, index: KbIndex) =>
  sql.saveKbIndex.exec(tx, {
    ...index,
    blocks: [...index.blocks].sort((a, b) => a - b),
    deadNumbers: index.dead.flat(),
  });

/** Assigns numbers to the passages of a document; null for one without passages. */
export function numberChunks(index: KbIndex, count: number): number | null {
  if (count === 0) return null;
  const first = index.nextChunkNumber;
  index.nextChunkNumber += count;
  return first;
}

/** Adds the postings of documents whose passages have the highest numbers. */
export async function addPostings(
  tx: Db,
  index: KbIndex,
  documents: readonly { first: number | null; postings: DocumentPostings }[],
): Promise<void> {
  const yieldNow = createYielder();
  const rows = createPostingRows();
  for (const { first, postings } of documents) {
    if (first === null) continue;
    const { terms, ends, units } = postings;
    let position = 0;
    let at = 0;
    for (const piece of terms) {
      for (const term of unpackWords(piece)) {
        const end = ends[position] ?? 0;
        position += 1;
        for (; at < end; at += POSTING_UNITS) {
          rows.addOne(first + (units[at] ?? 0), term, units[at + 2] ?? 0, units[at + 1] ?? 0, units[at + 3] ?? 0);
          if (rows.isFull()) await appendRows(tx, index, rows.take());
        }
      }
      await yieldNow();
    }
  }
  await appendRows(tx, index, rows.take());
}

/** Appends postings to the stored ones. */
async function appendRows(tx: Db, index: KbIndex, rows: PostingRows): Promise<void> {
  if (rows.terms.length === 0) return;
  for (const block of rows.blocks) index.blocks.add(block);
  await sql.appendRows.run(tx, {
    kbNumber: index.kbNumber,
    block: rows.blocks,
    term: rows.terms,
    start: rows.starts,
    length: rows.lengths,
    bytes: rows.bytes,
  });
}

/** Adds words that a misspelled word may stand for: pieces as `packWords` returns them. */
export async function addWords(tx: Db, index: KbIndex, pieces: Iterable<string>): Promise<void> {
  let words = new Set<string>();
  const flush = async (): Promise<void> => {
    if (words.size === 0) return;
    await sql.insertWords.run(tx, { kbNumber: index.kbNumber, words: [...words].sort() });
    words = new Set();
  };
  for (const piece of pieces) {
    for (const word of unpackWords(piece)) words.add(word);
    if (words.size >= WORD_BATCH) await flush();
  }
  await flush();
}

/**
 * Removes a part of the index of a deleted knowledge base. Called for each of its documents, so that almost nothing is
 * left for the statement that removes the base itself.
 */
export async function removeSomeOfIndex(tx: Db, kbId: string): Promise<void> {
  await sql.removeSomePostings.run(tx, { kbId });
  await sql.removeSomeWords.run(tx, { kbId });
}

/** Marks the passages with these numbers as deleted. */
export function markDead(index: KbIndex, ranges: readonly ChunkRange[]): void {
  const runs: [number, number][] = [
    ...index.dead,
    ...ranges.filter(({ count }) => count > 0).map(({ first, count }): [number, number] => [first, first + count]),
  ];
  runs.sort(([a], [b]) => a - b);
  index.dead = [];
  for (const [from, to] of runs) {
    const last = index.dead.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else index.dead.push([from, to]);
  }
}

/**
 * Compacts a block that consists mostly of deleted numbers: its remaining documents get new numbers, and its postings
 * are deleted. The cost of a search stays proportional to the existing passages, however often documents are replaced.
 */
export async function tidyIndex(tx: Db, index: KbIndex): Promise<void> {
  const block = blockToGiveUp(index);
  if (block === null) return;
  const from = block * BLOCK_CHUNKS;
  const documents = await sql.tidyIndex.all(tx, {
    kbId: index.kbId,
    firstChunkNumber: from + BLOCK_CHUNKS,
    from,
  });
  const moved = documents.map((document) => ({ ...document, to: numberChunks(index, document.count) ?? 0 }));
  const blocks = new Set(moved.flatMap(({ first, count }) => blocksOf({ first, count })));
  const target = new Map<number, number>();
  for (const { first, count, to } of moved)
    for (let ordinal = 0; ordinal < count; ordinal += 1) target.set(first + ordinal, to + ordinal);
  const rows = createPostingRows();
  for (const block of [...blocks].sort((a, b) => a - b)) {
    // Postings that are appended in the meantime have other numbers, and are skipped if they are read.
    for await (const { term, postings } of readBlock(tx, index, block)) {
      const units = decodePostings(postings);
      for (let at = 0; at < units.length; at += POSTING_UNITS) {
        const number = target.get(block * BLOCK_CHUNKS + (units[at] ?? 0));
        if (number !== undefined) rows.addOne(number, term, units[at + 1] ?? 0, units[at + 2] ?? 0, units[at + 3] ?? 0);
      }
      if (rows.isFull()) await appendRows(tx, index, rows.take());
    }
  }
  await sql.deleteBlock.run(tx, { kbNumber: index.kbNumber, block });
  await sql.savePlaces.run(tx, { id: moved.map(({ id }) => id), number: moved.map(({ to }) => to) });
  markDead(index, moved);
  index.dead = index.dead.flatMap(([start, end]) =>
    [
      [start, Math.min(end, from)] as [number, number],
      [Math.max(start, from + BLOCK_CHUNKS), end] as [number, number],
    ].filter(([start, end]) => start < end),
  );
  index.blocks.delete(block);
  await appendRows(tx, index, rows.take());
}

/** Yields the postings of a block by their terms, in batches. */
async function* readBlock(
  tx: Db,
  index: KbIndex,
  block: number,
): AsyncGenerator<{ term: string; postings: Buffer }, void> {
  const yieldNow = createYielder();
  let last: string | null = null;
  for (;;) {
    const rows: { term: string; postings: Buffer }[] = await sql.readBlock.all(tx, {
      kbNumber: index.kbNumber,
      block,
      last,
    });
    for (const row of rows) {
      yield row;
      await yieldNow();
    }
    last = rows.at(-1)?.term ?? null;
    if (rows.length < READ_BATCH) return;
  }
}

function blockToGiveUp(index: KbIndex): number | null {
  const counts = new Map<number, { dead: number; runs: number }>();
  for (const [from, to] of index.dead) {
    for (const block of blocksOf({ first: from, count: to - from })) {
      const start = block * BLOCK_CHUNKS;
      const count = counts.get(block) ?? { dead: 0, runs: 0 };
      count.dead += Math.min(to, start + BLOCK_CHUNKS) - Math.max(from, start);
      count.runs += 1;
      counts.set(block, count);
    }
  }
  // The last block is still being filled.
  counts.delete(Math.floor(index.nextChunkNumber / BLOCK_CHUNKS));
  const deadest = [...counts].sort(([, a], [, b]) => b.dead - a.dead)[0];
  if (deadest !== undefined && deadest[1].dead >= MAX_DEAD_CHUNKS) return deadest[0];
  if (index.dead.length <= MAX_DEAD_RUNS) return null;
  return [...counts].sort(([, a], [, b]) => b.runs - a.runs)[0]?.[0] ?? null;
}

function blocksOf({ first, count }: ChunkRange): number[] {
  const start = Math.floor(first / BLOCK_CHUNKS);
  const end = Math.floor((first + count - 1) / BLOCK_CHUNKS);
  return Array.from({ length: end - start + 1 }, (_, index) => start + index);
}

function runsOf(numbers: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (let at = 0; at + 1 < numbers.length; at += 2) runs.push([numbers[at] ?? 0, numbers[at + 1] ?? 0]);
  return runs;
}

/**
 * Returns a function that long computations await repeatedly: about every 10 ms it yields to the event loop. It is
 * cheap enough to be called for every thousandth item.
 */
export function createYielder(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await nextTurn();
    since = performance.now();
  };
}
