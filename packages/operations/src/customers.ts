import {
  ServiceError,
  checkInput,
  customerChangeSchema,
  customerListSchema,
  customerMergeSchema,
  encodeCustomerCursor,
  invalidInput,
} from "@svc/contracts";
import type { CustomerItem, ListPage } from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import type { CustomerRecord } from "@svc/store";
import { operation, staleVersion } from "./operation.ts";

const notFound = () => new ServiceError("not_found", "No customer with this ID exists in this project.");

function asItem({ edited: _edited, firstSeenAt, lastSeenAt, ...rest }: CustomerRecord): CustomerItem {
  return { ...rest, firstSeenAt: firstSeenAt.toISOString(), lastSeenAt: lastSeenAt.toISOString() };
}

/**
 * A page of the customers of the principal's project, the most recently seen first; `q` is looked for in what is known of
 * them. Scope tickets:read. Throws invalid_request with every error of the query.
 */
export const listCustomers = operation(
  "listCustomers",
  async ({ store }, principal, input): Promise<ListPage<CustomerItem>> => {
    const query = checkInput(customerListSchema, input, "The query");
    const { customers, next } = await store.customers.listPage(principal.project, query);
    return { items: customers.map(asItem), nextCursor: next === null ? null : encodeCustomerCursor(next) };
  },
);

/** The customer with this ID, or the one that it was merged into. Scope tickets:read. Throws not_found. */
export const getCustomer = operation("getCustomer", async ({ store }, principal, id) => {
  const customer = isUuid(id) ? await store.customers.find(principal.project, id) : null;
  if (customer === null) throw notFound();
  return asItem(customer);
});

/**
 * Changes what the input names, if the customer has one of the expected versions. What channels say later does not replace
 * it. Scope tickets:write. Throws not_found, version_conflict with the current `ETag`, and invalid_request with every error
 * of the input.
 */
export const updateCustomer = operation(
  "updateCustomer",
  async ({ store }, principal, { id, versions = null }, input) => {
    const change = checkInput(customerChangeSchema, input, "The customer");
    if (!isUuid(id)) throw notFound();
    const { result, record } = await store.customers.update(principal.project, { id, versions }, change);
    if (record === null) throw notFound();
    if (result === "stale") throw staleVersion("The customer", record.version);
    return asItem(record);
  },
  { audit: "customers.update" },
);

/**
 * Makes another customer of the project part of this one. Cannot be undone. Scope tickets:write. Throws not_found, and
 * invalid_request for another one that the project does not have, or that is this one.
 */
export const mergeCustomer = operation(
  "mergeCustomer",
  async ({ store }, principal, id, input) => {
    const { customerId } = checkInput(customerMergeSchema, input, "The merge");
    const into = isUuid(id) ? await store.customers.find(principal.project, id) : null;
    if (into === null) throw notFound();
    const invalid = (code: string, detail: string) =>
      invalidInput([{ pointer: "/customerId", code, detail }], "The merge");
    if (into.id === customerId.toLowerCase()) throw invalid("same", "is this customer");
    const merged = await store.customers.merge(principal.project, into.id, customerId);
    if (merged === null) throw invalid("not_found", "is not the ID of a customer in this project");
    return asItem(merged);
  },
  { audit: "customers.merge" },
);
