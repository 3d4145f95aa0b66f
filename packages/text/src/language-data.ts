import { existsSync, readFileSync } from "node:fs";

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
