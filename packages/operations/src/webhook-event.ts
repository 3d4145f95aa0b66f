import type { Principal } from "@svc/auth";
import { TEST_EVENT, WEBHOOK_LIMITS } from "@svc/contracts";
import type { EventChange, SentEventType, WebhookEvent } from "@svc/contracts";
import type { ClaimedDelivery, DeliveredEvent, Store, TicketEventFacts } from "@svc/store";
import { asCustomerItem } from "./customers.ts";
import { asGap } from "./gaps.ts";
import { asTicketItem } from "./ticket-items.ts";

const { textMaxChars, bodyMaxBytes } = WEBHOOK_LIMITS;

/** A text as an event quotes it. */
function quote(text: string): { text: string; isTruncated: boolean } {
  const characters = Array.from(text);
  const isTruncated = characters.length > textMaxChars;
  return { text: isTruncated ? `${characters.slice(0, textMaxChars - 1).join("")}…` : text, isTruncated };
}

const stringOf = (value: unknown) => (typeof value === "string" ? value : undefined);

function messageOf({ message }: TicketEventFacts): EventChange {
  if (message === null) return {};
  const { id, text, createdAt } = message;
  return { message: { id, ...quote(text), createdAt: new Date(createdAt).toISOString() } };
}

/** What an event changed, by its type. */
const CHANGES: { [Type in SentEventType]?: (facts: TicketEventFacts) => EventChange } = {
  "ticket.created": messageOf,
  "ticket.reopened": messageOf,
  "ticket.needs_review": (facts) => ({ ...messageOf(facts), reason: facts.reason ?? "" }),
  "ticket.assigned": ({ data }) => ({ assignee: stringOf(data["assignee"]) }),
  "ticket.replied": ({ replies }) => ({
    replies: replies.map(({ text, ...reply }) => ({
      ...reply,
      ...(text === null ? { text, isTruncated: false } : quote(text)),
    })),
  }),
  "ticket.snoozed": ({ data }) => ({ until: stringOf(data["until"]) ?? null }),
  "ticket.rated": ({ data }) => ({ score: Number(data["score"]), comment: stringOf(data["comment"]) }),
  "ticket.sla_breached": ({ data }) => ({ target: stringOf(data["target"]), dueAt: stringOf(data["dueAt"]) }),
};

type About = Pick<WebhookEvent, "createdAt" | "actor" | "change" | "ticket" | "gap" | "customer">;

async function readTicketEvent(
  store: Store,
  reader: Principal,
  type: SentEventType,
  { subjectId, ticketEventId }: DeliveredEvent,
): Promise<About | null> {
  const ticket = await store.ticketDetails.find(reader.project, subjectId);
  const facts = ticketEventId === null ? null : await store.webhooks.findTicketEvent(subjectId, ticketEventId);
  if (ticket === null || facts === null) return null;
  return {
    createdAt: facts.at.toISOString(),
    actor: facts.actor,
    change: CHANGES[type]?.(facts) ?? {},
    ticket: asTicketItem(ticket, reader),
  };
}

/** Reads the current state of an event's objects; null if they no longer exist in the project. */
async function readAbout(
  store: Store,
  reader: Principal,
  { type, createdAt }: Pick<ClaimedDelivery, "type" | "createdAt">,
  event: DeliveredEvent,
): Promise<About | null> {
  const facts = { createdAt: createdAt.toISOString(), actor: null, change: {} };
  if (type === TEST_EVENT) return facts;
  if (type === "gap.found") {
    const gap = await store.gaps.find(reader.project, event.subjectId);
    return gap && { ...facts, gap: asGap(gap) };
  }
  if (type === "customer.updated") {
    const customer = await store.customers.find(reader.project, event.subjectId);
    if (customer === null) return null;
    const { notes: _notes, ...record } = customer;
    return { ...facts, customer: asCustomerItem(record) };
  }
  return readTicketEvent(store, reader, type as SentEventType, event);
}

/**
 * Returns the event as JSON of at most `bodyMaxBytes`: objects with free fields are emptied if it is too long, and then
 * its change.
 */
function asBoundedJson(event: WebhookEvent): string {
  const json = JSON.stringify(event);
  if (Buffer.byteLength(json) <= bodyMaxBytes) return json;
  const { ticket, customer } = event;
  const emptied = {
    ...event,
    ...(ticket && { ticket: { ...ticket, channel_meta: {} } }),
    ...(customer && { customer: { ...customer, attributes: {}, identities: [] } }),
    isTruncated: true,
  };
  const shorter = JSON.stringify(emptied);
  // Ten replies of characters with four bytes each are longer than that.
  return Buffer.byteLength(shorter) <= bodyMaxBytes ? shorter : JSON.stringify({ ...emptied, change: {} });
}

/**
 * Returns the body of an event for its webhook: what happened, and the current state of its objects. Null if they were
 * erased, or if another project works on the ticket now.
 */
export async function readWebhookEvent(
  { store }: { store: Store },
  delivery: Pick<ClaimedDelivery, "project" | "type" | "createdAt" | "messageId">,
  event: DeliveredEvent,
): Promise<string | null> {
  const project = await store.projects.find(delivery.project);
  if (project === null) return null;
  // Has the rights of a key of this project with tickets:read, and sees nothing of other projects.
  const reader: Principal = {
    actor: "webhook",
    keyId: null,
    rateLimit: null,
    scopes: ["tickets:read"],
    project: delivery.project,
    projectName: project.name,
  };
  const about = await readAbout(store, reader, delivery, event);
  if (about === null) return null;
  return asBoundedJson({
    id: delivery.messageId,
    type: delivery.type as SentEventType,
    projectId: delivery.project,
    project: project.name,
    ...about,
    isTruncated: false,
  });
}
