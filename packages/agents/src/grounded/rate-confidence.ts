/** What any answer can be sure of at most: that of a quote. */
const MAX_CONFIDENCE = 0.95;

/** So much of what is missing up to that, an answer gains that is supported in full. */
const FULL_SUPPORT_LIFT = 0.5;

/** What a tool has answered is about what was asked, mostly. */
const RESULT_CONFIDENCE = 0.8;

/** When the model says that the passages do not answer, the quotes of a search count for so much. */
const NOT_ANSWERED_FACTOR = 0.8;

/** What is known of an answer of a model. */
export interface AnswerEvidence {
  /** The share of its statements that cited text supports, by length, 0 to 1. */
  support: number;
  /** Of those, the share that results of tools support and no passage, 0 to 1. */
  byResults: number;
  /** True when what was cited could be compared with what is said, for each statement. */
  isCompared: boolean;
  /** How sure a search is that the knowledge bases answer the question, 0 to 1. */
  statistical: number;
  /** Whether the model says that it has answered. */
  isAnswered: boolean;
}

/**
 * How sure an answer of a model is, from 0 to 0.95, to be compared with an agent's threshold as that of quotes is.
 *
 * With `base = statistical`, or 0.8 for the share that results of tools support:
 * - not answered: `0.8 · base`, for the quotes that are sent instead;
 * - supported in full, and compared: `base + (0.95 − base) / 2`. A search that found nothing leaves it below one half;
 * - else `support · base`, never more than the search alone would be.
 *
 * It never falls when one of its arguments grows.
 */
export function rateConfidence({ support, byResults, isCompared, statistical, isAnswered }: AnswerEvidence): number {
  const base = Math.min(
    MAX_CONFIDENCE,
    (1 - byResults) * statistical + byResults * Math.max(statistical, RESULT_CONFIDENCE),
  );
  if (!isAnswered)
    return NOT_ANSWERED_FACTOR * Math.min(MAX_CONFIDENCE, statistical) * Math.min(1, Math.max(0, support));
  if (support >= 1 && isCompared) return base + FULL_SUPPORT_LIFT * (MAX_CONFIDENCE - base);
  return Math.min(1, Math.max(0, support)) * base;
}
