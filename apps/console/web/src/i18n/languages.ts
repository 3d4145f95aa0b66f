/** The languages of the console, by their names in themselves. */
export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

/** The first language of the browser's that the console has; English where it has none. */
export function pickLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const [language = ""] = tag.toLowerCase().split("-");
    if (language in LANGUAGES) return language as Language;
  }
  return "en";
}
