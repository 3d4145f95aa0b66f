import { REPLAY_LIMITS } from "@svc/contracts";
import type { ReplayItem, ReplayResult, ReplaySide } from "@svc/contracts";
import { compareTokens, tokenize } from "@svc/text";
import type { TokenScores } from "@svc/text";

/** Maximum number of words that are compared, because the time is proportional to the product of both counts. */
const MAX_TOKENS = 2_000;

/** From this token F1, an answer is close to the sent text. */
const NEAR = 0.5;

/** Differences in token F1 below this are ignored: a word more or less. */
const MIN_CHANGE = 0.05;

const tokensOf = (text: string) =>
  tokenize(text)
    .slice(0, MAX_TOKENS)
    .map(({ term }) => term);

/**
 * Compares an answer with the text that a person sent, by its first 2,000 words; case, punctuation and Markdown are
 * ignored. 0 without an answer.
 */
export function scoreAnswer(answer: string | null, sent: string): TokenScores {
  return answer === null ? { f1: 0, rougeL: 0 } : compareTokens(tokensOf(answer), tokensOf(sent));
}

/** The values that decide a verdict. */
type Judged = Pick<ReplaySide, "tokenF1" | "sends">;

/**
 * Returns whether a change improves an answer. An answer that would now be sent although it is far from the sent text
 * is worse. Otherwise the similarity decides and, if it is unchanged, whether a close answer is now sent or held.
 * Holding a wrong answer does not make it better.
 */
export function verdictOf(before: Judged, after: Judged): ReplayItem["verdict"] {
  const isNear = after.tokenF1 >= NEAR;
  if (after.sends && !before.sends && !isNear) return "worse";
  const change = after.tokenF1 - before.tokenF1;
  if (Math.abs(change) >= MIN_CHANGE) return change > 0 ? "better" : "worse";
  if (after.sends === before.sends) return "same";
  if (!isNear) return "same";
  return after.sends ? "better" : "worse";
}

const mean = (numbers: readonly number[]) =>
  numbers.length === 0 ? null : numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/** Tokens of language models that a side used. */
export type SideUsage = ReplayResult["summary"]["usage"]["before"];

/** Summarizes all items. */
export function summarizeReplay(
  items: readonly ReplayItem[],
  usage: { before: SideUsage; after: SideUsage },
): ReplayResult["summary"] {
  const countOf = (verdict: ReplayItem["verdict"]) => items.filter((item) => item.verdict === verdict).length;
  const both = <Value>(of: (sides: ReplaySide[]) => Value) => ({
    before: of(items.map(({ before }) => before)),
    after: of(items.map(({ after }) => after)),
  });
  return {
    replies: items.length,
    better: countOf("better"),
    worse: countOf("worse"),
    same: countOf("same"),
    sends: both((sides) => sides.filter(({ sends }) => sends).length),
    tokenF1: both((sides) => mean(sides.map(({ tokenF1 }) => tokenF1))),
    rougeL: both((sides) => mean(sides.map(({ rougeL }) => rougeL))),
    usage,
  };
}

/** Returns the beginning of a text, without splitting a character. */
export function beginningOf(text: string): string {
  const { textMaxChars } = REPLAY_LIMITS;
  return text.length <= textMaxChars
    ? text
    : `${Array.from(text.slice(0, 2 * textMaxChars))
        .slice(0, textMaxChars)
        .join("")}…`;
}
