import { primaryLanguage } from "./language-data.ts";

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
