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
