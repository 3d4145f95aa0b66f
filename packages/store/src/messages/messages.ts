import type {
  AcceptedMessage,
  AttachmentRef,
  CallbackTarget,
  ChannelId,
  MessageMode,
  MessageState,
} from "@svc/contracts";
import { ISSUE_CHAT_PREFIX, isIssueChat } from "@svc/contracts";
import { batched, type Context } from "../context.ts";
import { callbackJson } from "./callbacks.ts";
import { LEASE_MS, SUSPECT_AFTER_CRASHES, expiredLease, history, lapseWait, leaseHistory } from "./chats.ts";
import { isUnavailable, isUniqueViolation } from "../db.ts";
import type { LeaseHistory, Utterance } from "./chats.ts";
import { asProjectId, newId, ticketIdOf } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { acceptWithinLimit, isQuotaExceeded } from "../platform/quotas.ts";
import { columnsOf, statements } from "../sql.ts";
import {
  OPENING_COLUMNS,
  OPENING_VALUES,
  REOPEN_ASSIGNMENTS,
  isOfBlocked,
  subjectOf,
  type Ticket,
} from "../tickets/ticket-record.ts";

/** A message to commit: the IncomingMessage of the service document, with its ids and its delivery mode. */
export interface NewMessage {
  channelId: ChannelId;
  chatId: string;
  userId: string | null;
  text: string;
  timestampMs: number;
  attachments: AttachmentRef[] | null;
  channelMeta: Record<string, unknown>;
  /** How the sender receives replies; null on channels that push them. */
  mode: MessageMode | null;
  /** The process that holds a sync call open for it, else null. */
  callInstance: string | null;
  /** Target of its callbacks, for a message of mode webhook; else null. */
  callback: CallbackTarget | null;
  /** Its `traceparent`; absent or null if tracing is off. */
  trace?: string | null;
}

/** A message that a worker has claimed. */
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
  /** How the sender receives replies; null on channels that push them. */
  mode: MessageMode | null;
  /** Number of attempts, this one included. An attempt whose lease expired is not counted. */
  attempts: number;
  /** True if its last crash happened while its process ran nothing else. */
  hasCrashedAlone: boolean;
  /** Saved results of earlier attempts. */
  progress: Record<string, unknown> | null;
  /** Its `traceparent`; null if tracing is off. */
  trace: string | null;
}

/** The ticket that a claim has opened, and the texts in the chat before its message. */
export interface OpenedChat {
  ticket: Ticket;
  /** The last texts of the chat before the message, oldest first. */
  history: Utterance[];
  /** Versions of knowledge bases of the chat's project at the claim, by id; not of all if there are many. */
  kbVersions: Record<string, string>;
}

/**
 * A claimed message with its opened chat; null if the chat has to be opened separately, for example after an expired
 * lease.
 */
export interface ClaimedChat extends ClaimedMessage {
  opened: OpenedChat | null;
  /** Error of opening the chat in the claim; the attempt that follows fails with its own. */
  openError?: unknown;
}

/** A message whose job has to be published again. */
export interface DueMessage {
  project: ProjectId;
  messageId: string;
  ticketId: string;
  /** Number of attempts, including those whose lease expired: it distinguishes this job from earlier ones. */
  attempts: number;
  /**
   * 0 for the oldest due message of each project, 1 for the next one, and so on; at least that of a message that its
   * project would send now, so that a backlog is not overtaken.
   */
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

type DeadLetterRow = Omit<DeadLetter, "messageId" | "failure" | "failedAt"> & {
  id: string;
  failure: string | null;
  finishedAt: Date;
};

/** A message that is not claimed concurrently with others, because processes crashed while they held it (ADR 0026). */
export interface Suspect {
  /** Number of suspects that may run together with it, itself included: half of those at its last crash. */
  groupLimit: number;
}

/** The message at the head of a chat; `id` is null if it was not claimed. */
type ClaimedRow = Omit<ClaimedMessage, "project" | "messageId" | "hasCrashedAlone"> & {
  projectId: string;
  id: string | null;
  lastGroup: number | null;
};

/** A claimed row with the ticket that was opened; all NULL if none was. */
type OpenedRow = ClaimedRow &
  Omit<Ticket, "id" | "homeProject" | "project"> & {
    workedBy: string | null;
    history: Utterance[] | null;
    kbVersions: Record<string, string> | null;
  };

/** Maximum number of knowledge bases whose versions a claim returns. */
const CLAIMED_KBS = 20;

/** Delay after which the sweeper publishes a new message, or a published one that no worker has claimed. */
const SWEEP_AFTER_MS = 2_000;

/** A committed message, with the priority of its job relative to other projects. */
interface PrioritizedMessage extends AcceptedMessage {
  /** 0 unless its project has a backlog; higher for a longer backlog (`createPriorities`). */
  priority: number;
}

/** Unfinished messages from which a project has a backlog: about as many as one worker processes concurrently. */
const BACKLOG_FROM = 100;

/** Maximum of unfinished messages that are counted. Longer backlogs have the same priority. */
const COUNTED_BACKLOG = 1_000;

/**
 * Additional delay of the sweeper for each message of the backlog beyond `BACKLOG_FROM`: the job of such a message is
 * still in the queue.
 */
const BACKLOG_SWEEP_MS = 5;

/**
 * Returns a function that returns the priorities of messages that are accepted together, in their order: `ahead` is the
 * number of the project's unfinished messages before them. Jobs of priority 0 go first, in their order, and the others
 * by their number: a project with a flood of messages waits behind the others, and two such projects take turns.
 */
function createPriorities(): (project: string, ahead: number) => number {
  const next = new Map<string, number>();
  return (project, ahead) => {
    const before = next.get(project) ?? ahead;
    next.set(project, before + 1);
    return Math.max(0, Math.min(before, COUNTED_BACKLOG) - BACKLOG_FROM);
  };
}

/** SQL that counts the unfinished messages of a project. */
const backlogOf = (project: string): string => `(SELECT count(*)::integer FROM (
    SELECT FROM messages u WHERE u.project_id = ${project} AND u.state = 'received' LIMIT ${COUNTED_BACKLOG}
  ) counted)`;

const sql = statements("messages/messages", {
  sweepAfterMs: SWEEP_AFTER_MS,
  backlogOfInput: backlogOf("p.project_id"),
  backlogOfOldest: backlogOf("o.project_id"),
  backlogFrom: BACKLOG_FROM,
  backlogMs: BACKLOG_SWEEP_MS,
  claimedKbs: CLAIMED_KBS,
  leaseMs: LEASE_MS,
  expiredLease: expiredLease("c", "lease_group"),
  suspectAfterCrashes: SUSPECT_AFTER_CRASHES,
  leaseHistory: leaseHistory("h.leases"),
  subject: subjectOf("k.text"),
  reopenAssignments: REOPEN_ASSIGNMENTS,
  openingColumns: OPENING_COLUMNS,
  openingValues: OPENING_VALUES,
  isOfBlocked: isOfBlocked({ message: "k", chat: "h" }),
  history: history({ ticketId: "k.ticket_id", project: "h.project_id", seq: "k.seq", limit: "h.history_limit" }),
  lapseWait: lapseWait("s.lapses"),
});

async function findAccepted(context: Context, project: ProjectId, id: string): Promise<PrioritizedMessage | null> {
  const row = await sql.findAccepted.one(context.hot, { project, id });
  return row === null ? null : { messageId: id, ticketId: row.ticketId, seq: row.seq, priority: 0 };
}

interface AcceptItem {
  id: string;
  project: ProjectId;
  ticketId: string;
  message: NewMessage;
  /** True if it was counted against the daily limit of its project. */
  isCounted: boolean;
}

/** Resolves to null for a message that is not counted and whose project has a daily limit. */
const acceptBatched = batched<Context, AcceptItem, PrioritizedMessage | null>(
  async (context: Context, items) => {
    const messages = items.map(({ message }) => message);
    const rows = await sql.accept.all(context.hot, {
      ...columnsOf(items, "id", "ticketId", "isCounted"),
      ...columnsOf(messages, "channelId", "chatId", "userId", "text", "timestampMs", "mode", "callInstance"),
      projectId: items.map((item) => item.project),
      attachments: items.map((item) => item.message.attachments && JSON.stringify(item.message.attachments)),
      channelMeta: items.map((item) => JSON.stringify(item.message.channelMeta)),
      callback: items.map(({ message }) => message.callback && callbackJson(message.callback)),
      trace: items.map(({ message }) => message.trace ?? null),
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
    // A known message is found even if the project may not accept more.
    const known = isUniqueViolation(error) || isQuotaExceeded(error) ? await findAccepted(context, project, id) : null;
    if (known === null) throw error;
    return { ...known, isNew: false };
  }
}

interface ClaimItem {
  project: ProjectId;
  ticketId: string;
  /** Number of texts of the chat to read with the ticket, which is opened then; null to open nothing. */
  historyLimit: number | null;
}

/** Claims messages without an expired lease; "expired" for a chat that `claimExpired` has to judge. */
const claimFresh = batched<Context, ClaimItem, ClaimedChat | "expired" | null>(async (context: Context, items) => {
  // Two jobs of one chat in one batch would claim two leases on it: the first one claims for both.
  const keyOf = (project: string, ticketId: string) => `${project}/${ticketId}`;
  const byTicket = new Map(items.map((item) => [keyOf(item.project, item.ticketId), { ...item, leaseId: newId() }]));
  const unique = [...byTicket.values()].sort((a, b) => (a.ticketId < b.ticketId ? -1 : 1));
  const rows = await sql.claim.all<OpenedRow>(context.leases, {
    ...columnsOf(unique, "ticketId", "leaseId", "historyLimit"),
    projectId: unique.map((item) => item.project),
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
  const { ticketId: id, channelId, chatId, workedBy, subject, status, stage, assignee } = row;
  const { agentId, language, version } = row;
  if (workedBy === null) return null;
  const projects = { homeProject: asProjectId(row.projectId), project: asProjectId(workedBy) };
  const ticket = { id, ...projects, channelId, chatId, subject, status, stage, assignee, agentId, language, version };
  return { ticket, history: row.history ?? [], kbVersions: row.kbVersions ?? {} };
}

async function claimIn(
  context: Context,
  group: number | null,
  { project, ticketId, historyLimit }: ClaimItem,
): Promise<ClaimedChat | Suspect | null> {
  const fresh = await claimFresh(context, { project, ticketId, historyLimit }).catch(async (error: unknown) => {
    if (historyLimit === null || isUnavailable(error)) throw error;
    // Opening the ticket failed. Claimed without it, the message fails in its attempt, which counts.
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
 * Commits a message and returns its ids and its sequence number; an existing message is unchanged. Concurrent calls
 * share a statement and a commit; when this resolves, the message is durable. If it rejects with `unavailable`, the
 * message may be committed anyway: pass the id to be able to repeat the call. Throws quota_exceeded if the project may
 * not accept more messages.
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
 * Claims the lease on a chat and its oldest unfinished message; null if another worker has the lease, nothing waits,
 * the retry is not due, or it is a suspect that must not run with this many others. The lease lasts 4 s and must be
 * renewed. For a process that runs `group` messages exclusively.
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
 * As `claim`, for a message that runs concurrently with any others. Returns a `Suspect`, which is unchanged, if
 * processes have crashed repeatedly while they held it. With `historyLimit` it also opens the ticket, and reads that
 * many texts of the chat.
 */
export const claimConcurrently = (
  context: Context,
  project: ProjectId,
  ticketId: string,
  historyLimit: number | null = null,
): Promise<ClaimedChat | Suspect | null> => claimIn(context, null, { project, ticketId, historyLimit });

/**
 * Postpones a message after a failed attempt and releases the lease. With `counts` false the attempt does not count,
 * for errors that are not the message's (the store or the queue was unavailable). Has no effect if the lease was lost.
 */
export const retryLater = (
  context: Context,
  message: Pick<ClaimedMessage, "project" | "ticketId" | "messageId" | "leaseId">,
  retry: { delayMs: number; progress: object; failure: string; counts: boolean },
): Promise<void> =>
  sql.retryLater.exec(context.hot, {
    ...message,
    delayMs: retry.delayMs,
    progress: JSON.stringify(retry.progress),
    failure: retry.failure,
    uncounted: retry.counts ? 0 : 1,
  });

/**
 * Returns up to `limit` overdue messages for the sweeper to publish again: the same share of each project, at least
 * one.
 */
export async function claimDue(context: Context, limit: number): Promise<DueMessage[]> {
  const rows = await sql.due.all<{
    id: string;
    ticketId: string;
    projectId: string;
    attempts: number;
    channelId: ChannelId;
    chatId: string;
    place: number;
    unfinished: number;
  }>(context.hot, { limit });
  return rows.map(({ projectId, id, ticketId, attempts, place, unfinished, ...chat }) => ({
    project: asProjectId(projectId),
    messageId: id,
    ticketId,
    attempts,
    priority: Math.max(place - 1, unfinished - BACKLOG_FROM),
    isIssue: isIssueChat(chat),
  }));
}

/**
 * Returns the age in milliseconds of the oldest customer message that the pipeline could process; 0 if there is none.
 * Submitted issues do not count, since nobody waits for them.
 */
export async function oldestWaitingMs(context: Context): Promise<number> {
  const row = await sql.oldestWaitingMs.one<{ age: number | null }>(context.hot, {
    issueChatPrefix: ISSUE_CHAT_PREFIX,
  });
  return row?.age ?? 0;
}

/** Returns the `traceparent` of those messages that have one. */
export async function findTraces(
  context: Context,
  project: ProjectId,
  messageIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql.findTraces.all(context.hot, { project, messageIds });
  return new Map(rows.map(({ id, trace }) => [id, trace]));
}

/** Returns the state of a message, or null if this project has no such message. */
export async function findState(context: Context, project: ProjectId, messageId: string): Promise<MessageState | null> {
  const row = await sql.findState.one<{ state: MessageState }>(context.hot, { project, messageId });
  return row?.state ?? null;
}

/** Returns the channel's metadata of a message; null if this project has no such message. */
export async function findMeta(
  context: Context,
  project: ProjectId,
  messageId: string,
): Promise<Record<string, unknown> | null> {
  const row = await sql.findMeta.one<{ channelMeta: Record<string, unknown> }>(context.hot, { project, messageId });
  return row?.channelMeta ?? null;
}

/** Returns the channel's metadata of the newest message of a conversation; null if it has none. */
export async function findLastMeta(
  context: Context,
  project: ProjectId,
  ticketId: string,
): Promise<Record<string, unknown> | null> {
  const row = await sql.findLastMeta.one<{ channelMeta: Record<string, unknown> }>(context.hot, { project, ticketId });
  return row?.channelMeta ?? null;
}

/** Returns the text and the chat of a sync call's message; null if this project has no such message. */
export const findSyncCall = (
  context: Context,
  project: ProjectId,
  messageId: string,
): Promise<{ chatId: string; text: string } | null> => sql.findSyncCall.one(context.hot, { project, messageId });

/** Returns the dead letters of the tickets that a project works on, newest first, at most `limit`. */
export async function listDeadLetters(context: Context, project: ProjectId, limit: number): Promise<DeadLetter[]> {
  const rows = await sql.listDeadLetters.all<DeadLetterRow>(context.hot, { project, limit });
  return rows.map(({ id: messageId, failure, finishedAt: failedAt, ...letter }) => ({
    ...letter,
    messageId,
    failure: failure ?? "",
    failedAt,
  }));
}

/**
 * Finds a dead letter; null if its ticket is not one that this project works on, or if a reply to it is pending.
 * `isOpened` is false if the message failed before its ticket was opened.
 */
export async function findDeadLetter(
  context: Context,
  project: ProjectId,
  messageId: string,
): Promise<(Pick<DueMessage, "project" | "ticketId" | "messageId"> & { isOpened: boolean }) | null> {
  const row = await sql.findDeadLetter.one(context.hot, { project, messageId });
  if (row === null) return null;
  const { projectId, id, ...letter } = row;
  return { ...letter, project: asProjectId(projectId), messageId: id };
}
