import { lazily } from "../language-files.ts";
import { anyWords, hasPhrase, languageWords, sourceOf } from "./language-words.ts";

/** Severity of an issue, with the values of a ticket's priority. */
export type IssueSeverity = "low" | "normal" | "high" | "urgent";

const expressions = lazily(() => {
  const { otherScripts, otherScriptsUrgent, fine, low, urgent } = anyWords();
  return {
    // Scripts without spaces between words may have none here.
    otherScripts: new RegExp(otherScripts.join("|"), "u"),
    otherScriptsUrgent: new RegExp(otherScriptsUrgent.join("|"), "u"),
    fine: new RegExp(sourceOf(fine), "giu"),
    low: new RegExp(sourceOf(low), "giu"),
    urgent: new RegExp(sourceOf(urgent), "giu"),
  };
});

/**
 * Returns whether a sentence in one of some languages (ISO 639-1) reports a problem or a task. An unsupported language
 * is read with the English words.
 */
export function reportsIssue(text: string, ...languages: readonly string[]): boolean {
  const said = text.replaceAll(expressions().fine, " ");
  return (
    languages.some((language) => hasPhrase(said, languageWords(language).issues)) ||
    hasPhrase(said, anyWords().issues) ||
    expressions().otherScripts.test(said) ||
    // A text that rates a problem as minor still reports a problem.
    hasPhrase(said, anyWords().low)
  );
}

/** Returns whether a sentence reports a matter as settled. */
export const isSettled = (text: string, language: string): boolean => hasPhrase(text, languageWords(language).done);

/** Returns the severity by the words of a text: if it has both "not urgent" and "urgent", only the latter counts. */
export function severityOf(text: string): IssueSeverity {
  const rest = text.replaceAll(expressions().low, " ");
  if (hasPhrase(rest, anyWords().urgent) || expressions().otherScriptsUrgent.test(rest)) return "urgent";
  if (rest !== text) return "low";
  return hasPhrase(text, anyWords().high) ? "high" : "normal";
}

/** Removes words about severity from a text. */
export const withoutRating = (text: string): string =>
  text.replaceAll(expressions().low, " ").replaceAll(expressions().urgent, " ");
