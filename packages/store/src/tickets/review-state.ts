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

/** What closing a ticket ended. */
export interface ClosedState {
  /** What the ticket was; null when it was closed by an earlier version. */
  before: { status: TicketStatus; stage: TicketStage; assignee: string | null } | null;
  /** Messages without an answer that were rejected when the ticket was closed or after that, oldest first. */
  ended: WaitingMessage[];
}

/** True when a ticket with this status is closed. */
export const isClosed = (status: TicketStatus): boolean => status === "resolved" || status === "spam";

/** Reads what closing this ticket ended; of an open ticket there is nothing. The caller holds the lock on the chat. */
export async function readClosedState(tx: Db, { homeProject, id, status }: Ticket): Promise<ClosedState> {
  if (!isClosed(status)) return { before: null, ended: [] };
  const row = await sql.readClosedState.one<Pick<ClosedState, "before">>(tx, { homeProject, id });

  const ended = await sql.findEnded.all<WaitingMessage>(tx, { homeProject, id });
  return { before: row?.before ?? null, ended };
}

/** Stores what a ticket is before it is closed, with its draft. The caller holds the lock on the chat. */
export const keepBeforeClosing = (tx: Db, { homeProject, id }: TicketRef) =>
  sql.keepBeforeClosing.exec(tx, { homeProject, id });

/** Drops what was stored: after that, reopening brings no draft back. The caller holds the lock on the chat. */
export const dropBeforeClosing = (tx: Db, { homeProject, id }: TicketRef) =>
  sql.dropBeforeClosing.exec(tx, { homeProject, id });

/**
 * Returns the messages that closing ended to where they were, and the draft with them. Their senders are not notified:
 * they hear of the answer, if one is sent. The caller holds the lock on the chat.
 */
export async function restoreClosed(tx: Db, { homeProject, id }: TicketRef, ended: WaitingMessage[]): Promise<void> {
  await sql.restoreClosed.run(tx, { homeProject, id: ended.map((message) => message.id) });
  await sql.restoreDraft.run(tx, { homeProject, id });
  await dropBeforeClosing(tx, { homeProject, id });
}

/** What a person decides about, as it is at the moment of the decision: nothing of it can change before its end. */
export interface ReviewState {
  ticket: Ticket;
  /** What waits to be approved, with the ids of the messages that it answers. */
  draft: (Pick<NewDraft, "text" | "markdown" | "sources"> & { covers: string[] }) | null;
  /** Oldest first; without those that an earlier decision covers. */
  waiting: WaitingMessage[];
  /** The newest message, of those that the pipeline has worked on where there is one; null when none is kept. */
  newest: { id: string } | null;
  /** True when the customer has written something that the pipeline has not taken into the ticket yet. */
  hasReceived: boolean;
  /** True when a customer has read that a person will answer, and no person has since. */
  isPersonPromised: boolean;
  /** True while an earlier decision is not carried out yet. */
  isUnderWay: boolean;
  /** The reply that was given up, where that was the last decision to carry out. */
  failed: SendWork | null;
  /** What closing the ticket ended; nothing while it is open. */
  closed: ClosedState;
}

/**
 * What is decided about, locked. The chat's row first, as a process that accepts a message or ends a run does: no
 * message can come, and no run can end, before the decision is committed. Then the ticket's row, which the process
 * that indexes its texts may refer to meanwhile. Null when this project has no such ticket. However long a
 * conversation is, only what waits is read of it, and no text.
 */
export async function lockReviewState(
  tx: Db,
  project: ProjectId,
  ticketId: string,
): Promise<(ReviewState & { isLeased: boolean }) | null> {
  const known = await sql.findHome.one<{ homeProjectId: string }>(tx, { project, ticketId });
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
      ? await sql.findPromise.all<{ isOpen: boolean }>(tx, {
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
 * The process that makes callbacks of these messages finds out that they changed; rows are locked in the order of
 * their ids.
 */
export const recordChange = (tx: Db, project: ProjectId, messageIds: string[], forgetsFailure = false) =>
  sql.markCallbacks.exec(tx, { project, messageIds, forgetsFailure });

/** One of these messages that is of mode webhook, or null. */
export async function findWebhookMessage(tx: Db, project: ProjectId, messageIds: string[]): Promise<string | null> {
  const row = await sql.findWebhookMessage.one<{ id: string }>(tx, { project, messageIds });
  return row?.id ?? null;
}

/** Messages go through the pipeline again, with fresh tries; from now on counts how long they wait. */
export const receiveAgain = (tx: Db, project: ProjectId, messageIds: string[]) =>
  sql.receiveAgain.exec(tx, { project, messageIds });

const sql = statements("tickets/review-state", {
  ticketColumns: TICKET_COLUMNS,
});

/** Ticket events belong to the project that the ticket came in to. */
export async function insertReviewEvent(
  tx: Db,
  event: {
    project: ProjectId;
    ticketId: string;
    messageId: string | null;
    actor: string;
    moves: StageMove[];
    data: object;
    /** What it means for the answer of an agent, with what only a new answer has; absent where it means nothing. */
    answer?: { step: AnswerStep; confidence?: number; agentId?: string | null } | null;
  },
): Promise<void> {
  await sql.insertReviewEvent.run(tx, {
    project: event.project,
    ticketId: event.ticketId,
    messageId: event.messageId,
    actor: event.actor,
    moves: JSON.stringify(event.moves),
    data: JSON.stringify(event.data),
    answerStep: event.answer?.step,
    answerConfidence: event.answer?.confidence,
    answerAgentId: event.answer?.agentId,
  });
}

/** A message that waits for a person: held by the gate, or a dead letter. */
export interface WaitingMessage {
  id: string;
  state: "held" | "failed";
}

/** A text that the pipeline sends for a person. */
export interface SendWork {
  kind: "send";
  author: ReplyAuthor;
  text: string;
  markdown: boolean;
  sources: Source[];
  /** Files that operators have handed in for it, in their order. */
  fileIds: string[];
  /** True when the ticket is resolved with it. */
  resolves: boolean;
  /** Ids of the messages that it answers. */
  covers: string[];
  /** By whose way it goes: the newest of those, else the chat's newest; null when no message is kept. */
  answers: string | null;
}

/** A draft that the pipeline makes again: an answer to each of these messages, of which `answers` is the newest. */
export interface DraftWork {
  kind: "draft";
  covers: string[];
  answers: string;
}

/** The columns of a row of `reviews` that say what is to be done. */
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

/** What a row of `reviews` asks for. */
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
