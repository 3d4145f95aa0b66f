import { isDeepStrictEqual } from "node:util";
import { CUSTOMER_LIMITS } from "@svc/contracts";
import type { CustomerChange, CustomerListQuery, KeyPosition } from "@svc/contracts";
import type { Db, UpdateResult, VersionedId } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { recordEvents } from "../platform/webhooks.ts";
import { columnsOf, statements } from "../sql.ts";
import { microsecondsOf } from "../tickets/ticket-record.ts";
import {
  FACTS,
  friendlyName,
  identitiesOf,
  isKnown,
  mergedCustomer,
  searchedDigitsOf,
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

/** A number with fewer digits is searched for like a word. */
const MIN_PHONE_DIGITS = 4;

/** Parameters of a search of customers: all words in any order, or a part of a phone number however it is grouped. */
function searchOf(q: string | undefined) {
  const words = (q ?? "").split(/\s+/).filter((word) => word !== "");
  const [word = "", second, ...others] = words
    .map((found) => found.replaceAll(/[\\%_]/g, String.raw`\$&`))
    .sort((a, b) => b.length - a.length);
  return {
    q,
    word,
    second,
    // Null, with which PostgreSQL estimates better than with an empty list.
    others: others.length === 0 ? null : others,
    digits: searchedDigitsOf(q, MIN_PHONE_DIGITS),
  };
}

/** A page of the customers of a project, the most recently seen first, with the cursor of the next page. */
export async function listPage(
  db: Db,
  project: ProjectId,
  { limit, after, q }: CustomerListQuery,
): Promise<{ customers: CustomerRecord[]; next: KeyPosition | null }> {
  const rows = await sql.listPage.all<CustomerRecord & { value: number }>(db, {
    project,
    // One extra row shows whether there is another page.
    limit: limit + 1,
    id: after?.id,
    value: after?.value,
    ...searchOf(q),
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

async function write(tx: Db, project: ProjectId, customers: readonly CustomerRecord[]): Promise<void> {
  if (customers.length === 0) return;
  const written = await sql.write.all<{ id: string; isEvent: boolean }>(tx, {
    project,
    customers: JSON.stringify(customers),
  });
  const changed = written.filter(({ isEvent }) => isEvent);
  await recordEvents(
    tx,
    changed.map(({ id }) => ({ project, type: "customer.updated", subjectId: id, ticketEventId: null, at: null })),
  );
}

/** Fields of a customer that operators can change. */
type CustomerUpdate = CustomerChange & Partial<Pick<CustomerRecord, "isBlocked">>;

/** Returns the time since which a customer is unsubscribed after a change; an earlier time is kept. */
function unsubscribedAtOf({ unsubscribedAt }: CustomerRecord, unsubscribed: boolean | undefined): Date | null {
  if (unsubscribed === undefined) return unsubscribedAt;
  return unsubscribed ? (unsubscribedAt ?? new Date()) : null;
}

/**
 * Changes the given fields, if `versions` contains the current version or is null; channels no longer replace them. The
 * version only rises if a field changes.
 * `record` is the current state of the customer; null if the project has no customer with this ID.
 */
export function update(
  db: Db,
  project: ProjectId,
  { id, versions = null }: VersionedId,
  { attributes, isBlocked, unsubscribed, ...facts }: CustomerUpdate,
): Promise<{ result: UpdateResult; record: DetailedCustomer | null }> {
  return db.transaction(async (tx) => {
    const isFoundOtherwise = [facts.name, facts.email, facts.phone].some((fact) => fact !== undefined);
    if (isFoundOtherwise) await sql.queueTexts.run(tx, { ids: [id] });
    await lockCustomers(tx, project);
    const customer = await find(tx, project, id);
    if (customer === null) return { result: "stale", record: null };
    if (versions !== null && !versions.includes(customer.version)) return { result: "stale", record: customer };
    const changed = {
      ...customer,
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
    if (isDeepStrictEqual(changed, customer)) return { result: "changed", record: customer };
    const record = { ...changed, version: customer.version + 1 };
    await write(tx, project, [record]);
    return { result: "changed", record };
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
  await write(tx, project, [merged]);
  return { ...merged, identities: [...into.identities, ...from.identities] };
}

/**
 * Merges two customers of a project, by their IDs: `into` keeps its fields, which later messages do not override, as if an
 * operator had set them, and is completed by those of the other. Null if the project lacks one of them; repeating a merge
 * has no effect.
 */
export function merge(db: Db, project: ProjectId, intoId: string, fromId: string): Promise<DetailedCustomer | null> {
  return db.transaction(async (tx) => {
    await sql.queueTexts.run(tx, { ids: [intoId, fromId] });
    await lockCustomers(tx, project);
    const into = await find(tx, project, intoId);
    const from = await find(tx, project, fromId);
    if (into === null || from === null || into.id === from.id) return from === null ? null : into;
    const kept = FACTS.filter((fact) => fact !== "externalId" && into[fact] !== null);
    await mergeIn(tx, project, { into: { ...into, edited: [...new Set([...into.edited, ...kept])] }, from });
    return find(tx, project, into.id);
  });
}

type OfTicket = { ticketId: string; projectId: string | null; customer: CustomerRecord | null };

async function findOfTickets(tx: Db, people: readonly TicketPerson[]): Promise<Map<string, OfTicket>> {
  const rows = await sql.findOfTickets.all<CustomerRecord & { ticketId: string; projectId: string | null }>(tx, {
    ...columnsOf(people, "ticketId", "createdUs"),
  });
  return new Map(
    rows.map(({ ticketId, projectId, ...customer }) => [
      ticketId,
      { ticketId, projectId, customer: projectId === null ? null : customer },
    ]),
  );
}

/** Returns the customers with these identities, in the order of their IDs, and which of them each has. */
const findByIdentities = (tx: Db, project: ProjectId, identities: readonly CustomerIdentity[]) =>
  sql.findByIdentities.all<CustomerRecord & { found: CustomerIdentity[] }>(tx, {
    project,
    ...columnsOf(identities, "kind", "value"),
  });

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
  let owner: CustomerRecord | null = null;
  for (const { found: _, ...customer } of await findByIdentities(tx, project, identities))
    owner = owner === null ? customer : await mergeIn(tx, project, { into: owner, from: customer });
  return owner;
}

/** A new customer, with the friendly name of its first identity. */
const newCustomer = ({ project, createdAt, seenAt }: TicketPerson, first: CustomerIdentity): CustomerRecord => ({
  id: newId(),
  alias: friendlyName(project, first),
  name: null,
  email: null,
  phone: null,
  language: null,
  timeZone: null,
  externalId: null,
  attributes: {},
  edited: [],
  firstSeenAt: createdAt,
  lastSeenAt: seenAt ?? createdAt,
  isBlocked: false,
  unsubscribedAt: null,
  version: 1,
  identities: [],
});

async function insert(tx: Db, project: ProjectId, customers: readonly CustomerRecord[]): Promise<void> {
  if (customers.length === 0) return;
  await sql.insert.run(tx, {
    project,
    ...columnsOf(customers, "id", "alias", "firstSeenAt", "lastSeenAt"),
  });
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
  if (anonymous !== null && (!isKnown(anonymous) || verifiedIdentitiesOf(identities).length === 0)) return anonymous;
  const created = newCustomer(person, identities[0]);
  await insert(tx, project, [created]);
  return created;
}

/** Returns true if the person's data belongs to this customer, and not to another user of the same chat. */
const isAbout = (customer: CustomerRecord, identities: readonly CustomerIdentity[]): boolean => {
  const strong = verifiedIdentitiesOf(identities);
  const has = ({ kind, value }: CustomerIdentity) =>
    customer.identities.some((own) => own.kind === kind && own.value === value);
  return strong.length === 0 || !isKnown(customer) || strong.some(has);
};

/** Links a ticket to its customer, and updates that unless the identities are not its own. */
async function linkTicket(tx: Db, person: TicketPerson): Promise<void> {
  const [first, ...others] = identitiesOf(person);
  const found = (await findOfTickets(tx, [person])).get(person.ticketId);
  // Without the ticket, it was just erased.
  if (first === undefined || found === undefined) return;
  const { project, ticketId } = person;
  const identities = [first, ...others] as const;
  const customer = await customerOfTicket(tx, person, found.customer, identities);
  if (customer.id !== found.customer?.id) await link(tx, [{ ticketId, customerId: customer.id }]);
  if (!isAbout(customer, identities)) return;
  await addIdentities(
    tx,
    project,
    identities.map((identity) => ({ ...identity, customerId: customer.id })),
  );
  const changed = withFactsOf(customer, person);
  if (changed !== null) await write(tx, project, [changed]);
}

async function link(tx: Db, links: readonly { ticketId: string; customerId: string }[]): Promise<void> {
  if (links.length === 0) return;
  await sql.linkTickets.run(tx, columnsOf(links, "ticketId", "customerId"));
}

async function addIdentities(
  tx: Db,
  project: ProjectId,
  added: readonly (CustomerIdentity & { customerId: string })[],
): Promise<void> {
  if (added.length === 0) return;
  await sql.addIdentities.run(tx, { project, ...columnsOf(added, "customerId", "kind", "value") });
}

/** Tickets of people with the same identities. */
interface Group {
  identities: readonly CustomerIdentity[];
  people: [TicketPerson, ...TicketPerson[]];
}

const keyOf = ({ kind, value }: CustomerIdentity) => JSON.stringify([kind, value]);

/**
 * Links tickets without a customer to existing and new customers, all in the same statements. No two groups may have an
 * identity in common. Returns the groups of which nothing was written: their customers have to be chosen or merged one by one.
 */
async function linkGroups(tx: Db, project: ProjectId, groups: readonly Group[]): Promise<Group[]> {
  if (groups.length === 0) return [];
  const customers = new Map<string, CustomerRecord>();
  const owners = new Map<string, string>();
  const all = groups.flatMap(({ identities }) => identities);
  for (const { found, ...customer } of await findByIdentities(tx, project, all)) {
    customers.set(customer.id, customer);
    for (const identity of found) owners.set(keyOf(identity), customer.id);
  }
  const created: CustomerRecord[] = [];
  const changed = new Set<string>();
  const links: { ticketId: string; customerId: string }[] = [];
  const added: (CustomerIdentity & { customerId: string })[] = [];
  const others: Group[] = [];
  for (const group of groups) {
    const { identities, people } = group;
    const [first] = identities;
    const ids = new Set(identities.flatMap((identity) => owners.get(keyOf(identity)) ?? []));
    const known = [...ids].map((id) => customers.get(id))[0];
    if (first === undefined || ids.size > 1 || (known !== undefined && !isAbout(known, identities))) {
      others.push(group);
      continue;
    }
    let customer = known ?? newCustomer(people[0], first);
    if (known === undefined) created.push(customer);
    const customerId = customer.id;
    links.push(...people.map(({ ticketId }) => ({ ticketId, customerId })));
    const missing = identities.filter((identity) => !owners.has(keyOf(identity)));
    added.push(...missing.map((identity) => ({ ...identity, customerId })));
    for (const person of people) {
      const updated = withFactsOf(customer, person);
      if (updated === null) continue;
      customer = updated;
      changed.add(customerId);
    }
    // A later group sees a customer that is known by now.
    customers.set(customerId, { ...customer, identities: [...customer.identities, ...missing] });
  }
  await insert(tx, project, created);
  await link(tx, links);
  await addIdentities(tx, project, added);
  await write(
    tx,
    project,
    [...customers.values()].filter(({ id }) => changed.has(id)),
  );
  return others;
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
 * Returns the tickets whose customer was known and has changed.
 */
export async function followTickets(tx: Db, people: readonly TicketPerson[]): Promise<string[]> {
  const known = await findOfTickets(tx, people);
  const behind = people.filter((person) => {
    const found = known.get(person.ticketId);
    return found !== undefined && !isUpToDate(person, found.customer);
  });
  for (const project of [...new Set(behind.map((person) => person.project))].toSorted()) {
    await lockCustomers(tx, project);
    const groups = new Map<string, Group & { isNew: boolean }>();
    for (const person of behind) {
      if (person.project !== project) continue;
      const identities = identitiesOf(person);
      // A ticket that already has a customer is a group of its own: the customers may have to be merged.
      const isNew = known.get(person.ticketId)?.customer === null;
      const key = isNew ? JSON.stringify(identities) : person.ticketId;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { identities, people: [person], isNew });
      else group.people.push(person);
    }
    const uses = new Map<string, number>();
    for (const { identities } of groups.values())
      for (const identity of identities) uses.set(keyOf(identity), (uses.get(keyOf(identity)) ?? 0) + 1);
    const isSeparate = ({ isNew, identities }: Group & { isNew: boolean }) =>
      isNew && identities.every((identity) => uses.get(keyOf(identity)) === 1);
    const all = [...groups.values()];
    const left = await linkGroups(tx, project, all.filter(isSeparate));
    for (const { people } of [...left, ...all.filter((group) => !isSeparate(group))])
      for (const person of people) await linkTicket(tx, person);
  }
  return behind.map(({ ticketId }) => ticketId).filter((ticketId) => known.get(ticketId)?.customer != null);
}
