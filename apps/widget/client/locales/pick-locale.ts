/** The languages that have a file beside this one, which is named after them. */
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

/** Codes that are still sent for languages that have another one today. */
const FORMER_CODES: Readonly<Record<string, Language>> = { iw: "he" };

export interface PickedLocale {
  /** The file to load. */
  language: Language;
  /** What times, dates and sizes are written for: the language with its region, as it was wished. */
  tag: string;
}

/**
 * Chooses a language: of the wishes (BCP 47, best first) the first that there is a file for, whatever its region or
 * script; English where there is none. A wish that is no language tag is passed over.
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
    // A page may say anything in its `lang`: what is no language tag is no wish.
    return "";
  }
}
