import { queryOptions } from "@tanstack/react-query";
import type { InfiniteData, QueryClient } from "@tanstack/react-query";
import type { CallOutput } from "@svc/client";
import type { CustomerDetail, ReviewAction, ReviewInput, Tag, TicketDetail, TicketItem } from "@svc/contracts";
import { definedParams, LIST_LIMIT, pagesQuery, pauseMs } from "./connection.ts";
import type { Connection } from "./connection.ts";

const TAGS_STALE_MS = 60_000;

/** The managed tags of a project, by name. They always fit into one page. */
export const tagsQuery = (connection: Connection, project: string) =>
  queryOptions({
    queryKey: ["tags", project],
    staleTime: TAGS_STALE_MS,
    queryFn: async ({ signal }): Promise<Tag[]> => {
      const { items } = await connection.call("listTags", project, { query: { limit: LIST_LIMIT }, signal });
      return items.toSorted((one, other) => one.name.localeCompare(other.name));
    },
  });

/** The managed tags of a project, newest first, in pages. Invalidated with `tagsQuery`. */
export const tagPagesQuery = (connection: Connection, project: string) =>
  pagesQuery(["tags", project, "pages"], (request) => connection.call("listTags", project, request));

/** Time for which a fetched ticket or customer counts as current. */
const STALE_MS = 15_000;

/** A ticket with its conversation and events. */
export const ticketQuery = (connection: Connection, project: string, id: string) =>
  queryOptions({
    queryKey: ["ticket", project, id],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<TicketDetail> =>
      (await connection.call("getTicket", project, { params: { id }, signal })).item,
  });

/** Decides about a ticket; throws version_conflict if it has changed since it was read. */
export async function decide<Action extends ReviewAction>(
  connection: Connection,
  { id, project, version }: { id: string; project: string; version: number | null },
  action: Action,
  body: ReviewInput<Action>,
): Promise<TicketItem> {
  const path = `/api/v1/admin/tickets/${encodeURIComponent(id)}/${action}`;
  const ifMatch = version === null ? {} : { ifMatch: version };
  const answer = await connection.send("POST", path, { project, body, ...ifMatch });
  // All decisions return the ticket.
  return (answer as CallOutput<"approveDraft">).item;
}

/**
 * Assigns a ticket, or unassigns it; `keepsDraft` leaves waiting messages to the next operator, and not to the agent.
 */
export const assignTicket = (
  connection: Connection,
  position: { id: string; project: string; version: number },
  { assignee, keepsDraft }: { assignee: string | null; keepsDraft: boolean },
): Promise<TicketItem> =>
  assignee === null
    ? decide(connection, position, "unassign", keepsDraft ? { keepsDraft } : {})
    : decide(connection, position, "assign", { assignee });

/**
 * Restores a ticket to its state before it was closed: status, assignee, draft, and waiting messages. `after` is the
 * closed ticket. Throws version_conflict if it has changed since.
 */
export const undoClose = (connection: Connection, after: TicketItem): Promise<TicketItem> =>
  decide(connection, after, "reopen", { restore: true });

/** Number of attempts, and the time between them, until a reply is expected to be processed. */
const REPLY_ATTEMPTS = 20;
const REPLY_POLL_MS = 250;

/**
 * Reopens a ticket that a reply has resolved. A reply resolves its ticket when it is processed, shortly after it was
 * accepted; this waits until then. The reply stays sent.
 */
export async function reopenAfterReply(
  connection: Connection,
  { id, project }: Pick<TicketItem, "id" | "project">,
  pause: (ms: number) => Promise<void> = pauseMs,
): Promise<TicketItem> {
  for (let attempts = 1; ; attempts++) {
    const { item } = await connection.call("getTicket", project, { params: { id } });
    if (item.stage !== "delivering" || attempts === REPLY_ATTEMPTS) {
      return item.status === "resolved" ? decide(connection, item, "reopen", {}) : item;
    }
    await pause(REPLY_POLL_MS);
  }
}

/** Returns true if resolving the ticket would leave its customer without an answer. */
export const isWaiting = ({ stage, origin }: Pick<TicketItem, "stage" | "origin">): boolean =>
  origin === null && (stage === "review" || stage === "failed");

type Pages = InfiniteData<{ items: TicketItem[]; nextCursor: string | null }>;

/**
 * Updates a ticket after the operator's own decision wherever it is shown: in lists and on its page. Older data is
 * ignored. Its page gets the new version only if the decision was based on what it shows: changes by others in between
 * must be fetched first, and until then no decision may be made as if they had been seen.
 */
export function showTicket(queryClient: QueryClient, project: string, item: TicketItem): void {
  const queryKey = ["ticket", project, item.id];
  const known = queryClient.getQueryData<TicketDetail>(queryKey);
  const isNext = known !== undefined && item.version === known.version + 1;
  if (isNext) queryClient.setQueryData<TicketDetail>(queryKey, { ...known, ...item });
  void queryClient.invalidateQueries({ queryKey, refetchType: isNext ? "none" : "active" });
  queryClient.setQueriesData<Pages>({ queryKey: ["tickets"] }, (known) => {
    const isThere = known?.pages.some(({ items }) => items.some(({ id }) => id === item.id));
    if (known === undefined || isThere !== true) return known;
    const replace = (other: TicketItem) => (other.id === item.id && other.version <= item.version ? item : other);
    return { ...known, pages: known.pages.map((page) => ({ ...page, items: page.items.map(replace) })) };
  });
}

/** The customers of a project that match this text, most recently seen first, in pages. */
export const customerPagesQuery = (connection: Connection, project: string, q: string) =>
  pagesQuery(["customers", project, q], ({ query, signal }) =>
    connection.call("listCustomers", project, { query: { ...query, ...definedParams({ q }) }, signal }),
  );

/** A customer, with its notes. */
export const customerQuery = (connection: Connection, project: string, id: string) =>
  queryOptions({
    queryKey: ["customer", project, id],
    staleTime: STALE_MS,
    queryFn: async ({ signal }): Promise<CustomerDetail> =>
      (await connection.call("getCustomer", project, { params: { id }, signal })).item,
  });

/** The conversations of a customer, newest first, in pages. */
export const conversationsQuery = (connection: Connection, project: string, customerId: string, limit: number) =>
  pagesQuery(
    ["tickets", project, "customer", customerId, limit],
    ({ query, signal }) =>
      connection.call("listTickets", project, { query: { ...query, customerId, sort: "-createdAt" }, signal }),
    limit,
  );
