import { ANY_WORDS, expressionOf, hasPhrase, languageWords, sourceOf } from "./language-words.ts";

/** How badly an issue hurts; the same words as a ticket's priority. */
export type IssueSeverity = "low" | "normal" | "high" | "urgent";

/**
 * Whether a sentence in one of some languages (ISO 639-1) tells of something that is not as it should be, or that is to be
 * done. Of a language without words here, it is read in English.
 */
export function tellsIssue(text: string, ...languages: readonly string[]): boolean {
  const said = without(text, ANY_WORDS.fine);
  return (
    languages.some((language) => hasPhrase(said, languageWords(language).issues)) ||
    hasPhrase(said, ANY_WORDS.issues) ||
    isIn(said, ANY_WORDS.otherScripts) ||
    // Who says how little something hurts, tells of something that does.
    hasPhrase(said, ANY_WORDS.low)
  );
}

/** Whether a sentence says that a matter is settled. */
export const isSettled = (text: string, language: string): boolean => hasPhrase(text, languageWords(language).done);

/** How badly it hurts, by its words: of "not urgent" and "urgent" in one text, only the latter counts. */
export function severityOf(text: string): IssueSeverity {
  const rest = without(text, ANY_WORDS.low);
  if (hasPhrase(rest, ANY_WORDS.urgent) || isIn(rest, ANY_WORDS.otherScriptsUrgent)) return "urgent";
  if (rest !== text) return "low";
  return hasPhrase(text, ANY_WORDS.high) ? "high" : "normal";
}

/** A text without what it says of how badly something hurts. */
export const withoutRating = (text: string): string => [ANY_WORDS.low, ANY_WORDS.urgent].reduce(without, text);

const without = (text: string, phrases: readonly string[]): string =>
  text.replaceAll(expressionOf(sourceOf(phrases), "giu"), " ");

/** In scripts of their own words may have no spaces between them. */
const isIn = (text: string, words: readonly string[]) => expressionOf(words.join("|"), "u").test(text);
