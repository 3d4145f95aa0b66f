import { queryOptions } from "@tanstack/react-query";
import type { Mention, MentionsAnswer } from "@svc/contracts";
import type { Connection } from "./connection.ts";

const STALE_MS = 60_000;

/** The notes of a project's tickets that are for whoever is signed in, the newest first. */
export const mentionsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["mentions", project],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<Mention[]> => {
      const answer = await connection.send("GET", "/session/mentions", { project, signal });
      return (answer as MentionsAnswer).items;
    },
  });
