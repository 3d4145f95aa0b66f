import type { ChannelId } from "@svc/contracts";
import { expiredLease, leaseHistory } from "./chats.ts";
import type { LeaseHistory, LeaseRef } from "./chats.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { REPLY_COLUMNS, asReply, IS_CALL_OVER } from "./replies.ts";
import type { ReplyRow, StoredReply } from "./replies.ts";
import { columnsOf, statements } from "../sql.ts";
import type { Context } from "../context.ts";
import { batched } from "../context.ts";

/** Duration of a lease on an outbox without renewal. */
export const OUTBOX_LEASE_MS = 10_000;

/** A conversation with replies to send. */
export interface OutboxRef {
  project: ProjectId;
  ticketId: string;
}

/** The oldest unsent reply of a conversation, for a caller that holds the lease. */
export interface ClaimedReply extends OutboxRef, LeaseHistory {
  leaseId: string;
  channelId: ChannelId;
  chatId: string;
  reply: StoredReply;
  /** Number of attempts, this one included. An attempt whose lease expired is not counted. */
  tries: number;
  /** Number of consecutive postponements that did not count. */
  deferrals: number;
  /** Number of its parts that were sent before. */
  sentParts: number;
}

/** Reason why a reply is undeliverable, for operators; `isDead` if it failed too often and can be sent again. */
export interface UndeliverableReason {
  reason: string;
  isDead: boolean;
}

/** A reply that failed after five attempts. */
export interface DeadReply {
  replyId: string;
  ticketId: string;
  channelId: ChannelId;
  chatId: string;
  /** Its text, or the name of its file. */
  text: string;
  failure: string;
  failedAt: Date;
}

type DeadRow = Omit<DeadReply, "replyId" | "failure" | "failedAt"> & {
  id: string;
  failure: string | null;
  undeliverableAt: Date;
};

interface ClaimRow extends ReplyRow, LeaseHistory {
  channelId: ChannelId;
  chatId: string;
  tries: number;
  deferrals: number;
  sentParts: number;
}

const sql = statements("messages/outboxes", {
  expiredLease: expiredLease("o"),
  outboxLeaseMs: OUTBOX_LEASE_MS,
  replyColumns: REPLY_COLUMNS,
  leaseHistory: leaseHistory("claimed.expired_leases"),
});

/**
 * Claims the oldest unsent reply of a conversation with a lease of ten seconds, and counts the attempt. Pass the
 * current lease to continue with the next one. Null if there is nothing to send, it is not due, or another process has
 * the lease.
 */
export async function claimNext(
  context: Context,
  { project, ticketId }: OutboxRef,
  leaseId = newId(),
): Promise<ClaimedReply | null> {
  const row = await sql.claim.one<ClaimRow>(context.hot, { project, ticketId, leaseId, processId: context.processId });
  if (row === null) return null;
  const { channelId, chatId, tries, deferrals, sentParts, crashes, lapses } = row;
  const history = { tries, deferrals, sentParts, crashes, lapses };
  return { project, ticketId, leaseId, channelId, chatId, reply: asReply(row), ...history };
}

/** Renews the lease for ten seconds; false when it is lost. */
export async function renew(context: Context, { project, ticketId, leaseId }: ClaimedReply): Promise<boolean> {
  return (await sql.renew.all(context.hot, { project, ticketId, leaseId })).length > 0;
}

/** Records the number of sent parts of the reply; false if the lease is lost. */
export async function recordSentParts(
  context: Context,
  { project, ticketId, leaseId }: ClaimedReply,
  parts: number,
): Promise<boolean> {
  return (await sql.recordSentParts.all(context.hot, { project, ticketId, leaseId, parts })).length > 0;
}

/** Records that the receiver has the reply. Has no effect if the lease is lost. */
export async function markDelivered(
  context: Context,
  { project, ticketId, leaseId, reply }: ClaimedReply,
): Promise<void> {
  await sql.delivered.run(context.hot, { project, ticketId, leaseId, seq: reply.seq, id: reply.id });
}

/** Marks the reply as undeliverable, and records it on the ticket. Has no effect if the lease is lost. */
export async function markUndeliverable(
  context: Context,
  claimed: ClaimedReply,
  { reason, isDead }: UndeliverableReason,
): Promise<void> {
  const { project, ticketId, leaseId, reply } = claimed;
  const ids = { project, ticketId, leaseId, seq: reply.seq, id: reply.id };
  await sql.undelivered.run(context.hot, { ...ids, reason, isDead });
}

/** Releases the lease: the reply is retried after `delayMs`, and this attempt counts or not. */
export async function retryLater(
  context: Context,
  { project, ticketId, leaseId }: ClaimedReply,
  { delayMs, counts }: { delayMs: number; counts: boolean },
): Promise<void> {
  await sql.retryLater.run(context.hot, { project, ticketId, leaseId, delaySeconds: delayMs / 1_000, counts });
}

/** Releases a lease without an attempt. */
export const release = (context: Context, { project, ticketId }: OutboxRef, leaseId: string): Promise<void> =>
  sql.release.exec(context.hot, { project, ticketId, leaseId });

/**
 * Returns conversations of a channel with a reply that is due and that no process is sending, those that wait longest
 * first.
 */
export async function listDue(context: Context, channelId: ChannelId, limit: number): Promise<OutboxRef[]> {
  const rows = await sql.due.all(context.hot, { channelId, limit });
  return rows.map((row) => ({ project: asProjectId(row.projectId), ticketId: row.ticketId }));
}

/** Returns the age in milliseconds of the oldest due reply of a channel; 0 if there is none. */
export async function oldestDueMs(context: Context, channelId: ChannelId): Promise<number> {
  const row = await sql.oldestDueMs.one<{ age: number | null }>(context.hot, { channelId });
  return row?.age ?? 0;
}

/** Returns replies that failed after five attempts, of tickets that a project works on, newest first. */
export async function listDead(context: Context, project: ProjectId, limit: number): Promise<DeadReply[]> {
  const rows = await sql.listDead.all<DeadRow>(context.hot, { project, limit });
  return rows.map(({ id: replyId, failure, undeliverableAt: failedAt, ...reply }) => ({
    ...reply,
    replyId,
    failure: failure ?? "",
    failedAt,
  }));
}

/**
 * Adds a text to a conversation that is not a reply to a message, and is sent after the pending ones. Returns its id;
 * null if the project has no such conversation. Locks the chat.
 */
export function insertNotice(
  context: Context,
  project: ProjectId,
  ticketId: string,
  text: string,
): Promise<string | null> {
  return context.hot.transaction(async (tx) => {
    const chat = await sql.insertNotice.one<{ lastSeq: number; channelId: ChannelId }>(tx, { project, ticketId });
    if (chat === null) return null;
    const id = newId();
    await sql.insertReply.run(tx, { id, project, ticketId, lastSeq: chat.lastSeq, text });
    await sql.wantReply.run(tx, { ...chat, ticketId, project });
    return id;
  });
}

/** Returns the state of a reply; null if it does not exist. */
export async function findOutcome(
  context: Context,
  project: ProjectId,
  replyId: string,
): Promise<{ isDelivered: boolean; failure: string | null } | null> {
  const row = await sql.findOutcome.one<{ isDelivered: boolean; failure: string | null }>(context.hot, {
    project,
    replyId,
  });
  return row;
}

/**
 * Sends an undeliverable reply again on behalf of `actor`. Returns its conversation, or null if the project works on no
 * such ticket.
 */
export async function sendAgain(
  context: Context,
  project: ProjectId,
  replyId: string,
  actor: string,
): Promise<OutboxRef | null> {
  const row = await sql.sendAgain.one(context.hot, {
    project,
    replyId,
    actor,
  });
  return row === null ? null : { project: asProjectId(row.projectId), ticketId: row.ticketId };
}

/** The message of a chat that is being answered, and the beginning of its answer. */
export interface UnfinishedReply {
  messageId: string;
  /** Null while nothing can be shown. */
  text: string | null;
  /** True if its reply will be collected from the buffer; otherwise a call waits for it, or it is sent by callback. */
  isCollected: boolean;
}

/** The text of an unfinished answer, for the holder of the chat's lease. */
export interface UnfinishedText extends LeaseRef {
  messageId: string;
  text: string;
}

/**
 * A text that has not been updated for this time is no longer being written, or is written again with its next update.
 */
const KEPT_SECONDS = 60;

const unfinishedSql = statements("messages/unfinished-replies", {
  isCallOver: IS_CALL_OVER,
  keptSeconds: KEPT_SECONDS,
});

const writeBatched = batched<Context, UnfinishedText, boolean>(
  async (context: Context, items) => {
    const rows = await unfinishedSql.write.all(context.leases, {
      ...columnsOf(items, "ticketId", "leaseId", "messageId", "text"),
      projectId: items.map((item) => item.project),
    });
    const written = new Set(rows.map((row) => row.messageId));
    return items.map((item) => written.has(item.messageId));
  },
  // One at a time, since claims and renewals of leases on these connections have priority.
  { keyOf: (item) => item.ticketId, lanes: 1 },
);

interface ChatRef {
  project: ProjectId;
  ticketId: string;
}

const findBatched = batched<Context, ChatRef, UnfinishedReply | null>(async (context: Context, items) => {
  const rows = await unfinishedSql.find.all<UnfinishedReply & { projectId: string; ticketId: string }>(context.hot, {
    projectId: items.map((item) => item.project),
    ticketId: items.map((item) => item.ticketId),
  });
  const found = new Map(
    rows.map(({ projectId, ticketId, ...reply }): [string, UnfinishedReply] => [`${projectId}/${ticketId}`, reply]),
  );
  return items.map((item) => found.get(`${item.project}/${item.ticketId}`) ?? null);
});

/**
 * Saves the current text of an unfinished answer; false if the lease is lost and nothing was written. Only the holder
 * of a message's lease calls this, one call at a time. Concurrent calls share a statement.
 */
const writeUnfinished = (
  context: Context,
  project: ProjectId,
  text: Omit<UnfinishedText, "project">,
): Promise<boolean> => writeBatched(context, { ...text, project });

/** Returns the message of a chat that is being answered; null if there is none. Concurrent calls share a read. */
const findUnfinished = (context: Context, project: ProjectId, ticketId: string): Promise<UnfinishedReply | null> =>
  findBatched(context, { project, ticketId });

/** Deletes texts that have not been updated for a while, of all projects. */
const removeIdleUnfinished = (context: Context): Promise<void> => unfinishedSql.removeIdle.exec(context.leases);

/** Functions of `store.unfinishedReplies`. */
export const unfinishedReplies = { write: writeUnfinished, find: findUnfinished, removeIdle: removeIdleUnfinished };
