import { BLOCK_CHUNKS, POSTING_UNITS, bodyCountOf, headingCountOf, titleCountOf } from "@svc/store";
import type { NumberedDocument, PostingBlock, SearchedKb } from "@svc/store";

/** A word of a query with its search terms, in all languages of the knowledge bases. */
export interface QueryPosition {
  /** Indexes of its terms among all search terms. */
  terms: number[];
  /** Bit of its form: see `formBit`. 0 if no form is an exact match. */
  form: number;
  /** Weight of its matches relative to other words: 1, less for a possible correction. */
  factor: number;
  /** True for a code or number, which has the same meaning anywhere, even in the longest table. */
  isExact?: boolean;
}

/** Weights of a word of a query. */
interface PositionWeight {
  /** Inverse document frequency of the word in all its forms: higher if rarer. */
  weight: number;
  /** Bonus of a passage that has the word in the exact form. */
  formWeight: number;
}

/** A passage that may be among the best. */
export interface Candidate {
  kbNumber: number;
  number: number;
  /** BM25F of the passage. */
  score: number;
}

/** Passages by score, and the function for the final score. */
export interface PassageRanking {
  /** Best first. */
  candidates: Candidate[];
  weights: PositionWeight[];
  /** Returns the score of a passage combined with that of its whole document. */
  scoreInDocument(candidate: Candidate, document: NumberedDocument): number;
}

/**
 * Weights of a match in a title or heading relative to the body; BM25's two constants: how soon further matches stop
 * counting (k1), how much a long passage is penalized (b); the share of the exact form relative to all forms of a word;
 * and the share of the whole document relative to its passage.
 */
const RANKING = { titleWeight: 3, headingWeight: 2, k1: 1.2, b: 0.6, formShare: 0.2, documentShare: 0.3 } as const;

/** Limit of a word's score relative to its weight: BM25's limit for any number of matches. */
export const MAX_SATURATION = RANKING.k1 + 1;

/** Number of words of a query that are scored, rarest first. */
const MAX_SCORED_POSITIONS = 32;

/**
 * Ranks passages by BM25 over weighted fields (BM25F), from postings in memory, and returns the best `depth` ones.
 * Words without a match have a weight too, so that a query about something else scores low relative to its maximum.
 * Takes time proportional to the postings.
 */
export function rankPassages(
  found: { kbs: readonly SearchedKb[]; blocks: readonly PostingBlock[] },
  positions: readonly QueryPosition[],
  depth: number,
): PassageRanking {
  const space = layOut(found);
  const sum = (of: (kb: SearchedKb) => number): number => found.kbs.reduce((total, kb) => total + of(kb), 0);
  const chunkCount = sum((kb) => kb.chunkCount);
  const termTotal = sum((kb) => kb.termTotal);
  const meanLength = Math.max(1, termTotal / Math.max(1, chunkCount));
  const meanDocumentLength = Math.max(
    1,
    termTotal /
      Math.max(
        1,
        sum((kb) => kb.documentCount),
      ),
  );
  const scored = rarestPositions(positions, space.byTerm);
  const scores = new Float64Array(space.size);
  const touched: number[] = [];
  const weights = positions.map((position, index): PositionWeight => {
    const matches = scored.has(index) ? matchPosition(position, space, meanLength) : null;
    const { count, formCount } = matches ?? countPosition(position, space.byTerm);
    const weight = rarity(chunkCount, count);
    const formWeight = RANKING.formShare * (position.form === 0 ? weight : rarity(chunkCount, formCount));
    if (matches !== null) addScores(scores, touched, matches, { weight, formWeight, factor: position.factor });
    return { weight, formWeight };
  });
  return {
    candidates: bestOf(scores, touched, depth).map((index) => ({
      ...space.numberAt(index),
      score: scores[index] ?? 0,
    })),
    weights,
    scoreInDocument(candidate, document) {
      let score = 0;
      for (const index of scored) {
        const position = positions[index];
        const weight = weights[index];
        if (position === undefined || weight === undefined) continue;
        const { frequency, hasForm } = frequencyInDocument(position, document, space.byTerm, meanDocumentLength);
        score += position.factor * saturate(frequency) * (weight.weight + (hasForm ? weight.formWeight : 0));
      }
      return (1 - RANKING.documentShare) * candidate.score + RANKING.documentShare * score;
    },
  };
}

/** Returns the highest possible score of a passage for words with these weights. */
export function bestScore(weights: readonly number[]): number {
  const heaviest = weights.toSorted((a, b) => b - a).slice(0, MAX_SCORED_POSITIONS);
  return heaviest.reduce((sum, weight) => sum + weight * MAX_SATURATION, 0);
}

/** Returns the function that finds the document of a passage; null if it was replaced meanwhile. */
export function createDocumentFinder(
  documents: readonly NumberedDocument[],
): (candidate: Candidate) => NumberedDocument | null {
  const byKb = new Map<number, NumberedDocument[]>();
  for (const document of documents) byKb.set(document.kbNumber, [...(byKb.get(document.kbNumber) ?? []), document]);
  return ({ kbNumber, number }) =>
    byKb
      .get(kbNumber)
      ?.find(
        ({ firstChunkNumber, chunkCount }) => firstChunkNumber <= number && number < firstChunkNumber + chunkCount,
      ) ?? null;
}

const saturate = (frequency: number): number => (frequency * MAX_SATURATION) / (frequency + RANKING.k1);

const rarity = (total: number, count: number): number =>
  Math.log(1 + (Math.max(total - count, 0) + 0.5) / (count + 0.5));

const lengthFactor = (length: number, mean: number): number => 1 - RANKING.b + (RANKING.b * length) / mean;

/** Consecutive numbering of all blocks, so that each passage has an array index. */
interface Space {
  size: number;
  byTerm: Map<number, BlockWithBase[]>;
  /** 1 for a number without a passage; null if all have one. */
  dead: Uint8Array | null;
  numberAt(index: number): { kbNumber: number; number: number };
}

interface BlockWithBase {
  kbNumber: number;
  block: number;
  /** Index of the block's first number. */
  base: number;
  count: number;
  postings: Uint16Array | null;
}

function layOut({ kbs, blocks }: { kbs: readonly SearchedKb[]; blocks: readonly PostingBlock[] }): Space {
  const order = new Map(kbs.map(({ number }, index) => [number, index]));
  const distinct = new Map(blocks.map(({ kbNumber, block }) => [`${kbNumber} ${block}`, { kbNumber, block }]));
  const sorted = [...distinct.values()].sort(
    (a, b) => (order.get(a.kbNumber) ?? 0) - (order.get(b.kbNumber) ?? 0) || a.block - b.block,
  );
  const bases = new Map(sorted.map(({ kbNumber, block }, index) => [`${kbNumber} ${block}`, index * BLOCK_CHUNKS]));
  const byTerm = new Map<number, BlockWithBase[]>();
  for (const { term, ...block } of blocks) {
    const withBase = { ...block, base: bases.get(`${block.kbNumber} ${block.block}`) ?? 0 };
    const ofTerm = byTerm.get(term);
    if (ofTerm === undefined) byTerm.set(term, [withBase]);
    else ofTerm.push(withBase);
  }
  const size = sorted.length * BLOCK_CHUNKS;
  return {
    size,
    byTerm,
    dead: markDead(kbs, bases, size),
    numberAt(index) {
      const at = Math.floor(index / BLOCK_CHUNKS);
      const { kbNumber, block } = sorted[at] ?? { kbNumber: 0, block: 0 };
      return { kbNumber, number: block * BLOCK_CHUNKS + (index % BLOCK_CHUNKS) };
    },
  };
}

function markDead(kbs: readonly SearchedKb[], bases: ReadonlyMap<string, number>, size: number): Uint8Array | null {
  if (kbs.every(({ deadNumbers }) => deadNumbers.length === 0)) return null;
  const dead = new Uint8Array(size);
  for (const { number: kbNumber, deadNumbers } of kbs) {
    for (let at = 0; at + 1 < deadNumbers.length; at += 2) {
      const end = deadNumbers[at + 1] ?? 0;
      for (let from = deadNumbers[at] ?? 0; from < end;) {
        const block = Math.floor(from / BLOCK_CHUNKS);
        const to = Math.min(end, (block + 1) * BLOCK_CHUNKS);
        const base = bases.get(`${kbNumber} ${block}`);
        if (base !== undefined) dead.fill(1, base + (from % BLOCK_CHUNKS), base + to - block * BLOCK_CHUNKS);
        from = to;
      }
    }
  }
  return dead;
}

/** Returns the words with matches, rarest first. */
function rarestPositions(positions: readonly QueryPosition[], byTerm: Space["byTerm"]): ReadonlySet<number> {
  const counts = positions.map((position, index) => ({ index, ...countPosition(position, byTerm) }));
  const usable = counts.filter(({ count, isWhole }) => count > 0 && isWhole).sort((a, b) => a.count - b.count);
  return new Set(
    usable
      .slice(0, MAX_SCORED_POSITIONS)
      .map(({ index }) => index)
      .sort((a, b) => a - b),
  );
}

function countPosition(
  position: QueryPosition,
  byTerm: Space["byTerm"],
): { count: number; formCount: number; isWhole: boolean } {
  const blocks = position.terms.flatMap((term) => byTerm.get(term) ?? []);
  const count = blocks.reduce((total, block) => total + block.count, 0);
  return { count, formCount: count, isWhole: blocks.every(({ postings }) => postings !== null) };
}

interface Matches {
  count: number;
  formCount: number;
  /** Indexes of the passages, the frequency of the word in each, and 1 for the exact form. */
  indexes: Int32Array;
  frequencies: Float64Array;
  hasForm: Uint8Array;
}

/** Returns the passages with a word. A passage with several of its terms counts once, by the most frequent one. */
function matchPosition(position: QueryPosition, { size, byTerm, dead }: Space, meanLength: number): Matches {
  const terms = position.terms.map((term) => byTerm.get(term) ?? []).filter((list) => list.length > 0);
  const blocks = terms.flat();
  const most = blocks.reduce((total, block) => total + block.count, 0);
  const indexes = new Int32Array(most);
  const frequencies = new Float64Array(most);
  const formFlags = new Uint8Array(most);
  const seenAt = terms.length > 1 ? new Int32Array(size) : null;
  let count = 0;
  let formCount = 0;
  for (const { base, postings } of blocks) {
    if (postings === null) continue;
    for (let at = 0; at < postings.length; at += POSTING_UNITS) {
      const index = base + (postings[at] ?? 0);
      if (dead !== null && dead[index] === 1) continue;
      const counts = postings[at + 1] ?? 0;
      const frequency =
        titleCountOf(counts) * RANKING.titleWeight +
        headingCountOf(counts) * RANKING.headingWeight +
        bodyCountOf(counts) / (position.isExact === true ? 1 : lengthFactor(postings[at + 2] ?? 0, meanLength));
      const hasForm = ((postings[at + 3] ?? 0) & position.form) !== 0;
      let spot = seenAt === null ? -1 : (seenAt[index] ?? 0) - 1;
      if (spot === -1) {
        spot = count;
        count += 1;
        indexes[spot] = index;
        if (seenAt !== null) seenAt[index] = count;
      }
      if (frequency > (frequencies[spot] ?? 0)) frequencies[spot] = frequency;
      if (hasForm && formFlags[spot] === 0) {
        formFlags[spot] = 1;
        formCount += 1;
      }
    }
  }
  return { count, formCount, indexes, frequencies, hasForm: formFlags };
}

function addScores(
  scores: Float64Array,
  touched: number[],
  { count, indexes, frequencies, hasForm }: Matches,
  { weight, formWeight, factor }: PositionWeight & { factor: number },
): void {
  for (let at = 0; at < count; at += 1) {
    const index = indexes[at] ?? 0;
    const score = scores[index] ?? 0;
    if (score === 0) touched.push(index);
    scores[index] =
      score + factor * saturate(frequencies[at] ?? 0) * (hasForm[at] === 1 ? weight + formWeight : weight);
  }
}

/** Returns the indexes with the highest scores, best first; of equal ones the lowest. */
function bestOf(scores: Float64Array, touched: readonly number[], depth: number): number[] {
  // A heap of the best so far, with the worst of them on top.
  const heap: number[] = [];
  const isWorse = (a: number, b: number): boolean =>
    (scores[a] ?? 0) < (scores[b] ?? 0) || ((scores[a] ?? 0) === (scores[b] ?? 0) && a > b);
  const swap = (i: number, j: number): void => {
    [heap[i], heap[j]] = [heap[j] ?? 0, heap[i] ?? 0];
  };
  const sink = (): void => {
    for (let at = 0; ;) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < heap.length && isWorse(heap[child] ?? 0, heap[worst] ?? 0)) worst = child;
      if (worst === at) return;
      swap(at, worst);
      at = worst;
    }
  };
  for (const index of touched) {
    if (heap.length < depth) {
      heap.push(index);
      for (let at = heap.length - 1; at > 0;) {
        const parent = (at - 1) >> 1;
        if (!isWorse(heap[at] ?? 0, heap[parent] ?? 0)) break;
        swap(at, parent);
        at = parent;
      }
    } else if (isWorse(heap[0] ?? 0, index)) {
      heap[0] = index;
      sink();
    }
  }
  return heap.sort((a, b) => (isWorse(a, b) ? 1 : -1));
}

/** Returns the frequency of a word in a document; title and headings count once. */
function frequencyInDocument(
  position: QueryPosition,
  document: NumberedDocument,
  byTerm: Space["byTerm"],
  meanLength: number,
): { frequency: number; hasForm: boolean } {
  const first = document.firstChunkNumber;
  const end = first + document.chunkCount;
  const norm = position.isExact === true ? 1 : lengthFactor(document.termCount, meanLength);
  let frequency = 0;
  let hasForm = false;
  for (const term of position.terms) {
    let titleCount = 0;
    let headingCount = 0;
    let bodyCount = 0;
    for (const { kbNumber, block, postings } of byTerm.get(term) ?? []) {
      const start = block * BLOCK_CHUNKS;
      if (kbNumber !== document.kbNumber || start >= end || start + BLOCK_CHUNKS <= first || postings === null)
        continue;
      for (let at = firstFrom(postings, first - start); at < postings.length; at += POSTING_UNITS) {
        if (start + (postings[at] ?? 0) >= end) break;
        const counts = postings[at + 1] ?? 0;
        titleCount = Math.max(titleCount, titleCountOf(counts));
        headingCount = Math.max(headingCount, headingCountOf(counts));
        bodyCount += bodyCountOf(counts);
        if (((postings[at + 3] ?? 0) & position.form) !== 0) hasForm = true;
      }
    }
    const found = titleCount * RANKING.titleWeight + headingCount * RANKING.headingWeight + bodyCount / norm;
    frequency = Math.max(frequency, found);
  }
  return { frequency, hasForm };
}

/** Returns the index of the first posting of a number not below `from`. */
function firstFrom(postings: Uint16Array, from: number): number {
  let low = 0;
  let high = postings.length / POSTING_UNITS;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((postings[middle * POSTING_UNITS] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low * POSTING_UNITS;
}
