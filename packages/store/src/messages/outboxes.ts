import type { ChannelId } from "@svc/contracts";
import { expiredLease, leaseHistory } from "./chats.ts";
import type { LeaseHistory, LeaseRef } from "./chats.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { REPLY_COLUMNS, asReply, IS_CALL_OVER } from "./replies.ts";
import type { ReplyRow, StoredReply } from "./replies.ts";
import { statements } from "../sql.ts";
import type { Context } from "../context.ts";
import { batched } from "../context.ts";

/** How long a lease on an outbox lasts without being renewed. */
export const OUTBOX_LEASE_MS = 10_000;

/** A conversation that replies have to be sent in. */
export interface OutboxRef {
  project: ProjectId;
  ticketId: string;
}

/** The oldest reply of a conversation that is not sent, for a caller that holds the lease. */
export interface ClaimedReply extends OutboxRef, LeaseHistory {
  leaseId: string;
  channelId: ChannelId;
  chatId: string;
  reply: StoredReply;
  /** Number of attempts, this one included. An attempt whose lease expired is not counted. */
  tries: number;
  /** How often it was put off in a row without that counting. */
  deferrals: number;
  /** Parts of it that were sent before. */
  sentParts: number;
}

/** Why a reply is given up, in words for an operator; `isDead` when it failed too often and can be sent again. */
export interface Undelivered {
  reason: string;
  isDead: boolean;
}

/** A reply that was given up after five tries. */
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
 * Claims the oldest reply of a conversation that is not sent, under a lease of ten seconds, and counts the attempt.
 * Pass the lease that is held to continue with the next one. Null when there is nothing to send, not yet, or another
 * process has the lease.
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

/** Extends the lease by ten seconds; false when it is lost. */
export async function renew(context: Context, { project, ticketId, leaseId }: ClaimedReply): Promise<boolean> {
  return (await sql.renew.all(context.hot, { project, ticketId, leaseId })).length > 0;
}

/** Notes that so many parts of the reply are sent; false when the lease is lost. */
export async function noteSent(
  context: Context,
  { project, ticketId, leaseId }: ClaimedReply,
  parts: number,
): Promise<boolean> {
  return (await sql.noteSent.all(context.hot, { project, ticketId, leaseId, parts })).length > 0;
}

/** Notes that the receiver has the reply. Does nothing when the lease is lost. */
export async function settleDelivered(
  context: Context,
  { project, ticketId, leaseId, reply }: ClaimedReply,
): Promise<void> {
  await sql.delivered.run(context.hot, { project, ticketId, leaseId, seq: reply.seq, id: reply.id });
}

/** Gives the reply up, and says so on the ticket. Does nothing when the lease is lost. */
export async function settleUndelivered(
  context: Context,
  claimed: ClaimedReply,
  { reason, isDead }: Undelivered,
): Promise<void> {
  const { project, ticketId, leaseId, reply } = claimed;
  const ids = { project, ticketId, leaseId, seq: reply.seq, id: reply.id };
  await sql.undelivered.run(context.hot, { ...ids, reason, isDead });
}

/** Gives the lease back: the reply is tried again after `delayMs`, and this time counts as a try or not. */
export async function giveBack(
  context: Context,
  { project, ticketId, leaseId }: ClaimedReply,
  { delayMs, counts }: { delayMs: number; counts: boolean },
): Promise<void> {
  await sql.giveBack.run(context.hot, { project, ticketId, leaseId, delaySeconds: delayMs / 1_000, counts });
}

/** Gives a lease back that nothing is done with. */
export async function release(context: Context, { project, ticketId }: OutboxRef, leaseId: string): Promise<void> {
  await sql.release.run(context.hot, { project, ticketId, leaseId });
}

/** Conversations of a channel in which something is to be sent now and nobody does, those that wait longest first. */
export async function listDue(context: Context, channelId: ChannelId, limit: number): Promise<OutboxRef[]> {
  const rows = await sql.due.all<{ projectId: string; ticketId: string }>(context.hot, { channelId, limit });
  return rows.map((row) => ({ project: asProjectId(row.projectId), ticketId: row.ticketId }));
}

/** How long the reply of a channel that waits longest could have been sent, in milliseconds; 0 when none waits. */
export async function oldestDueMs(context: Context, channelId: ChannelId): Promise<number> {
  const row = await sql.oldestDueMs.one<{ age: number | null }>(context.hot, { channelId });
  return row?.age ?? 0;
}

/** Replies that were given up after five tries, of tickets that a project works on, newest first. */
export async function listDead(context: Context, project: ProjectId, limit: number): Promise<DeadReply[]> {
  const rows = await sql.listDead.all<{
    id: string;
    ticketId: string;
    channelId: ChannelId;
    chatId: string;
    text: string;
    failure: string | null;
    undeliverableAt: Date;
  }>(context.hot, { project, limit });
  return rows.map((row) => ({
    replyId: row.id,
    ticketId: row.ticketId,
    channelId: row.channelId,
    chatId: row.chatId,
    text: row.text,
    failure: row.failure ?? "",
    failedAt: row.undeliverableAt,
  }));
}

/**
 * Adds a text to a conversation that answers nothing: it is sent after what waits there. Returns its id; null where
 * the project has no such conversation. Locks the chat.
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
    await sql.wantReply.run(tx, { ticketId, project, channelId: chat.channelId, lastSeq: chat.lastSeq });
    return id;
  });
}

/** State of a reply; null where it is not there (any more). */
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
 * Has a reply that was given up sent again, in the name of `actor`; where, or null when the project works on no such
 * ticket.
 */
export async function sendAgain(
  context: Context,
  project: ProjectId,
  replyId: string,
  actor: string,
): Promise<OutboxRef | null> {
  const row = await sql.sendAgain.one<{ projectId: string; ticketId: string }>(context.hot, {
    project,
    replyId,
    actor,
  });
  return row === null ? null : { project: asProjectId(row.projectId), ticketId: row.ticketId };
}

/** The message of a chat that is being answered, and what its answer says so far. */
export interface UnfinishedReply {
  messageId: string;
  /** Null while nothing of it can be shown. */
  text: string | null;
  /** True when its reply will be collected from the buffer; else a call waits for it, or it goes by callback. */
  isCollected: boolean;
}

/** What the text of a message's answer is, for the holder of the chat's lease. */
export interface UnfinishedText extends LeaseRef {
  messageId: string;
  text: string;
}

/** A text that nobody has added to for so long is no longer being written, or comes again with its next piece. */
const KEPT_SECONDS = 60;

const unfinishedSql = statements("messages/unfinished-replies", {
  isCallOver: IS_CALL_OVER,
  keptSeconds: KEPT_SECONDS,
});

const writeBatched = batched<Context, UnfinishedText, boolean>(
  async (context: Context, items) => {
    const rows = await unfinishedSql.write.all<{ messageId: string }>(context.leases, {
      projectId: items.map((item) => item.project),
      ticketId: items.map((item) => item.ticketId),
      leaseId: items.map((item) => item.leaseId),
      messageId: items.map((item) => item.messageId),
      text: items.map((item) => item.text),
    });
    const written = new Set(rows.map((row) => row.messageId));
    return items.map((item) => written.has(item.messageId));
  },
  // One at a time: leases are claimed and renewed on these connections, and go first.
  { keyOf: (item) => item.ticketId, lanes: 1 },
);

interface ChatRef {
  project: ProjectId;
  ticketId: string;
}

const findBatched = batched<Context, ChatRef, UnfinishedReply | null>(async (context: Context, items) => {
  const rows = await unfinishedSql.find.all<{
    projectId: string;
    ticketId: string;
    messageId: string;
    text: string | null;
    isCollected: boolean;
  }>(context.hot, { projectId: items.map((item) => item.project), ticketId: items.map((item) => item.ticketId) });
  const found = new Map(
    rows.map((row): [string, UnfinishedReply] => [
      `${row.projectId}/${row.ticketId}`,
      { messageId: row.messageId, text: row.text, isCollected: row.isCollected },
    ]),
  );
  return items.map((item) => found.get(`${item.project}/${item.ticketId}`) ?? null);
});

/**
 * Says what the answer to a message says so far; false when the lease is lost and nothing was written. Of one
 * message only the holder of the lease calls it, one call after the other. Concurrent calls share a statement.
 */
function writeUnfinished(
  context: Context,
  project: ProjectId,
  text: Omit<UnfinishedText, "project">,
): Promise<boolean> {
  return writeBatched(context, { ...text, project });
}

/** The message of a chat that is being answered; null when none is. Concurrent calls share a read. */
function findUnfinished(context: Context, project: ProjectId, ticketId: string): Promise<UnfinishedReply | null> {
  return findBatched(context, { project, ticketId });
}

/** Forgets the texts that nobody adds to any more, of all projects. */
async function removeIdleUnfinished(context: Context): Promise<void> {
  await unfinishedSql.removeIdle.run(context.leases);
}

/** Functions of `store.unfinishedReplies`. */
export const unfinishedReplies = { write: writeUnfinished, find: findUnfinished, removeIdle: removeIdleUnfinished };
