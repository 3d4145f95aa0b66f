import { randomBytes } from "node:crypto";
import { requireScope } from "@svc/auth";
import type { Principal } from "@svc/auth";
import { CHANNEL_LIMITS, ServiceError, TEST_EVENT, WEBHOOK_LIMITS } from "@svc/contracts";
import type { EventChange, SentEventType, WebhookEvent, WebhookSecrets } from "@svc/contracts";
import { isWebhookSecret } from "@svc/outbound";
import { DEFAULT_PROJECT } from "@svc/store";
import type { ClaimedDelivery, DeliveredEvent, Project, Store, TicketEventFacts } from "@svc/store";
import { audited } from "./audited.ts";
import { asCustomerItem } from "./customers.ts";
import { asGap } from "./gaps.ts";
import { asTicketItem } from "./ticket-items.ts";

const SECRET_BYTES = 32;
/** Minimum length of a given secret; shorter ones can be guessed. */
const SECRET_MIN_BYTES = CHANNEL_LIMITS.secretMinBytes;
/** Maximum time for which a previous secret stays valid. */
const OVERLAP_MAX_SECONDS = CHANNEL_LIMITS.overlapMaxSeconds;

/** Facts about the webhook secret that can be shown. */
interface WebhookSecretState {
  isSet: boolean;
  /** End of the previous secret's validity (RFC 3339); null if there is none. */
  previousUntil: string | null;
}

/** Creates a webhook secret in the format of Standard Webhooks: `whsec_` and the base64 of 32 random bytes. */
export function generateWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
}

/** Returns the previous secret with the end of its validity. */
function previousOf(
  store: Store,
  { webhookSecret, previousWebhookSecret }: WebhookSecrets,
  { secret, overlapSeconds }: { secret: string | null; overlapSeconds: number },
): WebhookSecrets["previousWebhookSecret"] {
  // Without a current secret the key of each message signs, so there is no previous one.
  if (secret === null || overlapSeconds === 0) return null;
  // A repeated call must not end the overlap that it has started.
  if (webhookSecret === null || store.sealer.open(webhookSecret) === secret) {
    const isOver = previousWebhookSecret === null || Date.parse(previousWebhookSecret.until) <= Date.now();
    return isOver ? null : previousWebhookSecret;
  }
  return { ...webhookSecret, until: new Date(Date.now() + overlapSeconds * 1_000).toISOString() };
}

/**
 * Returns the secrets after setting a new one: the previous one also signs for `overlapSeconds` (0 to 30 days). Null
 * removes the secret. Throws invalid_request, with `pointer`, for an invalid secret.
 */
export function nextWebhookSecret(
  store: Store,
  present: WebhookSecrets,
  { secret, overlapSeconds }: { secret: string | null; overlapSeconds: number },
  pointer = "/config/webhookSecret",
): WebhookSecrets {
  if (secret !== null && (!isWebhookSecret(secret) || Buffer.byteLength(secret) < SECRET_MIN_BYTES)) {
    throw new ServiceError(
      "invalid_request",
      `A webhook secret must have at least ${SECRET_MIN_BYTES} bytes and, if it starts with whsec_, must be padded base64. To generate one: svc webhook secret --generate.`,
      { errors: [{ pointer, code: "invalid_secret", detail: "is not a valid signing secret" }] },
    );
  }
  if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > OVERLAP_MAX_SECONDS) {
    throw new ServiceError(
      "invalid_request",
      `The overlap must be an integer from 0 to ${OVERLAP_MAX_SECONDS} seconds (30 days).`,
    );
  }
  return {
    webhookSecret: secret === null ? null : store.sealer.seal(secret),
    previousWebhookSecret: previousOf(store, present, { secret, overlapSeconds }),
  };
}

/**
 * Stores a new secret of a project, based on the stored ones: of two concurrent changes, the later one has the secret
 * of the earlier one as the previous one. Throws like `nextWebhookSecret`, and not_found.
 */
export async function storeWebhookSecret(
  store: Store,
  { id, name }: Pick<Project, "id" | "name">,
  change: { secret: string | null; overlapSeconds: number },
): Promise<WebhookSecrets> {
  for (;;) {
    if (name === DEFAULT_PROJECT) {
      const { api, version } = await store.channelsConfig.read();
      const next = nextWebhookSecret(store, api.config, change);
      if (await store.channelsConfig.update("api", next, { ifVersion: version })) return next;
    } else {
      const project = await store.projects.find(id);
      if (project === null) throw new ServiceError("not_found", "No project with this ID exists.");
      const next = nextWebhookSecret(store, project, change);
      const { result } = await store.projects.update(id, next, [project.version]);
      if (result === "changed") return next;
    }
  }
}

/**
 * Sets the secret that signs the callbacks of the principal's project; that of `default` is the setting of the channel
 * `api`. The previous one also signs for `overlapSeconds` (0 to 30 days), so that receivers can be changed meanwhile;
 * it replaces one from the overlap of an earlier change. Setting the same secret again leaves a running overlap
 * unchanged, or ends it with an overlap of 0. Null removes it immediately and without an overlap: each callback is then
 * signed with the API key that sent its message. Every replica applies the change within a second. Scope admin:*.
 * Throws invalid_request for an invalid secret.
 */
export const setWebhookSecret = audited(
  "webhook-secret.set",
  async function setWebhookSecret(
    { store }: { store: Store },
    principal: Principal,
    { secret, overlapSeconds }: { secret: string | null; overlapSeconds: number },
  ): Promise<WebhookSecretState> {
    requireScope(principal, "admin:*");
    const project = { id: principal.project, name: principal.projectName };
    const next = await storeWebhookSecret(store, project, { secret, overlapSeconds });
    return { isSet: secret !== null, previousUntil: next.previousWebhookSecret?.until ?? null };
  },
  { isGlobal: true },
);

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
