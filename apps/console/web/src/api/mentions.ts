import { queryOptions } from "@tanstack/react-query";
import type { Mention, MentionsAnswer } from "@svc/contracts";
import type { Connection } from "./connection.ts";

const STALE_MS = 60_000;

/** The notes for whoever is signed in, in the tickets of all their projects, the newest first. */
export const mentionsQuery = (connection: Connection) =>
  queryOptions({
    queryKey: ["mentions"],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<Mention[]> => {
      const answer = await connection.send("GET", "/session/mentions", { signal });
      return (answer as MentionsAnswer).items;
    },
  });
