import { CUSTOMER_LIMITS } from "@svc/contracts";
import type { CustomerChange, CustomerListQuery, KeyPosition } from "@svc/contracts";
import type { Db, UpdateResult, VersionedId } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { recordEvents } from "../platform/webhooks.ts";
import { statements } from "../sql.ts";
import { microsecondsOf } from "../tickets/ticket-record.ts";
import {
  FACTS,
  friendlyName,
  identitiesOf,
  isKnown,
  mergedCustomer,
  verifiedIdentitiesOf,
  withFactsOf,
} from "./customer-facts.ts";
import type {
  CustomerIdentity,
  CustomerNote,
  CustomerRecord,
  DetailedCustomer,
  TicketPerson,
} from "./customer-facts.ts";

/** Maximum of displayed identities of a customer. */
const IDENTITIES_MAX_COUNT = 100;

/** Maximum of listed open tickets of a customer, who usually has a few. */
const OPEN_MAX_COUNT = 1_000;

/** Number of the advisory locks of writers of customers, one per project. */
const CUSTOMERS_LOCK = 7_305_421;

const sql = statements("people/customers", {
  identitiesMaxCount: IDENTITIES_MAX_COUNT,
  notesMaxCount: CUSTOMER_LIMITS.notesMaxCount,
  openMaxCount: OPEN_MAX_COUNT,
  createdUs: microsecondsOf("t.created_at"),
  lastSeenUs: microsecondsOf("c.last_seen_at"),
});

/** Makes this transaction the only writer of a project's customers until it ends. Tickets must be locked before. */
export async function lockCustomers(tx: Db, project: ProjectId): Promise<void> {
  await sql.lock.exec(tx, { customersLock: CUSTOMERS_LOCK, project });
}

/** Returns a customer by its ID or by that of one merged into it; null if the project has none. */
export const find = (db: Db, project: ProjectId, id: string): Promise<DetailedCustomer | null> =>
  sql.find.one<DetailedCustomer>(db, { project, id });

/** A page of the customers of a project, the most recently seen first, with the cursor of the next page. */
export async function listPage(
  db: Db,
  project: ProjectId,
  { limit, after, q }: CustomerListQuery,
): Promise<{ customers: CustomerRecord[]; next: KeyPosition | null }> {
  const pattern = q === undefined ? null : `%${q.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  const rows = await sql.listPage.all<CustomerRecord & { value: number }>(db, {
    project,
    // One extra row shows whether there is another page.
    limit: limit + 1,
    id: after?.id,
    value: after?.value,
    q,
    pattern,
  });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return {
    customers: page.map(({ value: _value, ...customer }) => customer),
    next: hasMore ? { value: last.value, id: last.id } : null,
  };
}

/** IDs of the newest 1,000 tickets of a customer that this project works on and that are not closed. */
export async function listOpenTickets(db: Db, project: ProjectId, id: string): Promise<string[]> {
  return (await sql.listOpenTickets.all(db, { project, id })).map((ticket) => ticket.id);
}

async function write(tx: Db, project: ProjectId, customer: CustomerRecord): Promise<void> {
  const values = { ...customer, project, attributes: JSON.stringify(customer.attributes) };
  const written = await sql.write.one(tx, values);
  if (written?.isEvent !== true) return;
  const { id: subjectId } = customer;
  await recordEvents(tx, [{ project, type: "customer.updated", subjectId, ticketEventId: null, at: null }]);
}

/** Fields of a customer that operators can change. */
type CustomerUpdate = CustomerChange & Partial<Pick<CustomerRecord, "isBlocked">>;

/** Returns the time since which a customer is unsubscribed after a change; an earlier time is kept. */
function unsubscribedAtOf({ unsubscribedAt }: CustomerRecord, unsubscribed: boolean | undefined): Date | null {
  if (unsubscribed === undefined) return unsubscribedAt;
  return unsubscribed ? (unsubscribedAt ?? new Date()) : null;
}

/**
 * Changes the given fields, if `versions` contains the current version or is null; channels no longer replace them.
 * `record` is the current state of the customer; null if the project has no customer with this ID.
 */
export function update(
  db: Db,
  project: ProjectId,
  { id, versions = null }: VersionedId,
  { attributes, isBlocked, unsubscribed, ...facts }: CustomerUpdate,
): Promise<{ result: UpdateResult; record: DetailedCustomer | null }> {
  return db.transaction(async (tx) => {
    if (facts.name !== undefined || facts.email !== undefined) await sql.queueTexts.run(tx, { id });
    await lockCustomers(tx, project);
    const customer = await find(tx, project, id);
    if (customer === null) return { result: "stale", record: null };
    if (versions !== null && !versions.includes(customer.version)) return { result: "stale", record: customer };
    const changed = {
      ...customer,
      version: customer.version + 1,
      attributes: attributes ?? customer.attributes,
      isBlocked: isBlocked ?? customer.isBlocked,
      unsubscribedAt: unsubscribedAtOf(customer, unsubscribed),
    };
    const edited = new Set(customer.edited);
    for (const fact of FACTS) {
      const value = facts[fact];
      if (value === undefined) continue;
      changed[fact] = value;
      edited.add(fact);
    }
    changed.edited = [...edited];
    await write(tx, project, changed);
    return { result: "changed", record: changed };
  });
}

/**
 * Adds a note to a customer. Returns the updated customer; null if the project has no customer with this ID or it has
 * `CUSTOMER_LIMITS.notesMaxCount` notes.
 */
export async function addNote(
  db: Db,
  project: ProjectId,
  id: string,
  note: Omit<CustomerNote, "id" | "at">,
): Promise<DetailedCustomer | null> {
  const stored: CustomerNote = { id: newId(), at: new Date().toISOString(), ...note };
  const isAdded = await sql.addNote.any(db, { project, id, note: JSON.stringify([stored]) });
  return isAdded ? find(db, project, id) : null;
}

/** Deletes a note of a customer. Returns the updated customer; null if there is no such note. */
export async function removeNote(
  db: Db,
  project: ProjectId,
  id: string,
  noteId: string,
): Promise<DetailedCustomer | null> {
  return (await sql.removeNote.any(db, { project, id, noteId })) ? find(db, project, id) : null;
}

/** Merges two customers: `into` keeps its fields, completed by those of `from`, whose ID redirects to it. */
async function mergeIn(
  tx: Db,
  project: ProjectId,
  { into, from }: { into: CustomerRecord; from: CustomerRecord },
): Promise<CustomerRecord> {
  const ids = { intoId: into.id, fromId: from.id };
  await sql.moveIdentities.run(tx, { ...ids, project });
  await sql.moveTickets.run(tx, ids);
  await sql.moveNotes.run(tx, { ...ids, project });
  await sql.remove.run(tx, { project, id: from.id });
  const merged = mergedCustomer(into, from, CUSTOMER_LIMITS.attributesMaxCount);
  await write(tx, project, merged);
  return { ...merged, identities: [...into.identities, ...from.identities] };
}

/**
 * Merges two customers of a project, by their IDs: `into` keeps its fields, completed by those of the other. Null if
 * the project lacks one of them; repeating a merge has no effect.
 */
export function merge(db: Db, project: ProjectId, intoId: string, fromId: string): Promise<DetailedCustomer | null> {
  return db.transaction(async (tx) => {
    await sql.queueTexts.run(tx, { id: fromId });
    await lockCustomers(tx, project);
    const into = await find(tx, project, intoId);
    const from = await find(tx, project, fromId);
    if (into === null || from === null || into.id === from.id) return from === null ? null : into;
    await mergeIn(tx, project, { into, from });
    return find(tx, project, into.id);
  });
}

const columnsOf = (identities: readonly CustomerIdentity[]) => ({
  kind: identities.map(({ kind }) => kind),
  value: identities.map(({ value }) => value),
});

type OfTicket = { ticketId: string; projectId: string | null; customer: CustomerRecord | null };

async function findOfTickets(tx: Db, people: readonly TicketPerson[]): Promise<Map<string, OfTicket>> {
  const rows = await sql.findOfTickets.all<CustomerRecord & { ticketId: string; projectId: string | null }>(tx, {
    ticketId: people.map(({ ticketId }) => ticketId),
    createdUs: people.map(({ createdUs }) => createdUs),
  });
  return new Map(
    rows.map(({ ticketId, projectId, ...customer }) => [
      ticketId,
      { ticketId, projectId, customer: projectId === null ? null : customer },
    ]),
  );
}

/**
 * Returns the customer with these identities, or null, merging several: a verified email address or a user is one
 * person everywhere.
 */
async function findOwner(
  tx: Db,
  project: ProjectId,
  identities: readonly CustomerIdentity[],
): Promise<CustomerRecord | null> {
  if (identities.length === 0) return null;
  const rows = await sql.findByIdentities.all(tx, { project, ...columnsOf(identities) });
  let owner: CustomerRecord | null = null;
  for (const { customerId } of rows) {
    const found = await find(tx, project, customerId);
    if (found !== null) owner = owner === null ? found : await mergeIn(tx, project, { into: owner, from: found });
  }
  return owner;
}

async function create(tx: Db, person: TicketPerson, first: CustomerIdentity): Promise<CustomerRecord> {
  const { project, createdAt, seenAt } = person;
  const customer = { id: newId(), alias: friendlyName(project, first), firstSeenAt: createdAt };
  await sql.insert.run(tx, { ...customer, project, lastSeenAt: seenAt ?? createdAt });
  const created = await find(tx, project, customer.id);
  if (created === null) throw new Error("a customer was not found after it was inserted");
  return created;
}

/**
 * Finds or creates the customer of a ticket. A conversation belongs to its first known person: a browser becomes that
 * of the user who signs in, but another user who writes in the same chat does not take it over.
 */
async function customerOfTicket(
  tx: Db,
  person: TicketPerson,
  current: CustomerRecord | null,
  identities: readonly [CustomerIdentity, ...CustomerIdentity[]],
): Promise<CustomerRecord> {
  const { project } = person;
  if (current !== null && isKnown(current)) return current;
  const owner = await findOwner(tx, project, verifiedIdentitiesOf(identities));
  if (owner !== null) {
    return current === null || current.id === owner.id ? owner : mergeIn(tx, project, { into: owner, from: current });
  }
  if (current !== null) return current;
  const anonymous = await findOwner(
    tx,
    project,
    identities.filter(({ kind }) => kind === "visitor" || kind === "chat"),
  );
  return anonymous === null || (isKnown(anonymous) && verifiedIdentitiesOf(identities).length > 0)
    ? create(tx, person, identities[0])
    : anonymous;
}

/** Returns true if the person's data belongs to this customer, and not to another user of the same chat. */
const isAbout = (customer: CustomerRecord, identities: readonly CustomerIdentity[]): boolean => {
  const strong = verifiedIdentitiesOf(identities);
  const has = ({ kind, value }: CustomerIdentity) =>
    customer.identities.some((own) => own.kind === kind && own.value === value);
  return strong.length === 0 || !isKnown(customer) || strong.some(has);
};

/** Links a ticket to its customer. Returns that customer as it is now; null if the identities are not those of it. */
async function linkTicket(tx: Db, person: TicketPerson): Promise<CustomerRecord | null> {
  const [first, ...others] = identitiesOf(person);
  const found = (await findOfTickets(tx, [person])).get(person.ticketId);
  // Without the ticket, it was just erased.
  if (first === undefined || found === undefined) return null;
  const customer = await customerOfTicket(tx, person, found.customer, [first, ...others]);
  if (customer.id !== found.customer?.id) {
    await sql.linkTickets.run(tx, { ticketIds: [person.ticketId], customerId: customer.id });
  }
  if (!isAbout(customer, [first, ...others])) return null;
  await sql.addIdentities.run(tx, {
    project: person.project,
    customerId: customer.id,
    ...columnsOf([first, ...others]),
  });
  const changed = withFactsOf(customer, person);
  if (changed !== null) await write(tx, person.project, changed);
  return changed ?? customer;
}

/**
 * Links tickets without a customer whose people have the same identities: the customer is looked for once, and the
 * other tickets share its statements.
 */
async function linkTickets(tx: Db, [first, ...others]: readonly [TicketPerson, ...TicketPerson[]]): Promise<void> {
  const customer = await linkTicket(tx, first);
  if (customer === null) {
    for (const person of others) await linkTicket(tx, person);
    return;
  }
  if (others.length === 0) return;
  await sql.linkTickets.run(tx, { ticketIds: others.map(({ ticketId }) => ticketId), customerId: customer.id });
  let changed = customer;
  for (const person of others) changed = withFactsOf(changed, person) ?? changed;
  if (changed !== customer) await write(tx, first.project, changed);
}

/** True if there is nothing to write. */
function isUpToDate(person: TicketPerson, customer: CustomerRecord | null): boolean {
  const identities = identitiesOf(person);
  if (identities.length === 0) return true;
  if (customer === null || (!isKnown(customer) && verifiedIdentitiesOf(identities).length > 0)) return false;
  return !isAbout(customer, identities) || withFactsOf(customer, person) === null;
}

/**
 * Creates and updates the customers of tickets whose events were followed, in the transaction that has indexed their
 * words and so holds their rows: this is not on the message path. A ticket with a known customer and no new data, which
 * is the usual case, costs only its share of one statement. Safe to repeat: the result depends only on the tickets.
 */
export async function followTickets(tx: Db, people: readonly TicketPerson[]): Promise<void> {
  const known = await findOfTickets(tx, people);
  const behind = people.filter((person) => {
    const found = known.get(person.ticketId);
    return found !== undefined && !isUpToDate(person, found.customer);
  });
  for (const project of [...new Set(behind.map((person) => person.project))].toSorted()) {
    await lockCustomers(tx, project);
    const groups = new Map<string, [TicketPerson, ...TicketPerson[]]>();
    for (const person of behind) {
      if (person.project !== project) continue;
      // A ticket that already has a customer is a group of its own: the customers may have to be merged.
      const isNew = known.get(person.ticketId)?.customer === null;
      const key = isNew ? JSON.stringify(identitiesOf(person)) : person.ticketId;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [person]);
      else group.push(person);
    }
    for (const group of groups.values()) await linkTickets(tx, group);
  }
}
