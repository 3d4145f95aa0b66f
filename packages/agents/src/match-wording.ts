import { foldAccents, tokenize } from "@svc/text";
import { lazily } from "./language-files.ts";

/** A way to say something: lists of phrases, one after the other with a few words between them. */
export type Wording = readonly (readonly string[])[];

/** Where a wording stands in folded words. */
export interface WordingMatch {
  start: number;
  end: number;
}

/** Finds a wording in words that `foldWords` has made; null where it does not stand there. */
export type WordingMatcher = (words: string) => WordingMatch | null;

/** Matches nothing. */
const NEVER = /(?!)/u;

/** The words of a text as wordings are compared: without case, accents and punctuation, one space between them. */
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
 * Makes the matcher of a wording: its lists one after the other, with at most the given number of words between them.
 * Where words are not spaced, spaces do not count.
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
