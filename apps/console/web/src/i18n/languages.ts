import { createTexts } from "./create-texts.ts";
import type { Texts } from "./create-texts.ts";
import { en } from "./en.ts";
import type { TextTable } from "./text-table.ts";

/** The languages of the console, by their names in themselves. */
export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

/** English, which is there at once. */
export const ENGLISH: Texts = createTexts("en", en);

const TABLES = {
  en: () => Promise.resolve(en),
  de: async () => (await import("./de.ts")).de,
} as const satisfies Record<Language, () => Promise<TextTable>>;

/**
 * The texts of a language, fetched when they are first needed; numbers and times are written as where the first of
 * `wanted` in this language is spoken.
 */
export async function loadTexts(language: Language, wanted: readonly string[]): Promise<Texts> {
  const table = await TABLES[language]();
  const tag = wanted.find((name) => name.toLowerCase().split("-")[0] === language) ?? language;
  return createTexts(tag, table);
}

/** The first language of the browser's that the console has; English where it has none. */
export function pickLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const [language = ""] = tag.toLowerCase().split("-");
    if (language in LANGUAGES) return language as Language;
  }
  return "en";
}
