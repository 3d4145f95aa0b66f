import { queryOptions } from "@tanstack/react-query";
import type { Agent } from "@svc/contracts";
import type { Connection } from "./connection.ts";

const STALE_MS = 60_000;
/** As many as the server gives at once. */
const LIMIT = 200;

/** The agents of a project, for names and choices. */
export const agentsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["agents", project],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<Agent[]> =>
      (await connection.call("listAgents", project, { query: { limit: LIMIT }, signal })).items,
  });
