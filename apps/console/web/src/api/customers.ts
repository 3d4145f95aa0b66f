import { queryOptions } from "@tanstack/react-query";
import type { CustomerDetail } from "@svc/contracts";
import type { Connection } from "./connection.ts";
import { definedParams, pagesQuery } from "./pages.ts";

/** Time for which a fetched customer counts as current. */
const STALE_MS = 15_000;

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
