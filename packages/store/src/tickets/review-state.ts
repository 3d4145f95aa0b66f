import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import type { AnswerStep } from "../platform/stats.ts";
import { statements } from "../sql.ts";
import { TICKET_COLUMNS } from "./tickets.ts";
import type { Ticket } from "./ticket-record.ts";
import type { NewDraft } from "./tickets.ts";
import { PERSON_PROMISED } from "@svc/contracts";
import type { ReplyAuthor, Source, StageMove, TicketStage, TicketStatus } from "@svc/contracts";

type TicketRef = Pick<Ticket, "homeProject" | "id">;

/** The state that closing a ticket ended. */
export interface ClosedState {
  /** The previous state of the ticket; null if it was closed by an earlier version. */
  before: { status: TicketStatus; stage: TicketStage; assignee: string | null } | null;
  /** Unanswered messages that were rejected when the ticket was closed or later, oldest first. */
  ended: WaitingMessage[];
  /** False if the assignee is an operator who was disabled or deleted. */
  isAssigneeActive: boolean;
}

/** Returns true if a ticket with this status is closed. */
export const isClosed = (status: TicketStatus): boolean => status === "resolved" || status === "spam";

/** Reads the state that closing this ticket ended; empty for an open ticket. The caller holds the lock on the chat. */
export async function readClosedState(tx: Db, { homeProject, id, status }: Ticket): Promise<ClosedState> {
  if (!isClosed(status)) return { before: null, ended: [], isAssigneeActive: true };
  const row = await sql.readClosedState.one<Pick<ClosedState, "before" | "isAssigneeActive">>(tx, { homeProject, id });

  const ended = await sql.findEnded.all<WaitingMessage>(tx, { homeProject, id });
  return { before: row?.before ?? null, ended, isAssigneeActive: row?.isAssigneeActive ?? true };
}

/** Stores the state of a ticket before it is closed, with its draft. The caller holds the lock on the chat. */
export const saveStateBeforeClosing = (tx: Db, { homeProject, id }: TicketRef) =>
  sql.saveStateBeforeClosing.exec(tx, { homeProject, id });

/** Deletes the stored state: reopening no longer restores a draft. The caller holds the lock on the chat. */
export const deleteStateBeforeClosing = (tx: Db, { homeProject, id }: TicketRef) =>
  sql.deleteStateBeforeClosing.exec(tx, { homeProject, id });

/**
 * Restores the messages and the draft that closing ended. Senders are not notified, except of an answer that is sent
 * later. The caller holds the lock on the chat.
 */
export async function restoreClosed(tx: Db, { homeProject, id }: TicketRef, ended: WaitingMessage[]): Promise<void> {
  await sql.restoreClosed.run(tx, { homeProject, id: ended.map((message) => message.id) });
  await sql.restoreDraft.run(tx, { homeProject, id });
  await deleteStateBeforeClosing(tx, { homeProject, id });
}

/** The state that a decision is based on, which cannot change before the transaction ends. */
export interface ReviewState {
  ticket: Ticket;
  /** The draft that waits for approval, with the ids of the messages that it answers. */
  draft: (Pick<NewDraft, "text" | "markdown" | "sources"> & { covers: string[] }) | null;
  /** Waiting messages, oldest first, except those that an earlier decision covers. */
  waiting: WaitingMessage[];
  /** The newest message that the pipeline has processed, or else the newest one; null if none exists. */
  newest: { id: string } | null;
  /** True if the customer has sent a message that the pipeline has not added to the ticket yet. */
  hasReceived: boolean;
  /** True if the customer was told that a person will answer, and no person has since. */
  isPersonPromised: boolean;
  /** True while an earlier decision is pending. */
  isUnderWay: boolean;
  /** The undeliverable reply, if the last decision failed. */
  failed: SendWork | null;
  /** The state that closing the ticket ended; empty while it is open. */
  closed: ClosedState;
}

/**
 * Locks and reads the state for a decision. Locks the chat's row first, like the transactions that accept a message or
 * finish a run: no message can be accepted, and no run can finish, before the commit. Then locks the ticket's row, to
 * which the indexer may add references in the meantime. Null if this project has no such ticket. Reads only waiting
 * messages, and no texts, however long a conversation is.
 */
export async function lockReviewState(
  tx: Db,
  project: ProjectId,
  ticketId: string,
): Promise<(ReviewState & { isLeased: boolean }) | null> {
  const known = await sql.findHome.one(tx, { project, ticketId });
  if (known === null) return null;
  const home = known.homeProjectId;
  const chat = await sql.lockChat.one<{ reviewId: string | null; isLeased: boolean }>(tx, { home, ticketId });
  const ticket = await sql.lockTicket.one<Ticket>(tx, { project, ticketId });
  if (chat === null || ticket === null) return null;
  const waiting = await sql.listWaiting.all<WaitingMessage>(tx, { home, ticketId });
  const end = await sql.findEnds.one<{ workedOn: string | null; received: string | null }>(tx, { home, ticketId });
  const newest = end?.workedOn ?? end?.received ?? null;

  const promise = await sql.hasReply.one(tx, { home, ticketId });

  const [promising] =
    ticket.stage === "review"
      ? await sql.findPromise.all(tx, {
          home,
          ticketId,
          promise: JSON.stringify([{ from: "delivering", to: "review", why: PERSON_PROMISED }]),
        })
      : [];
  const draft = await sql.readDraft.one<NonNullable<ReviewState["draft"]>>(tx, { home, ticketId });
  const last = await sql.findReview.one<WorkRow & { isFailed: boolean }>(tx, { home, ticketId });
  const work = last?.isFailed === true ? asWork(last) : null;
  return {
    ticket,
    draft: draft ?? null,
    waiting,
    newest: newest === null ? null : { id: newest },
    hasReceived: end?.received != null,
    isPersonPromised: promise !== null || promising?.isOpen === true,
    isUnderWay: chat.reviewId !== null,
    failed: work?.kind === "send" ? work : null,
    closed: await readClosedState(tx, ticket),
    isLeased: chat.isLeased,
  };
}

/**
 * Marks messages as changed for the process that creates their callbacks; rows are locked in the order of their ids.
 */
export const recordChange = (tx: Db, project: ProjectId, messageIds: string[], forgetsFailure = false) =>
  sql.markCallbacks.exec(tx, { project, messageIds, forgetsFailure });

/** Returns one of these messages with mode webhook, or null. */
export async function findWebhookMessage(tx: Db, project: ProjectId, messageIds: string[]): Promise<string | null> {
  const row = await sql.findWebhookMessage.one(tx, { project, messageIds });
  return row?.id ?? null;
}

/** Sends messages through the pipeline again, with new attempts; their waiting time starts now. */
export const processAgain = (tx: Db, project: ProjectId, messageIds: string[]) =>
  sql.processAgain.exec(tx, { project, messageIds });

const sql = statements("tickets/review-state", {
  ticketColumns: TICKET_COLUMNS,
});

/** Ticket events belong to the project that the ticket came in to. */
export const insertReviewEvent = (
  tx: Db,
  event: {
    project: ProjectId;
    ticketId: string;
    messageId: string | null;
    actor: string;
    moves: StageMove[];
    data: object;
    /** Effect on an agent's answer, with the additional data of a new one; absent if there is none. */
    answer?: { step: AnswerStep; confidence?: number; agentId?: string | null } | null;
  },
): Promise<void> =>
  sql.insertReviewEvent.exec(tx, {
    ...event,
    moves: JSON.stringify(event.moves),
    data: JSON.stringify(event.data),
    answerStep: event.answer?.step,
    answerConfidence: event.answer?.confidence,
    answerAgentId: event.answer?.agentId,
  });

/** A message that waits for a person: held by the gate, or a dead letter. */
export interface WaitingMessage {
  id: string;
  state: "held" | "failed";
}

/** A text or files that the pipeline sends on behalf of a person. */
export interface SendWork {
  kind: "send";
  author: ReplyAuthor;
  /** Empty if only the files are sent. */
  text: string;
  markdown: boolean;
  sources: Source[];
  /** Files that operators have uploaded for it, in order. */
  fileIds: string[];
  /** True if it resolves the ticket. */
  resolves: boolean;
  /** Ids of the messages that it answers. */
  covers: string[];
  /** The message that determines its delivery: the newest of those, else the chat's newest; null if none exists. */
  answers: string | null;
}

/** A draft that the pipeline regenerates: an answer to each of these messages, of which `answers` is the newest. */
export interface DraftWork {
  kind: "draft";
  covers: string[];
  answers: string;
}

/** Columns of `reviews` that describe the work. */
export interface WorkRow {
  kind: "send" | "draft";
  author: ReplyAuthor | null;
  text: string | null;
  markdown: boolean | null;
  sources: Source[] | null;
  fileIds: string[];
  resolves: boolean;
  answersMessageId: string | null;
  covers: string[];
}

/** Converts a row of `reviews` to its work. */
export function asWork(row: WorkRow): SendWork | DraftWork {
  const { covers, answersMessageId: answers } = row;
  if (row.kind === "draft") return { kind: "draft", covers, answers: answers ?? "" };
  return {
    kind: "send",
    author: row.author ?? "operator",
    text: row.text ?? "",
    markdown: row.markdown ?? false,
    sources: row.sources ?? [],
    fileIds: row.fileIds,
    resolves: row.resolves,
    covers,
    answers,
  };
}
