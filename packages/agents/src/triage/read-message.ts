import { extractFeatures, termsOf } from "./extract-features.ts";
import { toVector } from "./feature-space.ts";
import type { FeatureSpace, SparseVector } from "./feature-space.ts";
import { correctTerm, isFamiliar } from "./spelling.ts";
import type { Spelling } from "./spelling.ts";

/** A message as triage looks at it. */
export interface ReadMessage {
  /** What it is about, misspelt words corrected. */
  vector: SparseVector;
  /** What share of what its words say, by their rarity, is said by words that are known in some form; 0 to 1. */
  knownShare: number;
}

/** Reads a text with the words and features that are known. */
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
