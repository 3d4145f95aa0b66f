import { existsSync, readFileSync } from "node:fs";
import { primaryLanguage } from "./language-tag.ts";

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
