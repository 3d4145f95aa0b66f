import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import { findCodes, foldAccents, isSameWord, tokenize } from "@svc/text";

/** Phrases, separated by commas; a list may have several lines. */
export const phrases = z
  .array(z.string())
  .transform((lines) => lines.flatMap((line) => line.split(",").map((phrase) => phrase.trim())));

/** Words, separated by spaces; a list may have several lines. */
export const words = z.array(z.string()).transform((lines) => lines.flatMap((line) => line.split(" ")));

/**
 * Returns a function that reads the file of a language (ISO 639-1) in `data/<folder>` on first use, and null for a
 * language without a file. Adding a file adds a language. Throws if a file does not match the schema.
 */
export function createLanguageFiles<Data>(folder: string, schema: z.ZodType<Data>): (language: string) => Data | null {
  const known = new Map<string, Data | null>();
  return (language) => {
    const before = known.get(language);
    if (before !== undefined) return before;
    const file = new URL(`../data/${folder}/${language}.json`, import.meta.url);
    const isLanguage = /^[a-z]{2,3}$/.test(language) && existsSync(file);
    const data = isLanguage ? schema.parse(JSON.parse(readFileSync(file, "utf8"))) : null;
    known.set(language, data);
    return data;
  };
}

/**
 * Returns a function that creates a value on its first call and caches it: for values that are slow to create and not
 * needed by every importer.
 */
export function lazily<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}

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
type Wording = readonly (readonly string[])[];

/** Position of a match in folded words. */
interface WordingMatch {
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
