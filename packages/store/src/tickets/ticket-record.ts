import type { ProjectId } from "../ids.ts";
import { ISSUE_CHAT_PREFIX, ISSUE_ORIGIN, UPDATES_CHANNEL } from "@svc/contracts";
import type { ChannelId, DeadlineKind, TicketPriority, TicketStage, TicketStatus, ReplyAuthor } from "@svc/contracts";
import type { Db } from "../db.ts";
import { statements } from "../sql.ts";

/** The stored fields of a ticket. */
export interface TicketRecord {
  id: string;
  homeProject: ProjectId;
  homeProjectName: string | null;
  project: ProjectId;
  channelId: ChannelId;
  chatId: string;
  userId: string | null;
  /** Null until it is stored, and for tickets without one. Of the home project. */
  customer: { id: string; alias: string; name: string | null; email: string | null } | null;
  subject: string;
  status: TicketStatus;
  stage: TicketStage;
  priority: TicketPriority;
  assignee: string | null;
  isSnoozed: boolean;
  /** End of the snooze; null if the ticket is not snoozed, or until its customer writes. */
  snoozedUntil: Date | null;
  agentId: string | null;
  confidence: number | null;
  language: string | null;
  tags: string[];
  channelMeta: Record<string, unknown>;
  version: number;
  createdAt: Date;
  updatedAt: Date;
  firstReplyAt: Date | null;
  resolvedAt: Date | null;
  /** The earliest deadline by the SLA targets, `dueAt` as PostgreSQL writes it in JSON; null for none. */
  deadline: { kind: DeadlineKind; dueAt: string } | null;
}

/** Columns of a record, for a ticket `t` followed by `RECORD_JOINS`. */
export const RECORD_COLUMNS = `t.id, t.home_project_id AS home_project, h.name AS home_project_name,
  t.project_id AS project, t.channel_id, t.chat_id,
  t.user_id, CASE WHEN cu.id IS NOT NULL THEN
    jsonb_build_object('id', cu.id, 'alias', cu.alias, 'name', cu.name, 'email', cu.email) END AS customer,
  t.subject, t.status, t.stage, t.priority, t.assignee, t.agent_id, t.confidence, t.language, t.tags,
  t.snoozed_until IS NOT NULL AS is_snoozed, nullif(t.snoozed_until, 'infinity') AS snoozed_until, t.channel_meta, t.version, t.created_at, t.updated_at, t.first_reply_at, t.resolved_at,
  (SELECT jsonb_build_object('kind', d.kind, 'dueAt', d.due_at) FROM ticket_deadlines d
   WHERE d.ticket_id = t.id AND d.ended_at IS NULL ORDER BY d.due_at LIMIT 1) AS deadline`;
export const RECORD_JOINS = `LEFT JOIN projects h ON h.id = t.home_project_id
  LEFT JOIN ticket_customers tc ON tc.ticket_id = t.id LEFT JOIN customers cu ON cu.id = tc.customer_id`;

/** Returns the original confidence: it is stored as a four-byte float, and 0.7 must remain 0.7. */
export const asConfidence = (stored: number | null): number | null =>
  stored === null ? null : Number(stored.toPrecision(6));

/** Converts a row to a record. */
export const asTicketRecord = (row: TicketRecord): TicketRecord => ({
  ...row,
  confidence: asConfidence(row.confidence),
});

/** The newest message or reply of a ticket, truncated. */
export interface LastMessageRecord {
  text: string;
  author: "customer" | "agent" | "operator";
  /** The operator who wrote it; null for other authors. */
  actor: string | null;
  at: Date;
}

/** The columns of `LAST_MESSAGE_JOIN`; all null for a ticket without messages. */
export interface LastMessageRow {
  lastText: string | null;
  lastAuthor: LastMessageRecord["author"] | null;
  lastActor: string | null;
  lastAt: Date | null;
}

/** Maximum of characters that are read from a text: enough for a line without Markdown. */
const READ_CHARS = 400;

export const LAST_MESSAGE_COLUMNS = `l.text AS last_text, l.author AS last_author, l.actor AS last_actor, l.at AS last_at,
  CASE WHEN t.stage IN ('review', 'failed') THEN coalesce((
    SELECT min(m.created_at) FROM drafts d JOIN messages m ON m.id = ANY (d.covers) WHERE d.ticket_id = t.id
  ), CASE l.author WHEN 'customer' THEN l.at END) END AS waiting_since`;

/**
 * Joins the newest message or reply to a ticket `t`. Reads one row of each backwards along the index on (ticket_id,
 * seq), and only the beginning of its text, however long the conversation is. Notices of the service, the files of an
 * agent and those after a text of an operator are skipped, as are an agent's replies while the ticket waits for a
 * person: they say nothing about where a conversation stands. Use it on one page of tickets only.
 */
export const LAST_MESSAGE_JOIN = `LEFT JOIN LATERAL (
    SELECT said.text, said.author, said.at, CASE WHEN said.author = 'operator' THEN (
      SELECT v.actor FROM reviews v
      WHERE v.ticket_id = t.id AND v.author = 'operator' AND v.finished_at IS NOT NULL ORDER BY v.id DESC LIMIT 1
    ) END AS actor
    FROM (
      (SELECT m.seq, 'customer' AS author, m.created_at AS at,
         coalesce(nullif(left(m.text, ${READ_CHARS}), ''), left(m.attachments -> 0 ->> 'name', ${READ_CHARS}), '') AS text
       FROM messages m WHERE m.ticket_id = t.id AND m.project_id = t.home_project_id ORDER BY m.seq DESC LIMIT 1)
      UNION ALL
      (SELECT r.seq, r.author, r.created_at, left(coalesce(r.text, r.filename, ''), ${READ_CHARS})
       FROM replies r WHERE r.ticket_id = t.id AND r.project_id = t.home_project_id
         AND (r.type = 'message'
           AND (r.author = 'operator' OR r.author = 'agent' AND t.stage NOT IN ('review', 'failed'))
           OR r.author = 'operator' AND NOT EXISTS (
           SELECT FROM replies before
           WHERE before.ticket_id = r.ticket_id AND before.seq = r.seq - 1 AND before.author = 'operator'))
       ORDER BY r.seq DESC LIMIT 1)
      ORDER BY seq DESC LIMIT 1
    ) AS said
  ) AS l ON true`;

/** Returns the last message from its columns. */
export function asLastMessage({ lastText, lastAuthor, lastActor, lastAt }: LastMessageRow): LastMessageRecord | null {
  if (lastText === null || lastAuthor === null || lastAt === null) return null;
  return { text: lastText, author: lastAuthor, actor: lastActor, at: lastAt };
}

/** Returns SQL for a column in microseconds since 1970, which a JavaScript number represents exactly. */
export const microsecondsOf = (column: string) => `(extract(epoch FROM ${column}) * 1000000)::bigint`;

/** Priorities from the least to the most urgent. */
const PRIORITIES = ["low", "normal", "high", "urgent"];
/** More than the milliseconds from 1970 until the year 2286. */
const URGENCY_STEP = 10_000_000_000_000;

/** Returns the range of `urgency` of a priority: from the first number, below the second. */
export function urgencySpan(priority: string): [number, number] {
  const rank = PRIORITIES.indexOf(priority);
  return [rank * URGENCY_STEP, (rank + 1) * URGENCY_STEP];
}

/** Version of the words by which tickets are found, see migration 0115. */
export const WORDS_VERSION = 1;

/** The columns of ticket_list, in the order of `LIST_VALUES`. */
export const LIST_COLUMNS = `ticket_id, project_id, created_us, updated_us, urgency, version, status, stage, channel_id,
  agent_id, assignee, language, user_id, foreign_chat_id, tag_keys, origin, is_snoozed, due_us`;

/** Values of ticket_list for a ticket `t`. */
export const LIST_VALUES = `t.id AS ticket_id, t.project_id, ${microsecondsOf("t.created_at")} AS created_us,
  ${microsecondsOf("t.updated_at")} AS updated_us,
  (coalesce(array_position(ARRAY['${PRIORITIES.join("', '")}'], t.priority), 2) - 1) * ${URGENCY_STEP}::bigint
    + (extract(epoch FROM t.updated_at) * 1000)::bigint AS urgency,
  t.version, t.status, t.stage, t.channel_id, t.agent_id, t.assignee, t.language, t.user_id,
  CASE WHEN t.project_id <> t.home_project_id THEN t.chat_id END AS foreign_chat_id,
  ARRAY(SELECT t.project_id || ':' || tag FROM unnest(t.tags) AS tag) AS tag_keys,
  CASE WHEN t.channel_id = 'api' AND t.chat_id LIKE '${ISSUE_CHAT_PREFIX}%' THEN '${ISSUE_ORIGIN}' END AS origin,
  t.snoozed_until IS NOT NULL AS is_snoozed,
  coalesce((SELECT min(${microsecondsOf("d.due_at")}) FROM ticket_deadlines d
    WHERE d.ticket_id = t.id AND d.ended_at IS NULL), ${Number.MAX_SAFE_INTEGER}) AS due_us`;

// A ticket, and SQL that two statements share: one only opens tickets, the other one does so while claiming a message.

/** A ticket, for the pipeline. */
export interface Ticket {
  id: string;
  homeProject: ProjectId;
  /** The project that works on it. */
  project: ProjectId;
  channelId: ChannelId;
  chatId: string;
  subject: string;
  status: TicketStatus;
  stage: TicketStage;
  assignee: string | null;
  agentId: string | null;
  /** ISO 639-1; null until a message has set it. */
  language: string | null;
  version: number;
}

const SUBJECT_CHARS = 120;

/** Characters that `String.prototype.trim` removes (ECMAScript, WhiteSpace and LineTerminator), as escapes of PostgreSQL. */
const WHITE_SPACE = `\\t\\n\\x0b\\f\\r ${escapesOf(
  "00a0 1680 2000 2001 2002 2003 2004 2005 2006 2007 2008 2009 200a 2028 2029 202f 205f 3000 feff",
)}`;

/** Characters that change the direction of surrounding text (Unicode UAX #9), as escapes of PostgreSQL. */
const BIDI_CONTROLS = escapesOf("202a 202b 202c 202d 202e 2066 2067 2068 2069");

function escapesOf(codes: string): string {
  return codes
    .split(" ")
    .map((code) => `\\u${code}`)
    .join("");
}

/** SQL of a ticket's subject: the first line of a text, short enough for a list; never cut inside a character. */
export const subjectOf = (text: string): string =>
  `left(split_part(translate(btrim(translate(${text}, E'${BIDI_CONTROLS}', ''), E'${WHITE_SPACE}'), E'\\r', E'\\n'), E'\\n', 1), ${SUBJECT_CHARS})`;

/**
 * SQL that is true for a message of a blocked customer: of the customer of its ticket, or, if the ticket has none yet,
 * of the customer with the identity of its sender (see `identitiesOf`). The names are SQL for columns of the message.
 * If no customer of the project is blocked, it costs one look-up in an empty index.
 */
export const isOfBlocked = ({ message: m, chat: c }: { message: string; chat: string }): string => `CASE WHEN EXISTS (
    SELECT FROM customers blocked WHERE blocked.project_id = ${c}.project_id AND blocked.is_blocked
  ) THEN EXISTS (
    SELECT FROM customers blocked
    WHERE blocked.project_id = ${c}.project_id AND blocked.is_blocked AND blocked.id = coalesce(
      (SELECT of_ticket.customer_id FROM ticket_customers of_ticket WHERE of_ticket.ticket_id = ${c}.ticket_id),
      (SELECT identity.customer_id FROM customer_identities identity
       CROSS JOIN LATERAL (
         SELECT coalesce(${m}.user_id, CASE WHEN ${c}.channel_id = 'api' THEN ${m}.channel_meta ->> 'userId' END) AS id
       ) sender
       WHERE identity.project_id = ${c}.project_id
         AND NOT (${c}.channel_id = 'api' AND ${c}.chat_id LIKE '${ISSUE_CHAT_PREFIX}%')
         AND (identity.kind = CASE WHEN ${c}.channel_id = '${UPDATES_CHANNEL}' THEN 'telegram' ELSE 'user' END
             AND identity.value = sender.id
           OR identity.kind = 'email' AND identity.value = lower(sender.id))
       ORDER BY identity.kind = 'email' LIMIT 1))
  ) ELSE false END`;

/**
 * SQL of the columns `OPENING_COLUMNS` for a ticket that a message opens; `b.is_blocked` is true for a blocked customer.
 */
export const OPENING_VALUES = `CASE WHEN b.is_blocked THEN 'spam' ELSE 'open' END, b.is_blocked,
  CASE WHEN b.is_blocked THEN now() END`;
export const OPENING_COLUMNS = "status, is_blocked, resolved_at";

/**
 * SQL of the changes to a ticket `t` to which a message is added: the newest meta wins, and a resolved or snoozed
 * ticket is reopened, a resolved one without its assignee, so that the agent answers. With a message of a blocked
 * customer it becomes spam, until the first message after the customer is unblocked.
 */
export const REOPEN_ASSIGNMENTS = `user_id = coalesce(excluded.user_id, t.user_id),
  channel_meta = t.channel_meta || excluded.channel_meta,
  status = CASE WHEN excluded.is_blocked THEN 'spam' WHEN t.status = 'resolved' OR t.is_blocked THEN 'open'
    ELSE t.status END,
  resolved_at = CASE WHEN excluded.is_blocked THEN coalesce(t.resolved_at, now())
    WHEN t.status = 'resolved' OR t.is_blocked THEN NULL ELSE t.resolved_at END,
  assignee = CASE WHEN t.status <> 'resolved' THEN t.assignee END,
  is_blocked = excluded.is_blocked AND (t.is_blocked OR t.status <> 'spam'), snoozed_until = NULL,
  version = t.version + 1, updated_at = now()`;

/** An event of a ticket, for the process that updates lists. */
export interface TicketChangeRecord {
  /** Id of the event; increases with time, except for events of transactions that end late. */
  id: number;
  ticketId: string;
  /** The project that works on the ticket. */
  project: string;
  /** The previous project, if the event moved the ticket to another one; else null. */
  formerProject: string | null;
  version: number;
  status: TicketStatus;
  stage: TicketStage;
  assignee: string | null;
  actor: string;
  /** Stages that the ticket moved to, in order. */
  stages: TicketStage[];
  /** Ids of the operators whom a note mentions. */
  mentions: string[];
}

/** A note that mentions an operator. */
export interface MentionRecord {
  /** Id of its event. */
  id: number;
  ticketId: string;
  /** The project that works on the ticket. */
  projectId: ProjectId;
  subject: string;
  at: Date;
  actor: string;
  /** Name of its author; null if that operator was deleted. */
  author: string | null;
  text: string;
}

/** Returns the id of the newest event; 0 if there is none. */
async function findNewest(db: Db): Promise<number> {
  const row = await sql.findNewest.one<{ id: number | null }>(db);
  return row?.id ?? 0;
}

/** Returns events after this one except known ones, oldest first, with the current state of their tickets. */
const listAfter = (db: Db, id: number, known: readonly number[], limit: number) =>
  sql.listAfter.all<TicketChangeRecord>(db, { id, known, limit });

/** Returns notes that mention this operator, in tickets that one of these projects works on, newest first. */
const listMentions = (db: Db, projects: readonly ProjectId[], operatorId: string, limit: number) =>
  sql.listMentions.all<MentionRecord>(db, { projects, operatorId, limit });

const sql = statements("tickets/ticket-changes");

/** A reply that an operator has approved, edited or written, with its question. */
export interface OperatorReply {
  /** The project where the ticket came in, which owns its messages. */
  home: ProjectId;
  ticketId: string;
  /** The newest of the answered messages. */
  messageId: string;
  /** Sequence number of the oldest of them. */
  firstSeq: number;
  /** Their texts, oldest first, each at most 50,000 characters. */
  questions: string[];
  /** Language of the chat (ISO 639-1); null if unknown. */
  language: string | null;
  decision: "approve" | "edit" | "reply";
  author: ReplyAuthor;
  text: string;
  decidedAt: Date;
}

/** Filter of operator replies. */
export interface OperatorReplyQuery {
  /** Agent of the tickets; ignored if `ticketIds` is given. */
  agentId: string;
  ticketIds: readonly string[] | null;
  from: Date | null;
  to: Date | null;
  limit: number;
}

type ReplyRow = Omit<OperatorReply, "decision"> & { decision: OperatorReply["decision"] | null };

/** Returns operator replies in the tickets that a project works on, newest first. */
async function listOperatorReplies(db: Db, project: ProjectId, query: OperatorReplyQuery): Promise<OperatorReply[]> {
  const { agentId, ticketIds, from, to, limit } = query;
  const rows = await sql.listOperatorReplies.all<ReplyRow>(db, { project, agentId, ticketIds, from, to, limit });
  return rows.map((row) => ({ ...row, decision: row.decision ?? (row.author === "agent" ? "approve" : "reply") }));
}

/** Returns those of these tickets that operators of the project work on. */
async function findTickets(db: Db, project: ProjectId, ticketIds: readonly string[]): Promise<Set<string>> {
  const rows = await sql.findTickets.all(db, { project, ticketIds });
  return new Set(rows.map(({ id }) => id));
}

/** Functions of `store.ticketChanges`. */
export const ticketChanges = { findNewest, listAfter, listMentions };

/** Functions of `store.operatorReplies`. */
export const operatorReplies = { list: listOperatorReplies, findTickets };
