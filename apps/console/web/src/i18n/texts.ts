import { createContext, useContext } from "react";
import { CHANNELS, CHANNEL_IDS } from "@svc/contracts";
import type { ChannelId, ChannelTexts } from "@svc/contracts";
import type en from "./en.json";

/** Texts of the layout of all pages and of the inbox; those of a ticket; and those of all other pages. */
export type TextPart = keyof typeof en;

/** A text, or one for each plural category of the language (`Intl.PluralRules`), selected by `n`. */
export type TextEntry = string | (Partial<Record<Intl.LDMLPluralRule, string>> & { other: string });

/** The part of a language's file with this name: the keys of the English one, with plurals for the same keys. */
export type TextsOf<Part extends TextPart> = {
  readonly [Key in keyof (typeof en)[Part]]: (typeof en)[Part][Key] extends string
    ? string
    : Exclude<TextEntry, string>;
};

/** Names of all texts: those of the files, and those of each channel's descriptor. */
export type TextKey = { [Part in TextPart]: keyof (typeof en)[Part] }[TextPart] | `${keyof ChannelTexts}.${ChannelId}`;

/** The texts of a language that have been loaded: initially only those of its part `first`. */
export type TextTable = Partial<Readonly<Record<TextKey, TextEntry>>>;

/** The languages of the console, with their native names. */
export const LANGUAGES = { en: "English", de: "Deutsch" } as const;
export type Language = keyof typeof LANGUAGES;

/** Returns the texts of all channels in a language: `channel.widget`. */
export const channelTexts = (language: Language): TextTable =>
  Object.fromEntries(
    CHANNEL_IDS.flatMap((id) =>
      Object.entries(CHANNELS[id].texts[language]).map(([name, text]) => [`${name}.${id}`, text]),
    ),
  );

/** Returns the browser's first language that the console supports; English if there is none. */
export function pickLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const [language = ""] = tag.toLowerCase().split("-");
    if (language in LANGUAGES) return language as Language;
  }
  return "en";
}

/** Values for placeholders `{name}` in a text; `n` also selects the plural form. */
export type TextValues = Readonly<Record<string, string | number>>;

/** The texts of one language, with its formats of numbers and times. */
export interface Texts {
  /** BCP 47, with the region if the browser names one: "en-GB". */
  language: string;
  /** Returns the text of this key, with its values inserted; the key itself if its page's texts are not loaded yet. */
  t: (key: TextKey, values?: TextValues) => string;
  number: (value: number) => string;
  percent: (share: number) => string;
  /** Formats a day and a time of day, such as "22 Nov 2026, 18:43". */
  dateTime: (time: string) => string;
  timeOfDay: (time: string) => string;
  day: (time: string) => string;
  /** Formats a day with its year, such as "22 Nov 2026". */
  date: (time: string) => string;
  /** Formats the age as briefly as possible: "now", "5 min", "3 h", "2 d", then the day. */
  ago: (time: string, nowMs: number) => string;
  /** Formats the same within a sentence: "just now", "5 minutes ago", "yesterday", then "on 22 Nov 2026". */
  past: (time: string, nowMs: number) => string;
  /** Formats a start time: "since 18:43" within a day, then the day. */
  since: (time: string, nowMs: number) => string;
  /** Milliseconds in words: "120 ms", "3.4 sec", "5 min", "11 hr 42 min", "3 days 4 hr". */
  duration: (ms: number) => string;
  /** Returns the name of a language (BCP 47), such as "German". */
  languageName: (tag: string) => string;
  /** Returns the names of the texts whose keys have this prefix, without it, such as `audit.result`. */
  names: (prefix: string) => string[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Replaces `{name}` with values. Placeholders without a value are unchanged. */
export function fillText(text: string, values: TextValues): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** Returns the text of a prefix and a name that may be unknown; `other` if there is no such text. */
export function textOf(t: Texts["t"], prefix: string, name: string, other = name): string {
  const key = `${prefix}.${name}`;
  // `t` returns the key itself if it has no text.
  const text = t(key as TextKey);
  return text === key ? other : text;
}

/** Creates the texts of a language (BCP 47) from its table. */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function createTexts(language: string, table: TextTable): Texts {
  const plural = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const percents = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });
  const dateTimes = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const times = new Intl.DateTimeFormat(language, { timeStyle: "short" });
  const days = new Intl.DateTimeFormat(language, { weekday: "short", day: "numeric", month: "short" });
  const dates = new Intl.DateTimeFormat(language, { day: "numeric", month: "short" });
  const fullDates = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
  const languages = new Intl.DisplayNames(language, { type: "language" });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const unit = (name: string, value: number) =>
    new Intl.NumberFormat(language, {
      style: "unit",
      unit: name,
      unitDisplay: "short",
      maximumFractionDigits: 1,
    }).format(value);
  /** A number of units as larger ones, and what remains. */
  const twoUnits = (count: number, name: string, size: number, larger: string) => {
    const rest = count % size;
    const whole = unit(larger, (count - rest) / size);
    return rest === 0 ? whole : `${whole} ${unit(name, rest)}`;
  };

  const t = (key: TextKey, values: TextValues = {}) => {
    const entry = table[key];
    if (entry === undefined) return key;
    if (typeof entry === "string") return fillText(entry, values);
    const n = Number(values["n"] ?? 0);
    const text = entry[plural.select(n)] ?? entry.other;
    return fillText(text, { ...values, n: numbers.format(n) });
  };
  return {
    language,
    t,
    languageName: (tag) => languages.of(tag) ?? tag,
    names: (prefix) =>
      Object.keys(table).flatMap((key) => (key.startsWith(`${prefix}.`) ? key.slice(prefix.length + 1) : [])),
    number: (value) => numbers.format(value),
    percent: (share) => percents.format(share),
    dateTime: (time) => dateTimes.format(new Date(time)),
    timeOfDay: (time) => times.format(new Date(time)),
    day: (time) => days.format(new Date(time)),
    date: (time) => fullDates.format(new Date(time)),
    ago(time, nowMs) {
      const passedMs = Math.max(0, nowMs - Date.parse(time));
      if (passedMs < MINUTE_MS) return t("time.now");
      if (passedMs < HOUR_MS) return t("time.minutes", { count: Math.floor(passedMs / MINUTE_MS) });
      if (passedMs < DAY_MS) return t("time.hours", { count: Math.floor(passedMs / HOUR_MS) });
      if (passedMs < 7 * DAY_MS) return t("time.days", { count: Math.floor(passedMs / DAY_MS) });
      return dates.format(new Date(time));
    },
    past(time, nowMs) {
      const passedMs = Math.max(0, nowMs - Date.parse(time));
      if (passedMs < MINUTE_MS) return t("time.justNow");
      if (passedMs < HOUR_MS) return relative.format(-Math.floor(passedMs / MINUTE_MS), "minute");
      if (passedMs < DAY_MS) return relative.format(-Math.floor(passedMs / HOUR_MS), "hour");
      if (passedMs < 7 * DAY_MS) return relative.format(-Math.floor(passedMs / DAY_MS), "day");
      return t("time.on", { date: fullDates.format(new Date(time)) });
    },
    since(time, nowMs) {
      const isToday = nowMs - Date.parse(time) < DAY_MS;
      return t("time.since", { time: (isToday ? times : fullDates).format(new Date(time)) });
    },
    duration(ms) {
      if (ms < 1_000) return unit("millisecond", Math.round(ms * 10) / 10);
      if (ms < MINUTE_MS) return unit("second", ms / 1_000);
      const minutes = Math.round(ms / MINUTE_MS);
      if (minutes < 60) return unit("minute", minutes);
      return minutes < 48 * 60
        ? twoUnits(minutes, "minute", 60, "hour")
        : twoUnits(Math.round(minutes / 60), "hour", 24, "day");
    },
  };
}

/** The texts of the selected language. */
export const TextsContext = createContext<Texts | null>(null);

/** Returns the texts of the selected language. Throws outside of the app. */
export function useTexts(): Texts {
  const texts = useContext(TextsContext);
  if (texts === null) throw new Error("useTexts is for components within the app.");
  return texts;
}
