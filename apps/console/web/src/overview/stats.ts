import { queryOptions } from "@tanstack/react-query";
import type { AnswerStats, QueueHealth, Stats } from "@svc/contracts";
import type { Connection } from "../api/connection.ts";
import { timesOf } from "./overview-search.ts";
import type { OverviewSearch } from "./overview-search.ts";

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
