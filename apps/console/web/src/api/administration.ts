import { queryOptions } from "@tanstack/react-query";
import type { DeliveryState, KeyItem } from "@svc/contracts";
import type { Connection } from "./connection.ts";
import { LIST_LIMIT, definedParams, pagesQuery } from "./pages.ts";

/** Polling interval of the callbacks, whose attempts may happen at any time. */
const FOLLOW_MS = 3_000;

/** The keys of all projects, newest first, in pages. Invalidated with `keysQuery`. */
export const keyPagesQuery = (connection: Connection) =>
  pagesQuery(["keys", "pages"], (request) => connection.call("listKeys", null, request));

/** All operators whose name or email address matches these words, newest first, in pages. */
export const operatorPagesQuery = (connection: Connection, q: string) =>
  pagesQuery(["operators", q], ({ query, signal }) =>
    connection.call("listOperators", null, { query: { ...query, ...definedParams({ q }) }, signal }),
  );

/** All projects, newest first, in pages. */
export const projectPagesQuery = (connection: Connection) =>
  pagesQuery(["projects"], (request) => connection.call("listProjects", null, request));

/** The canned replies of a project whose name or text matches these words, newest first, in pages. */
export const cannedPagesQuery = (connection: Connection, project: string, q: string) =>
  pagesQuery(["canned-replies", project, "pages", q], ({ query, signal }) =>
    connection.call("listCannedReplies", project, { query: { ...query, ...definedParams({ q }) }, signal }),
  );

/** The callbacks of a project in this state, or in any; newest first, in pages, polled. */
export const deliveryPagesQuery = (connection: Connection, project: string, state: DeliveryState | null) => ({
  ...pagesQuery(["deliveries", project, state], ({ query, signal }) =>
    connection.call("listDeliveries", project, { query: { ...query, ...definedParams({ state }) }, signal }),
  ),
  refetchInterval: FOLLOW_MS,
});

/** The webhooks of a project, newest first, in pages. */
export const webhookPagesQuery = (connection: Connection, project: string) =>
  pagesQuery(["webhooks", project], (request) => connection.call("listWebhooks", project, request));

/** Filters of the audit log, by the fields of its rows; empty for any. */
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

/** The audit log that the signed-in operator may see from this project, newest first, in pages. */
export const auditPagesQuery = (connection: Connection, project: string, filter: AuditFilter) =>
  pagesQuery(["audit", project, filter], ({ query, signal }) =>
    connection.call("listAuditEvents", project, { query: { ...query, ...definedParams({ ...filter }) }, signal }),
  );

/** The newest keys of all projects. For administrators. */
export const keysQuery = (connection: Connection) =>
  queryOptions({
    queryKey: ["keys"],
    queryFn: async ({ signal }): Promise<KeyItem[]> =>
      (await connection.call("listKeys", null, { query: { limit: LIST_LIMIT }, signal })).items,
  });
