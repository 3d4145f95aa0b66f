/** The languages with a file in this folder, named after them. */
export const LANGUAGES = [
  "en",
  "de",
  "fr",
  "es",
  "pt",
  "it",
  "nl",
  "pl",
  "ru",
  "uk",
  "tr",
  "ar",
  "he",
  "ja",
  "zh",
] as const;
export type Language = (typeof LANGUAGES)[number];

/** Deprecated codes that are still sent for some languages. */
const FORMER_CODES: Readonly<Record<string, Language>> = { iw: "he" };

export interface PickedLocale {
  /** The file to load. */
  language: Language;
  /** Locale for times, dates and sizes: the requested language with its region. */
  tag: string;
}

/**
 * Selects a language: the first of the preferences (BCP 47, best first) with a file, whatever its region or script;
 * English if there is none. An invalid language tag is skipped.
 */
export function pickLocale(wishes: readonly (string | null | undefined)[]): PickedLocale {
  for (const wish of wishes) {
    const tag = canonicalTag(wish ?? "");
    const code = tag.split("-", 1)[0] ?? "";
    const language = FORMER_CODES[code] ?? LANGUAGES.find((known) => known === code);
    if (language !== undefined) return { language, tag };
  }
  return { language: "en", tag: "en" };
}

function canonicalTag(wish: string): string {
  try {
    return Intl.getCanonicalLocales(wish.trim().replaceAll("_", "-"))[0] ?? "";
  } catch {
    // A page may have any value in its `lang`: an invalid tag is ignored.
    return "";
  }
}
