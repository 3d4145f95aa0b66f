import { findCodes, foldAccents, tokenize, isSameWord } from "@svc/text";

/** Returns a function that says whether the text holds a word in any of its forms; accents and case do not count. */
export function holdsWord(text: string): (word: string) => boolean {
  const terms = termsOf(text);
  return (word) => {
    const folded = foldAccents(word);
    return terms.some((term) => isSameWord(term, folded));
  };
}

/** Words that share fewer letters with a compound are no part of it. */
const MIN_PART_CHARS = 5;

/** As `holdsWord`, and true as well for a compound that one of its words begins or ends, or the other way round. */
export function holdsPart(text: string): (word: string) => boolean {
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

/** A word too short for `isSameWord` may have a plural all the same: "dog", "dogs". */
function isPlural(one: string, other: string): boolean {
  return Math.min(one.length, other.length) >= 3 && (one === `${other}s` || other === `${one}s`);
}

function termsOf(text: string): string[] {
  const folded = foldAccents(text);
  return [...new Set([...tokenize(folded), ...findCodes(folded)].map(({ term }) => term))];
}
