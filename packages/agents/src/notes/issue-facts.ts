import { stopWords } from "@svc/text";
import { calendarWords } from "./calendar-words.ts";
import { ANY_WORDS, expressionOf, hasPhrase, languageWords, sourceOf } from "./language-words.ts";

const NAMES: ReadonlySet<string> = new Set(ANY_WORDS.names.map((name) => name.toLowerCase()));

/** True for a given name that is known here, in any case. */
export const isGivenName = (name: string): boolean => NAMES.has(name.toLowerCase().split(" ")[0] ?? "");

/** The rest of a name behind its first letter. */
const NAME = "[\\p{L}\\p{M}'’-]*\\p{L}";

/**
 * Who is to do what sentences in a language (ISO 639-1) ask for: a person with a title or a known given name, or one who is
 * written with a capital within a sentence, beside words such as "should" or "please". The speaker, where he commits
 * himself; null where it is nobody in particular.
 */
export function personOf(texts: readonly string[], speaker: string | null, language: string): string | null {
  const { asks, does, mine, theirs, titles, todo } = languageWords(language);
  const person = expressionOf(`(?:(?<title>${sourceOf(titles)})\\.? )?(?<name>\\p{Lu}${NAME}(?: \\p{Lu}${NAME})?|\\p{L}${NAME})`, "gu");
  const before = expressionOf(`${sourceOf(asks)},? (?:der |die |the )?$`);
  const behind = expressionOf(`^,? ?${sourceOf(does)}`);
  const isReferred = texts.some((text) => hasPhrase(text, theirs));
  const named: string[] = [];
  const asked = texts.flatMap((text) => {
    const lower = text === text.toLowerCase() || text.slice(1) === text.slice(1).toLowerCase();
    return [...text.matchAll(person)].flatMap(({ 0: whole, index, groups }) => {
      const name = groups?.["name"] ?? "";
      const isTitled = groups?.["title"] !== undefined;
      const [head, tail] = [text.slice(0, index), text.slice(index + whole.length)];
      const isCapital = /^\p{Lu}/u.test(name);
      const isKnown = isTitled || (isGivenName(name) && (isCapital || lower));
      const isNew = isCapital && language !== "de" && !isCommon(name, language) && !/^\p{Lu}+$/u.test(name);
      if (!isKnown && !(isNew && (head !== "" || /^ (?!\S+ be )/u.test(tail)))) return [];
      if (isKnown) named.push(whole);
      if (behind.test(tail) || before.test(head)) return [whole];
      const isCalled = (head === "" && tail.startsWith(",")) || (/,? $/.test(head) && /^[.?!]*$/.test(tail));
      return isKnown && !isTitled && isCalled && hasPhrase(text, todo) ? [whole] : [];
    });
  });
  if (asked[0] !== undefined) return asked[0];
  if (speaker !== null && texts.some((text) => hasPhrase(text, mine))) return speaker;
  return isReferred ? (named[0] ?? null) : null;
}

const isCommon = (word: string, language: string) =>
  stopWords(language).has(word.toLowerCase()) || calendarWords(language).has(word.toLowerCase());

const DAY_MS = 86_400_000;
const FRIDAY = 5;

/** A day as `YYYY-MM-DD`. */
const written = (date: Date) => date.toISOString().slice(0, 10);

/** A day that words name, and how surely it is when something is due. */
interface NamedDay {
  date: Date;
  start: number;
  end: number;
  isSure: boolean;
}

/**
 * When what sentences in a language (ISO 639-1) ask for is due, as `YYYY-MM-DD`, from the day on which they were said: "by
 * Thursday", "tomorrow", "before the end of the week" (Friday). A day without such a word counts where something is to be
 * done or ends. Null where none is named.
 */
export function dueDateOf(clauses: readonly string[], language: string, today: Date): string | null {
  const { due, mine, todo } = languageWords(language);
  if (due === undefined) return null;
  const named = clauses.flatMap((text) => {
    const counts = [todo, mine, due.ends].some((phrases) => hasPhrase(text, phrases));
    return namedDays(text, language, today).filter(({ isSure }) => isSure || counts);
  });
  const first = named.find(({ isSure }) => isSure) ?? named[0];
  return first === undefined ? null : written(first.date);
}

/** A text without the days by which it is to be done, and those at its beginning or end. */
export function withoutDue(text: string, language: string): string {
  const day = namedDays(text, language, new Date(0)).find(
    ({ start, end, isSure }) => isSure || start === 0 || /^[\s.?!]*$/.test(text.slice(end)),
  );
  if (day === undefined) return text;
  const rest = `${text.slice(0, day.start).trim()} ${text.slice(day.end).trim()}`.trim();
  return /\p{L}+\s+\p{L}+/u.test(rest) ? rest : text;
}

/** The days that a text names, with the words before them. */
export function namedDays(text: string, language: string, today: Date): NamedDay[] {
  const { due, numbers = [], ordinals = [] } = languageWords(language);
  if (due === undefined) return [];
  const days: NamedDay[] = [];
  const calendar = calendarWords(language);
  const add = (source: string, dateOf: (groups: Record<string, string | undefined>) => Date | null, isBare = true) => {
    const { articles, by, on, past, ends } = due;
    const lead = `(?:(?<past>${sourceOf(past)}) |(?<by>${sourceOf(by)}) |(?<on>${sourceOf(on)}) |(?<ends>${sourceOf(ends)}) )?`;
    const expression = expressionOf(`${lead}(?:${sourceOf(articles)} )?(?:${source})(?![\\p{L}\\p{N}])`, "giu");
    for (const { 0: whole, index, groups = {} } of text.matchAll(expression)) {
      const date = groups["past"] === undefined ? dateOf(groups) : null;
      if (date === null || (!isBare && groups["by"] === undefined && groups["on"] === undefined)) continue;
      days.push({ date, start: index, end: index + whole.length, isSure: groups["by"] !== undefined });
    }
  };
  const inDays = (count: number) => new Date(today.getTime() + count * DAY_MS);
  const untilWeekday = (weekday: number) => (weekday - today.getUTCDay() + 7) % 7;
  const endOfMonth = (months: number) => new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + months + 1, 0));
  for (const [phrases, date] of [
    [due.afterTomorrow, inDays(2)],
    [due.tomorrow, inDays(1)],
    [due.today, today],
    [due.nextWeek, inDays(untilWeekday(FRIDAY) + (today.getUTCDay() === 0 || today.getUTCDay() === 6 ? 0 : 7))],
    [due.week, inDays(untilWeekday(FRIDAY))],
    [due.weekend, inDays(untilWeekday(FRIDAY))],
    [due.nextMonth, endOfMonth(1)],
    [due.month, endOfMonth(0)],
  ] as const) {
    add(sourceOf(phrases), () => date);
  }
  const wordsOf = (type: "weekday" | "month") =>
    [...calendar].flatMap(([word, one]) => (one.type === type ? [word] : [])).join("|");
  add(
    `(?<weekday>${wordsOf("weekday")})(?: (?:morning|afternoon|evening|früh|mittag|abend|por la \\p{L}+))?`,
    ({ weekday = "" }) => inDays(untilWeekday(calendar.get(weekday.toLowerCase())?.number ?? 0) || 7),
    false,
  );
  const numberOf = (word: string) =>
    Number(word) || Math.max(...[numbers, ordinals].map((list) => list.indexOf(word.toLowerCase().replace(" ", "-")))) + 1;
  const words = [...ordinals, ...numbers].toSorted((a, b) => b.length - a.length).join("|").replaceAll("-", "[- ]");
  const nextDay = (day: number, month: number | undefined) => {
    for (let ahead = 0; ahead < 12; ahead += 1) {
      const date = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + ahead, day));
      const isRight = date.getUTCDate() === day && (month === undefined || date.getUTCMonth() === month);
      if (isRight && date.getTime() >= today.getTime()) return date;
    }
    return null;
  };
  const dayOf = ({ day = "", month = "" }: Record<string, string | undefined>) =>
    nextDay(numberOf(day), calendar.get(month.toLowerCase())?.number);
  const day = `(?<day>\\d{1,2}|${words})(?:st|nd|rd|th|\\.)?`;
  add(`${day}(?: of| de)? (?<month>${wordsOf("month")})`, dayOf);
  add(`(?<month>${wordsOf("month")}) (?:the )?${day}`, dayOf);
  add(`(?<day>\\d{1,2})\\.(?<number>\\d{1,2})\\.?`, (groups) => nextDay(Number(groups["day"]), Number(groups["number"]) - 1));
  add(`(?<day>\\d{1,2}(?:st|nd|rd|th|\\.)|${ordinals.join("|").replaceAll("-", "[- ]")})(?= ?(?:$|[,.;:!?]|\\p{Ll}+(?:$|[,.])))`, dayOf, false);
  for (const source of due.inTime) {
    add(source.replaceAll("{number}", `(?<number>\\d{1,2}|${numbers.join("|")})`), ({ number, unit = "" }) => {
      const count = number === undefined ? 1 : numberOf(number);
      return inDays(count * ([1, 7, 30][due.units.indexOf(unit.toLowerCase())] ?? 1));
    });
  }
  return days.toSorted((a, b) => a.start - b.start || b.end - a.end);
}
