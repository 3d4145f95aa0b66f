import { ANY_WORDS, hasPhrase, languageWords, sourceOf } from "./language-words.ts";

/** How badly an issue hurts; the same words as a ticket's priority. */
export type IssueSeverity = "low" | "normal" | "high" | "urgent";

/** In scripts of their own words may have no spaces between them. */
const ISSUE_IN_OTHER_SCRIPTS = new RegExp(ANY_WORDS.otherScripts.join("|"), "u");
const URGENT_IN_OTHER_SCRIPTS = new RegExp(ANY_WORDS.otherScriptsUrgent.join("|"), "u");

const FINE = new RegExp(sourceOf(ANY_WORDS.fine), "giu");
const LOW = new RegExp(sourceOf(ANY_WORDS.low), "giu");
const URGENT = new RegExp(sourceOf(ANY_WORDS.urgent), "giu");

/**
 * Whether a sentence in one of some languages (ISO 639-1) tells of something that is not as it should be, or that is to be
 * done. Of a language without words here, it is read in English.
 */
export function tellsIssue(text: string, ...languages: readonly string[]): boolean {
  const said = text.replaceAll(FINE, " ");
  return (
    languages.some((language) => hasPhrase(said, languageWords(language).issues)) ||
    hasPhrase(said, ANY_WORDS.issues) ||
    ISSUE_IN_OTHER_SCRIPTS.test(said) ||
    // Who says how little something hurts, tells of something that does.
    hasPhrase(said, ANY_WORDS.low)
  );
}

/** Whether a sentence says that a matter is settled. */
export const isSettled = (text: string, language: string): boolean => hasPhrase(text, languageWords(language).done);

/** How badly it hurts, by its words: of "not urgent" and "urgent" in one text, only the latter counts. */
export function severityOf(text: string): IssueSeverity {
  const rest = text.replaceAll(LOW, " ");
  if (hasPhrase(rest, ANY_WORDS.urgent) || URGENT_IN_OTHER_SCRIPTS.test(rest)) return "urgent";
  if (rest !== text) return "low";
  return hasPhrase(text, ANY_WORDS.high) ? "high" : "normal";
}

/** A text without what it says of how badly something hurts. */
export const withoutRating = (text: string): string => text.replaceAll(LOW, " ").replaceAll(URGENT, " ");
