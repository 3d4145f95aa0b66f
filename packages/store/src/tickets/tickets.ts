import { PUSHING_CHANNELS, withoutBidiControls } from "@svc/contracts";
import type { ChannelId, ReplyAuthor, ReplyDraft, StageMove, TicketStage, TicketStatus } from "@svc/contracts";
import type { AnswerStep } from "../platform/answer-stats.ts";
import { createBatcher } from "../batcher.ts";
import type { Db } from "../db.ts";
import { addDraft } from "./drafts.ts";
import type { NewDraft } from "./drafts.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { applyRoute, lockRoute } from "./issues.ts";
import type { IssueRoute } from "./issues.ts";
import type { ClaimedMessage } from "../messages/messages.ts";

/** A ticket as the pipeline works on it. */
export interface Ticket {
  id: string;
  homeProject: ProjectId;
  /** Who works on it. */
  project: ProjectId;
  channelId: ChannelId;
  chatId: string;
  subject: string;
  status: TicketStatus;
  stage: TicketStage;
  assignee: string | null;
  agentId: string | null;
  /** ISO 639-1; null as long as no message has said so. */
  language: string | null;
  version: number;
}

/** A reply item that a run or a decision makes. */
export interface NewReply {
  item: ReplyDraft;
  author: ReplyAuthor;
}

/** How a run of the pipeline ended: all of it becomes true in one statement, or nothing does. */
export interface RunOutcome {
  message: Pick<ClaimedMessage, "project" | "messageId" | "ticketId" | "leaseId">;
  state: "answered" | "held" | "rejected" | "failed";
  failure: string | null;
  stage: TicketStage;
  status: TicketStatus;
  agentId: string | null;
  confidence: number | null;
  language: string | null;
  moves: StageMove[];
  /** What the stages found and how long they took, for the trace on the ticket. */
  trace: object;
  /** What the run means for an agent's answer of this agent and confidence; absent where it means nothing. */
  answerStep?: AnswerStep | null;
  replies: NewReply[];
  draft: NewDraft | null;
  /** Where triage has sent a submitted issue; absent for any other message, and where it stays as it is. */
  route?: IssueRoute;
}

/** What a finished run has made. */
export interface FinishedRun {
  /** Places of its replies in the chat; null when there are none. */
  replies: { fromSeq: number; toSeq: number } | null;
  /** True when something came into the chat after the message: there may be another one to claim. */
  hasMore: boolean;
}

/** A row of `TICKET_COLUMNS`. */
export interface TicketRow {
  id: string;
  home_project_id: string;
  project_id: string;
  channel_id: ChannelId;
  chat_id: string;
  subject: string;
  status: TicketStatus;
  stage: TicketStage;
  assignee: string | null;
  agent_id: string | null;
  language: string | null;
  version: number;
}

/** What a ticket is made from. */
export const TICKET_COLUMNS =
  "id, home_project_id, project_id, channel_id, chat_id, subject, status, stage, assignee, agent_id, language, version";

const SUBJECT_CHARS = 120;

/** Where the last move of a run leads while another message of the ticket is a dead letter. */
const STILL_FAILED = JSON.stringify({ to: "failed", why: "this is done, and another message has failed" });

/** Thrown when a run goes on although its lease is gone: what it does must not count. */
export class LeaseLostError extends Error {
  constructor() {
    super("the lease on the chat is lost");
    this.name = "LeaseLostError";
  }
}

/** Tickets: opened and moved by the pipeline, decided on by operators. */
export function ticketsTable(db: Db, leases: Db) {
  // Opens the ticket of a message or takes the message into an open one: newest meta wins, a resolved ticket is open
  // again. The versions of a ticket that was erased go on. Fenced by the lease, so that a run which goes on after its
  // chat was erased brings nothing back. Locks the chats' rows against an erasure and then the tickets' rows, in the
  // order of their ids. When a crash of the database undoes it, the run that it belongs to cannot finish and is done
  // again.
  const OPEN = `
    INSERT INTO tickets AS t (id, home_project_id, project_id, channel_id, chat_id, user_id, subject, channel_meta,
      version)
    SELECT i.id, i.project_id, i.project_id, i.channel_id, i.chat_id, i.user_id, i.subject, i.channel_meta,
      c.ticket_version + 1
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::uuid[])
      AS i (id, project_id, channel_id, chat_id, user_id, subject, channel_meta, lease_id)
    JOIN chats c ON c.ticket_id = i.id AND c.project_id = i.project_id AND c.lease_id = i.lease_id
    ORDER BY i.id FOR KEY SHARE OF c
    ON CONFLICT (id) DO UPDATE SET
      user_id = coalesce(excluded.user_id, t.user_id),
      channel_meta = t.channel_meta || excluded.channel_meta,
      status = CASE WHEN t.status = 'resolved' THEN 'open' ELSE t.status END,
      resolved_at = CASE WHEN t.status = 'resolved' THEN NULL ELSE t.resolved_at END,
      version = t.version + 1, updated_at = now()
    RETURNING ${TICKET_COLUMNS}`;

  interface OpenItem {
    project: ProjectId;
    message: ClaimedMessage;
  }
  const open = createBatcher<OpenItem, Ticket>(async (items) => {
    const rows = await leases.prepared<TicketRow>("tickets_open", OPEN, [
      items.map(({ message }) => message.ticketId),
      items.map(({ project }) => project),
      items.map(({ message }) => message.channelId),
      items.map(({ message }) => message.chatId),
      items.map(({ message }) => message.userId),
      items.map(({ message }) => subjectOf(message.text)),
      items.map(({ message }) => JSON.stringify(message.channelMeta)),
      items.map(({ message }) => message.leaseId),
    ]);
    const byId = new Map(rows.map((row) => [row.id, asTicket(row)]));
    return items.map(({ message }) => {
      const ticket = byId.get(message.ticketId);
      if (ticket === undefined) throw new LeaseLostError();
      return ticket;
    });
  });

  // Makes the outcome of a run true: the message's state, the ticket's stage and version, the replies with their
  // places, the event, and gives the lease back, in one statement. Fenced: a run whose lease was lost changes nothing,
  // nor does one whose ticket a crash of the database has undone. A ticket that would be done rests in `failed` as long
  // as a message of it is a dead letter, so that operators find it; the index of messages that wait tells so.
  // Whoever makes callbacks learns that there is news. Locks: the chats' rows in the order of their ids, the callbacks'
  // rows likewise, then rows that belong to the holder of the lease alone.
  const FINISH = `
    WITH run AS (
      SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[],
        $8::text[], $9::uuid[], $10::real[], $11::text[], $12::jsonb[], $13::jsonb[], $14::integer[], $15::boolean[], $27::text[])
        AS r (project_id, ticket_id, message_id, lease_id, state, failure, stage, status, agent_id, confidence,
          language, moves, trace, reply_count, is_first_reply, answer_step)
    ), mine AS MATERIALIZED (
      SELECT c.ticket_id, c.lease_id FROM chats c
      JOIN run r ON r.ticket_id = c.ticket_id AND r.project_id = c.project_id AND r.lease_id = c.lease_id
      LEFT JOIN tickets t ON t.id = r.ticket_id
      WHERE t.id IS NOT NULL OR r.state = 'failed'
      ORDER BY c.ticket_id FOR UPDATE OF c
    ), chat AS (
      UPDATE chats c SET lease_id = NULL, lease_until = NULL, last_seq = c.last_seq + r.reply_count
      FROM mine JOIN run r USING (ticket_id, lease_id) WHERE c.ticket_id = mine.ticket_id AND c.lease_id = mine.lease_id
      RETURNING c.ticket_id, c.project_id, c.channel_id, mine.lease_id, c.last_seq
    ), rest AS (
      SELECT r.lease_id, r.stage = 'done' AND (
        SELECT true FROM messages m
        WHERE m.project_id = r.project_id AND m.ticket_id = r.ticket_id AND m.state = 'failed' AND m.covered_by IS NULL
        LIMIT 1
      ) IS TRUE AS is_failed
      FROM run r JOIN chat USING (ticket_id, lease_id)
    ), message AS (
      UPDATE messages m SET state = r.state, failure = r.failure, progress = NULL, finished_at = now()
      FROM run r JOIN chat USING (ticket_id, lease_id) WHERE m.id = r.message_id AND m.state = 'received'
      RETURNING m.ticket_id, m.seq
    ), called AS MATERIALIZED (
      SELECT cb.message_id FROM callbacks cb JOIN run r USING (message_id) JOIN chat ON chat.lease_id = r.lease_id
      ORDER BY cb.message_id FOR UPDATE OF cb
    ), notified AS (
      UPDATE callbacks cb SET has_news = true, news_at = now() FROM called WHERE cb.message_id = called.message_id
    ), ticket AS (
      UPDATE tickets t SET stage = CASE WHEN rest.is_failed THEN 'failed' ELSE r.stage END, status = r.status,
        agent_id = coalesce(r.agent_id, t.agent_id),
        confidence = coalesce(r.confidence, t.confidence), language = coalesce(r.language, t.language),
        version = t.version + 1, updated_at = now(),
        first_reply_at = CASE WHEN t.first_reply_at IS NULL AND r.is_first_reply THEN now() ELSE t.first_reply_at END
      FROM run r JOIN rest USING (lease_id) WHERE t.id = r.ticket_id
    ), event AS (
      INSERT INTO ticket_events (ticket_id, project_id, message_id, actor, moves, data, answer_step, answer_confidence,
        answer_agent_id)
      SELECT r.ticket_id, r.project_id, r.message_id, 'pipeline',
        CASE WHEN rest.is_failed AND r.moves <> '[]'
          THEN jsonb_set(r.moves, '{-1}', (r.moves -> -1) || '${STILL_FAILED}') ELSE r.moves END, r.trace, r.answer_step, CASE WHEN r.answer_step IS NOT NULL THEN r.confidence END,
        CASE WHEN r.answer_step IS NOT NULL THEN r.agent_id END
      FROM run r JOIN rest USING (lease_id)
    ), reply AS (
      INSERT INTO replies (id, project_id, ticket_id, seq, in_reply_to, author, type, text, markdown, sources, filename,
        mime, content)
      SELECT i.id, r.project_id, r.ticket_id, chat.last_seq - r.reply_count + i.place, r.message_id, i.author, i.type,
        i.text, i.markdown, i.sources, i.filename, i.mime, i.content
      FROM unnest($16::uuid[], $17::uuid[], $18::integer[], $19::text[], $20::text[], $21::text[], $22::boolean[],
        $23::jsonb[], $24::text[], $25::text[], $26::bytea[])
        AS i (id, lease_id, place, author, type, text, markdown, sources, filename, mime, content)
      JOIN run r USING (lease_id) JOIN chat USING (lease_id)
    ), outbox AS (
      INSERT INTO outboxes (ticket_id, project_id, channel_id, wanted_seq)
      SELECT chat.ticket_id, chat.project_id, chat.channel_id, chat.last_seq FROM chat JOIN run r USING (lease_id)
      WHERE r.reply_count > 0 AND chat.channel_id = ANY ('{${PUSHING_CHANNELS.join(",")}}')
      ON CONFLICT (ticket_id) DO UPDATE SET wanted_seq = excluded.wanted_seq
    )
    SELECT chat.lease_id, chat.last_seq, message.seq FROM chat JOIN message USING (ticket_id)`;

  async function finishAll(on: Db, runs: RunOutcome[]): Promise<(FinishedRun | null)[]> {
    const sorted = runs.toSorted((a, b) => (a.message.ticketId < b.message.ticketId ? -1 : 1));
    const replies = sorted.flatMap(({ message, replies: made }) =>
      made.map(({ item, author }, index) => ({ leaseId: message.leaseId, place: index + 1, item, author })),
    );
    const rows = await on.prepared<{ lease_id: string; last_seq: number; seq: number }>("tickets_finish", FINISH, [
      sorted.map((run) => run.message.project),
      sorted.map((run) => run.message.ticketId),
      sorted.map((run) => run.message.messageId),
      sorted.map((run) => run.message.leaseId),
      sorted.map((run) => run.state),
      sorted.map((run) => run.failure),
      sorted.map((run) => run.stage),
      sorted.map((run) => run.status),
      sorted.map((run) => run.agentId),
      sorted.map((run) => run.confidence),
      sorted.map((run) => run.language),
      sorted.map((run) => JSON.stringify(run.moves)),
      sorted.map((run) => JSON.stringify(run.trace)),
      sorted.map((run) => run.replies.length),
      sorted.map((run) => run.replies.some((reply) => reply.author !== "system")),
      replies.map(() => newId()),
      replies.map((reply) => reply.leaseId),
      replies.map((reply) => reply.place),
      replies.map((reply) => reply.author),
      replies.map(({ item }) => item.type),
      replies.map(({ item }) => (item.type === "message" ? item.text : null)),
      replies.map(({ item }) => (item.type === "message" ? item.markdown : null)),
      replies.map(({ item }) => (item.type === "message" && item.sources ? JSON.stringify(item.sources) : null)),
      replies.map(({ item }) => (item.type === "attachment" ? item.filename : null)),
      replies.map(({ item }) => (item.type === "attachment" ? item.mime : null)),
      replies.map(({ item }) => (item.type === "attachment" ? item.content : null)),
      sorted.map((run) => run.answerStep ?? null),
    ]);
    const finished = new Map(rows.map((row) => [row.lease_id, row]));
    return runs.map((run) => {
      const row = finished.get(run.message.leaseId);
      if (row === undefined) return null;
      const count = run.replies.length;
      return {
        replies: count === 0 ? null : { fromSeq: row.last_seq - count + 1, toSeq: row.last_seq },
        hasMore: row.last_seq - count > row.seq,
      };
    });
  }

  const finish = createBatcher<RunOutcome, FinishedRun | null>((runs) => finishAll(db, runs));

  return {
    /**
     * Opens the ticket of a claimed message, or takes the message into it; concurrent calls share a statement. Throws
     * LeaseLostError when another worker has the chat, or when it was erased.
     */
    open(project: ProjectId, message: ClaimedMessage): Promise<Ticket> {
      return open({ project, message });
    },

    /**
     * Makes the outcome of a run true and gives the lease back; null when the lease was lost in the meantime: then
     * another worker has the message, and nothing of this run exists. Concurrent calls share a statement. Throws
     * ProjectGoneError when the project of a route was deleted meanwhile; nothing of this run exists then either.
     */
    async finish(project: ProjectId, outcome: RunOutcome): Promise<FinishedRun | null> {
      const { draft, route } = outcome;
      const run = { ...outcome, message: { ...outcome.message, project } };
      if (draft === null && route === undefined) return finish(run);
      return db.transaction(async (tx) => {
        if (route !== undefined) await lockRoute(tx, route);
        const [finished = null] = await finishAll(tx, [run]);
        if (finished === null) return null;
        const { ticketId, messageId } = run.message;
        if (draft !== null) await addDraft(tx, project, { ticketId, messageId, draft });
        if (route !== undefined) await applyRoute(tx, project, ticketId, route);
        return finished;
      });
    },

    /** A ticket that came in to this project, or null. */
    async find(project: ProjectId, ticketId: string): Promise<Ticket | null> {
      const rows = await db.query<TicketRow>(
        `SELECT ${TICKET_COLUMNS} FROM tickets WHERE home_project_id = $1 AND id = $2`,
        [project, ticketId],
      );
      const row = rows[0];
      return row === undefined ? null : asTicket(row);
    },

    /** All moves of a ticket in the order in which they were made. */
    async listMoves(project: ProjectId, ticketId: string): Promise<StageMove[]> {
      const rows = await db.query<{ moves: StageMove[] }>(
        "SELECT moves FROM ticket_events WHERE project_id = $1 AND ticket_id = $2 ORDER BY id",
        [project, ticketId],
      );
      return rows.flatMap((row) => row.moves);
    },
  };
}

/** A ticket from its row. */
export function asTicket(row: TicketRow): Ticket {
  return {
    id: row.id,
    homeProject: asProjectId(row.home_project_id),
    project: asProjectId(row.project_id),
    channelId: row.channel_id,
    chatId: row.chat_id,
    subject: row.subject,
    status: row.status,
    stage: row.stage,
    assignee: row.assignee,
    agentId: row.agent_id,
    language: row.language,
    version: row.version,
  };
}

/** First line of a text, short enough for a list; never cut inside a character. */
function subjectOf(text: string): string {
  const [line = ""] = withoutBidiControls(text)
    .trim()
    .split(/[\r\n]/, 1);
  return Array.from(line.slice(0, SUBJECT_CHARS * 2))
    .slice(0, SUBJECT_CHARS)
    .join("");
}
