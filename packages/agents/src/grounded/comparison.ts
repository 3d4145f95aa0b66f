import { CONVERSIONS } from "./read-amounts.ts";
import { isSameWord } from "@svc/text";
import type { Amount } from "./read-amounts.ts";

/** What a comparison of a claim with the sentences that it quotes has shown. */
export interface Comparison {
  /**
   * `same`: each word that matters stands in the quoted sentences, and nothing turns them. `unsure`: words alone cannot
   * tell. `different`: the claim says something else.
   */
  verdict: "same" | "unsure" | "different";
  /** Why it is not `same`, in words for an operator; empty where it is. */
  why: string;
}

export const SAME: Comparison = { verdict: "same", why: "" };
export const different = (why: string): Comparison => ({ verdict: "different", why });
export const unsure = (why: string): Comparison => ({ verdict: "unsure", why });
/** The higher, the less alike. */
export const RANK = { same: 0, unsure: 1, different: 2 } as const;

/** Languages that make one word of several. */
const COMPOUNDING: ReadonlySet<string> = new Set(["de", "nl", "sv", "da", "no", "nb", "nn", "fi"]);
const MIN_PART_CHARS = 5;

/** Returns whether words hold another one in any of its forms; "unopened" is no form of "opened". */
export function holdsForm(words: Iterable<string>, language: string): (word: string) => boolean {
  const held = [...words];
  const isPart = (part: string, whole: string) =>
    part.length >= MIN_PART_CHARS && (whole.startsWith(part) || (whole.endsWith(part) && !whole.startsWith("un")));
  const isForm = (one: string, other: string) =>
    isSameWord(one, other) ||
    (Math.min(one.length, other.length) >= 3 && (one === `${other}s` || other === `${one}s`)) ||
    (COMPOUNDING.has(language) && (isPart(one, other) || isPart(other, one)));
  return (word) =>
    held.some((one) => isForm(one, word)) ||
    (word.includes("-") && word.split("-").every((part) => held.some((one) => isForm(one, part))));
}

/** Returns the comparison that shows most difference; the first of several. */
export function worstOf(comparisons: readonly Comparison[]): Comparison {
  return comparisons.reduce((worst, next) => (RANK[next.verdict] > RANK[worst.verdict] ? next : worst), SAME);
}

/** Returns whether two amounts are one, in other units too. `units` are those of the sentences of the other. */
export function isSameAmount(one: Amount, other: Amount, units: ReadonlyMap<string, string>): boolean {
  if (one.value === other.value && (one.unit === other.unit || isUnitKnown(one, other, units))) return true;
  // A time of day is written in digits or in words, with and without its half of the day.
  if (one.unit === "clock" && other.unit === null)
    return one.value / 60 === other.value || one.value / 60 - 12 === other.value;
  if (other.unit === "clock" && one.unit === null)
    return other.value / 60 === one.value || other.value / 60 - 12 === one.value;
  return CONVERSIONS.some(
    ([large, small, factor]) =>
      (one.unit === large && other.unit === small && one.value * factor === other.value) ||
      (other.unit === large && one.unit === small && other.value * factor === one.value),
  );
}

/** One of them has no unit of its own: that of the other is then one of the sentence. */
function isUnitKnown(one: Amount, other: Amount, units: ReadonlyMap<string, string>): boolean {
  if (one.unit === null) return true;
  return other.unit === null && units.has(one.unit);
}
