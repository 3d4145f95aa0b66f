import {
  detectLanguage,
  findSynonyms,
  findTopics,
  foldAccents,
  isSameWord,
  likeness,
  meaningOf,
  stopWords,
  tokenize,
  wordRarity,
} from "@svc/text";
import type { Meaning as Direction } from "@svc/text";
import type { SparseVector } from "./extract-features.ts";

/** The words that triage knows, for correcting misspelt ones. */
export interface Spelling {
  /** Number of samples that contain each word. */
  counts: Map<string, number>;
  /** Known words by the results of leaving out at most one letter. */
  shortened: Map<string, string[]>;
  /** Number of known words by prefix. */
  beginnings: Map<string, number>;
}

/** Shorter words are too similar to each other to correct; longer ones are not words. */
const CORRECTED_CHARS = { least: 4, most: 30 } as const;

/** Length of the prefix that the forms of one word share, in any language; shorter words must be equal. */
const BEGINNING_CHARS = { least: 4, most: 5 } as const;

/** Creates a spelling without words. */
export function createSpelling(): Spelling {
  return { counts: new Map(), shortened: new Map(), beginnings: new Map() };
}

/** Adds the words of a sample. Changes `spelling`. */
export function addWords(spelling: Spelling, terms: readonly string[]): void {
  for (const term of new Set(terms)) {
    const count = spelling.counts.get(term) ?? 0;
    spelling.counts.set(term, count + 1);
    if (count > 0) continue;
    for (const beginning of beginningsOf(term)) {
      spelling.beginnings.set(beginning, (spelling.beginnings.get(beginning) ?? 0) + 1);
    }
    if (!isCorrectable(term)) continue;
    for (const short of shorten(term)) {
      const words = spelling.shortened.get(short);
      if (words === undefined) spelling.shortened.set(short, [term]);
      else if (!words.includes(term)) words.push(term);
    }
  }
}

/** Removes the words of a sample. Changes `spelling`; a word in no other sample becomes unknown. */
export function removeWords(spelling: Spelling, terms: readonly string[]): void {
  for (const term of new Set(terms)) {
    const count = spelling.counts.get(term) ?? 0;
    if (count > 1) {
      spelling.counts.set(term, count - 1);
      continue;
    }
    if (!spelling.counts.delete(term)) continue;
    for (const beginning of beginningsOf(term)) {
      spelling.beginnings.set(beginning, (spelling.beginnings.get(beginning) ?? 0) - 1);
    }
  }
}

/** Returns whether a word or another form of it is known. */
export function isFamiliar(spelling: Spelling, term: string): boolean {
  if (spelling.counts.has(term)) return true;
  return (
    term.length >= BEGINNING_CHARS.least && (spelling.beginnings.get(term.slice(0, BEGINNING_CHARS.most)) ?? 0) > 0
  );
}

/**
 * Returns the most likely intended word for an unknown one: one edit away (a letter left out, added or changed, or two
 * swapped), with the same first letter if possible, and the most common of those. Returns known words, words with
 * digits, and words without a close one unchanged.
 */
export function correctTerm(spelling: Spelling, term: string): string {
  if (spelling.counts.has(term) || !isCorrectable(term)) return term;
  const close = [...new Set(shorten(term).flatMap((short) => spelling.shortened.get(short) ?? []))]
    .filter((word) => spelling.counts.has(word) && isOneLetterAway(term, word))
    .map((word) => ({ word, sameStart: word[0] === term[0], count: spelling.counts.get(word) ?? 0 }))
    .sort((a, b) => Number(b.sameStart) - Number(a.sameStart) || b.count - a.count || (a.word < b.word ? -1 : 1));
  return close[0]?.word ?? term;
}

function isCorrectable(term: string): boolean {
  return term.length >= CORRECTED_CHARS.least && term.length <= CORRECTED_CHARS.most && !/\p{N}/u.test(term);
}

function beginningsOf(term: string): string[] {
  if (term.length < BEGINNING_CHARS.least) return [];
  return [...new Set([term.slice(0, BEGINNING_CHARS.least), term.slice(0, BEGINNING_CHARS.most)])];
}

/** Returns a word and the results of leaving out one of its letters. */
function shorten(term: string): string[] {
  return [term, ...Array.from(term, (_, index) => term.slice(0, index) + term.slice(index + 1))];
}

/** Returns whether two words differ by one letter added, left out or changed, or by two swapped neighbours. */
function isOneLetterAway(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  if (short.length < long.length) return short.slice(start) === long.slice(start + 1);
  if (short.slice(start + 1) === long.slice(start + 1)) return true;
  const isSwapped = short[start] === long[start + 1] && short[start + 1] === long[start];
  return isSwapped && short.slice(start + 2) === long.slice(start + 2);
}

/** Maximum number of samples that a message is compared with; the last ones are used. */
const MAX_COMPARED = 1_000;

/** Weight of a message's word that is in a description, is a synonym of one there, or is related to one. */
const KINSHIP = { same: 1, synonym: 0.8, akin: 0.35 } as const;

/** Topic words of a text and their synonyms. */
export interface Meaning {
  words: readonly { term: string; rarity: number }[];
  synonyms: ReadonlySet<string>;
  synonymsOf: ReadonlyMap<string, readonly string[]>;
  /** Its topics: see `findTopics`. */
  topics: ReadonlyMap<number, number>;
  /** Its overall direction; null for a language without word vectors. */
  direction: Direction | null;
}

/** Weight of a message's word that belongs to a topic of a description, and the maximum number of such words. */
const TOPIC = { weight: 0.7, maxWords: 2 } as const;

/** Maximum number of topics of a description: those of most of its words. */
const MAX_TOPICS = 3;

/** Reads the topic of a text. */
export function readMeaning(text: string): Meaning {
  const { language } = detectLanguage(text);
  const stops = stopWords(language);
  const synonymsOf = findSynonyms(text, language);
  const terms = new Set(tokenize(text).flatMap(({ term }) => (stops.has(term) ? [] : [foldAccents(term)])));
  return {
    words: [...terms].map((term) => ({ term, rarity: wordRarity(term, language) ** 2 })),
    synonyms: new Set([...synonymsOf.values()].flat()),
    synonymsOf,
    topics: findTopics(text, language),
    direction: meaningOf(
      tokenize(text).map(({ term }) => term),
      language,
    ),
  };
}

/**
 * Returns how much of a message's topic a description names, verbatim or in other words: the sum over the message's
 * words of their rarity in everyday language times their relation to the description.
 */
export function sharedMeaning(message: Meaning, description: Meaning): number {
  const isNamed = (term: string): boolean => description.words.some((word) => isSameWord(word.term, term));
  return (
    topicsShared(message, description) +
    message.words.reduce((total, { term, rarity }) => {
      if (isNamed(term)) return total + KINSHIP.same * rarity;
      const synonyms = message.synonymsOf.get(term) ?? [];
      if (description.synonyms.has(term) || synonyms.some(isNamed)) return total + KINSHIP.synonym * rarity;
      return synonyms.some((synonym) => description.synonyms.has(synonym)) ? total + KINSHIP.akin * rarity : total;
    }, 0)
  );
}

/** Returns the similarity of two whole texts, -1 to 1; 0 if unknown. */
export function likenessOf(message: Meaning, description: Meaning): number {
  return likeness(message.direction, description.direction);
}

function topicsShared(message: Meaning, description: Meaning): number {
  const named = [...description.topics].sort(([, a], [, b]) => b - a).slice(0, MAX_TOPICS);
  const counts = named.map(([topic]) => Math.min(TOPIC.maxWords, message.topics.get(topic) ?? 0));
  return TOPIC.weight * Math.max(0, ...counts);
}

/** Returns the sample most similar to a vector, and its cosine: 0 to 1. Null if there are no samples. */
export function findClosest<Sample extends { vector: SparseVector }>(
  samples: readonly Sample[],
  vector: SparseVector,
  featureCount: number,
): { sample: Sample; likeness: number } | null {
  const weights = new Float32Array(featureCount);
  for (let position = 0; position < vector.features.length; position += 1) {
    weights[vector.features[position] ?? 0] = vector.weights[position] ?? 0;
  }
  let closest: { sample: Sample; likeness: number } | null = null;
  for (const sample of samples.slice(-MAX_COMPARED)) {
    const { features, weights: sampleWeights } = sample.vector;
    let likeness = 0;
    for (let position = 0; position < features.length; position += 1) {
      likeness += (weights[features[position] ?? 0] ?? 0) * (sampleWeights[position] ?? 0);
    }
    if (closest === null || likeness > closest.likeness) closest = { sample, likeness };
  }
  return closest;
}
