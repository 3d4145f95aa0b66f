import { foldAccents, tokenize, findCodes, isSameWord } from "@svc/text";
import { lazily } from "./language-files.ts";

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

/** A phrasing: lists of alternative phrases in sequence, with a few words between them. */
export type Wording = readonly (readonly string[])[];

/** Position of a match in folded words. */
export interface WordingMatch {
  start: number;
  end: number;
}

/** Finds a wording in words returned by `foldWords`; null if there is no match. */
export type WordingMatcher = (words: string) => WordingMatch | null;

/** Matches nothing. */
const NEVER = /(?!)/u;

/** Normalizes text for comparison with wordings: no case, accents and punctuation, single spaces. */
export function foldWords(text: string): string {
  return tokenize(text)
    .map(({ term }) => foldAccents(term).toLowerCase())
    .join(" ");
}

/** The phrases of a list, folded. */
export function phrasesOf(list: readonly string[]): string[] {
  return list.map(foldWords).filter((phrase) => phrase !== "");
}

/**
 * Creates the matcher of a wording: its lists in sequence, with at most the given number of words between them. Spaces
 * are ignored in scripts without them.
 */
export function matchWording(
  wording: Wording,
  { gap, isUnspaced }: { gap: number; isUnspaced: boolean },
): WordingMatcher {
  const pattern = lazily(() => {
    const lists = wording.map((list) => phrasesOf(list).map((phrase) => escape(isUnspaced ? compact(phrase) : phrase)));
    if (lists.some((list) => list.length === 0)) return NEVER;
    const between = isUnspaced ? `[^ ]{0,${gap * 4}}?` : `(?: [^ ]+){0,${gap}}? `;
    const body = lists.map((list) => `(?:${list.join("|")})`).join(between);
    return new RegExp(isUnspaced ? body : `(?<![^ ])${body}(?![^ ])`, "u");
  });
  return (words) => {
    const found = pattern().exec(isUnspaced ? compact(words) : words);
    return found === null ? null : { start: found.index, end: found.index + found[0].length };
  };
}

function compact(words: string): string {
  return words.replaceAll(" ", "");
}

function escape(phrase: string): string {
  return phrase.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
