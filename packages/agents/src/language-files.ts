import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";

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
