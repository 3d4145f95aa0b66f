import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Gap, GapDetail, GapSort, GapStatus } from "@svc/contracts";
import type { Connection } from "./connection.ts";

const PAGE_LIMIT = 50;

/** Questions that found no good answer, page by page. */
export const gapsQuery = (
  connection: Connection,
  { project, status, sort, q }: { project: string; status: GapStatus; sort: GapSort; q: string },
) =>
  infiniteQueryOptions({
    queryKey: ["gaps", project, status, sort, q],
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor,
    queryFn: ({ signal, pageParam }) =>
      connection.call("listGaps", project, {
        query: {
          status,
          sort,
          limit: PAGE_LIMIT,
          ...(q === "" ? {} : { q }),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        signal,
      }),
  });

/** A gap with what would be answered now. */
export const gapQuery = (connection: Connection, project: string, id: string) =>
  queryOptions({
    queryKey: ["gap", project, id],
    queryFn: async ({ signal }): Promise<GapDetail> =>
      (await connection.call("getGap", project, { params: { id }, signal })).item,
  });

/** Marks a gap. Throws version_conflict where it has changed since. */
export async function markGap(
  connection: Connection,
  project: string,
  { id, version, status }: Pick<Gap, "id" | "version" | "status">,
): Promise<Gap> {
  return (await connection.call("updateGap", project, { params: { id }, body: { status }, ifMatch: version })).item;
}
