import type { AttachmentRef, CallbackTarget, ChannelId, MessageMode, MessageState } from "@svc/contracts";
import { ISSUE_CHAT_PREFIX, isIssueChat } from "@svc/contracts";
import { batched, type Context } from "../context.ts";
import { callbackJson } from "./deliveries.ts";
import { LEASE_MS, SUSPECT_AFTER_CRASHES, expiredLease, history, lapseWait, leaseHistory } from "./chats.ts";
import { isUnavailable, isUniqueViolation } from "../db.ts";
import type { LeaseHistory, Utterance } from "./chats.ts";
import { COUNTED_BACKLOG, createPriorities, type PrioritizedMessage } from "./job-priority.ts";
import { asProjectId, newId, ticketIdOf } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { acceptWithinLimit, isQuotaExceeded } from "../platform/quotas.ts";
import { statements } from "../sql.ts";
import { TAKEN_COLUMNS, TAKEN_VALUES, TAKE_IN, isOfBlocked, subjectOf, type Ticket } from "../tickets/ticket-record.ts";

/** A message to commit: the IncomingMessage of the service document with where it belongs and how it is answered. */
export interface NewMessage {
  channelId: ChannelId;
  chatId: string;
  userId: string | null;
  text: string;
  timestampMs: number;
  attachments: AttachmentRef[] | null;
  channelMeta: Record<string, unknown>;
  /** How the sender takes its replies; null on channels that push them. */
  mode: MessageMode | null;
  /** The process that holds a sync call open for it, else null. */
  callInstance: string | null;
  /** Where its callbacks go, for a message of mode webhook; else null. */
  callback: CallbackTarget | null;
  /** Its place in a trace, as `traceparent` says it; absent or null where nobody traces. */
  trace?: string | null;
}

/** A message that a worker has a lease for. */
export interface ClaimedMessage extends LeaseHistory {
  project: ProjectId;
  messageId: string;
  ticketId: string;
  leaseId: string;
  seq: number;
  channelId: ChannelId;
  chatId: string;
  userId: string | null;
  text: string;
  channelMeta: Record<string, unknown>;
  /** How the sender takes its replies; null on channels that push them. */
  mode: MessageMode | null;
  /** Number of attempts, this one included. An attempt whose lease expired is not counted. */
  attempts: number;
  /** True if its last crash happened while its process ran nothing else. */
  hasCrashedAlone: boolean;
  /** What earlier attempts have found, as they left it. */
  progress: Record<string, unknown> | null;
  /** Its place in a trace, as `traceparent` says it; null where nobody traces. */
  trace: string | null;
}

/** The ticket that a claim has opened, and what was said in the chat before its message. */
export interface OpenedChat {
  ticket: Ticket;
  /** The last texts of the chat before the message, oldest first. */
  history: Utterance[];
}

/** A claimed message with its opened chat; null if that has to be opened by itself, as after an expired lease. */
export interface ClaimedChat extends ClaimedMessage {
  opened: OpenedChat | null;
  /** Why the claim did not open the chat, if PostgreSQL has refused that; the attempt that follows fails by itself. */
  openError?: unknown;
}

/** A message whose job has to be published again. */
export interface DueMessage {
  project: ProjectId;
  messageId: string;
  ticketId: string;
  /** Number of attempts, those included whose lease expired: it distinguishes this job from earlier ones. */
  attempts: number;
  /** 0 for the oldest due message of each project, 1 for the next one, and so on. */
  priority: number;
  /** True for a submitted issue, which has a queue of its own. */
  isIssue: boolean;
}

/** A message that failed five times and waits for an operator. */
export interface DeadLetter {
  messageId: string;
  ticketId: string;
  channelId: ChannelId;
  chatId: string;
  text: string;
  failure: string;
  failedAt: Date;
}

/** A message that is not claimed next to others, because processes crashed while they had it (ADR 0026). */
export interface Suspect {
  /** Number of suspects that may run together with it, itself included: half of those at its last crash. */
  groupLimit: number;
}

/** The message at the head of a chat; `id` is null if it was not claimed. */
interface ClaimedRow extends LeaseHistory {
  projectId: string;
  id: string | null;
  ticketId: string;
  leaseId: string;
  seq: number;
  channelId: ChannelId;
  chatId: string;
  userId: string | null;
  text: string;
  channelMeta: Record<string, unknown>;
  mode: MessageMode | null;
  attempts: number;
  progress: Record<string, unknown> | null;
  trace: string | null;
  lastGroup: number | null;
}

/** A claimed row with the ticket that was opened; all NULL if none was. */
interface OpenedRow extends ClaimedRow {
  workedBy: string | null;
  subject: string;
  status: Ticket["status"];
  stage: Ticket["stage"];
  assignee: string | null;
  agentId: string | null;
  language: string | null;
  version: number;
  history: Utterance[] | null;
}

/** How long the sweeper leaves a new message to its job, and a published one to its worker. */
const SWEEP_AFTER_MS = 2_000;

const sql = statements("messages/messages", {
  sweepAfterMs: SWEEP_AFTER_MS,
  countedBacklog: COUNTED_BACKLOG,
  leaseMs: LEASE_MS,
  expiredLease: expiredLease("c", "lease_group"),
  suspectAfterCrashes: SUSPECT_AFTER_CRASHES,
  leaseHistory: leaseHistory("h.leases"),
  subject: subjectOf("k.text"),
  takeIn: TAKE_IN,
  takenColumns: TAKEN_COLUMNS,
  takenValues: TAKEN_VALUES,
  isOfBlocked: isOfBlocked({ message: "k", chat: "h" }),
  history: history({ ticketId: "k.ticket_id", project: "h.project_id", seq: "k.seq", limit: "h.history_limit" }),
  lapseWait: lapseWait("s.lapses"),
});

async function findAccepted(context: Context, project: ProjectId, id: string): Promise<PrioritizedMessage | null> {
  const row = await sql.findAccepted.one<{ ticketId: string; seq: number }>(context.hot, { project, id });
  return row === null ? null : { messageId: id, ticketId: row.ticketId, seq: row.seq, priority: 0 };
}

interface AcceptItem {
  id: string;
  project: ProjectId;
  ticketId: string;
  message: NewMessage;
  /** True once it is counted against the daily limit of its project. */
  isCounted: boolean;
}

/** Null for a message that is not counted and whose project has a daily limit. */
const acceptBatched = batched<Context, AcceptItem, PrioritizedMessage | null>(
  async (context: Context, items) => {
    const rows = await sql.accept.all<{ id: string; seq: number; ahead: number }>(context.hot, {
      id: items.map((item) => item.id),
      projectId: items.map((item) => item.project),
      ticketId: items.map((item) => item.ticketId),
      channelId: items.map((item) => item.message.channelId),
      chatId: items.map((item) => item.message.chatId),
      userId: items.map((item) => item.message.userId),
      text: items.map((item) => item.message.text),
      timestampMs: items.map((item) => item.message.timestampMs),
      attachments: items.map((item) => item.message.attachments && JSON.stringify(item.message.attachments)),
      channelMeta: items.map((item) => JSON.stringify(item.message.channelMeta)),
      mode: items.map((item) => item.message.mode),
      callInstance: items.map((item) => item.message.callInstance),
      callback: items.map(({ message }) => message.callback && callbackJson(message.callback)),
      trace: items.map(({ message }) => message.trace ?? null),
      isCounted: items.map((item) => item.isCounted),
    });
    const accepted = new Map(rows.map((row) => [row.id, row]));
    const priorityOf = createPriorities();
    return items.map(({ id, ticketId, project }) => {
      const row = accepted.get(id);
      if (row === undefined) return null;
      return { messageId: id, ticketId, seq: row.seq, priority: priorityOf(project, row.ahead) };
    });
  },
  { keyOf: (item) => item.ticketId },
);

/** As `accept`, and whether this call has committed it. */
export async function acceptOnce(
  context: Context,
  project: ProjectId,
  message: NewMessage,
  id: string,
): Promise<PrioritizedMessage & { isNew: boolean }> {
  const ticketId = ticketIdOf(project, message.channelId, message.chatId);
  const accept = (isCounted: boolean) => acceptBatched(context, { id, project, ticketId, message, isCounted });
  try {
    return { ...(await acceptWithinLimit(context, project, accept)), isNew: true };
  } catch (error) {
    // Found also where the project may accept no more.
    const known = isUniqueViolation(error) || isQuotaExceeded(error) ? await findAccepted(context, project, id) : null;
    if (known === null) throw error;
    return { ...known, isNew: false };
  }
}

interface ClaimItem {
  project: ProjectId;
  ticketId: string;
  /** How many texts of the chat to read with the ticket, which is opened then; null to open nothing. */
  historyLimit: number | null;
}

/** Claims what has no expired lease; "expired" for a chat that `claimExpired` has to judge. */
const claimFresh = batched<Context, ClaimItem, ClaimedChat | "expired" | null>(async (context: Context, items) => {
  // Two jobs of one chat in one batch would ask for two leases on it: the first asks for both.
  const keyOf = (project: string, ticketId: string) => `${project}/${ticketId}`;
  const byTicket = new Map(items.map((item) => [keyOf(item.project, item.ticketId), { ...item, leaseId: newId() }]));
  const unique = [...byTicket.values()].sort((a, b) => (a.ticketId < b.ticketId ? -1 : 1));
  const rows = await sql.claim.all<OpenedRow>(context.leases, {
    projectId: unique.map((item) => item.project),
    ticketId: unique.map((item) => item.ticketId),
    leaseId: unique.map((item) => item.leaseId),
    historyLimit: unique.map((item) => item.historyLimit),
    processId: context.processId,
  });
  const claimed = new Map(rows.map((row) => [keyOf(row.projectId, row.ticketId), row]));
  return items.map((item) => {
    const key = keyOf(item.project, item.ticketId);
    const row = claimed.get(key);
    claimed.delete(key);
    if (row === undefined) return null;
    return row.id === null ? "expired" : { ...asClaimed(row, row.id), opened: asOpened(row) };
  });
});

function asOpened(row: OpenedRow): OpenedChat | null {
  const { ticketId, channelId, chatId, workedBy, subject, status, stage, assignee, agentId, language, version } = row;
  if (workedBy === null) return null;
  const projects = { homeProject: asProjectId(row.projectId), project: asProjectId(workedBy) };
  return {
    ticket: {
      id: ticketId,
      ...projects,
      channelId,
      chatId,
      subject,
      status,
      stage,
      assignee,
      agentId,
      language,
      version,
    },
    history: row.history ?? [],
  };
}

async function claimIn(
  context: Context,
  group: number | null,
  { project, ticketId, historyLimit }: ClaimItem,
): Promise<ClaimedChat | Suspect | null> {
  const fresh = await claimFresh(context, { project, ticketId, historyLimit }).catch(async (error: unknown) => {
    if (historyLimit === null || isUnavailable(error)) throw error;
    // The ticket cannot be opened. Claimed without it, the message fails as its attempt, which counts.
    const claimed = await claimFresh(context, { project, ticketId, historyLimit: null });
    return claimed === null || claimed === "expired" ? claimed : { ...claimed, openError: error };
  });
  if (fresh !== "expired") return fresh;
  const row = await sql.claimExpired.one<ClaimedRow>(context.leases, {
    project,
    ticketId,
    leaseId: newId(),
    processId: context.processId,
    group,
  });
  if (row === null) return null;
  if (row.id !== null) return { ...asClaimed(row, row.id), opened: null };
  return { groupLimit: row.lastGroup === null ? Infinity : Math.max(1, Math.floor(row.lastGroup / 2)) };
}

function asClaimed(row: ClaimedRow, messageId: string): ClaimedMessage {
  return {
    project: asProjectId(row.projectId),
    messageId,
    ticketId: row.ticketId,
    leaseId: row.leaseId,
    seq: row.seq,
    channelId: row.channelId,
    chatId: row.chatId,
    userId: row.userId,
    text: row.text,
    channelMeta: row.channelMeta,
    mode: row.mode,
    attempts: row.attempts,
    crashes: row.crashes,
    lapses: row.lapses,
    hasCrashedAlone: row.lastGroup === 1,
    progress: row.progress,
    trace: row.trace,
  };
}

/**
 * Commits a message and returns its ids and its place in the chat; one that is there already stays as it is.
 * Concurrent calls share a statement and a commit; when this resolves, the message is durable. When it rejects with
 * `unavailable` the message may be there all the same; a caller that has to know gives the id itself. Throws
 * quota_exceeded where the project may accept no more messages.
 */
export async function accept(
  context: Context,
  project: ProjectId,
  message: NewMessage,
  id = newId(),
): Promise<PrioritizedMessage> {
  const { isNew: _, ...accepted } = await acceptOnce(context, project, message, id);
  return accepted;
}

/**
 * Claims the lease on a chat and its oldest unfinished message; null when another worker has the lease, nothing
 * waits, the message may not be tried yet, or it is a suspect that must not run with so many others. The lease lasts
 * 4 s and must be renewed. To be called by a process that runs `group` messages exclusively.
 */
export async function claim(
  context: Context,
  project: ProjectId,
  ticketId: string,
  group = 1,
): Promise<ClaimedChat | null> {
  const claimed = await claimIn(context, group, { project, ticketId, historyLimit: null });
  return claimed !== null && "groupLimit" in claimed ? null : claimed;
}

/**
 * As `claim`, for a message that runs concurrently with any others. Returns a `Suspect`, which stays as it is, if
 * processes have crashed again and again while they had it. With `historyLimit` it also opens the ticket, and reads that
 * many texts of the chat.
 */
export function claimBeside(
  context: Context,
  project: ProjectId,
  ticketId: string,
  historyLimit: number | null = null,
): Promise<ClaimedChat | Suspect | null> {
  return claimIn(context, null, { project, ticketId, historyLimit });
}

/**
 * Puts a message off after a failed try and gives the lease back. `counts` false takes the try back, for faults
 * that are not the message's (the store or the queue was away). Does nothing when the lease was lost.
 */
export async function retryLater(
  context: Context,
  message: Pick<ClaimedMessage, "project" | "ticketId" | "messageId" | "leaseId">,
  retry: { delayMs: number; progress: object; failure: string; counts: boolean },
): Promise<void> {
  await sql.retryLater.run(context.hot, {
    project: message.project,
    ticketId: message.ticketId,
    messageId: message.messageId,
    leaseId: message.leaseId,
    delayMs: retry.delayMs,
    progress: JSON.stringify(retry.progress),
    failure: retry.failure,
    uncounted: retry.counts ? 0 : 1,
  });
}

/**
 * Up to `limit` messages that wait longer than they should, for the sweeper to publish again: of each project the same
 * share, one at least.
 */
export async function takeDue(context: Context, limit: number): Promise<DueMessage[]> {
  const rows = await sql.due.all<{
    id: string;
    ticketId: string;
    projectId: string;
    attempts: number;
    channelId: ChannelId;
    chatId: string;
    place: number;
  }>(context.hot, { limit });
  return rows.map(({ projectId, id, ticketId, attempts, place, ...chat }) => ({
    project: asProjectId(projectId),
    messageId: id,
    ticketId,
    attempts,
    priority: place - 1,
    isIssue: isIssueChat(chat),
  }));
}

/**
 * Age in milliseconds of the oldest message of a customer that waits for the pipeline and could be worked on; 0 when
 * none does. Submitted issues are none: nobody waits long for them.
 */
export async function oldestWaitingMs(context: Context): Promise<number> {
  const row = await sql.oldestWaitingMs.one<{ age: number | null }>(context.hot, {
    issueChatPrefix: ISSUE_CHAT_PREFIX,
  });
  return row?.age ?? 0;
}

/** The places of messages in their traces, as `traceparent` says them; of those that have one. */
export async function findTraces(
  context: Context,
  project: ProjectId,
  messageIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql.findTraces.all<{ id: string; trace: string }>(context.hot, { project, messageIds });
  return new Map(rows.map(({ id, trace }) => [id, trace]));
}

/** State of a message, or null when this project has no such message. */
export async function findState(context: Context, project: ProjectId, messageId: string): Promise<MessageState | null> {
  const row = await sql.findState.one<{ state: MessageState }>(context.hot, { project, messageId });
  return row?.state ?? null;
}

/** What the channel has said about a message; null when this project has no such message. */
export async function findMeta(
  context: Context,
  project: ProjectId,
  messageId: string,
): Promise<Record<string, unknown> | null> {
  const row = await sql.findMeta.one<{ channelMeta: Record<string, unknown> }>(context.hot, { project, messageId });
  return row?.channelMeta ?? null;
}

/** The same of the newest message of a conversation; null when it has none. */
export async function findLastMeta(
  context: Context,
  project: ProjectId,
  ticketId: string,
): Promise<Record<string, unknown> | null> {
  const row = await sql.findLastMeta.one<{ channelMeta: Record<string, unknown> }>(context.hot, { project, ticketId });
  return row?.channelMeta ?? null;
}

/** What a sync call has sent, and into which chat; null when this project has no such message. */
export async function findSyncCall(
  context: Context,
  project: ProjectId,
  messageId: string,
): Promise<{ chatId: string; text: string } | null> {
  const row = await sql.findSyncCall.one<{ chatId: string; text: string }>(context.hot, { project, messageId });
  return row;
}

/** The dead letters of the tickets that a project works on, newest first, at most `limit`. */
export async function listDeadLetters(context: Context, project: ProjectId, limit: number): Promise<DeadLetter[]> {
  const rows = await sql.listDeadLetters.all<{
    id: string;
    ticketId: string;
    channelId: ChannelId;
    chatId: string;
    text: string;
    failure: string | null;
    finishedAt: Date;
  }>(context.hot, { project, limit });
  return rows.map((row) => ({
    messageId: row.id,
    ticketId: row.ticketId,
    channelId: row.channelId,
    chatId: row.chatId,
    text: row.text,
    failure: row.failure ?? "",
    failedAt: row.finishedAt,
  }));
}

/**
 * Where a dead letter is, or null when it is none of a ticket that this project works on, or a reply to it is on
 * its way. `isOpened` is false where the message failed before it had a ticket.
 */
export async function findDeadLetter(
  context: Context,
  project: ProjectId,
  messageId: string,
): Promise<(Pick<DueMessage, "project" | "ticketId" | "messageId"> & { isOpened: boolean }) | null> {
  const row = await sql.findDeadLetter.one<{ id: string; projectId: string; ticketId: string; isOpened: boolean }>(
    context.hot,
    { project, messageId },
  );
  if (row === null) return null;
  return {
    project: asProjectId(row.projectId),
    ticketId: row.ticketId,
    messageId: row.id,
    isOpened: row.isOpened,
  };
}
