import { queryOptions } from "@tanstack/react-query";
import type { Stats } from "@svc/contracts";
import type { Connection } from "./connection.ts";

/** The figures follow what happens this often. */
const FOLLOW_MS = 60_000;
const DAY_MS = 86_400_000;

/** How a project fared in the last days. */
export const statsQuery = (connection: Connection, project: string, days: number) =>
  queryOptions({
    queryKey: ["stats", project, days],
    refetchInterval: FOLLOW_MS,
    // Another span of the same project stays shown until its figures are there.
    placeholderData: (known: Stats | undefined, before) => (before?.queryKey[1] === project ? known : undefined),
    queryFn: async ({ signal }): Promise<Stats> => {
      const from = new Date(Date.now() - days * DAY_MS).toISOString();
      return connection.call("getStats", project, { query: { from }, signal });
    },
  });
