import { REPLAY_LIMITS } from "@svc/contracts";
import type { ReplayItem, ReplayResult, ReplaySide } from "@svc/contracts";
import { compareTokens, tokenize } from "@svc/text";
import type { TokenScores } from "@svc/text";

/** So many words of a text are compared: comparing takes time in proportion to the product of both counts. */
const MAX_TOKENS = 2_000;

/** From this token F1 on an answer is near to what was sent. */
const NEAR = 0.5;

/** A token F1 that differs by less is the same: a word more or less. */
const MIN_CHANGE = 0.05;

const tokensOf = (text: string) =>
  tokenize(text)
    .slice(0, MAX_TOKENS)
    .map(({ term }) => term);

/**
 * How near an answer is to what a person has sent, by its first 2,000 words; case, punctuation and Markdown marks do not
 * count. 0 where there is no answer.
 */
export function scoreAnswer(answer: string | null, sent: string): TokenScores {
  return answer === null ? { f1: 0, rougeL: 0 } : compareTokens(tokensOf(answer), tokensOf(sent));
}

/** What a verdict goes by. */
type Judged = Pick<ReplaySide, "tokenF1" | "sends">;

/**
 * Whether a change makes an answer better. What would now be sent although it is far from what was sent is worse,
 * whatever it was before; then its nearness decides, and where that stays, whether a near one is now sent or held. That
 * a far one is now held makes it no better an answer.
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

/** Tokens of language models that a side took. */
export type SideUsage = ReplayResult["summary"]["usage"]["before"];

/** What all items say together. */
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

/** The beginning of a text, as much of it as is told; never cut inside a character. */
export function beginningOf(text: string): string {
  const { textMaxChars } = REPLAY_LIMITS;
  return text.length <= textMaxChars
    ? text
    : `${Array.from(text.slice(0, 2 * textMaxChars))
        .slice(0, textMaxChars)
        .join("")}…`;
}
