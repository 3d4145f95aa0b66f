import { hashAddress } from "@svc/channel-manager";
import {
  ServiceError,
  checkInput,
  customerChangeSchema,
  customerListSchema,
  customerMergeSchema,
  customerNoteInputSchema,
  CUSTOMER_LIMITS,
  encodeCustomerCursor,
  invalidInput,
} from "@svc/contracts";
import type { Principal } from "@svc/auth";
import type { CustomerDetail, CustomerItem, ListPage } from "@svc/contracts";
import { isUuid } from "@svc/primitives";
import type { CustomerRecord, DetailedCustomer, Store } from "@svc/store";
import { operation, staleVersion, objectReader, notInProject } from "./operation.ts";
import { closeAsSpam } from "./reviews.ts";
import type { ReviewDeps } from "./reviews.ts";

/** Returns a customer as shown in a list. */
export function asCustomerItem({ edited: _edited, ...customer }: CustomerRecord): CustomerItem {
  const { firstSeenAt, lastSeenAt, unsubscribedAt } = customer;
  return {
    ...customer,
    firstSeenAt: firstSeenAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
    unsubscribedAt: unsubscribedAt?.toISOString() ?? null,
  };
}

const asDetail = ({ notes, ...customer }: DetailedCustomer): CustomerDetail => ({ ...asCustomerItem(customer), notes });

/** Returns the customer with this ID, or the one that it was merged into. Throws not_found. */
const readCustomer = objectReader("customer", ({ customers }) => customers.find);

/**
 * Returns a page of the customers of the principal's project, most recently seen first; `q` searches their attributes.
 */
export const listCustomers = operation(
  "listCustomers",
  async ({ store }, principal, input): Promise<ListPage<CustomerItem>> => {
    const query = checkInput(customerListSchema, input, "The query");
    const { customers, next } = await store.customers.listPage(principal.project, query);
    return { items: customers.map(asCustomerItem), nextCursor: next === null ? null : encodeCustomerCursor(next) };
  },
);

/** Returns the customer with this ID, or the one that it was merged into. */
export const getCustomer = operation("getCustomer", async ({ store }, principal, id) => {
  return asDetail(await readCustomer(store, principal, id));
});

/**
 * Changes the given fields if the customer has one of the expected versions. Later data of channels does not overwrite
 * them.
 */
export const updateCustomer = operation(
  "updateCustomer",
  async ({ store }, principal, { id, versions = null }, input) => {
    const change = checkInput(customerChangeSchema, input, "The customer");
    if (!isUuid(id)) throw notInProject("customer");
    const { result, record } = await store.customers.update(principal.project, { id, versions }, change);
    if (record === null) throw notInProject("customer");
    if (result === "stale") throw staleVersion("The customer", record.version);
    if (change.unsubscribed === false) {
      const known = record.identities.flatMap(({ kind, value }) => (kind === "email" ? [value] : []));
      const addresses = record.email === null ? known : [record.email, ...known];
      const hashes = addresses.map((address) => hashAddress(store.sealer, address));
      await store.emailNotifications.resubscribe(principal.project, hashes);
    }
    return asDetail(record);
  },
  { audit: "customers.update" },
);

/**
 * Merges another customer of the project into this one. Cannot be undone. Throws invalid_request if the other one is
 * not in the project, or is the same one.
 */
export const mergeCustomer = operation(
  "mergeCustomer",
  async ({ store }, principal, id, input) => {
    const { customerId } = checkInput(customerMergeSchema, input, "The merge");
    const into = await readCustomer(store, principal, id);
    const invalid = (code: string, detail: string) =>
      invalidInput([{ pointer: "/customerId", code, detail }], "The merge");
    if (into.id === customerId.toLowerCase()) throw invalid("same", "is this customer");
    const merged = await store.customers.merge(principal.project, into.id, customerId);
    if (merged === null) throw invalid("not_found", "is not the ID of a customer in this project");
    return asDetail(merged);
  },
  { audit: "customers.merge" },
);

/** Stores whether a customer is blocked. Throws not_found. */
async function setBlocked(
  store: Store,
  principal: Principal,
  id: string,
  isBlocked: boolean,
): Promise<DetailedCustomer> {
  const { project } = principal;
  const customer = await readCustomer(store, principal, id);
  if (customer.isBlocked === isBlocked) return customer;
  const { record } = await store.customers.update(project, { id: customer.id }, { isBlocked });
  if (record === null) throw notInProject("customer");
  return record;
}

/** Blocks a customer: open conversations become spam, as do later ones. A repeated call closes remaining ones. */
export const blockCustomer = operation(
  "blockCustomer",
  async (deps: ReviewDeps, principal, id) => {
    const customer = await setBlocked(deps.store, principal, id, true);
    for (const ticketId of await deps.store.customers.listOpenTickets(principal.project, customer.id)) {
      await closeAsSpam(deps, principal, ticketId);
    }
    return asDetail(customer);
  },
  { audit: "customers.block" },
);

/** Unblocks a customer: later messages are processed as usual. */
export const unblockCustomer = operation(
  "unblockCustomer",
  async ({ store }, principal, id) => asDetail(await setBlocked(store, principal, id, false)),
  { audit: "customers.unblock" },
);

/** Adds an internal note to a customer. Throws invalid_request for a customer with the maximum number of notes. */
export const addCustomerNote = operation(
  "addCustomerNote",
  async ({ store }, principal, id, input) => {
    const { text } = checkInput(customerNoteInputSchema, input, "The note");
    const { id: customerId } = await readCustomer(store, principal, id);
    const note = { author: principal.actor, text };
    const changed = await store.customers.addNote(principal.project, customerId, note);
    if (changed !== null) return asDetail(changed);
    const detail = `has ${CUSTOMER_LIMITS.notesMaxCount} notes already; delete one first`;
    throw invalidInput([{ pointer: "", code: "too_many", detail }], "The customer");
  },
  { audit: "customers.add_note" },
);

/** Deletes a note of a customer. */
export const deleteCustomerNote = operation(
  "deleteCustomerNote",
  async ({ store }, principal, id, noteId) => {
    const { id: customerId } = await readCustomer(store, principal, id);
    const changed = await store.customers.removeNote(principal.project, customerId, noteId.toLowerCase());
    if (changed === null) throw new ServiceError("not_found", "This customer has no note with this ID.");
    return asDetail(changed);
  },
  { audit: "customers.delete_note" },
);
