import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type {
  AuditItem,
  CannedReply,
  DeliveryItem,
  DeliveryState,
  KeyItem,
  Operator,
  ProjectItem,
  Scope,
} from "@svc/contracts";
import type { CallOutput } from "@svc/client";
import type { Connection } from "./connection.ts";

/** One page of a list, and where the next one begins. */
export interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
}

/** What a page of a list is asked for by. */
interface PageRequest {
  query: { limit: number; cursor?: string };
  signal: AbortSignal;
}

const PAGE_LIMIT = 50;
/** While a callback waits for its next try, the list is asked for what became of it. */
const FOLLOW_MS = 3_000;

const pagesOf = <Item>(queryKey: readonly unknown[], ask: (request: PageRequest) => Promise<Page<Item>>) =>
  infiniteQueryOptions({
    queryKey,
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: Page<Item>) => nextCursor,
    queryFn: ({ signal, pageParam }) =>
      ask({ query: { limit: PAGE_LIMIT, ...(pageParam === null ? {} : { cursor: pageParam }) }, signal }),
  });

/** The keys of all projects, newest first, page by page. Goes stale with the other lists of keys. */
export const keyPagesQuery = (connection: Connection) =>
  pagesOf<KeyItem>(["keys", "pages"], (request) => connection.call("listKeys", null, request));

/** All operators whose name or e-mail address has these words, newest first, page by page. */
export const operatorPagesQuery = (connection: Connection, q: string) =>
  pagesOf<Operator>(["operators", q], ({ query, signal }) =>
    connection.call("listOperators", null, { query: { ...query, ...(q === "" ? {} : { q }) }, signal }),
  );

/** All projects, newest first, page by page. */
export const projectPagesQuery = (connection: Connection) =>
  pagesOf<ProjectItem>(["projects"], (request) => connection.call("listProjects", null, request));

/** The canned replies of a project whose name or text has these words, newest first, page by page. */
export const cannedPagesQuery = (connection: Connection, project: string, q: string) =>
  pagesOf<CannedReply>(["canned-replies", project, "pages", q], ({ query, signal }) =>
    connection.call("listCannedReplies", project, { query: { ...query, ...(q === "" ? {} : { q }) }, signal }),
  );

/** The callbacks of a project in this state, or in any; newest first, followed while any that is shown waits. */
export const deliveryPagesQuery = (connection: Connection, project: string, state: DeliveryState | null) => ({
  ...pagesOf<DeliveryItem>(["deliveries", project, state], ({ query, signal }) =>
    connection.call("listDeliveries", project, { query: { ...query, ...(state === null ? {} : { state }) }, signal }),
  ),
  refetchInterval: FOLLOW_MS,
});

/** What narrows the audit trail down: each as it stands in the row; empty for any. */
export interface AuditFilter {
  actor: string;
  action: string;
  object: string;
  result: string;
  project: string;
  /** The first day (`YYYY-MM-DD`, UTC). */
  from: string;
  /** The day after the last one. */
  to: string;
}

/** The audit trail that the signed-in operator may see from this project, newest first, page by page. */
export const auditPagesQuery = (connection: Connection, project: string, filter: AuditFilter) =>
  pagesOf<AuditItem>(["audit", project, filter], ({ query, signal }) => {
    const named = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
    return connection.call("listAuditEvents", project, { query: { ...query, ...named }, signal });
  });

/** A key just made: the only time that it is shown. */
export type NewKey = CallOutput<"createKey">["item"];

/** As many as the server gives at once. */
const LIMIT = 200;

/** The keys of all projects, newest first. For administrators. */
export const keysQuery = (connection: Connection) =>
  queryOptions({
    queryKey: ["keys"],
    queryFn: async ({ signal }): Promise<KeyItem[]> =>
      (await connection.call("listKeys", null, { query: { limit: LIMIT }, signal })).items,
  });

/** Makes a key of a project. */
export async function createKey(
  connection: Connection,
  input: { name: string; scopes: readonly Scope[]; project: string },
): Promise<NewKey> {
  return (await connection.call("createKey", null, { body: { ...input, scopes: [...input.scopes] } })).item;
}

/** Ends a key on every replica within a second. */
export async function revokeKey(connection: Connection, id: string): Promise<KeyItem> {
  return (await connection.call("revokeKey", null, { params: { id } })).item;
}
