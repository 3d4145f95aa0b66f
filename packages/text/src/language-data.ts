import { existsSync, readFileSync, readdirSync } from "node:fs";

/** Codes that mean a language which this package knows under another one. */
const ALIASES: Readonly<Record<string, string>> = { nb: "no", nn: "no", iw: "he", in: "id", ji: "yi" };

/**
 * The language of a tag as ISO 639-1 in lower case: `pt-BR` → `pt`, `nb` → `no`. What is no tag comes back as it is in
 * lower case; nothing throws.
 */
export function primaryLanguage(tag: string): string {
  const primary = tag.trim().toLowerCase().split(/[-_]/, 1)[0] ?? "";
  return ALIASES[primary] ?? primary;
}

/**
 * Makes a reader of the lists in `data/<folder>`, one text file per language (ISO 639-1): reads a language when it is first
 * asked for. A language is added by adding its file. Returns what `make` makes of the lines, of none without a file.
 */
export function createLanguageData<T>(folder: string, make: (lines: readonly string[]) => T): (language: string) => T {
  const known = new Map<string, T>();
  return (tag) => {
    const language = primaryLanguage(tag);
    let data = known.get(language);
    if (data === undefined) {
      const file = new URL(`../data/${folder}/${language}.txt`, import.meta.url);
      const isLanguage = /^[a-z]{2,3}$/.test(language) && existsSync(file);
      data = make(isLanguage ? readFileSync(file, "utf8").trim().split("\n") : []);
      known.set(language, data);
    }
    return data;
  };
}

/** The text search configurations of PostgreSQL 18 that have a stemmer. 17 and earlier lack `estonian`. */
const CONFIGS: Readonly<Record<string, string>> = {
  ar: "arabic",
  bs: "serbian",
  ca: "catalan",
  da: "danish",
  de: "german",
  el: "greek",
  en: "english",
  es: "spanish",
  et: "estonian",
  eu: "basque",
  fi: "finnish",
  fr: "french",
  ga: "irish",
  hi: "hindi",
  hr: "serbian",
  hu: "hungarian",
  hy: "armenian",
  id: "indonesian",
  it: "italian",
  lt: "lithuanian",
  ne: "nepali",
  nl: "dutch",
  no: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
  yi: "yiddish",
};

/**
 * The name of the text search configuration for a language tag (`en`, `pt-BR`); `simple` when PostgreSQL has no
 * stemmer for it. Bosnian and Croatian take the Serbian stemmer, which knows both scripts.
 * The result is one of a fixed set of names, so it may be used where SQL wants a `regconfig`.
 */
export function postgresConfigOf(language: string): string {
  const primary = primaryLanguage(language);
  return Object.hasOwn(CONFIGS, primary) ? (CONFIGS[primary] ?? "simple") : "simple";
}

/** A file of `data/function-words`, one per language (ISO 639-1): words in lower case, separated by spaces. */
interface FunctionWords {
  /** Grammatical words without a topic, including question words. */
  stop: string[];
  /** Words that ask. */
  question: string[];
  /**
   * Words of short messages that show the language, though they are no stop words: greetings, thanks, and the words for
   * password, order, invoice, account, delivery, refund, subscription, cancel, delete, forgotten.
   */
  message: string[];
}

/**
 * The stop words of da, de, en, es, fi, fr, hu, it, ne, nl, no, pt, ru, sv and tr began as those that PostgreSQL ships,
 * which are the Snowball project's (BSD-3-Clause; Copyright (c) 2001, Dr Martin Porter; Copyright (c) 2004, 2005,
 * Richard Boulton) and, for Nepali, PostgreSQL's own (PostgreSQL License). Modern function words were added and words
 * with a topic of their own removed. Serbian is in both of its scripts.
 */
const FOLDER = new URL("../data/function-words/", import.meta.url);

const NONE: ReadonlySet<string> = new Set();

/** The languages that have stop words here, as ISO 639-1. */
export const STOP_WORD_LANGUAGES: readonly string[] = readdirSync(FOLDER)
  .map((file) => file.replace(".json", ""))
  .toSorted();

const known = new Map<string, Readonly<Record<keyof FunctionWords, ReadonlySet<string>>>>();

function wordsOf(tag: string, kind: keyof FunctionWords): ReadonlySet<string> {
  const language = primaryLanguage(tag);
  if (!STOP_WORD_LANGUAGES.includes(language)) return NONE;
  let words = known.get(language);
  if (words === undefined) {
    const file = JSON.parse(readFileSync(new URL(`${language}.json`, FOLDER), "utf8")) as FunctionWords;
    const setOf = (lines: readonly string[]) => new Set(lines.flatMap((line) => line.split(" ")));
    words = { stop: setOf(file.stop), question: setOf(file.question), message: setOf(file.message) };
    known.set(language, words);
  }
  return words[kind];
}

/**
 * Returns the words of a language that carry no topic, question words among them, as `tokenize` gives its terms: in lower
 * case, with accents. Empty for a language without a list. The tag may have a region (`pt-BR`).
 */
export function stopWords(language: string): ReadonlySet<string> {
  return wordsOf(language, "stop");
}

/** Returns the words of a language that ask (who, what, when …), in the form of `stopWords`. */
export function questionWords(language: string): ReadonlySet<string> {
  return wordsOf(language, "question");
}

let weights: Map<string, readonly (readonly [language: string, weight: number])[]> | undefined;

/**
 * Returns the languages that have a word as a stop word or word of messages, each with its weight: 1 if it is alone with
 * it, the smaller the more others share it, since the word then means little.
 */
export function functionWordWeights(word: string): readonly (readonly [language: string, weight: number])[] {
  weights ??= weighWords();
  return weights.get(word) ?? [];
}

function weighWords(): Map<string, readonly (readonly [language: string, weight: number])[]> {
  const languagesOf = new Map<string, string[]>();
  for (const language of STOP_WORD_LANGUAGES) {
    for (const word of new Set([...stopWords(language), ...wordsOf(language, "message")])) {
      languagesOf.set(word, [...(languagesOf.get(word) ?? []), language]);
    }
  }
  return new Map(
    [...languagesOf].map(([word, languages]) => [
      word,
      languages.map((language): [string, number] => [language, 1 / languages.length]),
    ]),
  );
}
