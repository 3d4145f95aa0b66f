import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Gap, GapDetail, GapSort, GapStatus, Proposal, ProposalStatus } from "@svc/contracts";
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

const PROPOSALS_PAGE_LIMIT = 30;

/** Proposed changes to knowledge bases, newest first, page by page. */
export const proposalsQuery = (connection: Connection, project: string, status: ProposalStatus) =>
  infiniteQueryOptions({
    queryKey: ["proposals", project, status],
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor,
    queryFn: ({ signal, pageParam }) =>
      connection.call("listProposals", project, {
        query: { status, limit: PROPOSALS_PAGE_LIMIT, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
  });

/** Makes a proposed change, or turns it down. Throws version_conflict where it has changed since. */
export async function decideProposal(
  connection: Connection,
  project: string,
  { id, version }: Pick<Proposal, "id" | "version">,
  decision: { kind: "accept" } | { kind: "reject"; reason: string },
): Promise<Proposal> {
  const target = { params: { id }, ifMatch: version };
  if (decision.kind === "accept") return (await connection.call("acceptProposal", project, target)).item;
  const body = decision.reason.trim() === "" ? {} : { reason: decision.reason.trim() };
  return (await connection.call("rejectProposal", project, { ...target, body })).item;
}
