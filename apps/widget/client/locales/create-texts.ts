import { LIMITS } from "../state.ts";
import type { StringName, Strings } from "./strings.ts";

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
type Language = (typeof LANGUAGES)[number];

/** Deprecated codes that are still sent for some languages. */
const FORMER_CODES: Readonly<Record<string, Language>> = { iw: "he" };

interface PickedLocale {
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

/** Returns the text of an error, with the limits in its placeholders. */
export const errorText = (texts: Texts, name: string) =>
  texts.text(name, { size: texts.size(LIMITS.fileMaxBytes), count: LIMITS.attachmentsMaxCount });

type TextValues = Readonly<Record<string, string | number>>;

/** The widget's texts, times and sizes in one language. */
export interface Texts {
  /** Returns the text of a name with inserted values. An unknown name has the text of `faultOther`. */
  text: (name: StringName | (string & {}), values?: TextValues) => string;
  /** Returns the time of day of an instant (epoch milliseconds), in the visitor's time zone. */
  time: (at: number) => string;
  /** Returns the day of an instant: "Today", "Yesterday", or its date. */
  day: (at: number) => string;
  /** Formats a size in bytes with its unit: "1.2 MB". */
  size: (bytes: number) => string;
  /** Formats a fraction of 1 as a percentage. */
  percent: (part: number) => string;
  /** Questions that the site suggests. */
  questions: readonly string[];
}

const DAY_MS = 86_400_000;
const UNITS = ["byte", "kilobyte", "megabyte"];

/** Invisible characters that change the direction of following text, with which a file name could be misleading. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

const startOfDay = (at: number) => new Date(at).setHours(0, 0, 0, 0);

/**
 * Creates the texts of a language for a site: `overrides` (from its settings) replace the language's own by name; one
 * that replaces a text with plural forms replaces all of them. `questions` are those of the site. `now` is the clock
 * (epoch milliseconds).
 */
export function createTexts({
  tag,
  strings,
  overrides = {},
  questions = [],
  now = Date.now,
}: {
  tag: string;
  strings: Strings;
  overrides?: Readonly<Record<string, string>>;
  questions?: readonly string[];
  now?: () => number;
}): Texts {
  // Without a prototype, so that it contains only names of texts.
  const texts: Record<string, Strings[StringName]> = Object.assign(Object.create(null), strings, overrides);
  const number = (value: number, options?: Intl.NumberFormatOptions) => value.toLocaleString(tag, options);

  function pattern(name: string, { count }: TextValues): string {
    const found = texts[name] ?? strings.faultOther;
    return typeof found === "string" ? found : (found[new Intl.PluralRules(tag).select(Number(count))] ?? found.other);
  }

  return {
    questions,
    text(name, values = {}) {
      const around = pattern(name, values);
      return around.replace(/\{(\w+)\}/g, (placeholder, key: string) => {
        const value = Object.hasOwn(values, key) ? values[key] : placeholder;
        return typeof value === "number" ? number(value) : isolate(String(value), around);
      });
    },
    time: (at) => new Date(at).toLocaleTimeString(tag, { timeStyle: "short" }),
    day(at) {
      // A day with a time change has 23 or 25 hours.
      const days = Math.round((startOfDay(at) - startOfDay(now())) / DAY_MS);
      if (days > 0 || days < -1) return new Date(at).toLocaleDateString(tag, { dateStyle: "medium" });
      const word = new Intl.RelativeTimeFormat(tag, { numeric: "auto" }).format(days, "day");
      return word.charAt(0).toLocaleUpperCase(tag) + word.slice(1);
    },
    size(bytes) {
      const power = bytes < 1024 ? 0 : bytes < 1024 ** 2 ? 1 : 2;
      // In short form, bytes have no plural in English: "0 byte".
      const unitDisplay = power === 0 ? "long" : "short";
      return number(bytes / 1024 ** power, {
        style: "unit",
        unit: UNITS[power],
        unitDisplay,
        maximumFractionDigits: 1,
      });
    },
    percent: (part) => number(part, { style: "percent" }),
  };
}

/**
 * A foreign text inserted into one of the widget's keeps its own direction, and cannot change that of the surrounding
 * text.
 */
function isolate(value: string, around: string): string {
  const plain = value.replace(DIRECTION_MARKS, "");
  return RIGHT_TO_LEFT.test(plain + around) ? `\u2068${plain}\u2069` : plain;
}
