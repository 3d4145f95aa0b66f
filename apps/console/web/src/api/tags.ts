import { queryOptions } from "@tanstack/react-query";
import type { Tag } from "@svc/contracts";
import type { Connection } from "./connection.ts";
import { LIST_LIMIT, pagesQuery } from "./pages.ts";

const STALE_MS = 60_000;

/** The managed tags of a project, by name. They always fit into one page. */
export const tagsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["tags", project],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<Tag[]> => {
      const { items } = await connection.call("listTags", project, { query: { limit: LIST_LIMIT }, signal });
      return items.toSorted((one, other) => one.name.localeCompare(other.name));
    },
  });

/** The managed tags of a project, newest first, in pages. Invalidated with `tagsQuery`. */
export const tagPagesQuery = (connection: Connection, project: string) =>
  pagesQuery(["tags", project, "pages"], (request) => connection.call("listTags", project, request));
