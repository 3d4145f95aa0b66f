import type { Principal } from "@svc/auth";
import { CHANNEL_IDS, UPDATES_CHANNEL, checkInput, privacySubjectSchema, visitorChatIds } from "@svc/contracts";
import type { ErasureReceipt, PrivacySubject } from "@svc/contracts";
import { announceRemoval } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { addCounts, newId, ticketIdOf } from "@svc/store";
import type { BodyOwner, HeldCounts, HeldRecords, ProjectId, Store } from "@svc/store";
import { operation } from "./operation.ts";

/** An export of one person's data. */
export interface PersonalData {
  /** The kind of ID and a keyed hash of it. */
  subject: string;
  /**
   * JSON of the export, in pieces, generated while it is read so that it may have any length. Reading rejects with
   * `unavailable` if the database fails: the text is then incomplete.
   */
  itemJson: AsyncIterable<string>;
}

interface ExportContents {
  head: { id: string; at: string; project: string; subject: string };
  /** One for each conversation. */
  tickets: AsyncIterable<{ ticketId: string; parts: AsyncIterable<HeldRecords> }>;
  /** Request bodies that became no message. Read after the conversations. */
  parts: AsyncIterable<HeldRecords>;
}

/** A request: whose conversations and bodies, and a pseudonym of the person for the audit log. */
interface SubjectQuery extends BodyOwner {
  subject: string;
}

/** Finds the conversations of a subject in the principal's project. Throws invalid_request with every error. */
async function findSubject(store: Store, { project }: Principal, input: PrivacySubject): Promise<SubjectQuery> {
  const { userId, visitorId, customerId, chatId, channelId } = checkInput(privacySubjectSchema, input, "The subject");
  const named = (kind: string, id: string) =>
    `${kind}:${store.sealer.fingerprint(JSON.stringify([project, kind, id]))}`;
  const nobody = { userIds: [], chatId: null, updatesChatId: null };
  if (userId !== undefined) {
    const ticketIds = await store.erasures.findTicketsOfUser(project, userId);
    return { ...nobody, subject: named("user", userId), userIds: [userId], ticketIds };
  }
  if (customerId !== undefined)
    return {
      ...nobody,
      ...(await seekCustomer(store, project, customerId)),
      subject: named("customer", customerId.toLowerCase()),
    };
  if (visitorId !== undefined) {
    const own = visitorChatIds(visitorId).map((chat) => ticketIdOf(project, "widget", chat));
    return {
      ...nobody,
      subject: named("visitor", visitorId.toLowerCase()),
      ticketIds: await store.erasures.findTickets(project, own),
    };
  }
  const channels = channelId === undefined ? CHANNEL_IDS : [channelId];
  const ticketIds = channels.map((channel) => ticketIdOf(project, channel, chatId ?? ""));
  return {
    subject: named("chat", chatId ?? ""),
    userIds: [],
    // Hooks use chats of the API.
    chatId: channels.includes("api") ? (chatId ?? null) : null,
    updatesChatId: channels.includes(UPDATES_CHANNEL) ? (chatId ?? null) : null,
    ticketIds: await store.erasures.findTickets(project, ticketIds),
  };
}

/** Finds the conversations of a customer, and all in which one of its users wrote. */
async function seekCustomer(store: Store, project: ProjectId, customerId: string) {
  const customer = await store.customers.find(project, customerId);
  const userIds = (customer?.identities ?? [])
    .filter(({ kind }) => kind === "user" || kind === "telegram")
    .map(({ value }) => value);
  const own = customer === null ? [] : await store.erasures.findTicketsOfCustomer(project, customer.id);
  const theirs = await Promise.all(userIds.map((userId) => store.erasures.findTicketsOfUser(project, userId)));
  return { userIds, ticketIds: [...new Set([...own, ...theirs.flat()])].toSorted() };
}

async function* readTickets(store: Store, { project }: Principal, ticketIds: readonly string[]) {
  for (const ticketId of ticketIds) yield { ticketId, parts: store.erasures.read(project, ticketId) };
}

/** Returns records as JSON, with bytes in base64. */
function recordJson(record: Record<string, unknown>): string {
  return JSON.stringify(
    Object.fromEntries(
      Object.entries(record).map(([name, value]) => [name, Buffer.isBuffer(value) ? value.toString("base64") : value]),
    ),
  );
}

/** Writes the JSON of an export. */
async function* writeExport({ head, tickets, parts: loose }: ExportContents): AsyncGenerator<string> {
  let counts: HeldCounts = addCounts({}, {});
  async function* writeRecords(parts: AsyncIterable<HeldRecords>): AsyncGenerator<string> {
    let kind: string | null = null;
    for await (const part of parts) {
      const opens = part.kind !== kind;
      const before = kind === null ? "" : "],";
      yield `${opens ? `${before}${JSON.stringify(part.kind)}:[` : ","}${part.records.map(recordJson).join(",")}`;
      kind = part.kind;
      counts = addCounts(counts, { [part.kind]: part.records.length });
    }
    if (kind !== null) yield "]";
  }
  yield `${JSON.stringify(head).slice(0, -1)},"tickets":[`;
  let isFirst = true;
  for await (const { ticketId, parts } of tickets) {
    yield `${isFirst ? "" : ","}{"ticketId":${JSON.stringify(ticketId)},"records":{`;
    isFirst = false;
    yield* writeRecords(parts);
    yield "}}";
  }
  yield '],"records":{';
  yield* writeRecords(loose);
  yield `},"counts":${JSON.stringify(counts)}}`;
}

/**
 * Exports all data of the principal's project about a user, a visitor, a customer or a chat. Scope privacy:read; a key
 * bound to a project reads only that project.
 */
export const exportPersonalData = operation(
  "exportPersonalData",
  async ({ store }, principal, input): Promise<PersonalData> => {
    const { subject, ...owner } = await findSubject(store, principal, input);
    const itemJson = writeExport({
      head: { id: newId(), at: new Date().toISOString(), project: principal.projectName, subject },
      tickets: readTickets(store, principal, owner.ticketIds),
      parts: store.erasures.readLoose(principal.project, owner),
    });
    return { subject, itemJson };
  },
  { audit: "privacy.export", objectOf: (_args, result) => result?.subject ?? null },
);

/**
 * Erases all data of the principal's project about a user, a visitor, a customer or a chat, one conversation after the
 * other; work in progress is abandoned. Cannot be undone. A later message restarts its conversation. A repeated call,
 * also after a crash, erases the rest.
 */
export const erasePersonalData = operation(
  "erasePersonalData",
  async (
    { store, queues }: { store: Store; queues?: Pick<Queues, "wakeUps"> },
    principal,
    input,
  ): Promise<ErasureReceipt> => {
    const { subject, ...owner } = await findSubject(store, principal, input);
    // First everything that could still become a message.
    let counts = await store.erasures.eraseLoose(principal.project, owner);
    for (const ticketId of owner.ticketIds) {
      counts = addCounts(counts, (await store.erasures.erase(principal.project, ticketId)) ?? {});
    }
    // The sweep deletes the files in the object store.
    if (queues !== undefined) announceRemoval(queues, principal.project);
    return { id: newId(), at: new Date().toISOString(), project: principal.projectName, subject, counts };
  },
  { audit: "privacy.erase", objectOf: (_args, result) => result?.subject ?? null },
);
