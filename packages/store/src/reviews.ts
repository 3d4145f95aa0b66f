import { PERSON_PROMISED, PUSHING_CHANNELS } from "@svc/contracts";
import type {
  ChannelId,
  MessageMode,
  ReplyAuthor,
  ReviewAction,
  Source,
  StageMove,
  TicketStage,
  TicketStatus,
} from "@svc/contracts";
import { LEASE_MS } from "./chats.ts";
import type { Db } from "./db.ts";
import { asProjectId, newId } from "./ids.ts";
import type { NewDraft } from "./drafts.ts";
import type { ProjectId } from "./ids.ts";
import type { ClaimedMessage } from "./messages.ts";
import { RECORD_COLUMNS, RECORD_JOINS, asTicketRecord } from "./ticket-record.ts";
import type { TicketRecord, TicketRow as RecordRow } from "./ticket-record.ts";
import { TICKET_COLUMNS, asTicket } from "./tickets.ts";
import type { NewReply, Ticket, TicketRow } from "./tickets.ts";
import { decideToolCall } from "./tool-calls.ts";
import { triageMessagesTable } from "./triage-messages.ts";

/** A message that waits for a person: held by the gate, or a dead letter. */
export interface WaitingMessage {
  id: string;
  state: "held" | "failed";
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
}

/** A text that the pipeline sends for a person. */
export interface SendWork {
  kind: "send";
  author: ReplyAuthor;
  text: string;
  markdown: boolean;
  sources: Source[];
  /** Ids of the messages that it answers. */
  covers: string[];
  /** By whose way it goes: the newest of those, else the chat's newest; null when no message is kept. */
  answers: string | null;
}

/** A draft that the pipeline makes anew: an answer to each of these messages, of which `answers` is the newest. */
export interface DraftWork {
  kind: "draft";
  covers: string[];
  answers: string;
}

/** What a person has decided. */
export interface Decision {
  action: ReviewAction;
  actor: string;
  /** What the ticket is from now on. */
  ticket: Pick<Ticket, "project" | "status" | "stage" | "assignee" | "agentId">;
  /** Why its stage changes, in words. */
  why: string;
  /** For the ticket's event. */
  data: object;
  /**
   * What becomes of the messages that wait: they stay, they end without an answer, the held ones go back to the agent,
   * or the failed ones are tried again.
   */
  waiting: "stay" | "reject" | "return" | "revive";
  /** Of which of them it becomes so; of all where absent. */
  only?: readonly string[];
  dropsDraft: boolean;
  /** True when a run of the pipeline that is under way must begin anew: what it does may depend on the decision. */
  interrupts: boolean;
  /** What the pipeline has to do now, if anything. */
  work: SendWork | DraftWork | null;
  /** A call of a tool that waits and is decided about with it. Throws ToolCallDecidedError when it waits no more. */
  toolCall?: { id: string; state: "approved" | "rejected" };
  /** What triage learns about the newest message that waits, or else the newest one. */
  lessons: { project: ProjectId; agentId: string | null }[];
}

/** A decision that is committed. */
export interface Decided {
  /** The ticket as the decision has made it. */
  ticket: TicketRecord;
  /** True when the pipeline has something to do now. */
  hasWork: boolean;
  /** A message of mode webhook whose sender has something to hear; null when there is none. */
  toldMessageId: string | null;
}

/** A decision that a worker carries out: it has the lease on the chat. */
export interface ClaimedReview {
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
  /** This try counted. */
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
}

/** A decision whose job has to be published again. */
export interface DueReview {
  /** Where the ticket came in. */
  project: ProjectId;
  reviewId: string;
  ticketId: string;
  attempts: number;
}

/** Thrown when a call of a tool is decided about that does not wait any more: nothing of the decision is true then. */
export class ToolCallDecidedError extends Error {
  constructor() {
    super("the call of the tool does not wait any more");
    this.name = "ToolCallDecidedError";
  }
}

/** How long the sweeper leaves a decision to its job. */
const SWEEP_AFTER_MS = 2_000;

interface WorkRow {
  kind: "send" | "draft";
  author: ReplyAuthor | null;
  text: string | null;
  markdown: boolean | null;
  sources: Source[] | null;
  answers_message_id: string | null;
  covers: string[];
}

function asWork(row: WorkRow): SendWork | DraftWork {
  const { covers, answers_message_id: answers } = row;
  if (row.kind === "draft") return { kind: "draft", covers, answers: answers ?? "" };
  return {
    kind: "send",
    author: row.author ?? "operator",
    text: row.text ?? "",
    markdown: row.markdown ?? false,
    sources: row.sources ?? [],
    covers,
    answers,
  };
}

interface MessageRow {
  seq: number;
  user_id: string | null;
  message_text: string;
  channel_meta: Record<string, unknown>;
  mode: MessageMode | null;
}

interface ClaimedRow extends WorkRow, MessageRow {
  id: string;
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
export function reviewsTable(db: Db, hot: Db, leases: Db) {
  /**
   * What is decided about, locked. The chat's row first, as whoever accepts a message or ends a run does: no message
   * can come, and no run can end, before the decision is committed. Then the ticket's row, which whoever indexes its
   * texts may refer to meanwhile. Null when this project has no such ticket. However long a conversation is, only what
   * waits is read of it, and no text.
   */
  async function lockState(
    tx: Db,
    project: ProjectId,
    ticketId: string,
  ): Promise<(ReviewState & { isLeased: boolean }) | null> {
    const [known] = await tx.query<{ home_project_id: string }>(
      "SELECT home_project_id FROM tickets WHERE project_id = $1 AND id = $2",
      [project, ticketId],
    );
    if (known === undefined) return null;
    const home = known.home_project_id;
    const [chat] = await tx.query<{ review_id: string | null; is_leased: boolean }>(
      `SELECT review_id, coalesce(lease_until > now(), false) AS is_leased FROM chats
       WHERE project_id = $1 AND ticket_id = $2 FOR UPDATE`,
      [home, ticketId],
    );
    const [row] = await tx.query<TicketRow>(
      `SELECT ${TICKET_COLUMNS} FROM tickets WHERE project_id = $1 AND id = $2 FOR NO KEY UPDATE`,
      [project, ticketId],
    );
    if (chat === undefined || row === undefined) return null;
    const waiting = await tx.query<WaitingMessage>(
      `SELECT id, state FROM messages
       WHERE project_id = $1 AND ticket_id = $2 AND state IN ('held', 'failed') AND covered_by IS NULL ORDER BY seq`,
      [home, ticketId],
    );
    const [end] = await tx.query<{ worked_on: string | null; received: string | null }>(
      `SELECT (SELECT id FROM messages WHERE project_id = $1 AND ticket_id = $2 AND state <> 'received'
           ORDER BY seq DESC LIMIT 1) AS worked_on,
         (SELECT id FROM messages WHERE project_id = $1 AND ticket_id = $2 AND state = 'received'
           ORDER BY seq LIMIT 1) AS received`,
      [home, ticketId],
    );
    const newest = end?.worked_on ?? end?.received ?? null;
    // A promise comes after the message that it is made for, so what was said before the oldest held one does not
    // matter.
    const [promise] = await tx.query(
      `SELECT 1 FROM replies r
       WHERE r.project_id = $1 AND r.ticket_id = $2 AND r.author = 'system' AND r.seq > (
           SELECT seq FROM messages WHERE project_id = $1 AND ticket_id = $2 AND state = 'held' AND covered_by IS NULL
           ORDER BY seq LIMIT 1)
         AND EXISTS (SELECT FROM messages m WHERE m.id = r.in_reply_to AND m.state = 'held' AND m.covered_by IS NULL)
       ORDER BY r.seq LIMIT 1`,
      [home, ticketId],
    );
    // The newest event that says so, or that a reply without a promise has ended it: while a ticket is in review there
    // are few behind that. Reads the ticket's events by their index; locks nothing.
    const [promising] =
      row.stage === "review"
        ? await tx.query<{ is_open: boolean }>(
            `SELECT moves @> $3::jsonb AS is_open FROM ticket_events
             WHERE project_id = $1 AND ticket_id = $2 AND (moves @> $3::jsonb OR moves @> '[{"to": "done"}]')
             ORDER BY id DESC LIMIT 1`,
            [home, ticketId, JSON.stringify([{ from: "delivering", to: "review", why: PERSON_PROMISED }])],
          )
        : [];
    const [draft] = await tx.query<NonNullable<ReviewState["draft"]>>(
      "SELECT text, markdown, sources, covers FROM drafts WHERE project_id = $1 AND ticket_id = $2",
      [home, ticketId],
    );
    const [last] = await tx.query<WorkRow & { is_failed: boolean }>(
      `SELECT kind, author, text, markdown, sources, answers_message_id, covers,
         failure IS NOT NULL AND finished_at IS NOT NULL AS is_failed
       FROM reviews WHERE project_id = $1 AND ticket_id = $2 ORDER BY id DESC LIMIT 1`,
      [home, ticketId],
    );
    const work = last?.is_failed === true ? asWork(last) : null;
    return {
      ticket: asTicket(row),
      draft: draft ?? null,
      waiting,
      newest: newest === null ? null : { id: newest },
      hasReceived: end?.received != null,
      isPersonPromised: promise !== undefined || promising?.is_open === true,
      isUnderWay: chat.review_id !== null,
      failed: work?.kind === "send" ? work : null,
      isLeased: chat.is_leased,
    };
  }

  /** Whoever makes callbacks of these messages learns of news; rows are locked in the order of their ids. */
  async function noteNews(tx: Db, project: ProjectId, messageIds: string[], forgetsFailure = false): Promise<void> {
    await tx.query(
      `WITH called AS MATERIALIZED (
         SELECT message_id FROM callbacks WHERE project_id = $1 AND message_id = ANY ($2::uuid[])
         ORDER BY message_id FOR UPDATE
       )
       UPDATE callbacks cb SET has_news = true, news_at = now(),
         told = CASE WHEN $3 AND cb.told = 'message.failed' THEN NULL ELSE cb.told END
       FROM called WHERE cb.message_id = called.message_id`,
      [project, messageIds, forgetsFailure],
    );
  }

  /** One of these messages that is of mode webhook, or null. */
  async function findWebhookMessage(tx: Db, project: ProjectId, messageIds: string[]): Promise<string | null> {
    const [row] = await tx.query<{ id: string }>(
      "SELECT id FROM messages WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND mode = 'webhook' ORDER BY seq LIMIT 1",
      [project, messageIds],
    );
    return row?.id ?? null;
  }

  const idsOf = (waiting: readonly WaitingMessage[], state: WaitingMessage["state"]) =>
    waiting.flatMap((message) => (message.state === state ? [message.id] : []));

  /** Messages go through the pipeline again, with fresh tries; from now on counts how long they wait. */
  async function receiveAgain(tx: Db, project: ProjectId, messageIds: string[]): Promise<void> {
    await tx.query(
      `UPDATE messages SET state = 'received', attempts = 0, not_before = now(), due_at = now(), finished_at = NULL,
         progress = NULL, covered_by = NULL
       WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state IN ('held', 'failed')`,
      [project, messageIds],
    );
  }

  /** Moves the messages that wait to where the decision sends them; answers those whose senders hear of it. */
  const MOVE_WAITING: Record<Decision["waiting"], (tx: Db, state: ReviewState) => Promise<string[]>> = {
    stay: () => Promise.resolve([]),
    async reject(tx, { ticket: { homeProject }, waiting }) {
      const messageIds = waiting.map(({ id }) => id);
      await tx.query(
        `UPDATE messages SET state = 'rejected', finished_at = now()
         WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state IN ('held', 'failed')`,
        [homeProject, messageIds],
      );
      await noteNews(tx, homeProject, messageIds);
      return messageIds;
    },
    async return(tx, { ticket: { homeProject }, waiting }) {
      await receiveAgain(tx, homeProject, idsOf(waiting, "held"));
      return [];
    },
    async revive(tx, { ticket: { homeProject }, waiting }) {
      const messageIds = idsOf(waiting, "failed");
      await receiveAgain(tx, homeProject, messageIds);
      await noteNews(tx, homeProject, messageIds, true);
      return [];
    },
  };

  /** Writes down what the pipeline has to do; the messages that a reply answers are covered from now on. */
  async function insertWork(tx: Db, { ticket }: ReviewState, decision: Decision): Promise<string | null> {
    const { work, actor } = decision;
    if (work === null) return null;
    const reviewId = newId();
    const send = work.kind === "send" ? work : null;
    await tx.query(
      `INSERT INTO reviews (id, project_id, ticket_id, kind, actor, author, text, markdown, sources, answers_message_id,
         covers, due_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() + interval '${SWEEP_AFTER_MS} milliseconds')`,
      [
        reviewId,
        ticket.homeProject,
        ticket.id,
        work.kind,
        actor,
        send?.author ?? null,
        send?.text ?? null,
        send?.markdown ?? null,
        send === null ? null : JSON.stringify(send.sources),
        work.answers,
        work.covers,
      ],
    );
    if (send !== null) {
      await tx.query(
        `UPDATE messages SET covered_by = $3
         WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state IN ('held', 'failed')`,
        [ticket.homeProject, send.covers, send.answers],
      );
    }
    return reviewId;
  }

  /**
   * Takes the conversation from the worker that has it, unless an earlier decision is being carried out: what its run
   * has found was found before the decision. The message is worked on again, and the try does not count.
   */
  async function interruptRun(tx: Db, { ticket, isUnderWay, isLeased }: ReviewState & { isLeased: boolean }) {
    if (isUnderWay) return;
    await tx.query("UPDATE chats SET lease_id = NULL, lease_until = NULL WHERE project_id = $1 AND ticket_id = $2", [
      ticket.homeProject,
      ticket.id,
    ]);
    await tx.query(
      `UPDATE messages SET progress = NULL, attempts = greatest(0, attempts - $3::integer)
       WHERE id = (SELECT id FROM messages WHERE project_id = $1 AND ticket_id = $2 AND state = 'received'
         ORDER BY seq LIMIT 1)`,
      [ticket.homeProject, ticket.id, isLeased ? 1 : 0],
    );
  }

  /** What triage learns goes by the newest message that waits, or else the newest one. */
  async function teach(tx: Db, { ticket, waiting, newest }: ReviewState, decision: Decision): Promise<void> {
    const message = waiting.at(-1) ?? newest;
    if (message === null || decision.lessons.length === 0) return;
    const [said] = await tx.query<{ text: string }>("SELECT text FROM messages WHERE project_id = $1 AND id = $2", [
      ticket.homeProject,
      message.id,
    ]);
    for (const { project, agentId } of decision.lessons) {
      const decided = { messageId: message.id, ticketId: ticket.id, agentId, text: said?.text ?? "" };
      await triageMessagesTable(tx).note(project, decided);
    }
  }

  /** Ticket events belong to the project that the ticket came in to. */
  async function insertEvent(
    tx: Db,
    event: {
      project: ProjectId;
      ticketId: string;
      messageId: string | null;
      actor: string;
      moves: StageMove[];
      data: object;
    },
  ): Promise<void> {
    await tx.query(
      `INSERT INTO ticket_events (ticket_id, project_id, message_id, actor, moves, data)
       VALUES ($2, $1, $3, $4, $5, $6)`,
      [
        event.project,
        event.ticketId,
        event.messageId,
        event.actor,
        JSON.stringify(event.moves),
        JSON.stringify(event.data),
      ],
    );
  }

  async function apply(tx: Db, state: ReviewState & { isLeased: boolean }, decision: Decision): Promise<Decided> {
    const { ticket: before } = state;
    const { ticket: after, actor, why, action, data } = decision;
    // The run first: after that, the oldest message that was received need not be the one that it worked on.
    if (decision.interrupts) await interruptRun(tx, state);
    const moved =
      decision.only === undefined ? state.waiting : state.waiting.filter(({ id }) => decision.only?.includes(id));
    const told = await MOVE_WAITING[decision.waiting](tx, { ...state, waiting: moved });
    if (decision.toolCall !== undefined) {
      const isDecided = await decideToolCall(tx, before.project, { ...decision.toolCall, actor });
      if (!isDecided) throw new ToolCallDecidedError();
    }
    const reviewId = await insertWork(tx, state, decision);
    if (reviewId !== null) {
      await tx.query("UPDATE chats SET review_id = $3 WHERE project_id = $1 AND ticket_id = $2", [
        before.homeProject,
        before.id,
        reviewId,
      ]);
    }
    if (decision.dropsDraft) {
      await tx.query("DELETE FROM drafts WHERE project_id = $1 AND ticket_id = $2", [before.homeProject, before.id]);
    }
    const [changed] = await tx.query<RecordRow>(
      `WITH t AS (
         UPDATE tickets SET project_id = $3, status = $4, stage = $5, assignee = $6, agent_id = $7,
           resolved_at = CASE WHEN $4 NOT IN ('resolved', 'spam') THEN NULL WHEN status = $4 THEN resolved_at
             ELSE now() END,
           version = version + 1, updated_at = now()
         WHERE project_id = $1 AND id = $2 RETURNING *
       )
       SELECT ${RECORD_COLUMNS} FROM t ${RECORD_JOINS}`,
      [before.project, before.id, after.project, after.status, after.stage, after.assignee, after.agentId],
    );
    const move = { at: new Date().toISOString(), actor, from: before.stage, to: after.stage, why };
    await insertEvent(tx, {
      project: before.homeProject,
      ticketId: before.id,
      messageId: decision.work?.answers ?? null,
      actor,
      moves: before.stage === after.stage ? [] : [move],
      data: { decision: action, ...data },
    });
    await teach(tx, state, decision);
    if (changed === undefined) throw new Error(`ticket ${before.id} is not there although it is locked`);
    const runsAgain = decision.waiting === "return" || decision.waiting === "revive";
    return {
      ticket: asTicketRecord(changed),
      hasWork: reviewId !== null || runsAgain || (decision.interrupts && state.hasReceived),
      toldMessageId: await findWebhookMessage(tx, before.homeProject, told),
    };
  }

  // Takes the lease on a chat whose decision is not carried out yet, and counts the try. The decision's state is
  // checked again by its own UPDATE, since the snapshot may be older than the lock that was waited for. A claim that a
  // crash of the database undoes is made again.
  const CLAIM = `
    WITH free AS MATERIALIZED (
      SELECT ticket_id, channel_id, chat_id, review_id FROM chats
      WHERE ticket_id = $2 AND project_id = $1 AND review_id IS NOT NULL
        AND (lease_until IS NULL OR lease_until < now())
      FOR UPDATE
    ), claimed AS (
      UPDATE reviews r SET attempts = r.attempts + 1 FROM free
      WHERE r.id = free.review_id AND r.finished_at IS NULL AND r.not_before <= now()
      RETURNING r.id, r.ticket_id, r.kind, r.actor, r.author, r.text, r.markdown, r.sources, r.answers_message_id,
        r.covers, r.attempts, free.channel_id, free.chat_id
    ), leased AS (
      UPDATE chats c SET lease_id = $3, lease_until = now() + interval '${LEASE_MS} milliseconds'
      FROM claimed WHERE c.ticket_id = claimed.ticket_id
    )
    SELECT claimed.*, m.id AS message_id, m.seq, m.user_id, m.text AS message_text, m.channel_meta, m.mode
    FROM claimed LEFT JOIN messages m ON m.id = claimed.answers_message_id`;

  const DUE = `
    UPDATE reviews SET due_at = now() + least(interval '10 seconds', greatest(interval '2 seconds', now() - created_at))
    WHERE id IN (
      SELECT r.id FROM reviews r JOIN chats c USING (ticket_id)
      WHERE r.finished_at IS NULL AND r.due_at <= now() AND (c.lease_until IS NULL OR c.lease_until < now())
      ORDER BY r.due_at LIMIT $1 FOR UPDATE OF r SKIP LOCKED
    )
    RETURNING id, project_id, ticket_id, attempts`;

  /** Locks the chat of a claimed decision and gives it free: false when the lease was lost, and nothing may change. */
  async function endLease(tx: Db, review: ClaimedReview, replyCount = 0): Promise<{ lastSeq: number } | null> {
    const [chat] = await tx.query<{ last_seq: number }>(
      `UPDATE chats SET lease_id = NULL, lease_until = NULL, review_id = NULL, last_seq = last_seq + $5
       WHERE project_id = $1 AND ticket_id = $2 AND lease_id = $3 AND review_id = $4 RETURNING last_seq`,
      [review.project, review.ticketId, review.leaseId, review.reviewId, replyCount],
    );
    return chat === undefined ? null : { lastSeq: chat.last_seq };
  }

  async function endReview(tx: Db, { project, reviewId }: ClaimedReview, failure: string | null): Promise<void> {
    await tx.query("UPDATE reviews SET finished_at = now(), failure = $3 WHERE project_id = $1 AND id = $2", [
      project,
      reviewId,
      failure,
    ]);
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
    if (row === undefined) throw new Error(`ticket ${ticketId} is not there any more`);
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
        const state = await lockState(tx, project, ticketId);
        return state === null ? null : apply(tx, state, plan(state));
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
     * Takes the lease on a chat and its decision that is not carried out yet; null when there is none, another worker
     * has the lease, or it is not to be tried yet. The lease lasts 4 s and must be renewed.
     */
    async claim(project: ProjectId, ticketId: string): Promise<ClaimedReview | null> {
      const leaseId = newId();
      const [row] = await leases.prepared<ClaimedRow>("reviews_claim", CLAIM, [project, ticketId, leaseId]);
      if (row === undefined) return null;
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
      };
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
        await insertEvent(tx, {
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
        await insertEvent(tx, {
          project,
          ticketId,
          messageId: work.answers,
          actor: "pipeline",
          moves: outcome.moves,
          data: { review: review.reviewId, ...outcome.trace },
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
        await insertEvent(tx, {
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
     * Puts a decision off after a failed try and gives the lease back. `counts` false takes the try back, for faults
     * that are not the decision's. Does nothing when the lease was lost.
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
           due_at = now() + $5 * interval '1 millisecond', failure = $6, attempts = r.attempts - $7::integer
         FROM mine WHERE r.id = $4 AND r.finished_at IS NULL`,
        [
          review.project,
          review.ticketId,
          review.leaseId,
          review.reviewId,
          retry.delayMs,
          retry.failure,
          retry.counts ? 0 : 1,
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
