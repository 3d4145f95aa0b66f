import { queryOptions } from "@tanstack/react-query";
import type { QueueHealth, Stats } from "@svc/contracts";
import { timesOf } from "../overview/overview-search.ts";
import type { OverviewSearch } from "../overview/overview-search.ts";
import type { Connection } from "./connection.ts";

/** The figures follow what happens this often. */
const FOLLOW_MS = 60_000;
const FOLLOW_QUEUES_MS = 10_000;

/** How a project fared in a span of time. */
export const statsQuery = (connection: Connection, project: string, search: OverviewSearch) =>
  queryOptions({
    queryKey: ["stats", project, search],
    refetchInterval: FOLLOW_MS,
    // Another span of the same project stays shown until its figures are there.
    placeholderData: (known: Stats | undefined, before) => (before?.queryKey[1] === project ? known : undefined),
    queryFn: async ({ signal }): Promise<Stats> => {
      const { agent: agentId, channel: channelId } = search;
      const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
      const query = {
        ...timesOf(search, Date.now()),
        timeZone,
        ...(agentId === undefined ? {} : { agentId }),
        ...(channelId === undefined ? {} : { channelId }),
      };
      return connection.call("getStats", project, { query, signal });
    },
  });

/** What waits in a project's queues now, and what was given up. */
export const queuesQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["queues", project],
    refetchInterval: FOLLOW_QUEUES_MS,
    queryFn: async ({ signal }): Promise<QueueHealth[]> =>
      (await connection.call("getQueues", project, { signal })).items,
  });
