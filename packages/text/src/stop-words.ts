import { primaryLanguage } from "./language-data.ts";
import { QUESTION_WORD_LISTS, STOP_WORD_LISTS } from "./stop-word-lists.ts";

const NONE: ReadonlySet<string> = new Set();

const stopWordSets = toSets(STOP_WORD_LISTS);
const questionWordSets = toSets(QUESTION_WORD_LISTS);

/** The languages that have stop words here, as ISO 639-1. */
export const STOP_WORD_LANGUAGES: readonly string[] = [...stopWordSets.keys()];

/**
 * The words of a language that carry no topic, question words among them, as `tokenize` gives its terms: in lower
 * case, with accents. Empty for a language without a list. The tag may have a region (`pt-BR`).
 */
export function stopWords(language: string): ReadonlySet<string> {
  return stopWordSets.get(primaryLanguage(language)) ?? NONE;
}

/** The words of a language that ask (who, what, when …), in the form of `stopWords`. */
export function questionWords(language: string): ReadonlySet<string> {
  return questionWordSets.get(primaryLanguage(language)) ?? NONE;
}

function toSets(lists: Readonly<Record<string, string>>): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    Object.entries(lists).map(([language, words]): [string, ReadonlySet<string>] => [
      language,
      new Set(words.trim().split(/\s+/)),
    ]),
  );
}
