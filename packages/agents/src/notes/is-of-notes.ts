import { stopWords, tokenize } from "@svc/text";
import { findForeignParts } from "../grounded/find-foreign-parts.ts";
import { isAbout } from "../grounded/is-about.ts";
import { ANY_NEGATION } from "./negations.ts";
import { topicTest } from "./topic-words.ts";

/** A cleaned text has no other words than the notes but forms of these and small words that join them: so many of all. */
const MAX_FOREIGN_SHARE = 0.1;
/** Of what the notes are about, by the rules' reading, at least so much is left. */
const MIN_KEPT_SHARE = 0.7;
/** It is no longer than the notes by more than this. */
const MAX_LENGTH_SHARE = 1.2;

/** Forms of one word begin alike. */
const FORM_CHARS = 4;
/** So few words say too little to tell what they are about: one of them has to be of the notes. */
const FEW_WORDS = 3;

const termsOf = (text: string) => tokenize(text).map(({ term }) => term);
const formOf = (term: string) => term.slice(0, FORM_CHARS);

/** True when a text has no address, markup or number that is not in the notes, and is about what they are about. */
export function isAboutNotes(text: string, notes: string, language: string): boolean {
  if (findForeignParts(text, { texts: [notes], question: "" }).length > 0) return false;
  const words = termsOf(text);
  if (words.length >= FEW_WORDS) return isAbout(text, notes, language) !== false;
  const known = new Set(termsOf(notes).map(formOf));
  return words.some((word) => known.has(formOf(word)));
}

/**
 * True when a text says what the notes say, in their words: nothing put in but forms of these and small words, never a
 * number or a "not", and hardly anything left out of what rules have kept (`cleaned`).
 */
export function isCleanedFrom(
  text: string,
  { notes, cleaned, language }: { notes: string; cleaned: string; language: string },
): boolean {
  if (text.trim().length > MAX_LENGTH_SHARE * notes.length) return false;
  if (findForeignParts(text, { texts: [notes], question: "" }).length > 0) return false;
  const known = new Set(termsOf(notes));
  const forms = new Set([...known].filter((term) => /^\p{L}{3,}$/u.test(term)).map(formOf));
  const small = stopWords(language);
  const words = termsOf(text);
  const foreign = words.filter((term) => !known.has(term));
  if (words.length === 0 || foreign.length > MAX_FOREIGN_SHARE * words.length) return false;
  const isHarmless = (term: string) =>
    (small.has(term) && !ANY_NEGATION.has(term)) || (/^\p{L}{3,}$/u.test(term) && forms.has(formOf(term)));
  if (!foreign.every(isHarmless)) return false;
  const isTopic = topicTest(language);
  const topics = [...new Set(termsOf(cleaned).filter(isTopic))];
  const kept = new Set(words.map(formOf));
  return topics.filter((term) => kept.has(formOf(term))).length >= MIN_KEPT_SHARE * topics.length;
}
