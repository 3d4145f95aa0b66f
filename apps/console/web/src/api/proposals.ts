import { infiniteQueryOptions } from "@tanstack/react-query";
import type { Proposal, ProposalStatus } from "@svc/contracts";
import type { Connection } from "./connection.ts";

const PAGE_LIMIT = 30;

/** Proposed changes to knowledge bases, newest first, page by page. */
export const proposalsQuery = (connection: Connection, project: string, status: ProposalStatus) =>
  infiniteQueryOptions({
    queryKey: ["proposals", project, status],
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: { nextCursor: string | null }) => nextCursor,
    queryFn: ({ signal, pageParam }) =>
      connection.call("listProposals", project, {
        query: { status, limit: PAGE_LIMIT, ...(pageParam === null ? {} : { cursor: pageParam }) },
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
