import { foldAccents, tokenize } from "@svc/text";
import { isSameWord } from "./is-same-word.ts";

/** Answers whether a text holds a word in any of its forms; accents and case do not count. */
export function holdsWord(text: string): (word: string) => boolean {
  const terms = [...new Set(tokenize(foldAccents(text)).map(({ term }) => term))];
  return (word) => {
    const folded = foldAccents(word);
    return terms.some((term) => isSameWord(term, folded));
  };
}
