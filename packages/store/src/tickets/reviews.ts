import { PERSON_PROMISED, PUSHING_CHANNELS } from "@svc/contracts";
import type { ChannelId, MessageMode, StageMove, TicketStage, TicketStatus } from "@svc/contracts";
import { applyDecision } from "./apply-decision.ts";
import type { Decided, Decision } from "./apply-decision.ts";
import { LEASE_MS } from "../messages/chats.ts";
import type { Db } from "../db.ts";
import type { NewDraft } from "./drafts.ts";
import { SUSPECT_AFTER_CRASHES, expiredLease, lapseWait, leaseHistory } from "../messages/expired-leases.ts";
import type { LeaseHistory } from "../messages/expired-leases.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { insertReviewEvent } from "./insert-review-event.ts";
import { lockReviewState } from "./lock-review-state.ts";
import type { ReviewState } from "./lock-review-state.ts";
import type { ClaimedMessage } from "../messages/messages.ts";
import { findWebhookMessage, noteNews, receiveAgain } from "./review-messages.ts";
import { dropOperatorFiles } from "./operator-files.ts";
import { asWork } from "./review-work.ts";
import type { DraftWork, SendWork, WorkRow } from "./review-work.ts";
import type { NewReply } from "./tickets.ts";

/** A decision that a worker carries out: it has the lease on the chat. */
export interface ClaimedReview extends LeaseHistory {
  /** Where the ticket came in. */
  project: ProjectId;
  reviewId: string;
  ticketId: string;
  leaseId: string;
  channelId: ChannelId;
  chatId: string;
  actor: string;
  work: SendWork | DraftWork;
  /** The message that it answers; null when it is not kept. */
  message: Pick<ClaimedMessage, "seq" | "userId" | "text" | "channelMeta" | "mode"> | null;
  /** Number of this attempt: one more than have failed. An attempt whose lease expired is not counted. */
  attempts: number;
}

/** A message that a decision is about. */
export type ReviewedMessage = Pick<ClaimedMessage, "messageId" | "seq" | "userId" | "text" | "channelMeta" | "mode">;

/** What a reply that was sent has made. */
export interface FinishedReview {
  /** Places of its replies in the chat. */
  replies: { fromSeq: number; toSeq: number };
  /** A covered message of mode webhook, other than the one that is answered, whose sender hears so; else null. */
  toldMessageId: string | null;
}

/** What a draft that was made anew has found. */
export interface DraftOutcome {
  draft: NewDraft;
  agentId: string | null;
  confidence: number | null;
  language: string | null;
  moves: StageMove[];
  /** What the stages found and how long they took. */
  trace: object;
  /** Whether the draft counts as an answer of the agent in the statistics. */
  answerStep: "held" | null;
}

/** A decision whose job has to be published again. */
export interface DueReview {
  /** Where the ticket came in. */
  project: ProjectId;
  reviewId: string;
  ticketId: string;
  /** Number of failed attempts and expired leases: it distinguishes this job from earlier ones. */
  attempts: number;
}

interface MessageRow {
  seq: number;
  user_id: string | null;
  message_text: string;
  channel_meta: Record<string, unknown>;
  mode: MessageMode | null;
}

interface ClaimedRow extends WorkRow, MessageRow, LeaseHistory {
  /** Null if the decision was not claimed. */
  id: string | null;
  actor: string;
  attempts: number;
  channel_id: ChannelId;
  chat_id: string;
  message_id: string | null;
}

function asMessage(row: MessageRow): NonNullable<ClaimedReview["message"]> {
  return {
    seq: row.seq,
    userId: row.user_id,
    text: row.message_text,
    channelMeta: row.channel_meta,
    mode: row.mode,
  };
}

/**
 * Decisions of people: each committed with all that it changes, and carried out once by the pipeline. People decide on
 * `db`; the pipeline works on `hot` and `leases`, so that nobody who waits for a chat keeps messages waiting.
 */
export function reviewsTable(db: Db, hot: Db, leases: Db, processId: string) {
  // Claims the lease on a chat whose decision is not carried out yet, and records the lease that expired before, if any.
  // `attempts` is the number of failed attempts, which are counted with their result: a claim that nothing follows is none.
  // The decision's state is checked again by its own UPDATE, since the snapshot may be older than the lock that was waited
  // for. A claim that a crash of the database undoes is made again. A decision with which processes have crashed is claimed
  // only by a process that does nothing else ($5), and otherwise only reported (`id` NULL).
  const CLAIM = `
    WITH free AS MATERIALIZED (
      SELECT ticket_id, channel_id, chat_id, review_id, lease_until, ${expiredLease("chats")} AS expired FROM chats
      WHERE ticket_id = $2 AND project_id = $1 AND review_id IS NOT NULL
        AND (lease_until IS NULL OR lease_until < now())
      FOR UPDATE
    ), next AS (
      SELECT free.*, l.leases, s.crashes, s.lapses, s.crashes >= ${SUSPECT_AFTER_CRASHES} AND NOT $5::boolean AS is_left
      FROM free JOIN reviews r ON r.id = free.review_id
      CROSS JOIN LATERAL (
        SELECT coalesce(r.expired_leases || free.expired, r.expired_leases, free.expired) AS leases
      ) l CROSS JOIN LATERAL (${leaseHistory("l.leases")}) s
      WHERE free.expired IS NULL OR free.lease_until + ${lapseWait("s.lapses")} <= now()
    ), claimed AS (
      UPDATE reviews r SET expired_leases = next.leases
      FROM next WHERE r.id = next.review_id AND NOT next.is_left AND r.finished_at IS NULL AND r.not_before <= now()
      RETURNING r.id, r.ticket_id, r.kind, r.actor, r.author, r.text, r.markdown, r.sources, r.file_ids,
        r.answers_message_id, r.covers, r.attempts + 1 AS attempts
    ), leased AS (
      UPDATE chats c SET lease_id = $3, lease_until = now() + interval '${LEASE_MS} milliseconds', lease_holder = $4::uuid,
        lease_group = NULL
      FROM claimed WHERE c.ticket_id = claimed.ticket_id
    )
    SELECT claimed.*, next.channel_id, next.chat_id, next.crashes, next.lapses, m.id AS message_id, m.seq, m.user_id,
      m.text AS message_text, m.channel_meta, m.mode
    FROM next LEFT JOIN claimed ON claimed.id = next.review_id LEFT JOIN messages m ON m.id = claimed.answers_message_id
    WHERE next.is_left OR claimed.id IS NOT NULL`;

  const DUE = `
    WITH due AS MATERIALIZED (
      SELECT r.id, c.lease_id FROM reviews r JOIN chats c USING (ticket_id)
      WHERE r.finished_at IS NULL AND r.due_at <= now() AND (c.lease_until IS NULL OR c.lease_until < now())
      ORDER BY r.due_at LIMIT $1 FOR UPDATE OF r SKIP LOCKED
    )
    UPDATE reviews r
    SET due_at = now() + least(interval '10 seconds', greatest(interval '2 seconds', now() - r.created_at))
    FROM due WHERE r.id = due.id
    RETURNING r.id, r.project_id, r.ticket_id,
      r.attempts + coalesce(jsonb_array_length(r.expired_leases), 0) + (due.lease_id IS NOT NULL)::integer AS attempts`;

  /** Locks the chat of a claimed decision and gives it free: false when the lease was lost, and nothing may change. */
  async function endLease(tx: Db, review: ClaimedReview, replyCount = 0): Promise<{ lastSeq: number } | null> {
    const [chat] = await tx.query<{ last_seq: number }>(
      `UPDATE chats SET lease_id = NULL, lease_until = NULL, review_id = NULL, last_seq = last_seq + $5
       WHERE project_id = $1 AND ticket_id = $2 AND lease_id = $3 AND review_id = $4 RETURNING last_seq`,
      [review.project, review.ticketId, review.leaseId, review.reviewId, replyCount],
    );
    return chat === undefined ? null : { lastSeq: chat.last_seq };
  }

  async function endReview(tx: Db, review: ClaimedReview, failure: string | null): Promise<void> {
    await tx.query(
      "UPDATE reviews SET finished_at = now(), failure = $3, attempts = $4 WHERE project_id = $1 AND id = $2",
      [review.project, review.reviewId, failure, review.attempts],
    );
  }

  /**
   * Where a ticket rests when a decision is carried out or given up: in review as long as a message is held, then in
   * failed as long as one is a dead letter.
   */
  async function findRest<Else extends TicketStage>(
    tx: Db,
    { project, ticketId }: ClaimedReview,
    otherwise: Else,
  ): Promise<{ before: TicketStage; rest: "review" | "failed" | Else }> {
    const [row] = await tx.query<{ stage: TicketStage; is_held: boolean; is_failed: boolean }>(
      `SELECT t.stage, EXISTS (
         SELECT 1 FROM messages m WHERE m.ticket_id = t.id AND m.state = 'held' AND m.covered_by IS NULL
       ) AS is_held, EXISTS (
         SELECT 1 FROM messages m WHERE m.ticket_id = t.id AND m.state = 'failed' AND m.covered_by IS NULL
       ) AS is_failed
       FROM tickets t WHERE t.home_project_id = $1 AND t.id = $2 FOR NO KEY UPDATE OF t`,
      [project, ticketId],
    );
    if (row === undefined) throw new Error(`ticket ${ticketId} no longer exists`);
    return { before: row.stage, rest: row.is_held ? "review" : row.is_failed ? "failed" : otherwise };
  }

  async function moveTicket(
    tx: Db,
    { project, ticketId }: ClaimedReview,
    change: { stage: TicketStage; status: TicketStatus | null; isReplied: boolean },
  ): Promise<void> {
    await tx.query(
      `UPDATE tickets SET stage = $3, status = coalesce($4, status),
         resolved_at = CASE WHEN $4 IS NULL THEN resolved_at END,
         first_reply_at = CASE WHEN $5 THEN coalesce(first_reply_at, now()) ELSE first_reply_at END,
         version = version + 1, updated_at = now()
       WHERE home_project_id = $1 AND id = $2`,
      [project, ticketId, change.stage, change.status, change.isReplied],
    );
  }

  async function insertReplies(
    tx: Db,
    { project, ticketId, work }: ClaimedReview,
    replies: NewReply[],
    fromSeq: number,
  ): Promise<void> {
    for (const [index, { item, author }] of replies.entries()) {
      const text = item.type === "message" ? item : null;
      const file = item.type === "attachment" ? item : null;
      await tx.query(
        `INSERT INTO replies (id, project_id, ticket_id, seq, in_reply_to, author, type, text, markdown, sources,
           filename, mime, content)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
        [
          newId(),
          project,
          ticketId,
          fromSeq + index,
          work.answers,
          author,
          item.type,
          text?.text ?? null,
          text?.markdown ?? null,
          text?.sources === undefined ? null : JSON.stringify(text.sources),
          file?.filename ?? null,
          file?.mime ?? null,
          file?.content ?? null,
        ],
      );
    }
    await tx.query(
      `INSERT INTO outboxes (ticket_id, project_id, channel_id, wanted_seq)
       SELECT ticket_id, project_id, channel_id, last_seq FROM chats
       WHERE ticket_id = $2 AND project_id = $1 AND channel_id = ANY ($3::text[])
       ON CONFLICT (ticket_id) DO UPDATE SET wanted_seq = excluded.wanted_seq`,
      [project, ticketId, PUSHING_CHANNELS],
    );
  }

  async function claimIn(
    { isExclusive }: { isExclusive: boolean },
    project: ProjectId,
    ticketId: string,
  ): Promise<ClaimedReview | "suspect" | null> {
    const leaseId = newId();
    const [row] = await leases.prepared<ClaimedRow>("reviews_claim", CLAIM, [
      project,
      ticketId,
      leaseId,
      processId,
      isExclusive,
    ]);
    if (row === undefined) return null;
    if (row.id === null) return "suspect";
    return {
      project,
      reviewId: row.id,
      ticketId,
      leaseId,
      channelId: row.channel_id,
      chatId: row.chat_id,
      actor: row.actor,
      work: asWork(row),
      message: row.message_id === null ? null : asMessage(row),
      attempts: row.attempts,
      crashes: row.crashes,
      lapses: row.lapses,
    };
  }

  const moveOf = (from: TicketStage, to: TicketStage, why: string): StageMove[] =>
    from === to ? [] : [{ at: new Date().toISOString(), actor: "pipeline", from, to, why }];

  return {
    /**
     * Decides about a ticket of this project: `plan` sees how it is, says what is to be, or throws when that cannot be,
     * and all of it becomes true in one transaction, or nothing does. While it runs, no message can come into the chat
     * and no run of the pipeline can end; it must not wait for anything. Null when the project has no such ticket.
     */
    async decide(
      project: ProjectId,
      ticketId: string,
      plan: (state: ReviewState) => Decision,
    ): Promise<Decided | null> {
      return db.transaction(async (tx) => {
        // A process that stops in the middle must not keep the chat for longer.
        await tx.query("SET LOCAL idle_in_transaction_session_timeout = '5s'");
        const state = await lockReviewState(tx, project, ticketId);
        return state === null ? null : applyDecision(tx, state, plan(state));
      });
    },

    /**
     * Sends a dead letter through the pipeline again that failed before it had a ticket: nobody can decide about it.
     * False when it is none, or has a ticket meanwhile. Locks as a decision does: the chat, the message, its callback.
     */
    async reviveUnopened(project: ProjectId, ticketId: string, messageId: string): Promise<boolean> {
      return db.transaction(async (tx) => {
        await tx.query("SET LOCAL idle_in_transaction_session_timeout = '5s'");
        await tx.query("SELECT FROM chats WHERE project_id = $1 AND ticket_id = $2 FOR UPDATE", [project, ticketId]);
        const [letter] = await tx.query(
          `SELECT FROM messages m WHERE m.project_id = $1 AND m.ticket_id = $2 AND m.id = $3 AND m.state = 'failed'
             AND NOT EXISTS (SELECT FROM tickets t WHERE t.id = m.ticket_id)`,
          [project, ticketId, messageId],
        );
        if (letter === undefined) return false;
        await receiveAgain(tx, project, [messageId]);
        await noteNews(tx, project, [messageId], true);
        return true;
      });
    },

    /**
     * What a draft that is made anew has to answer besides the message that it is claimed with, oldest first: the other
     * messages of the decision that are still held.
     */
    async listEarlier({ project, ticketId, work }: ClaimedReview): Promise<ReviewedMessage[]> {
      const rows = await hot.query<MessageRow & { id: string }>(
        `SELECT id, seq, user_id, text AS message_text, channel_meta, mode FROM messages
         WHERE project_id = $1 AND ticket_id = $2 AND id = ANY ($3::uuid[]) AND id <> $4 AND state = 'held'
         ORDER BY seq`,
        [project, ticketId, work.covers, work.answers],
      );
      return rows.map((row) => ({ messageId: row.id, ...asMessage(row) }));
    },

    /**
     * Claims the lease on a chat and its decision that is not carried out yet; null when there is none, another worker
     * has the lease, or it is not to be tried yet. The lease lasts 4 s and must be renewed. To be called by a process that
     * does nothing else meanwhile.
     */
    async claim(project: ProjectId, ticketId: string): Promise<ClaimedReview | null> {
      const claimed = await claimIn({ isExclusive: true }, project, ticketId);
      return claimed === "suspect" ? null : claimed;
    },

    /**
     * As `claim`, for a decision that is carried out concurrently with other work; "suspect", and nothing done, if processes
     * have crashed again and again while they carried it out.
     */
    claimBeside(project: ProjectId, ticketId: string): Promise<ClaimedReview | "suspect" | null> {
      return claimIn({ isExclusive: false }, project, ticketId);
    },

    /**
     * Makes a person's reply true and gives the lease back, in one transaction: its items with their places, the
     * messages that it answers, the ticket, the event, the news for callbacks. A reply that promises a person leaves the
     * ticket in review. Null when the lease was lost in the meantime: then another worker has the decision, and nothing of
     * this exists.
     */
    async finishSend(
      review: ClaimedReview,
      replies: NewReply[],
      { promisesPerson = false }: { promisesPerson?: boolean } = {},
    ): Promise<FinishedReview | null> {
      const { project, ticketId, work } = review;
      return hot.transaction(async (tx) => {
        const chat = await endLease(tx, review, replies.length);
        if (chat === null) return null;
        const fromSeq = chat.lastSeq - replies.length + 1;
        await insertReplies(tx, review, replies, fromSeq);
        const answered = work.answers === null ? work.covers : [...new Set([...work.covers, work.answers])];
        await tx.query(
          `UPDATE messages SET state = 'answered', failure = NULL, finished_at = now()
           WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state IN ('held', 'failed', 'rejected')`,
          [project, answered],
        );
        await noteNews(tx, project, answered);
        if (work.kind === "send") await dropOperatorFiles(tx, project, ticketId, work.fileIds);
        await endReview(tx, review, null);
        const { before, rest: calm } = await findRest(tx, review, "done");
        const rest = calm === "done" && promisesPerson ? "review" : calm;
        if (calm !== "review") {
          await tx.query("DELETE FROM drafts WHERE project_id = $1 AND ticket_id = $2", [project, ticketId]);
        }
        await moveTicket(tx, review, {
          stage: rest,
          status: rest === "review" ? "open" : "pending",
          isReplied: true,
        });
        await insertReviewEvent(tx, {
          project,
          ticketId,
          messageId: work.answers,
          actor: "pipeline",
          moves: moveOf(before, rest, rest === calm ? "the reply is committed" : PERSON_PROMISED),
          data: { review: review.reviewId, attempts: review.attempts },
        });
        return {
          replies: { fromSeq, toSeq: chat.lastSeq },
          toldMessageId: await findWebhookMessage(
            tx,
            project,
            answered.filter((id) => id !== work.answers),
          ),
        };
      });
    },

    /**
     * Puts a draft that was made anew in the place of the former one and gives the lease back; the ticket is in review
     * again. False when the lease was lost in the meantime: nothing of this exists then.
     */
    async finishDraft(review: ClaimedReview, outcome: DraftOutcome): Promise<boolean> {
      const { project, ticketId, work } = review;
      const { draft } = outcome;
      return hot.transaction(async (tx) => {
        if ((await endLease(tx, review)) === null) return false;
        await tx.query(
          `INSERT INTO drafts (ticket_id, project_id, text, markdown, sources, confidence, why, covers)
           VALUES ($2, $1, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (ticket_id) DO UPDATE SET text = excluded.text, markdown = excluded.markdown,
             sources = excluded.sources, confidence = excluded.confidence, why = excluded.why,
             covers = excluded.covers, created_at = now()`,
          [
            project,
            ticketId,
            draft.text,
            draft.markdown,
            JSON.stringify(draft.sources),
            draft.confidence,
            draft.why,
            work.covers,
          ],
        );
        await endReview(tx, review, null);
        await tx.query(
          `UPDATE tickets SET stage = 'review', agent_id = coalesce($3, agent_id), confidence = $4,
             language = coalesce($5, language), version = version + 1, updated_at = now()
           WHERE home_project_id = $1 AND id = $2`,
          [project, ticketId, outcome.agentId, outcome.confidence, outcome.language],
        );
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
    },

    /**
     * Gives a decision up after too many tries and gives the lease back: what it covered waits for a person again, with
     * the draft as it was; a ticket of which nothing waits is `failed`. False when the lease was lost.
     */
    async giveUp(review: ClaimedReview, failure: string): Promise<boolean> {
      const { project, ticketId, work } = review;
      return hot.transaction(async (tx) => {
        if ((await endLease(tx, review)) === null) return false;
        await tx.query(
          `UPDATE messages SET covered_by = NULL
           WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state IN ('held', 'failed')`,
          [project, work.covers],
        );
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
    },

    /**
     * Releases the lease: the next attempt follows after `delayMs`. This one is counted as failed only if `counts`, which
     * is false for errors that are not the decision's. Does nothing if the lease was lost.
     */
    async retryLater(
      review: ClaimedReview,
      retry: { delayMs: number; failure: string; counts: boolean },
    ): Promise<void> {
      await hot.query(
        `WITH mine AS (
           UPDATE chats SET lease_id = NULL, lease_until = NULL
           WHERE project_id = $1 AND ticket_id = $2 AND lease_id = $3 RETURNING ticket_id
         )
         UPDATE reviews r SET not_before = now() + $5 * interval '1 millisecond',
           due_at = now() + $5 * interval '1 millisecond', failure = $6, attempts = r.attempts + $7::integer
         FROM mine WHERE r.id = $4 AND r.finished_at IS NULL`,
        [
          review.project,
          review.ticketId,
          review.leaseId,
          review.reviewId,
          retry.delayMs,
          retry.failure,
          retry.counts ? 1 : 0,
        ],
      );
    },

    /** Age in milliseconds of the oldest decision of all projects that could be carried out; 0 when there is none. */
    async oldestWaitingMs(): Promise<number> {
      const rows = await hot.query<{ age: number | null }>(
        `SELECT (extract(epoch FROM now() - min(greatest(created_at, not_before))) * 1000)::float8 AS age
         FROM reviews WHERE finished_at IS NULL AND not_before < now()`,
      );
      return rows[0]?.age ?? 0;
    },

    /** Up to `limit` decisions of all projects that wait longer than they should, for the sweeper to publish again. */
    async takeDue(limit: number): Promise<DueReview[]> {
      const rows = await hot.query<{ id: string; project_id: string; ticket_id: string; attempts: number }>(DUE, [
        limit,
      ]);
      return rows.map((row) => ({
        project: asProjectId(row.project_id),
        reviewId: row.id,
        ticketId: row.ticket_id,
        attempts: row.attempts,
      }));
    },
  };
}
