import { DateTime } from "luxon";
import { WEEKDAYS } from "@svc/contracts";
import type { BusinessHours } from "@svc/contracts";
import texts from "./expected-reply.json" with { type: "json" };

/** Days that are searched for a period: more than a year, to find yearly opening days. */
const SEARCH_DAYS = 400;
const DAY_MS = 86_400_000;

/** A period in which a team works, in milliseconds since 1970; `end` is exclusive. */
export interface BusinessPeriod {
  start: number;
  end: number;
}

/**
 * Returns the time of a clock time on a day. A time that is skipped in spring is shifted by the gap; of a time that
 * occurs twice in autumn, the first one is used.
 */
function momentOf(day: DateTime, clockTime: string): number {
  const [hour, minute] = clockTime.split(":").map(Number);
  const { year, month, day: date } = day;
  const time = DateTime.fromObject({ year, month, day: date, hour, minute }, { zone: day.zone });
  // Of a time that occurs twice, the library chooses the one with the present offset of the zone.
  const [first = time] = time.getPossibleOffsets();
  return first.toMillis();
}

/** Yields the periods that end after `at`, in order and without overlaps, for this number of days. */
function* periodsAfter(
  { timeZone, week, holidays }: BusinessHours,
  at: Date,
  maxDays = SEARCH_DAYS,
): Generator<BusinessPeriod> {
  const closed = new Set(holidays.map(({ date }) => date));
  const first = DateTime.fromJSDate(at, { zone: timeZone }).startOf("day");
  let lastEnd = -Infinity;
  for (let days = 0; days < maxDays; days++) {
    const day = first.plus({ days });
    if (closed.has(day.toISODate() ?? "")) continue;
    const periods = (week[WEEKDAYS[day.weekday - 1] ?? "monday"] ?? [])
      .map(([from, to]) => ({ start: momentOf(day, from), end: momentOf(day, to) }))
      // One that is shifted because the clock skips its time may overlap or follow the next one.
      .toSorted((one, other) => one.start - other.start);
    for (const { start, end } of periods) {
      const period = { start: Math.max(start, lastEnd), end };
      if (period.end <= period.start) continue;
      lastEnd = end;
      if (end > at.getTime()) yield period;
    }
  }
}

/**
 * Returns when a team works next: `at` itself if it works then, or has no business hours (null). Null if it does not
 * work within 400 days.
 */
export function nextOpening(hours: BusinessHours | null, at: Date): Date | null {
  if (hours === null) return at;
  for (const { start } of periodsAfter(hours, at)) return new Date(Math.max(start, at.getTime()));
  return null;
}

/** Returns whether a team works at this time; true without business hours (null). */
export const isOpen = (hours: BusinessHours | null, at: Date): boolean =>
  nextOpening(hours, at)?.getTime() === at.getTime();

/** Returns the periods in which a team works that touch a span of time, in order. */
export function listBusinessPeriods(hours: BusinessHours, from: Date, to: Date): BusinessPeriod[] {
  const days = Math.ceil((to.getTime() - from.getTime()) / DAY_MS) + 2;
  return [...periodsAfter(hours, from, days)].filter(({ start }) => start < to.getTime());
}

/**
 * Returns when `minutes` of business time have passed since `from`; without business hours (null), all time counts.
 * Null if it takes more than 400 days.
 */
export function addBusinessMinutes(hours: BusinessHours | null, from: Date, minutes: number): Date | null {
  let remainingMs = minutes * 60_000;
  if (hours === null) return new Date(from.getTime() + remainingMs);
  for (const { start, end } of periodsAfter(hours, from)) {
    const begin = Math.max(start, from.getTime());
    if (remainingMs <= end - begin) return new Date(begin + remainingMs);
    remainingMs -= end - begin;
  }
  return null;
}

/** Texts by language (ISO 639-1): when the team works again, and how fast it usually replies. */
const TEXTS: Readonly<Record<string, { back: string; within: string }>> = texts;

/** Settings of a project about its reply times. */
export interface ReplyTimes {
  businessHours: BusinessHours | null;
  replyTimeMinutes: number | null;
}

/** Minutes of the displayed units, largest first. */
const UNITS = [
  ["day", 1_440],
  ["hour", 60],
  ["minute", 1],
] as const;

function describeMinutes(minutes: number, language: string): string {
  const [unit, length] = UNITS.find(([, size]) => minutes % size === 0) ?? UNITS[2];
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(minutes / length);
}

const describeMoment = (moment: Date, language: string, timeZone: string) =>
  new Intl.DateTimeFormat(language, {
    weekday: "long",
    day: "numeric",
    month: "long",
    hour: "numeric",
    minute: "2-digit",
    timeZone,
    timeZoneName: "short",
  }).format(moment);

/**
 * Returns when a customer can expect a reply from a person, as a sentence in a language (BCP 47), or in English if there
 * is no text in it: when the team works again, or how fast it usually replies while it works. Empty if neither is known.
 */
export function describeExpectedReply(
  { businessHours, replyTimeMinutes }: ReplyTimes,
  { locale, now = new Date() }: { locale: string; now?: Date },
): string {
  const primary = locale.split("-", 1)[0]?.toLowerCase() ?? "";
  const language = Object.hasOwn(TEXTS, primary) ? primary : "en";
  const { back, within } = TEXTS[language] ?? texts.en;
  if (businessHours !== null && !isOpen(businessHours, now)) {
    const opening = nextOpening(businessHours, now);
    if (opening === null) return "";
    return back.replace("{when}", () => describeMoment(opening, language, businessHours.timeZone));
  }
  return replyTimeMinutes === null ? "" : within.replace("{time}", () => describeMinutes(replyTimeMinutes, language));
}
