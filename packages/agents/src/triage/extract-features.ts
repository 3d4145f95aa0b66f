import { foldAccents, tokenize } from "@svc/text";
import { correctTerm, isFamiliar } from "./spelling.ts";
import type { Spelling } from "./spelling.ts";

/** A text as weighted features; its length is 1, or 0 if it has no known feature. */
export interface SparseVector {
  /** Distinct ids of its features. */
  features: Int32Array;
  weights: Float32Array;
}

/** The features that triage knows. */
export interface FeatureSpace {
  /** Id of each feature's hash. Pieces of words come first: their ids are below `pieceCount`. */
  ids: Map<number, number>;
  /** Weight of each feature by id: higher if it is rarer. */
  idf: number[];
  pieceCount: number;
  sampleCount: number;
}

/** Total weight of all words relative to all pieces of words. */
const WORDS_SHARE = 1;

/** Number of features processed between two yields. */
const SLICE_FEATURES = 10_000;

/** Features in fewer samples are left out if there are many samples: they are noise, and use memory. */
const LEAST_COUNTS = [
  { fromSamples: 12_000, count: 3 },
  { fromSamples: 1_500, count: 2 },
  { fromSamples: 0, count: 1 },
] as const;

/** Creates the features of samples, weighted by inverse document frequency. Yields every few milliseconds. */
export function* createFeatureSpace(samples: readonly TextFeatures[]): Generator<undefined, FeatureSpace> {
  const space: FeatureSpace = { ids: new Map(), idf: [], pieceCount: 0, sampleCount: samples.length };
  const least = LEAST_COUNTS.find(({ fromSamples }) => samples.length >= fromSamples)?.count ?? 1;
  yield* addCounted(
    space,
    samples.map(({ pieces }) => pieces),
    least,
  );
  space.pieceCount = space.idf.length;
  yield* addCounted(
    space,
    samples.map(({ words }) => words),
    least,
  );
  return space;
}

/**
 * Adds the words of another sample to `space`. Its new pieces stay unknown until the next full training, because most
 * pieces of a language are soon known.
 */
export function extendFeatureSpace(space: FeatureSpace, sample: TextFeatures): void {
  for (const hash of new Set(sample.words)) {
    if (!space.ids.has(hash)) addFeature(space, hash, 1);
  }
}

/**
 * Returns the known features of a text as a vector: TF-IDF with a logarithmic count, words and pieces scaled
 * separately.
 */
export function toVector(space: FeatureSpace, text: TextFeatures): SparseVector {
  const words = weigh(space, text.words);
  const pieces = weigh(space, text.pieces);
  const wordScale = words.length === 0 ? 0 : WORDS_SHARE / words.length;
  const pieceScale = pieces.length === 0 ? 0 : 1 / pieces.length;
  const length = Math.hypot(words.length * wordScale, pieces.length * pieceScale) || 1;
  const features = new Int32Array(words.weights.size + pieces.weights.size);
  const weights = new Float32Array(features.length);
  let position = 0;
  const put = (part: ReadonlyMap<number, number>, scale: number): void => {
    for (const [feature, weight] of part) {
      features[position] = feature;
      weights[position] = weight * scale;
      position += 1;
    }
  };
  put(words.weights, wordScale / length);
  put(pieces.weights, pieceScale / length);
  return { features, weights };
}

function weigh(space: FeatureSpace, hashes: readonly number[]): { weights: Map<number, number>; length: number } {
  const weights = new Map<number, number>();
  for (const hash of hashes) {
    const id = space.ids.get(hash);
    if (id !== undefined) weights.set(id, (weights.get(id) ?? 0) + 1);
  }
  let squares = 0;
  for (const [id, count] of weights) {
    const weight = (count === 1 ? 1 : 1 + Math.log(count)) * (space.idf[id] ?? 0);
    weights.set(id, weight);
    squares += weight * weight;
  }
  return { weights, length: Math.sqrt(squares) };
}

function* addCounted(
  space: FeatureSpace,
  samples: readonly (readonly number[])[],
  leastCount: number,
): Generator<undefined, void> {
  const counts = new Map<number, number>();
  const lastSeen = new Map<number, number>();
  for (const [sample, hashes] of samples.entries()) {
    for (const hash of hashes) {
      if (lastSeen.get(hash) === sample) continue;
      lastSeen.set(hash, sample);
      counts.set(hash, (counts.get(hash) ?? 0) + 1);
    }
    yield;
  }
  let checked = 0;
  for (const [hash, count] of counts) {
    if (count >= leastCount) addFeature(space, hash, count);
    checked += 1;
    if (checked % SLICE_FEATURES === 0) yield;
  }
}

function addFeature(space: FeatureSpace, hash: number, count: number): void {
  space.ids.set(hash, space.idf.length);
  space.idf.push(1 + Math.log((1 + space.sampleCount) / (1 + count)));
}

/** The features of a text, each as a 32-bit hash, with repetitions. */
export interface TextFeatures {
  /** Its words, neighbouring words, and nearby words in any order. */
  words: number[];
  /** The pieces of two to four characters of its words, which forms and misspellings of a word share. */
  pieces: number[];
}

/** A message prepared for triage. */
interface ReadMessage {
  /** Its features, after spelling correction. */
  vector: SparseVector;
  /** Share of its words that are known in some form, weighted by rarity; 0 to 1. */
  knownShare: number;
}

/** Number of characters that are read: the topic is stated at the beginning. */
const MAX_TEXT_CHARS = 2_000;

/** Maximum distance of the words of a pair. */
const PAIR_DISTANCE = 20;

/** Pairs are limited to the first words, because their number is quadratic. */
const MAX_PAIRED_WORDS = 60;

const PIECE_CHARS = { least: 2, most: 4 } as const;

/** Seeds that separate the kinds of features. */
const SEED = { word: 1, neighbours: 2, pair: 3, piece: 4 } as const;

const SPACE = 32;

/** Returns the words of the beginning of a text in lower case, without accents. */
export function termsOf(text: string): string[] {
  return tokenize(foldAccents(text.slice(0, MAX_TEXT_CHARS))).map(({ term }) => term);
}

/** Returns the features of a text with these words. */
export function extractFeatures(terms: readonly string[]): TextFeatures {
  return { words: wordFeatures(terms), pieces: terms.flatMap(piecesOf) };
}

function wordFeatures(terms: readonly string[]): number[] {
  const words = terms.map((term) => finish(hash(SEED.word, term)));
  const framed = ["^", ...terms, "$"];
  const neighbours = framed
    .slice(1)
    .map((term, index) => finish(hash(hash(SEED.neighbours, `${framed[index] ?? ""} `), term)));
  return [...words, ...neighbours, ...pairsOf(terms.slice(0, MAX_PAIRED_WORDS))];
}

function pairsOf(terms: readonly string[]): number[] {
  return terms.flatMap((one, index) =>
    terms.slice(index + 1, index + 1 + PAIR_DISTANCE).map((other) => {
      const [first, second] = one < other ? [one, other] : [other, one];
      return finish(hash(hash(SEED.pair, `${first} `), second));
    }),
  );
}

/** Returns the pieces of a word between two spaces, so that its beginning and its end are distinct. */
function piecesOf(term: string): number[] {
  const pieces: number[] = [];
  const codeAt = (index: number): number => (index === 0 || index > term.length ? SPACE : term.charCodeAt(index - 1));
  const length = term.length + 2;
  for (let start = 0; start < length; start += 1) {
    const end = Math.min(length, start + PIECE_CHARS.most);
    let state: number = SEED.piece;
    for (let index = start; index < end; index += 1) {
      state = step(state, codeAt(index));
      if (index - start + 1 >= PIECE_CHARS.least) pieces.push(finish(state));
    }
  }
  return pieces;
}

/** FNV-1a. */
function hash(state: number, text: string): number {
  let next = state;
  for (let index = 0; index < text.length; index += 1) next = step(next, text.charCodeAt(index));
  return next;
}

function step(state: number, code: number): number {
  return Math.imul(state ^ code, 0x01_00_01_93);
}

/** Mixes the bits of a hash (MurmurHash3's last step). */
function finish(state: number): number {
  let bits = state ^ (state >>> 16);
  bits = Math.imul(bits, 0x85_eb_ca_6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2_b2_ae_35);
  return bits ^ (bits >>> 16);
}

/** Reads a text with the known words and features. */
export function readMessage(known: { spelling: Spelling; space: FeatureSpace }, text: string): ReadMessage {
  const terms = termsOf(text).map((term) => correctTerm(known.spelling, term));
  return { vector: toVector(known.space, extractFeatures(terms)), knownShare: knownShareOf(known, terms) };
}

function knownShareOf(
  { spelling, space }: { spelling: Spelling; space: FeatureSpace },
  terms: readonly string[],
): number {
  let known = 0;
  let total = 0;
  for (const term of terms) {
    const weight = Math.max(0, Math.log((space.sampleCount + 1) / ((spelling.counts.get(term) ?? 0) + 0.5)));
    total += weight;
    if (isFamiliar(spelling, term)) known += weight;
  }
  return total === 0 ? 0 : known / total;
}
