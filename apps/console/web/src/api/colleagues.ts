import { queryOptions } from "@tanstack/react-query";
import type { Colleague, ColleaguesAnswer } from "@svc/contracts";
import type { Connection } from "./connection.ts";

const STALE_MS = 60_000;

/** Who has a role in a project: for assigning, for mentions, and for the names of those who did something. */
export const colleaguesQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["colleagues", project],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<Colleague[]> => {
      const answer = await connection.send("GET", "/session/colleagues", { project, signal });
      return (answer as ColleaguesAnswer).items;
    },
  });
