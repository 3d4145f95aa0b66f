import type { TextFeatures, FeatureSpace, SparseVector } from "./feature-space.ts";
import { foldAccents, tokenize } from "@svc/text";
import { toVector } from "./feature-space.ts";
import { correctTerm, isFamiliar } from "./spelling.ts";
import type { Spelling } from "./spelling.ts";

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
