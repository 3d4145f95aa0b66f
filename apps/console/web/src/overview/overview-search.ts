import { CHANNEL_IDS } from "@svc/contracts";
import type { ChannelId } from "@svc/contracts";

/** The spans of time that can be looked at without saying from when, in days. */
export const SPANS = [1, 7, 30, 90, 365] as const;
export type Span = (typeof SPANS)[number];
export const DEFAULT_SPAN: Span = 30;

/** What of the overview is looked at, as its address has it. */
export interface OverviewSearch {
  days?: Span;
  /** First and last day, both included, where the reader is: as in 2026-11-22. With both, `days` says nothing. */
  from?: string;
  to?: string;
  channel?: ChannelId;
  agent?: string;
}

/** What is asked of the statistics: times as in RFC 3339. */
export interface OverviewTimes {
  from: string;
  to?: string;
}

/** Why two days make no span of time: the first is after the last, or it is longer than can be asked for. */
export type DatesError = "order" | "long";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const DAY_MS = 86_400_000;
/** STATS_LIMITS of the contracts say the same; the server checks. */
const MAX_DAYS = 366;

/** Midnight at the beginning of a day where the reader is, so many days later; null where there is no such day. */
export function startOf(day: string, daysLater = 0): Date | null {
  if (!DAY.test(day)) return null;
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const start = new Date(year, month - 1, date);
  if (start.getMonth() !== month - 1 || start.getDate() !== date) return null;
  return new Date(year, month - 1, date + daysLater);
}

/** A day as an address and a date field have it. */
export function nameDay(time: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${String(time.getFullYear()).padStart(4, "0")}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** What is wrong with a first and a last day; null where nothing is. */
export function errorOfDates(from: string, to: string): DatesError | null {
  const start = startOf(from);
  const end = startOf(to, 1);
  if (start === null || end === null || start >= end) return "order";
  return end.getTime() - start.getTime() > MAX_DAYS * DAY_MS ? "long" : null;
}

/** What an address asks for; what is wrong in it is left out. */
export function readOverviewSearch(search: Record<string, unknown>): OverviewSearch {
  const days = SPANS.find((span) => span === Number(search["days"]));
  const channel = CHANNEL_IDS.find((id) => id === search["channel"]);
  const { agent, from, to } = search;
  return {
    ...(days === undefined ? {} : { days }),
    ...(typeof from === "string" && typeof to === "string" && errorOfDates(from, to) === null ? { from, to } : {}),
    ...(channel === undefined ? {} : { channel }),
    ...(typeof agent === "string" && UUID.test(agent) ? { agent } : {}),
  };
}

/** The times that are asked for, at this moment. */
export function timesOf({ days = DEFAULT_SPAN, from, to }: OverviewSearch, nowMs: number): OverviewTimes {
  const start = from === undefined ? null : startOf(from);
  const end = to === undefined ? null : startOf(to, 1);
  if (start === null || end === null) return { from: new Date(nowMs - days * DAY_MS).toISOString() };
  return { from: start.toISOString(), to: end.toISOString() };
}
