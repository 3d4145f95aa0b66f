import { tokenize } from "@svc/text";
import { holdsPart } from "./holds-word.ts";
import { readNaming } from "./naming-words.ts";

const SHOWN = 3;
/** A word with letters and digits, such as the name of a model or an error. */
const CODE = /^(?=.*\p{L})(?=.*\p{N})/u;

/**
 * Returns the words that name what a question asks about and that none of the texts holds in any form, as the question
 * writes them; at most three. They tell an operator why an answer may be about something else.
 */
export function missingNames(question: string, texts: readonly string[]): string[] {
  const { words, measures } = readNaming(question);
  const holds = holdsPart(texts.join("\n"));
  const isName = (term: string) => CODE.test(term) || (words.has(term) && !measures.has(term));
  const missing = tokenize(question).filter(({ term }) => isName(term) && !holds(term));
  return [...new Set(missing.map(({ start, end }) => question.slice(start, end)))].slice(0, SHOWN);
}
