import { queryOptions } from "@tanstack/react-query";
import { CHANNEL_IDS } from "@svc/contracts";
import type { AnswerStats, ChannelId, QueueHealth, Stats } from "@svc/contracts";
import type { Connection } from "../api/connection.ts";

/** The predefined periods up to now, in days. */
export const SPANS = [1, 7, 30, 90, 365] as const;
type Span = (typeof SPANS)[number];
export const DEFAULT_SPAN: Span = 30;

/** Parameters of the overview in its URL. */
export interface OverviewSearch {
  days?: Span;
  /** First and last day, both included, in the reader's time zone: such as 2026-11-22. With both, `days` is ignored. */
  from?: string;
  to?: string;
  channel?: ChannelId;
  agent?: string;
}

/** Parameters of the statistics: times in RFC 3339. */
interface OverviewTimes {
  from: string;
  to?: string;
}

/** Errors of two days as a period: the first is after the last, or the period is too long. */
type DatesError = "order" | "long";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const DAY_MS = 86_400_000;
/** Copied from STATS_LIMITS of the contracts; the server checks it. */
const MAX_DAYS = 366;

/** Returns midnight at the start of a day in the reader's time zone, some days later; null for an invalid day. */
export function startOf(day: string, daysLater = 0): Date | null {
  if (!DAY.test(day)) return null;
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const start = new Date(year, month - 1, date);
  if (start.getMonth() !== month - 1 || start.getDate() !== date) return null;
  return new Date(year, month - 1, date + daysLater);
}

/** Formats a day for a URL and a date field. */
export function nameDay(time: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  return `${String(time.getFullYear()).padStart(4, "0")}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** Returns the error of a first and a last day; null if there is none. */
export function errorOfDates(from: string, to: string): DatesError | null {
  const start = startOf(from);
  const end = startOf(to, 1);
  if (start === null || end === null || start >= end) return "order";
  return end.getTime() - start.getTime() > MAX_DAYS * DAY_MS ? "long" : null;
}

/** Parses the parameters of a URL; invalid ones are ignored. */
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

/** Returns the times of the period at this moment. */
export function timesOf({ days = DEFAULT_SPAN, from, to }: OverviewSearch, nowMs: number): OverviewTimes {
  const start = from === undefined ? null : startOf(from);
  const end = to === undefined ? null : startOf(to, 1);
  if (start === null || end === null) return { from: new Date(nowMs - days * DAY_MS).toISOString() };
  return { from: start.toISOString(), to: end.toISOString() };
}

/** Polling intervals of the statistics and of the queues. */
const FOLLOW_MS = 60_000;
const FOLLOW_QUEUES_MS = 10_000;

/** Returns the parameters of the statistics, at this moment. */
function queryOf(search: OverviewSearch) {
  const { agent: agentId, channel: channelId } = search;
  return {
    ...timesOf(search, Date.now()),
    ...(agentId === undefined ? {} : { agentId }),
    ...(channelId === undefined ? {} : { channelId }),
  };
}

/** Returns the same with the browser's time zone, on which the days are based. */
export const queryWithZoneOf = (search: OverviewSearch) => ({
  ...queryOf(search),
  timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/** Statistics of a project in a period. */
export const statsQuery = (connection: Connection, project: string, search: OverviewSearch) =>
  queryOptions({
    queryKey: ["stats", project, search],
    refetchInterval: FOLLOW_MS,
    // The previous period of the same project stays visible until the new data is loaded.
    placeholderData: (known: Stats | undefined, before) => (before?.queryKey[1] === project ? known : undefined),
    queryFn: ({ signal }): Promise<Stats> =>
      connection.call("getStats", project, { query: queryWithZoneOf(search), signal }),
  });

/** Outcomes of the agents' answers in a period. */
export const answerStatsQuery = (connection: Connection, project: string, search: OverviewSearch) =>
  queryOptions({
    queryKey: ["answer-stats", project, search],
    refetchInterval: FOLLOW_MS,
    placeholderData: (known: AnswerStats | undefined, before) => (before?.queryKey[1] === project ? known : undefined),
    queryFn: ({ signal }): Promise<AnswerStats> =>
      connection.call("getAnswerStats", project, { query: queryOf(search), signal }),
  });

/** Waiting and failed items in a project's queues. */
export const queuesQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["queues", project],
    refetchInterval: FOLLOW_QUEUES_MS,
    queryFn: async ({ signal }): Promise<QueueHealth[]> =>
      (await connection.call("getQueues", project, { signal })).items,
  });
