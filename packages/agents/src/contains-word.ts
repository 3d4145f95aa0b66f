import { findCodes, foldAccents, tokenize, isSameWord } from "@svc/text";

/** Returns a function that tests whether the text contains a word in any of its forms; accents and case are ignored. */
export function containsWord(text: string): (word: string) => boolean {
  const terms = termsOf(text);
  return (word) => {
    const folded = foldAccents(word);
    return terms.some((term) => isSameWord(term, folded));
  };
}

/** Minimum number of letters of a part of a compound. */
const MIN_PART_CHARS = 5;

/** Like `containsWord`, but also matches a compound that begins or ends with the word, and vice versa. */
export function containsPart(text: string): (word: string) => boolean {
  const terms = termsOf(text);
  const isPart = (part: string, whole: string): boolean =>
    part.length >= MIN_PART_CHARS && (whole.startsWith(part) || whole.endsWith(part));
  return (word) => {
    const folded = foldAccents(word);
    return terms.some(
      (term) => isSameWord(term, folded) || isPlural(term, folded) || isPart(term, folded) || isPart(folded, term),
    );
  };
}

/** Returns whether one is the plural of the other, for words too short for `isSameWord`: "dog", "dogs". */
function isPlural(one: string, other: string): boolean {
  return Math.min(one.length, other.length) >= 3 && (one === `${other}s` || other === `${one}s`);
}

function termsOf(text: string): string[] {
  const folded = foldAccents(text);
  return [...new Set([...tokenize(folded), ...findCodes(folded)].map(({ term }) => term))];
}
