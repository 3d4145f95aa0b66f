import { TEST_EVENT } from "@svc/contracts";
import type { CallbackType, DeliveryItem, DeliveryState, Sealed, SentEventType, WebhookSecrets } from "@svc/contracts";
import { batched } from "../context.ts";
import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { COVERED_BY, REPLY_COLUMNS, asReply } from "./replies.ts";
import type { ReplyRow, StoredReply } from "./replies.ts";
import { statements } from "../sql.ts";

/** An event that a delivery carries. */
export interface DeliveredEvent {
  webhookId: string;
  /** The ticket, gap or customer that it is about. */
  subjectId: string;
  /** The event of the ticket; null if it is not about a ticket. */
  ticketEventId: number | null;
}

/** A delivery whose lease a worker holds. Nothing has been sent yet. */
export interface ClaimedDelivery {
  project: ProjectId;
  id: string;
  leaseId: string;
  ticketId: string;
  /** The message of a callback; for an event, its id. */
  messageId: string;
  type: CallbackType | SentEventType;
  url: string;
  createdAt: Date;
  replyIds: string[];
  /** The event that is delivered to a webhook; null for a callback. */
  event: DeliveredEvent | null;
  /** Failed attempts since the delivery was created or last replayed: its position in the retry schedule. */
  failures: number;
  /**
   * Number of consecutive leases that expired without a result, because the worker's process ended or lost its
   * connection to the store.
   */
  lapses: number;
  /** Number of the attempt that comes next, counted over replays too. */
  attempt: number;
  /** `traceparent` of its message; null if tracing is off. */
  trace: string | null;
}

/** A delivery whose attempt has begun, with the content of its request. */
export interface DeliveryRequest extends ClaimedDelivery {
  chatId: string;
  meta: Record<string, unknown>;
  /** The later message whose reply also answers this one; null for all others. */
  coveredBy: string | null;
  replies: StoredReply[];
  /** The sender's key, sealed; null if a webhook secret was set, or after the key has been erased. */
  sealedSecret: Sealed | null;
  /** True when the sender's key was revoked: it no longer signs. */
  isKeyRevoked: boolean;
  /** Secrets that sign an event, and whether its webhook still receives events; null for a callback. */
  webhook: (WebhookSecrets & { isActive: boolean }) | null;
}

/** A delivery whose job has to be published. */
export interface DueDelivery {
  project: ProjectId;
  ticketId: string;
  deliveryId: string;
  tries: number;
}

/** Result of an attempt. */
export interface AttemptResult {
  durationMs: number;
  /** HTTP status of the receiver's response; null if there was none. */
  status: number | null;
  error: string | null;
  /** Delivered, dead, or retried after a delay. */
  next: "delivered" | "dead" | { delayMs: number };
}

/**
 * Longer than the maximum duration of an attempt, so that a lease expires only if its process ended or cannot reach the
 * store.
 */
const LEASE_MS = 20_000;

interface ClaimedRow {
  id: string;
  leaseId: string;
  /** True if another delivery has become the oldest of the chat; then the row has no other values. */
  hasMoved: boolean;
  messageId: string;
  type: CallbackType | SentEventType;
  url: string;
  webhookId: string | null;
  subjectId: string | null;
  ticketEventId: number | null;
  replyIds: string[];
  createdAt: Date;
  tries: number;
  lapses: number;
  number: number;
  trace: string | null;
}

interface ContentRow {
  id: string;
  chatId: string;
  channelMeta: Record<string, unknown>;
  coveredBy: string | null;
  sealedSecret: string | null;
  isKeyRevoked: boolean;
  webhook: DeliveryRequest["webhook"];
}

interface ItemRow {
  id: string;
  type: CallbackType | SentEventType;
  ticketId: string;
  chatId: string | null;
  messageId: string;
  webhookId: string | null;
  subjectId: string | null;
  url: string;
  state: DeliveryState;
  nextAt: Date;
  createdAt: Date;
  attempts: { at: string; status: number | null; ms: number | null; error: string | null }[];
}

const sql = statements("messages/deliveries", {
  leaseMs: LEASE_MS,
  replyColumns: REPLY_COLUMNS,
  coveredBy: COVERED_BY,
  testEvent: TEST_EVENT,
});

/** Releases a lease under which nothing was sent: the delivery waits for `delayMs`, and no attempt is counted. */
export async function postpone(
  db: Db,
  { id, leaseId, attempt }: Pick<ClaimedDelivery, "id" | "leaseId" | "attempt">,
  delayMs: number,
): Promise<void> {
  await sql.postpone.run(db, { id, leaseId, attempt, delayMs: Math.round(delayMs) });
}

interface Chat {
  project: ProjectId;
  ticketId: string;
}

/** Claims the oldest pending delivery of each of these chats, by its ticket. */
async function claimAll(db: Db, chats: readonly Chat[]): Promise<Map<string, ClaimedDelivery>> {
  const leases = new Map(chats.map((chat) => [newId(), chat]));
  const rows = await sql.claim.all<ClaimedRow>(db, {
    project: chats.map(({ project }) => project),
    ticketId: chats.map(({ ticketId }) => ticketId),
    leaseId: [...leases.keys()],
  });
  const claimed = new Map<string, ClaimedDelivery>();
  const moved: Chat[] = [];
  for (const row of rows) {
    const chat = leases.get(row.leaseId);
    if (chat === undefined) continue;
    if (row.hasMoved) moved.push(chat);
    else claimed.set(chat.ticketId, asClaimed(row, chat));
  }
  if (moved.length === 0) return claimed;
  try {
    return new Map([...claimed, ...(await claimAll(db, moved))]);
  } catch (error) {
    // What is claimed is delivered; the sweeper announces the others again.
    if (claimed.size === 0) throw error;
    return claimed;
  }
}

const claimBatched = batched(async (db: Db, chats: Chat[]): Promise<(ClaimedDelivery | null)[]> => {
  const claimed = await claimAll(db, [...new Map(chats.map((chat) => [chat.ticketId, chat])).values()]);
  return chats.map(({ ticketId }) => {
    // Of several claims of a chat, only the first gets its delivery.
    const own = claimed.get(ticketId) ?? null;
    claimed.delete(ticketId);
    return own;
  });
});

/**
 * Claims the oldest pending delivery of a chat; null if there is none, it is not due yet, or another worker has it.
 * The lease lasts 20 s. A claim is not an attempt: `begin` or `postpone` follows.
 */
export const claim = (db: Db, project: ProjectId, ticketId: string): Promise<ClaimedDelivery | null> =>
  claimBatched(db, { project, ticketId });

function asClaimed(row: ClaimedRow, { project, ticketId }: Chat): ClaimedDelivery {
  return {
    project,
    id: row.id,
    leaseId: row.leaseId,
    ticketId,
    messageId: row.messageId,
    type: row.type,
    url: row.url,
    createdAt: row.createdAt,
    replyIds: row.replyIds,
    event:
      row.webhookId === null || row.subjectId === null
        ? null
        : { webhookId: row.webhookId, subjectId: row.subjectId, ticketEventId: row.ticketEventId },
    failures: row.tries,
    lapses: row.lapses,
    attempt: row.number,
    trace: row.trace,
  };
}

const beginBatched = batched(async (db: Db, deliveries: ClaimedDelivery[]): Promise<(DeliveryRequest | null)[]> => {
  const replies = await sql.replies.all<ReplyRow>(db, {
    projects: deliveries.map(({ project }) => project),
    ticketIds: deliveries.map(({ ticketId }) => ticketId),
    replyIds: deliveries.flatMap(({ replyIds }) => replyIds),
  });
  const contents = await sql.begin.all<ContentRow>(db, {
    project: deliveries.map(({ project }) => project),
    id: deliveries.map(({ id }) => id),
    leaseId: deliveries.map(({ leaseId }) => leaseId),
    attempt: deliveries.map(({ attempt }) => attempt),
  });
  const contentOf = new Map(contents.map((content) => [content.id, content]));
  return deliveries.map((delivery) => {
    const content = contentOf.get(delivery.id);
    if (content === undefined) return null;
    return {
      ...delivery,
      chatId: content.chatId,
      meta: content.channelMeta,
      // Facts from before the reply are the same in all attempts.
      coveredBy: delivery.type === "message.completed" ? content.coveredBy : null,
      replies: replies.filter(({ id }) => delivery.replyIds.includes(id)).map(asReply),
      sealedSecret: content.sealedSecret === null ? null : { sealed: content.sealedSecret },
      isKeyRevoked: content.isKeyRevoked,
      webhook: content.webhook,
    };
  });
});

/**
 * Begins an attempt: records it, renews the lease for 20 s and returns the content of its request. The request, or
 * `postpone` if it cannot be made, follows at once. Null if the lease was lost or the conversation was erased.
 */
export const begin = (db: Db, delivery: ClaimedDelivery): Promise<DeliveryRequest | null> => beginBatched(db, delivery);

const finishDelivered = batched(
  async (db: Db, tries: { delivery: ClaimedDelivery; durationMs: number; status: number | null }[]) => {
    await sql.finishDelivered.run(db, {
      id: tries.map(({ delivery }) => delivery.id),
      leaseId: tries.map(({ delivery }) => delivery.leaseId),
      attempt: tries.map(({ delivery }) => delivery.attempt),
      durationMs: tries.map(({ durationMs }) => durationMs),
      status: tries.map(({ status }) => status),
    });
    return tries.map(() => undefined);
  },
);

/** Records the result of an attempt. If the lease was lost, the delivery is unchanged, and another attempt counts. */
export async function finishAttempt(db: Db, delivery: ClaimedDelivery, result: AttemptResult): Promise<void> {
  const { id, leaseId, attempt } = delivery;
  const { status, error, next } = result;
  const durationMs = Math.round(result.durationMs);
  if (next === "delivered") {
    await finishDelivered(db, { delivery, durationMs, status });
    return;
  }
  const values = { id, leaseId, attempt, durationMs, status, error };
  if (next === "dead") await sql.finishDead.run(db, values);
  else await sql.finishLater.run(db, { ...values, delayMs: Math.round(next.delayMs) });
}

/**
 * Releases a lease after an attempt that was aborted once its request was sent: the attempt is recorded, but not as a
 * failure, and the next one may follow at once.
 */
export async function interrupt(
  db: Db,
  { id, leaseId, attempt }: ClaimedDelivery,
  durationMs: number,
  error: string,
): Promise<void> {
  await sql.interrupt.run(db, { id, leaseId, attempt, durationMs: Math.round(durationMs), error });
}

/** Returns the age in milliseconds of the oldest delivery that is due and not claimed; 0 if there is none. */
export async function oldestDueMs(db: Db): Promise<number> {
  const row = await sql.oldestDueMs.one<{ age: number | null }>(db);
  return row?.age ?? 0;
}

/**
 * Returns up to `limit` deliveries of all projects that are due, not claimed, and next in their chat, for the sweeper
 * to publish.
 */
export async function claimDue(db: Db, limit: number): Promise<DueDelivery[]> {
  const rows = await sql.due.all<{ id: string; projectId: string; ticketId: string; tries: number }>(db, { limit });
  return rows.map((row) => ({
    project: asProjectId(row.projectId),
    ticketId: row.ticketId,
    deliveryId: row.id,
    tries: row.tries,
  }));
}

/**
 * Returns at most `limit` deliveries of a project after `before`, newest first, optionally of one state and one
 * webhook.
 */
export async function listPage(
  db: Db,
  project: ProjectId,
  options: {
    limit: number;
    before?: string | undefined;
    state?: DeliveryState | undefined;
    webhookId?: string | undefined;
  },
): Promise<DeliveryItem[]> {
  const rows = await sql.listPage.all<ItemRow>(db, {
    project,
    state: options.state,
    webhookId: options.webhookId,
    id: options.before,
    limit: options.limit,
  });
  return rows.map(asItem);
}

/** Returns a delivery of this project, or null. */
export async function find(db: Db, project: ProjectId, id: string): Promise<DeliveryItem | null> {
  const row = await sql.find.one<ItemRow>(db, { project, id });
  return row === null ? null : asItem(row);
}

/**
 * Makes a finished delivery pending again, with new attempts; a pending one is retried now, without changing when it
 * becomes dead. Uncollected replies of a dead delivery leave the buffer, and those that a reader has just claimed do
 * not return to it. Returns what has to be published, or null if the project has no such delivery.
 */
export async function replay(db: Db, project: ProjectId, id: string): Promise<DueDelivery | null> {
  const row = await sql.replay.one(db, { project, id });
  return row === null ? null : { project, ticketId: row.ticketId, deliveryId: id, tries: row.tries };
}

/** Returns how many deliveries of all projects have failed at least `tries` times and are still retried. */
export async function countFailing(db: Db, tries: number): Promise<number> {
  const row = await sql.countFailing.one(db, { tries });
  return row?.count ?? 0;
}

/** Returns the number of dead deliveries of all projects. */
export async function countDead(db: Db): Promise<number> {
  const row = await sql.countDead.one(db);
  return row?.count ?? 0;
}

/** Returns the subject of a delivery: a message, or the event of a webhook. */
function aboutOf({ type, ticketId, messageId, webhookId, subjectId }: ItemRow) {
  if (webhookId === null) return { ticketId, messageId, webhookId, eventId: null };
  return { ticketId: type.startsWith("ticket.") ? subjectId : null, messageId: null, webhookId, eventId: messageId };
}

function asItem(row: ItemRow): DeliveryItem {
  return {
    id: row.id,
    type: row.type,
    ...aboutOf(row),
    chatId: row.chatId ?? "",
    url: row.url,
    state: row.state,
    attempts: row.attempts.map((attempt, index) => ({
      ...attempt,
      at: new Date(attempt.at).toISOString(),
      // A later attempt shows that the process of this one crashed, or lost its lease.
      error: attempt.ms === null && index < row.attempts.length - 1 ? "interrupted" : attempt.error,
    })),
    nextAt: row.state === "pending" ? row.nextAt.toISOString() : null,
    createdAt: row.createdAt.toISOString(),
  };
}
