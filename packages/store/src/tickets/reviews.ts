import { PERSON_PROMISED, PUSHING_CHANNELS } from "@svc/contracts";
import type { ChannelId, MessageMode, StageMove, TicketStage, TicketStatus } from "@svc/contracts";
import { applyDecision } from "./apply-decision.ts";
import type { DecisionResult, Decision } from "./apply-decision.ts";
import { LEASE_MS, SUSPECT_AFTER_CRASHES, expiredLease, lapseWait, leaseHistory } from "../messages/chats.ts";
import type { Db } from "../db.ts";
import type { NewDraft, NewReply } from "./tickets.ts";
import type { ReviewState, DraftWork, SendWork, WorkRow } from "./review-state.ts";
import type { LeaseHistory } from "../messages/chats.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import {
  insertReviewEvent,
  lockReviewState,
  findWebhookMessage,
  recordChange,
  processAgain,
  asWork,
} from "./review-state.ts";
import type { ClaimedMessage } from "../messages/messages.ts";
import { deleteOperatorFiles } from "../messages/files.ts";
import { statements } from "../sql.ts";
import type { Context } from "../context.ts";

/** A decision that a worker has claimed, with the lease on the chat. */
export interface ClaimedReview extends LeaseHistory {
  /** The project where the ticket came in. */
  project: ProjectId;
  reviewId: string;
  ticketId: string;
  leaseId: string;
  channelId: ChannelId;
  chatId: string;
  actor: string;
  work: SendWork | DraftWork;
  /** The message that it answers; null if it does not exist any more. */
  message: Pick<ClaimedMessage, "seq" | "userId" | "text" | "channelMeta" | "mode"> | null;
  /** Number of this attempt: failed attempts plus one. An attempt whose lease expired is not counted. */
  attempts: number;
}

/** A message of a decision. */
export type ReviewedMessage = Pick<ClaimedMessage, "messageId" | "seq" | "userId" | "text" | "channelMeta" | "mode">;

/** Result of a sent reply. */
export interface FinishedReview {
  /** Sequence numbers of its replies. */
  replies: { fromSeq: number; toSeq: number };
  /** A covered message of mode webhook, other than the answered one, whose sender has to be notified; else null. */
  notifiedMessageId: string | null;
}

/** Result of a regenerated draft. */
export interface DraftOutcome {
  draft: NewDraft;
  agentId: string | null;
  confidence: number | null;
  language: string | null;
  moves: StageMove[];
  /** Results and durations of the stages. */
  trace: object;
  /** Whether the draft counts as an answer of the agent in the statistics. */
  answerStep: "held" | null;
}

/** A decision whose job has to be published again. */
export interface DueReview {
  /** The project where the ticket came in. */
  project: ProjectId;
  reviewId: string;
  ticketId: string;
  /** Number of failed attempts and expired leases: it distinguishes this job from earlier ones. */
  attempts: number;
}

interface MessageRow {
  seq: number;
  userId: string | null;
  messageText: string;
  channelMeta: Record<string, unknown>;
  mode: MessageMode | null;
}

interface ClaimedRow extends WorkRow, MessageRow, LeaseHistory {
  ticketId: string;
  /** Null if the decision was not claimed. */
  id: string | null;
  actor: string;
  attempts: number;
  channelId: ChannelId;
  chatId: string;
  messageId: string | null;
}

const sql = statements("tickets/reviews", {
  expiredLease: expiredLease("chats"),
  suspectAfterCrashes: SUSPECT_AFTER_CRASHES,
  leaseHistory: leaseHistory("l.leases"),
  lapseWait: lapseWait("s.lapses"),
  leaseMs: LEASE_MS,
});

function asMessage(row: MessageRow): NonNullable<ClaimedReview["message"]> {
  const { seq, userId, messageText: text, channelMeta, mode } = row;
  return { seq, userId, text, channelMeta, mode };
}

/** Locks the chat of a claimed decision and releases it; false if the lease was lost, and nothing may change. */
const endLease = (tx: Db, review: ClaimedReview, replyCount = 0): Promise<{ lastSeq: number } | null> =>
  sql.endLease.one(tx, { ...review, replyCount });

const endReview = (tx: Db, review: ClaimedReview, failure: string | null): Promise<void> =>
  sql.endReview.exec(tx, { ...review, failure });

/**
 * Returns the stage of a ticket after a decision was carried out or failed: review while a message is held, then failed
 * while one is a dead letter.
 */
async function findRest<Else extends TicketStage>(
  tx: Db,
  { project, ticketId }: ClaimedReview,
  otherwise: Else,
): Promise<{ before: TicketStage; rest: "review" | "failed" | Else }> {
  const row = await sql.findRest.one<{ stage: TicketStage; isHeld: boolean; isFailed: boolean }>(tx, {
    project,
    ticketId,
  });
  if (row === null) throw new Error(`ticket ${ticketId} no longer exists`);
  return { before: row.stage, rest: row.isHeld ? "review" : row.isFailed ? "failed" : otherwise };
}

const moveTicket = (
  tx: Db,
  { project, ticketId }: ClaimedReview,
  change: { stage: TicketStage; status: TicketStatus | null; isReplied: boolean },
): Promise<void> => sql.moveTicket.exec(tx, { ...change, project, ticketId });

async function insertReplies(
  tx: Db,
  { project, reviewId, ticketId, work }: ClaimedReview,
  replies: NewReply[],
  fromSeq: number,
): Promise<void> {
  for (const [index, { item, author }] of replies.entries()) {
    const text = item.type === "message" ? item : null;
    const file = item.type === "attachment" ? item : null;
    await sql.insertReply.run(tx, {
      id: newId(),
      project,
      ticketId,
      seq: fromSeq + index,
      answers: work.answers,
      author,
      reviewId,
      type: item.type,
      text: text?.text,
      markdown: text?.markdown,
      sources: text?.sources === undefined ? null : JSON.stringify(text.sources),
      filename: file?.filename,
      mime: file?.mime,
      content: file?.content,
    });
  }
  await sql.wantReplies.run(tx, { project, ticketId, pushingChannels: PUSHING_CHANNELS });
}

async function claimIn(
  context: Context,
  { isExclusive }: { isExclusive: boolean },
  project: ProjectId,
  ticketId: string,
): Promise<ClaimedReview | "suspect" | null> {
  const leaseId = newId();
  const row = await sql.claim.one<ClaimedRow>(context.leases, {
    project,
    ticketId,
    leaseId,
    processId: context.processId,
    isExclusive,
  });
  if (row === null) return null;
  if (row.id === null) return "suspect";
  return {
    project,
    reviewId: row.id,
    ticketId,
    leaseId,
    channelId: row.channelId,
    chatId: row.chatId,
    actor: row.actor,
    work: asWork(row),
    message: row.messageId === null ? null : asMessage(row),
    attempts: row.attempts,
    crashes: row.crashes,
    lapses: row.lapses,
  };
}

const moveOf = (from: TicketStage, to: TicketStage, why: string): StageMove[] =>
  from === to ? [] : [{ at: new Date().toISOString(), actor: "pipeline", from, to, why }];

/**
 * Decides on a ticket of this project: `plan` gets its state and returns the changes, or throws to reject the decision;
 * all changes are committed in one transaction, or none. While it runs, no message can be accepted into the chat and no
 * pipeline run can finish, so it must not wait for anything. Null if the project has no such ticket.
 */
export const decide = async (
  context: Context,
  project: ProjectId,
  ticketId: string,
  plan: (state: ReviewState) => Decision,
): Promise<DecisionResult | null> =>
  context.db.transaction(async (tx) => {
    await sql.decide.run(tx);
    const state = await lockReviewState(tx, project, ticketId);
    return state === null ? null : applyDecision(tx, state, plan(state));
  });

/**
 * Sends a dead letter without a ticket through the pipeline again, since no decision on a ticket can. False if it is
 * not one, or has a ticket now. Locks like a decision: the chat, the message, its callback.
 */
export async function retryUnopened(
  context: Context,
  project: ProjectId,
  ticketId: string,
  messageId: string,
): Promise<boolean> {
  return context.db.transaction(async (tx) => {
    await sql.retryUnopened.run(tx);
    await sql.lockChat.run(tx, { project, ticketId });
    const letter = await sql.findDeadLetter.one(tx, { project, ticketId, messageId });
    if (letter === null) return false;
    await processAgain(tx, project, [messageId]);
    await recordChange(tx, project, [messageId], true);
    return true;
  });
}

/**
 * Returns the other held messages of a decision that a regenerated draft has to answer besides the claimed one, oldest
 * first.
 */
export async function listEarlier(
  context: Context,
  { project, ticketId, work }: ClaimedReview,
): Promise<ReviewedMessage[]> {
  const rows = await sql.listEarlier.all<MessageRow & { id: string }>(context.hot, { ...work, project, ticketId });
  return rows.map((row) => ({ messageId: row.id, ...asMessage(row) }));
}

/**
 * Claims the lease on a chat and its pending decision; null if there is none, another worker has the lease, or the
 * retry is not due. The lease lasts 4 s and must be renewed. For a process that runs it exclusively.
 */
export async function claim(context: Context, project: ProjectId, ticketId: string): Promise<ClaimedReview | null> {
  const claimed = await claimIn(context, { isExclusive: true }, project, ticketId);
  return claimed === "suspect" ? null : claimed;
}

/**
 * As `claim`, for a decision that is carried out concurrently with other work; "suspect", without changes, if processes
 * have crashed repeatedly while they carried it out.
 */
export const claimConcurrently = (
  context: Context,
  project: ProjectId,
  ticketId: string,
): Promise<ClaimedReview | "suspect" | null> => claimIn(context, { isExclusive: false }, project, ticketId);

/**
 * Commits an operator's reply and releases the lease in one transaction: its items with sequence numbers, the messages
 * that it answers, the ticket, the event, and the changes for callbacks. A handoff reply leaves the ticket in review.
 * Null, without changes, if the lease was lost: another worker has the decision then.
 */
export async function finishSend(
  context: Context,
  review: ClaimedReview,
  replies: NewReply[],
  { promisesPerson = false }: { promisesPerson?: boolean } = {},
): Promise<FinishedReview | null> {
  const { project, ticketId, work } = review;
  return context.hot.transaction(async (tx) => {
    const chat = await endLease(tx, review, replies.length);
    if (chat === null) return null;
    const fromSeq = chat.lastSeq - replies.length + 1;
    await insertReplies(tx, review, replies, fromSeq);
    const answered = work.answers === null ? work.covers : [...new Set([...work.covers, work.answers])];
    await sql.finishSend.run(tx, { project, answered });
    await recordChange(tx, project, answered);
    if (work.kind === "send") await deleteOperatorFiles(tx, project, ticketId, work.fileIds);
    await endReview(tx, review, null);
    const { before, rest: calm } = await findRest(tx, review, "done");
    const rest = calm === "done" && promisesPerson ? "review" : calm;
    if (calm !== "review") {
      await sql.deleteDraft.run(tx, { project, ticketId });
    }
    const resolves = rest === "done" && work.kind === "send" && work.resolves;
    await moveTicket(tx, review, {
      stage: rest,
      status: rest === "review" ? "open" : resolves ? "resolved" : "pending",
      isReplied: true,
    });
    await insertReviewEvent(tx, {
      project,
      ticketId,
      messageId: work.answers,
      actor: "pipeline",
      moves: moveOf(before, rest, rest === calm ? "the reply is committed" : PERSON_PROMISED),
      data: { review: review.reviewId, attempts: review.attempts, ...(resolves && { resolves }) },
    });
    return {
      replies: { fromSeq, toSeq: chat.lastSeq },
      notifiedMessageId: await findWebhookMessage(
        tx,
        project,
        answered.filter((id) => id !== work.answers),
      ),
    };
  });
}

/**
 * Replaces the draft with the regenerated one and releases the lease; the ticket is in review again. False, without
 * changes, if the lease was lost.
 */
export async function finishDraft(context: Context, review: ClaimedReview, outcome: DraftOutcome): Promise<boolean> {
  const { project, ticketId, work } = review;
  const { draft } = outcome;
  return context.hot.transaction(async (tx) => {
    if ((await endLease(tx, review)) === null) return false;
    await sql.finishDraft.run(tx, {
      ...draft,
      project,
      ticketId,
      sources: JSON.stringify(draft.sources),
      covers: work.covers,
    });
    await endReview(tx, review, null);
    await sql.reviewTicket.run(tx, { ...outcome, project, ticketId });
    await insertReviewEvent(tx, {
      project,
      ticketId,
      messageId: work.answers,
      actor: "pipeline",
      moves: outcome.moves,
      data: { review: review.reviewId, ...outcome.trace },
      answer:
        outcome.answerStep === null
          ? null
          : { step: outcome.answerStep, confidence: outcome.confidence ?? 0, agentId: outcome.agentId },
    });
    return true;
  });
}

/**
 * Records the failure of a decision after its last attempt and releases the lease: its messages wait for a person
 * again, with the previous draft; a ticket without waiting messages is `failed`. False if the lease was lost.
 */
export async function giveUp(context: Context, review: ClaimedReview, failure: string): Promise<boolean> {
  const { project, ticketId, work } = review;
  return context.hot.transaction(async (tx) => {
    if ((await endLease(tx, review)) === null) return false;
    await sql.giveUp.run(tx, { project, covers: work.covers });
    await endReview(tx, review, failure);
    const { before, rest } = await findRest(tx, review, "failed");
    await moveTicket(tx, review, { stage: rest, status: null, isReplied: false });
    await insertReviewEvent(tx, {
      project,
      ticketId,
      messageId: work.answers,
      actor: "pipeline",
      moves: moveOf(before, rest, failure),
      data: { review: review.reviewId, failure, attempts: review.attempts },
    });
    return true;
  });
}

/**
 * Releases the lease: the next attempt follows after `delayMs`. This one is counted as failed only if `counts`, which
 * is false for errors that the decision did not cause. Does nothing if the lease was lost.
 */
export const retryLater = (
  context: Context,
  review: ClaimedReview,
  retry: { delayMs: number; failure: string; counts: boolean },
): Promise<void> =>
  sql.retryLater.exec(context.hot, {
    ...review,
    delayMs: retry.delayMs,
    failure: retry.failure,
    counted: retry.counts ? 1 : 0,
  });

/** Returns the age in milliseconds of the oldest due decision of all projects; 0 if there is none. */
export async function oldestWaitingMs(context: Context): Promise<number> {
  const row = await sql.oldestWaitingMs.one<{ age: number | null }>(context.hot);
  return row?.age ?? 0;
}

/** Returns up to `limit` overdue decisions of all projects, for the sweeper to publish again. */
export const claimDue = (context: Context, limit: number) => sql.due.all<DueReview>(context.hot, { limit });
