import { createHash } from "node:crypto";
import { TEST_EVENT, WEBHOOK_LIMITS } from "@svc/contracts";
import type { ChannelId, EventType, Sealed, SentEventType, TicketPriority } from "@svc/contracts";
import { updateVersioned } from "../db.ts";
import type { Db, PageQuery, UpdateResult, VersionedId } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import type { DueDelivery } from "../messages/deliveries.ts";
import { columnsOf, statements } from "../sql.ts";

/** A URL of a project that receives events. */
export interface Webhook {
  id: string;
  description: string;
  url: string;
  secret: Sealed;
  /** The secret before the last rotation, and until when it also signs. */
  previousSecret: (Sealed & { until: Date }) | null;
  events: EventType[];
  /** Filters; an empty one selects all. */
  channels: ChannelId[];
  agentIds: string[];
  priorities: TicketPriority[];
  /** Time since which it receives events; null while it is inactive. */
  activeSince: Date | null;
  createdAt: Date;
  createdBy: string;
  updatedAt: Date;
  version: number;
}

type Selection = Pick<Webhook, "events" | "channels" | "agentIds" | "priorities">;

type Changeable = Selection & Pick<Webhook, "description" | "url"> & { isActive: boolean };

/** Fields of a new webhook. */
export type NewWebhook = Changeable & Pick<Webhook, "secret" | "createdBy">;
/** Changed fields of a webhook. */
export type WebhookPatch = { [Field in keyof Changeable]?: Changeable[Field] | undefined };

/** An event, with the values that webhooks filter by. */
export interface NewEvent {
  project: ProjectId;
  type: EventType;
  /** The ticket, gap or customer of the event. */
  subjectId: string;
  /** The event of the ticket; null for other events. */
  ticketEventId: number | null;
  /** Time of the event; null for now. A webhook receives events since it is active. */
  at: Date | null;
  /** Undefined if it does not apply to the event; the filter is ignored then. */
  channelId?: ChannelId;
  agentId?: string | null;
  priority?: TicketPriority;
}

/** Content of a ticket event, for the body of its webhooks. */
export interface TicketEventFacts {
  at: Date;
  actor: string;
  data: Record<string, unknown>;
  /** Reason of its last transition; null if there is none. */
  reason: string | null;
  message: { id: string; text: string; createdAt: string } | null;
  replies: {
    id: string;
    author: "agent" | "operator";
    text: string | null;
    markdown: boolean;
    filename: string | null;
  }[];
}

type WebhookRow = Omit<Webhook, "secret" | "previousSecret"> & {
  sealedSecret: string;
  previousSealedSecret: string | null;
  previousUntil: Date | null;
};

/** Ticket events per step. */
const STEP_EVENTS = 500;

const sql = statements("platform/webhooks", {
  maxCount: WEBHOOK_LIMITS.maxCount,
  textMaxChars: WEBHOOK_LIMITS.textMaxChars,
  repliesMaxCount: WEBHOOK_LIMITS.repliesMaxCount,
  keptDays: WEBHOOK_LIMITS.keptDays,
  removedMax: 5_000,
});

const asWebhook = ({
  sealedSecret,
  previousSealedSecret: previous,
  previousUntil: until,
  ...webhook
}: WebhookRow): Webhook => ({
  ...webhook,
  secret: { sealed: sealedSecret },
  previousSecret: previous === null || until === null ? null : { sealed: previous, until },
});

/** Returns a webhook, or null if the project has none with this id. */
export async function find(db: Db, project: ProjectId, id: string): Promise<Webhook | null> {
  const row = await sql.find.one<WebhookRow>(db, { project, id });
  return row === null ? null : asWebhook(row);
}

/** Returns webhooks of a project, newest first, with `q` in the description or, if it `searchesUrl`, in the URL. */
export async function listPage(
  db: Db,
  project: ProjectId,
  { limit, before, q, searchesUrl = false }: PageQuery & { searchesUrl?: boolean },
): Promise<Webhook[]> {
  return (await sql.listPage.all<WebhookRow>(db, { project, limit, before, q, searchesUrl })).map(asWebhook);
}

/** Creates a webhook; null if the project has `WEBHOOK_LIMITS.maxCount` of them, or is deleted. */
export function insert(db: Db, project: ProjectId, { secret, ...webhook }: NewWebhook): Promise<Webhook | null> {
  const id = newId();
  return db.transaction(async (tx) => {
    if (!(await sql.holdProject.any(tx, { project }))) return null;
    const isMade = await sql.insert.any(tx, { ...webhook, project, id, sealed: secret.sealed });
    return isMade ? find(tx, project, id) : null;
  });
}

/** Changes fields of a webhook and raises its version, if `versions` contains the current one or is null. */
export async function update(
  db: Db,
  project: ProjectId,
  { id, versions }: VersionedId,
  { description, url, events, channels, agentIds, priorities, isActive }: WebhookPatch,
): Promise<{ result: UpdateResult; webhook: Webhook | null }> {
  const values = { description, url, events, channels, agentIds, priorities, isActive };
  const result = await updateVersioned(() => sql.update.run(db, { ...values, project, id, versions }));
  return { result, webhook: await find(db, project, id) };
}

/**
 * Sets a new secret of a webhook; the current one signs for `overlapSeconds` more. Null if there is no such webhook.
 */
export async function rotate(
  db: Db,
  project: ProjectId,
  id: string,
  { secret, overlapSeconds }: { secret: Sealed; overlapSeconds: number },
): Promise<Webhook | null> {
  await sql.rotate.run(db, { project, id, sealed: secret.sealed, overlapSeconds });
  return find(db, project, id);
}

/**
 * Deletes some deliveries of a webhook, or of all webhooks of a project, to keep statements short; returns whether there
 * were any.
 */
export const removeDeliveries = (db: Db, project: ProjectId, id: string | null): Promise<boolean> =>
  sql.removeDeliveries.any(db, { project, id });

/**
 * Deletes a webhook with its deliveries, if `versions` contains its current version or is null. Deliveries are deleted
 * in batches, to keep statements short; if this is interrupted, an inactive webhook remains.
 */
export async function remove(db: Db, project: ProjectId, { id, versions }: VersionedId): Promise<boolean> {
  if (!(await sql.deactivate.any(db, { project, id, versions }))) return false;
  while (await removeDeliveries(db, project, id));
  return sql.remove.any(db, { project, id, versions: null });
}

/**
 * Returns the id by which deliveries to a webhook about one subject are serialized: a UUID of version 8 (RFC 9562,
 * section 5.8) of both ids.
 */
function sequenceOf(webhookId: string, subjectId: string): string {
  const bytes = createHash("sha256").update(webhookId).update(subjectId).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** Returns true if the filters of a webhook select an event. */
function selects(webhook: Selection, { type, channelId, agentId, priority }: NewEvent): boolean {
  const has = <Value>(values: readonly Value[], value: Value | null | undefined) =>
    value === undefined || values.length === 0 || (value !== null && values.includes(value));
  return (
    webhook.events.includes(type) &&
    has(webhook.channels, channelId) &&
    has(webhook.agentIds, agentId) &&
    has(webhook.priorities, priority)
  );
}

interface NewDelivery {
  webhook: { id: string; url: string };
  event: Pick<NewEvent, "project" | "subjectId" | "ticketEventId"> & { type: SentEventType };
  /** The same for all webhooks. */
  eventId: string;
}

/** Inserts deliveries, and returns them to be published. */
async function insertDeliveries(db: Db, deliveries: readonly NewDelivery[]): Promise<DueDelivery[]> {
  const made = deliveries.map(({ webhook, event, eventId }) => ({
    id: newId(),
    projectId: event.project,
    sequenceId: sequenceOf(webhook.id, event.subjectId),
    eventId,
    type: event.type,
    url: webhook.url,
    webhookId: webhook.id,
    subjectId: event.subjectId,
    ticketEventId: event.ticketEventId,
  }));
  if (made.length === 0) return [];
  await sql.insertDeliveries.run(db, {
    ...columnsOf(
      made,
      "id",
      "projectId",
      "sequenceId",
      "eventId",
      "type",
      "url",
      "webhookId",
      "subjectId",
      "ticketEventId",
    ),
  });
  return made.map(({ id, projectId: project, sequenceId: ticketId }) => ({
    project,
    ticketId,
    deliveryId: id,
    tries: 0,
  }));
}

/**
 * Creates the deliveries of events, in the transaction of the events: they exist only if it commits. The sweep of the
 * HTTP API publishes them. The caller has checked that the project may have a webhook.
 */
export async function recordEvents(tx: Db, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  const projects = [...new Set(events.map(({ project }) => project))];
  const active = await sql.listActive.all<
    Selection & { id: string; project: ProjectId; url: string; activeSince: Date }
  >(tx, { projects });
  const deliveries = events.flatMap((event) => {
    const eventId = newId();
    return active
      .filter(
        (webhook) =>
          webhook.project === event.project &&
          (event.at === null || webhook.activeSince <= event.at) &&
          selects(webhook, event),
      )
      .map((webhook) => ({ webhook, event, eventId }));
  });
  await insertDeliveries(tx, deliveries);
}

/** The fields of a ticket event that determine its types. */
interface TicketEventRow {
  id: number;
  ticketId: string;
  at: Date;
  actor: string;
  project: ProjectId;
  channelId: ChannelId;
  agentId: string | null;
  priority: TicketPriority;
  /** Target of its last transition; null without one. */
  stage: string | null;
  decision: string | null;
  status: string | null;
  assignee: string | null;
  resolves: boolean;
  isFirst: boolean;
  hasReply: boolean;
  isReopened: boolean;
}

/** Types of a ticket event, in the order in which they are sent. */
const TICKET_EVENTS: readonly (readonly [EventType, (row: TicketEventRow) => boolean])[] = [
  ["ticket.created", ({ isFirst }) => isFirst],
  ["ticket.reopened", ({ isReopened, decision }) => isReopened || decision === "reopen"],
  ["ticket.assigned", ({ assignee }) => assignee !== null],
  ["ticket.replied", ({ hasReply }) => hasReply],
  ["ticket.needs_review", ({ stage }) => stage === "review" || stage === "failed"],
  ["ticket.snoozed", ({ decision }) => decision === "snooze"],
  ["ticket.rated", ({ decision }) => decision === "rate"],
  ["ticket.sla_breached", ({ decision }) => decision === "sla_breached"],
  [
    "ticket.resolved",
    ({ decision, status, resolves }) => resolves || (decision === "resolve" && status === "resolved"),
  ],
];

/**
 * Creates the deliveries of ticket events after one id up to another one, each exactly once: the caller moves its
 * position in the same transaction, and guarantees that no event up to `until` can still be committed. Returns the id
 * of the last processed event.
 */
export async function recordTicketEvents(tx: Db, after: number, until: number): Promise<number> {
  const rows = await sql.listTicketEvents.all<TicketEventRow>(tx, { after, until, limit: STEP_EVENTS });
  await recordEvents(
    tx,
    rows.flatMap((row) =>
      TICKET_EVENTS.filter(([, isOne]) => isOne(row)).map(([type]) => ({
        project: row.project,
        type,
        subjectId: row.ticketId,
        ticketEventId: row.id,
        at: row.at,
        channelId: row.channelId,
        agentId: row.agentId,
        priority: row.priority,
      })),
    ),
  );
  const last = rows.at(-1);
  return rows.length < STEP_EVENTS || last === undefined ? until : last.id;
}

/** Creates the delivery of a webhook's test event. */
export async function insertTest(db: Db, project: ProjectId, { id, url }: Pick<Webhook, "id" | "url">) {
  const event = { project, subjectId: id, ticketEventId: null, type: TEST_EVENT } as const;
  return insertDeliveries(db, [{ webhook: { id, url }, event, eventId: newId() }]);
}

/**
 * Returns the content of a ticket event; null if it was erased. Truncated texts have one more character than is sent.
 */
export const findTicketEvent = (db: Db, ticketId: string, id: number): Promise<TicketEventFacts | null> =>
  sql.findTicketEvent.one<TicketEventFacts>(db, { ticketId, id });

/** Deletes old finished deliveries of events, at most `limit`; returns how many. */
export const deleteOldDeliveries = (db: Db, limit: number): Promise<number> =>
  sql.deleteOldDeliveries.run(db, { limit });
