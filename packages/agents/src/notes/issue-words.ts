import { lazily } from "../lazily.ts";
import { anyWords, hasPhrase, languageWords, sourceOf } from "./language-words.ts";

/** How badly an issue hurts; the same words as a ticket's priority. */
export type IssueSeverity = "low" | "normal" | "high" | "urgent";

const expressions = lazily(() => {
  const { otherScripts, otherScriptsUrgent, fine, low, urgent } = anyWords();
  return {
    // In scripts of their own words may have no spaces between them.
    otherScripts: new RegExp(otherScripts.join("|"), "u"),
    otherScriptsUrgent: new RegExp(otherScriptsUrgent.join("|"), "u"),
    fine: new RegExp(sourceOf(fine), "giu"),
    low: new RegExp(sourceOf(low), "giu"),
    urgent: new RegExp(sourceOf(urgent), "giu"),
  };
});

/**
 * Whether a sentence in one of some languages (ISO 639-1) tells of something that is not as it should be, or that is to be
 * done. Of a language without words here, it is read in English.
 */
export function tellsIssue(text: string, ...languages: readonly string[]): boolean {
  const said = text.replaceAll(expressions().fine, " ");
  return (
    languages.some((language) => hasPhrase(said, languageWords(language).issues)) ||
    hasPhrase(said, anyWords().issues) ||
    expressions().otherScripts.test(said) ||
    // Who says how little something hurts, tells of something that does.
    hasPhrase(said, anyWords().low)
  );
}

/** Whether a sentence says that a matter is settled. */
export const isSettled = (text: string, language: string): boolean => hasPhrase(text, languageWords(language).done);

/** How badly it hurts, by its words: of "not urgent" and "urgent" in one text, only the latter counts. */
export function severityOf(text: string): IssueSeverity {
  const rest = text.replaceAll(expressions().low, " ");
  if (hasPhrase(rest, anyWords().urgent) || expressions().otherScriptsUrgent.test(rest)) return "urgent";
  if (rest !== text) return "low";
  return hasPhrase(text, anyWords().high) ? "high" : "normal";
}

/** A text without what it says of how badly something hurts. */
export const withoutRating = (text: string): string =>
  text.replaceAll(expressions().low, " ").replaceAll(expressions().urgent, " ");
