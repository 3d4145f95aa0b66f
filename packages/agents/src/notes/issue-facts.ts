import { stopWords } from "@svc/text";
import { lazily } from "../language-files.ts";
import { anyWords, hasPhrase, perLanguage, sourceOf } from "./language-words.ts";
import type { DueData } from "./language-words.ts";
import { wordKinds } from "./note-words.ts";

/** A calendar word: a day of the week from 0, Sunday, or a month from 0, January. */
interface CalendarWord {
  type: "weekday" | "month";
  number: number;
}

const known = new Map<string, ReadonlyMap<string, CalendarWord>>();

const givenNames = lazily(() => new Set(anyWords().names.map((name) => name.toLowerCase())));

/** Returns whether a name begins with a known given name, in any case. */
export const isGivenName = (name: string): boolean => givenNames().has(name.toLowerCase().split(" ")[0] ?? "");

/** The rest of a name behind its first letter. */
const NAME = "[\\p{L}\\p{M}'’-]*\\p{L}";

const personWords = perLanguage(({ asks, does, mine, theirs, titles, todo }) => ({
  person: new RegExp(
    `(?:(?<title>${sourceOf(titles)})\\.? )?(?<name>\\p{Lu}${NAME}(?: \\p{Lu}${NAME})?|\\p{L}${NAME})`,
    "gu",
  ),
  before: new RegExp(`${sourceOf(asks)},? (?:der |die |the )?$`, "iu"),
  behind: new RegExp(`^,? ?${sourceOf(does)}`, "iu"),
  mine,
  theirs,
  todo,
}));

/**
 * Finds the assignee of sentences in a language (ISO 639-1): a person with a title or a known given name, or a name
 * capitalized within a sentence next to words such as "should" or "please". Returns the speaker for a commitment of his
 * own; null if nobody in particular is named.
 */
export function personOf(texts: readonly string[], speaker: string | null, language: string): string | null {
  const { before, behind, mine, person, theirs, todo } = personWords(language);
  const kinds = wordKinds(language);
  const named: string[] = [];
  const asked = texts.flatMap((text) => {
    const isLower = text.slice(1) === text.slice(1).toLowerCase();
    return [...text.matchAll(person)].flatMap(({ 0: match, index: from, groups }) => {
      // "And Tom" begins a sentence: the first word is capitalized for that reason.
      const [first = ""] = match.split(" ", 1);
      const isJoined = first.length < match.length && isCommon(first, language);
      const [whole, index] = isJoined ? [match.slice(first.length + 1), from + first.length + 1] : [match, from];
      const name = isJoined ? whole : (groups?.["name"] ?? "");
      const isTitled = groups?.["title"] !== undefined;
      const [head, tail] = [text.slice(0, index), text.slice(index + whole.length)];
      const isCapital = /^\p{Lu}/u.test(name);
      const isKnown = isTitled || (isGivenName(name) && (isCapital || isLower));
      const isNew = isCapital && language !== "de" && !isCommon(name, language) && !/^\p{Lu}+$/u.test(name);
      // Unknown names are not accepted before a comma, and a name after a preposition is not the assignee.
      const mayBeNew = isNew && !tail.startsWith(",") && (head !== "" || /^ (?!\S+ be )/u.test(tail));
      const isBehindPlace = kinds.get(/(\p{L}+) $/u.exec(head)?.[1]?.toLowerCase() ?? "") === "place";
      if (!(isKnown || mayBeNew) || isBehindPlace) return [];
      if (isKnown) named.push(whole);
      if (behind.test(tail) || before.test(head)) return [whole];
      const isCalled = (head === "" && tail.startsWith(",")) || (/,? $/.test(head) && /^[.?!]*$/.test(tail));
      return isKnown && !isTitled && isCalled && hasPhrase(text, todo) ? [whole] : [];
    });
  });
  if (asked[0] !== undefined) return asked[0];
  if (speaker !== null && texts.some((text) => hasPhrase(text, mine))) return speaker;
  return texts.some((text) => hasPhrase(text, theirs)) ? (named[0] ?? null) : null;
}

const isCommon = (word: string, language: string) =>
  stopWords(language).has(word.toLowerCase()) || calendarWords(language).has(word.toLowerCase());

/** Returns a day as `YYYY-MM-DD`, in UTC. */
export const isoDay = (date: Date): string => date.toISOString().slice(0, 10);

const DAY_MS = 86_400_000;
const FRIDAY = 5;

const inDays = (today: Date, count: number) => new Date(today.getTime() + count * DAY_MS);

const untilWeekday = (today: Date, weekday: number) => (weekday - today.getUTCDay() + 7) % 7;

const endOfMonth = (today: Date, ahead: number) =>
  new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + ahead + 1, 0));

/** Returns the Friday of a week; on a weekend, the next week has begun. */
const fridayOf = (today: Date, weeksAhead: number) => {
  const isWeekend = today.getUTCDay() === 0 || today.getUTCDay() === 6;
  return inDays(today, untilWeekday(today, FRIDAY) + 7 * (isWeekend ? weeksAhead - 1 : weeksAhead));
};

/**
 * Returns the next day with this number, in the given month (from 0) if there is one; null for a day that does not
 * exist.
 */
function nextDay(today: Date, day: number, month: number | undefined): Date | null {
  for (let ahead = 0; ahead < 12; ahead += 1) {
    const date = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + ahead, day));
    const isRight = date.getUTCDate() === day && (month === undefined || date.getUTCMonth() === month);
    if (isRight && date.getTime() >= today.getTime()) return date;
  }
  return null;
}

type DateOf = (today: Date, groups: Readonly<Record<string, string | undefined>>) => Date | null;

/** The date of a day that is written with its year; null if there is no such day, or if it is over. */
const writtenDay: DateOf = (today, { year, number, day }) => {
  const date = new Date(Date.UTC(Number(year), Number(number) - 1, Number(day)));
  return date.getUTCDate() === Number(day) && date.getTime() >= today.getTime() ? date : null;
};

/** Days in numbers, in any language. */
const WRITTEN_DAYS = [
  ["(?<year>\\d{4})-(?<number>\\d{1,2})-(?<day>\\d{1,2})", writtenDay],
  ["(?<day>\\d{1,2})\\.(?<number>\\d{1,2})\\.(?<year>\\d{4})", writtenDay],
  [
    "(?<day>\\d{1,2})\\.(?<number>\\d{1,2})(?!\\.\\d)\\.?",
    (today, { day, number }) => nextDay(today, Number(day), Number(number) - 1),
  ],
] as const satisfies readonly (readonly [source: string, dateOf: DateOf])[];

/** Matches a day, and returns its date; `isBare` is true if it needs no preposition. */
interface DayPattern {
  source: string;
  expression: RegExp;
  isBare: boolean;
  dateOf: DateOf;
}

const NAMED_DAYS = [
  ["afterTomorrow", (today) => inDays(today, 2)],
  ["tomorrow", (today) => inDays(today, 1)],
  ["today", (today) => today],
  ["nextWeek", (today) => fridayOf(today, 1)],
  ["week", (today) => fridayOf(today, 0)],
  ["weekend", (today) => inDays(today, untilWeekday(today, FRIDAY))],
  ["nextMonth", (today) => endOfMonth(today, 1)],
  ["month", (today) => endOfMonth(today, 0)],
] as const satisfies readonly (readonly [keyof DueData, DateOf])[];

/** Length in days of the `units` of a language, in order. */
const UNIT_DAYS = [1, 7, 30];

const dueWords = perLanguage(({ due, mine, numbers = [], ordinals = [], todo }, language) => {
  if (due === undefined) return null;
  const calendar = calendarWords(language);
  const wordsOf = (type: "weekday" | "month") =>
    [...calendar].flatMap(([word, one]) => (one.type === type ? [word] : [])).join("|");
  const numberOf = (word = "") =>
    Number(word) ||
    Math.max(...[numbers, ordinals].map((list) => list.indexOf(word.toLowerCase().replace(" ", "-")))) + 1;
  const oneOf = (words: readonly string[]) =>
    words
      .toSorted((a, b) => b.length - a.length)
      .join("|")
      .replaceAll("-", "[- ]");
  const lead = `(?:(?<past>${sourceOf(due.past)}) |(?<by>${sourceOf(due.by)}) |(?<on>${sourceOf(due.on)}) |(?<ends>${sourceOf(due.ends)}) )?`;
  const patternOf = (source: string, dateOf: DateOf, isBare = true): DayPattern => ({
    source,
    expression: new RegExp(
      `${lead}(?:${sourceOf(due.articles)} )?(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`,
      "giu",
    ),
    isBare,
    dateOf,
  });
  const dayOf: DateOf = (today, { day, month = "" }) =>
    nextDay(today, numberOf(day), calendar.get(month.toLowerCase())?.number);
  const months = `(?<month>${wordsOf("month")})`;
  const day = `(?<day>\\d{1,2}|${oneOf([...ordinals, ...numbers])})(?:st|nd|rd|th|\\.)?`;
  const patterns = [
    ...NAMED_DAYS.map(([name, dateOf]) => patternOf(sourceOf(due[name]), dateOf)),
    patternOf(
      `(?<weekday>${wordsOf("weekday")})(?: (?:morning|afternoon|evening|früh|mittag|abend|por la \\p{L}+))?`,
      (today, { weekday = "" }) =>
        inDays(today, untilWeekday(today, calendar.get(weekday.toLowerCase())?.number ?? 0) || 7),
      false,
    ),
    patternOf(`${day}(?: of| de)? ${months}`, dayOf),
    patternOf(`${months} (?:the )?${day}`, dayOf),
    ...WRITTEN_DAYS.map(([source, dateOf]) => patternOf(source, dateOf)),
    patternOf(
      `(?<day>\\d{1,2}(?:st|nd|rd|th|\\.)|${oneOf(ordinals)})(?= ?(?:$|[,.;:!?]|\\p{Ll}+(?:$|[,.])))`,
      dayOf,
      false,
    ),
    ...due.inTime.map((source) =>
      patternOf(
        source.replaceAll("{number}", `(?<number>\\d{1,2}|${oneOf(numbers)})`),
        (today, { number, unit = "" }) =>
          inDays(
            today,
            (number === undefined ? 1 : numberOf(number)) * (UNIT_DAYS[due.units.indexOf(unit.toLowerCase())] ?? 1),
          ),
      ),
    ),
  ];
  // Most clauses contain no day, so one combined expression tests for any. Group names must be unique, so they are
  // removed.
  const sources = patterns.map(({ source }) => source.replaceAll(/\(\?<\w+>/g, "(?:"));
  const any = new RegExp(`(?<![\\p{L}\\p{N}])(?:${sources.join("|")})(?![\\p{L}\\p{N}])`, "iu");
  return { any, counts: [todo, mine, due.ends], patterns };
});

/** A day in a text, with its position, and how likely it is a due date. */
interface NamedDay {
  date: Date;
  start: number;
  end: number;
  isSure: boolean;
}

/** Returns the days in a text, with the words before them, in reading order. */
export function namedDays(text: string, language: string, today: Date): NamedDay[] {
  const words = dueWords(language);
  if (words === null || !words.any.test(text)) return [];
  const days = words.patterns.flatMap(({ expression, isBare, dateOf }) =>
    [...text.matchAll(expression)].flatMap(({ 0: whole, index, groups = {} }): NamedDay[] => {
      const isSure = groups["by"] !== undefined;
      const date = groups["past"] === undefined ? dateOf(today, groups) : null;
      if (date === null || !(isBare || isSure || groups["on"] !== undefined)) return [];
      return [{ date, start: index, end: index + whole.length, isSure }];
    }),
  );
  return days.toSorted((a, b) => a.start - b.start || b.end - a.end);
}

/**
 * Returns the due date of clauses in a language (ISO 639-1) as `YYYY-MM-DD`, relative to the day of dictation: "by
 * Thursday", "tomorrow", "before the end of the week" (Friday). A day without such a preposition counts in a clause
 * that states a task or an end. Null if there is none.
 */
export function dueDateOf(clauses: readonly string[], language: string, today: Date): string | null {
  const counts = dueWords(language)?.counts ?? [];
  const named = clauses.flatMap((text) => {
    const days = namedDays(text, language, today);
    return days.length > 0 && counts.some((phrases) => hasPhrase(text, phrases))
      ? days
      : days.filter(({ isSure }) => isSure);
  });
  const first = named.find(({ isSure }) => isSure) ?? named[0];
  return first === undefined ? null : isoDay(first.date);
}

/** Removes due dates from a text, and other days at its beginning or end. */
export function withoutDue(text: string, language: string): string {
  const day = namedDays(text, language, new Date(0)).find(
    ({ start, end, isSure }) => isSure || start === 0 || /^[\s.?!]*$/.test(text.slice(end)),
  );
  if (day === undefined) return text;
  const rest = `${text.slice(0, day.start).trim()} ${text.slice(day.end).trim()}`.trim();
  return /\p{L}+\s+\p{L}+/u.test(rest) ? rest : text;
}

/**
 * Returns the names of days and months in a language (ISO 639-1), in lower case, in their standalone and date forms.
 */
export function calendarWords(language: string): ReadonlyMap<string, CalendarWord> {
  const found = known.get(language) ?? readCalendar(language);
  known.set(language, found);
  return found;
}

function readCalendar(language: string): ReadonlyMap<string, CalendarWord> {
  const formats = [{ weekday: "long" }, { month: "long" }, { month: "long", day: "numeric" }] as const;
  // These days include every month and weekday.
  const days = Array.from({ length: 92 }, (_, index) => new Date(Date.UTC(2026, 0, 1 + index * 4)));
  return new Map(
    formats.flatMap((format) => {
      const written = new Intl.DateTimeFormat(language, { ...format, timeZone: "UTC" });
      return days.flatMap((day) =>
        written.formatToParts(day).flatMap(({ type, value }): [string, CalendarWord][] => {
          if (type !== "weekday" && type !== "month") return [];
          return [[value.toLowerCase(), { type, number: type === "month" ? day.getUTCMonth() : day.getUTCDay() }]];
        }),
      );
    }),
  );
}
