/** Maximum confidence of any answer, equal to that of a quote. */
const MAX_CONFIDENCE = 0.95;

/** Share of the remaining confidence that a fully supported answer gains. */
const FULL_SUPPORT_LIFT = 0.5;

/** Confidence of a tool result: it is usually about the question. */
const RESULT_CONFIDENCE = 0.8;

/** Factor for the quotes of a search if the model reports that the passages do not answer. */
const NOT_ANSWERED_FACTOR = 0.8;

/** Evidence for a model's answer. */
export interface AnswerEvidence {
  /** Share of its statements that the cited text supports, by length, 0 to 1. */
  support: number;
  /** Share of these that only tool results support, 0 to 1. */
  byResults: number;
  /** True when each statement could be compared with the text it cites. */
  isCompared: boolean;
  /** Confidence of the search that the knowledge bases answer the question, 0 to 1. */
  statistical: number;
  /** Whether the model reports that it has answered. */
  isAnswered: boolean;
}

/**
 * Returns the confidence of a model's answer, from 0 to 0.95, on the same scale as that of quotes.
 *
 * With `base = statistical`, or 0.8 for the share that tool results support:
 * - not answered: `0.8 · statistical · support`, for the quotes that are sent instead;
 * - fully supported and compared: `base + (0.95 − base) / 2`. It stays below one half if the search found nothing;
 * - else `support · base`, never more than the confidence of the search.
 *
 * It never decreases when one of its arguments increases.
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
