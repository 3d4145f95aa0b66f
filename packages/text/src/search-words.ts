import { foldAccents } from "./fold-accents.ts";
import { tokenize } from "./tokenize.ts";

/** Characters of a word that count; longer words are not typed in full. */
const MAX_WORD_CHARS = 64;

/**
 * The different words of a text in the form in which a search by words compares them: lower case, without accents, the
 * first 64 characters of each, in the order in which they come first.
 */
export function searchWords(text: string): string[] {
  return [...new Set(tokenize(text).map(({ term }) => formOf(term)))];
}

function formOf(term: string): string {
  const folded = foldAccents(term);
  return folded.length <= MAX_WORD_CHARS ? folded : Array.from(folded).slice(0, MAX_WORD_CHARS).join("");
}
