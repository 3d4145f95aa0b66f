import { queryOptions } from "@tanstack/react-query";
import type { AnswerStats, QueueHealth, Stats } from "@svc/contracts";
import type { Connection } from "../api/connection.ts";
import { timesOf } from "./overview-search.ts";
import type { OverviewSearch } from "./overview-search.ts";

/** The figures follow what happens this often. */
const FOLLOW_MS = 60_000;
const FOLLOW_QUEUES_MS = 10_000;

/** What is asked of the statistics, at this moment. */
function queryOf(search: OverviewSearch) {
  const { agent: agentId, channel: channelId } = search;
  return {
    ...timesOf(search, Date.now()),
    ...(agentId === undefined ? {} : { agentId }),
    ...(channelId === undefined ? {} : { channelId }),
  };
}

/** The same, with the zone of the browser, whose midnights the times are. */
export const queryWithZoneOf = (search: OverviewSearch) => ({
  ...queryOf(search),
  timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
});

/** How a project fared in a span of time. */
export const statsQuery = (connection: Connection, project: string, search: OverviewSearch) =>
  queryOptions({
    queryKey: ["stats", project, search],
    refetchInterval: FOLLOW_MS,
    // Another span of the same project stays shown until its figures are there.
    placeholderData: (known: Stats | undefined, before) => (before?.queryKey[1] === project ? known : undefined),
    queryFn: ({ signal }): Promise<Stats> =>
      connection.call("getStats", project, { query: queryWithZoneOf(search), signal }),
  });

/** What became of the agents' answers in a span of time. */
export const answerStatsQuery = (connection: Connection, project: string, search: OverviewSearch) =>
  queryOptions({
    queryKey: ["answer-stats", project, search],
    refetchInterval: FOLLOW_MS,
    placeholderData: (known: AnswerStats | undefined, before) => (before?.queryKey[1] === project ? known : undefined),
    queryFn: ({ signal }): Promise<AnswerStats> =>
      connection.call("getAnswerStats", project, { query: queryOf(search), signal }),
  });

/** What waits in a project's queues now, and what was given up. */
export const queuesQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["queues", project],
    refetchInterval: FOLLOW_QUEUES_MS,
    queryFn: async ({ signal }): Promise<QueueHealth[]> =>
      (await connection.call("getQueues", project, { signal })).items,
  });
