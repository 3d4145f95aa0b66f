import { TICKET_LIMITS } from "@svc/contracts";
import type {
  AttachmentRef,
  ChannelId,
  MessageMode,
  MessageState,
  ReplyAuthor,
  Source,
  StageMove,
  TicketPriority,
} from "@svc/contracts";
import type { Db } from "../db.ts";
import { asProjectId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { asConfidence, asTicketRecord, RECORD_COLUMNS, RECORD_JOINS } from "./ticket-record.ts";
import type { TicketRecord, TicketRow } from "./ticket-record.ts";

/** A customer's message, as a ticket shows it. */
export interface MessageRecord {
  id: string;
  seq: number;
  userId: string | null;
  text: string;
  /** When it was written, as its channel says. */
  timestampMs: number;
  attachments: AttachmentRef[];
  meta: Record<string, unknown>;
  mode: MessageMode | null;
  state: MessageState;
  attempts: number;
  failure: string | null;
  createdAt: Date;
  finishedAt: Date | null;
}

/** A reply, as a ticket shows it: of a file its facts. */
export interface ReplyRecord {
  id: string;
  seq: number;
  inReplyTo: string | null;
  author: ReplyAuthor;
  createdAt: Date;
  deliveredAt: Date | null;
  content:
    | { type: "message"; text: string; markdown: boolean; sources: Source[] }
    | { type: "attachment"; filename: string; mime: string; sizeBytes: number };
}

/** Something that happened to a ticket. */
export interface EventRecord {
  id: number;
  at: Date;
  /** Who worked on the ticket then; of an event that gave it to another project: that project. */
  project: ProjectId;
  actor: string;
  messageId: string | null;
  moves: StageMove[];
  data: Record<string, unknown>;
}

/** The answer that waits. */
export interface DraftRecord {
  text: string;
  markdown: boolean;
  sources: Source[];
  confidence: number | null;
  why: string;
  covers: string[];
  /** True when the customer has written since, or a message that it does not answer has failed. */
  isStale: boolean;
  createdAt: Date;
}

/** The newest of what a ticket holds, each oldest first; `more` says where there is more. */
export interface TicketContents {
  messages: MessageRecord[];
  replies: ReplyRecord[];
  events: EventRecord[];
  draft: DraftRecord | null;
  more: { messages: boolean; replies: boolean; events: boolean };
}

/** Before which places in the chat, and before which event, older ones are asked for; of what is null: none. */
export interface OlderThan {
  messages: number | null;
  replies: number | null;
  events: number | null;
}

/** What of a ticket is to be changed; what is left out stays. */
export interface TicketFieldChange {
  subject?: string | undefined;
  priority?: TicketPriority | undefined;
  tags?: string[] | undefined;
}

interface MessageRow {
  id: string;
  seq: number;
  user_id: string | null;
  text: string;
  timestamp_ms: number;
  attachments: AttachmentRef[] | null;
  channel_meta: Record<string, unknown>;
  mode: MessageMode | null;
  state: MessageState;
  attempts: number;
  failure: string | null;
  created_at: Date;
  finished_at: Date | null;
}

interface ReplyRow {
  id: string;
  seq: number;
  in_reply_to: string | null;
  author: ReplyAuthor;
  type: "message" | "attachment";
  text: string | null;
  markdown: boolean | null;
  sources: Source[] | null;
  filename: string | null;
  mime: string | null;
  size_bytes: number | null;
  created_at: Date;
  delivered_at: Date | null;
}

interface EventRow {
  id: number;
  at: Date;
  actor: string;
  message_id: string | null;
  moves: StageMove[];
  data: Record<string, unknown>;
}

interface DraftRow {
  text: string;
  markdown: boolean;
  sources: Source[];
  confidence: number | null;
  why: string;
  covers: string[];
  is_stale: boolean;
  created_at: Date;
}

/** Greater than every place and id. */
const LAST_PLACE = "9223372036854775807";

const { shownMaxCount: MAX_COUNT, shownMaxBytes: MAX_BYTES } = TICKET_LIMITS;

/**
 * The newest rows of a ticket that are together no larger than one answer may be, and the newest however large it is;
 * `size` is that of a row, in bytes. Only those before the place $3, where one is given. Only these leave the database: a text that lies beside its row is not even read to
 * learn its length.
 */
const newest = (columns: string, table: string, size: string, place: "seq" | "id") => `
  SELECT * FROM (
    SELECT rows.*, sum(bytes) OVER newest_first AS total_bytes, row_number() OVER newest_first AS number,
      count(*) OVER () AS found
    FROM (
      SELECT ${columns}, ${size} AS bytes FROM ${table}
      WHERE project_id = $1 AND ticket_id = $2 AND ${place} < coalesce($3::bigint, ${LAST_PLACE})
      ORDER BY place DESC LIMIT ${MAX_COUNT + 1}
    ) AS rows WINDOW newest_first AS (ORDER BY place DESC)
  ) AS sized WHERE number <= ${MAX_COUNT} AND (total_bytes <= ${MAX_BYTES} OR number = 1) ORDER BY place DESC`;

interface Counted {
  /** Rows that there are, at most one more than are shown. */
  found: number;
}

/** The rows to show, oldest first, and whether there are older ones. */
function shown<Row extends object>(rows: (Row & Counted)[]): { rows: Row[]; hasMore: boolean } {
  const [newestRow] = rows;
  return { rows: rows.toReversed(), hasMore: newestRow !== undefined && rows.length < newestRow.found };
}

function asEvent(row: EventRow, projectAt: (eventId: number) => ProjectId): EventRecord {
  return {
    id: row.id,
    at: row.at,
    project: projectAt(row.id),
    actor: row.actor,
    messageId: row.message_id,
    moves: row.moves,
    data: row.data,
  };
}

/** Tickets one by one, with what was said and done. */
export function ticketDetailsTable(db: Db) {
  const LIST_MESSAGES = newest(
    `seq AS place, id, seq, user_id, text, timestamp_ms, attachments, channel_meta, mode, state, attempts, failure,
     created_at, finished_at`,
    "messages",
    "octet_length(text) + octet_length(channel_meta::text)",
    "seq",
  );
  const LIST_REPLIES = newest(
    `seq AS place, id, seq, in_reply_to, author, type, text, markdown, sources, filename, mime,
     octet_length(content) AS size_bytes, created_at, delivered_at`,
    "replies",
    "coalesce(octet_length(text), 0) + coalesce(octet_length(sources::text), 0)",
    "seq",
  );
  const LIST_EVENTS = newest(
    "id AS place, id, at, actor, message_id, moves, data",
    "ticket_events",
    "octet_length(moves::text) + octet_length(data::text)",
    "id",
  );

  // Every event after one of these is of that project, up to the next one; before the first one, of the home. A ticket
  // that comes back since its project was deleted says no id.
  const LIST_MOVES_BETWEEN_PROJECTS = `
    SELECT id, coalesce((data ->> 'projectId')::uuid, project_id) AS project_id FROM ticket_events
    WHERE project_id = $1 AND ticket_id = $2
      AND (data ? 'projectId' OR actor = 'service' AND data ->> 'decision' = 'reroute') ORDER BY id`;

  // A draft covers what was unanswered when it was made; a message that waits and is none of these came in since.
  const FIND_DRAFT = `
    SELECT d.text, d.markdown, d.sources, d.confidence, d.why, d.covers, d.created_at, EXISTS (
      SELECT FROM messages m WHERE m.project_id = $1 AND m.ticket_id = $2 AND m.state IN ('received', 'held', 'failed')
        AND m.id <> ALL (d.covers)
    ) AS is_stale
    FROM drafts d WHERE d.project_id = $1 AND d.ticket_id = $2`;

  // A chat of which a message was accepted and no ticket opened yet. An erased chat has no messages.
  const FIND_RECEIVED = `
    SELECT c.ticket_id AS id, c.project_id, p.name AS project_name, c.channel_id, c.chat_id, said.*
    FROM chats c JOIN projects p ON p.id = c.project_id CROSS JOIN LATERAL (
      SELECT min(m.created_at) AS created_at, max(m.created_at) AS updated_at,
        (array_agg(m.user_id ORDER BY m.seq DESC) FILTER (WHERE m.user_id IS NOT NULL))[1] AS user_id,
        (array_agg(left(split_part(btrim(m.text, E' \\t\\r\\n'), E'\\n', 1), 120) ORDER BY m.seq))[1] AS subject,
        array_agg(m.channel_meta ORDER BY m.seq) AS metas
      FROM (
        SELECT created_at, user_id, seq, text, channel_meta FROM messages
        WHERE project_id = $1 AND ticket_id = $2 ORDER BY seq LIMIT ${MAX_COUNT}
      ) m
    ) AS said
    WHERE c.project_id = $1 AND c.ticket_id = $2 AND said.created_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM tickets t WHERE t.id = c.ticket_id)`;

  async function findReceived(on: Db, project: ProjectId, ticketId: string): Promise<TicketRecord | null> {
    const [row] = await on.query<{
      id: string;
      project_name: string;
      channel_id: ChannelId;
      chat_id: string;
      created_at: Date;
      updated_at: Date;
      user_id: string | null;
      subject: string;
      metas: Record<string, unknown>[];
    }>(FIND_RECEIVED, [project, ticketId]);
    if (row === undefined) return null;
    return {
      id: row.id,
      homeProject: asProjectId(project),
      homeProjectName: row.project_name,
      project,
      channelId: row.channel_id,
      chatId: row.chat_id,
      userId: row.user_id,
      subject: row.subject,
      status: "open",
      stage: "received",
      priority: "normal",
      assignee: null,
      agentId: null,
      confidence: null,
      language: null,
      tags: [],
      channelMeta: Object.fromEntries(row.metas.flatMap((meta) => Object.entries(meta))),
      version: 0,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      firstReplyAt: null,
      resolvedAt: null,
    };
  }

  async function findOpened(on: Db, project: ProjectId, ticketId: string): Promise<TicketRecord | null> {
    const [row] = await on.query<TicketRow>(
      `SELECT ${RECORD_COLUMNS} FROM tickets t ${RECORD_JOINS} WHERE t.project_id = $1 AND t.id = $2`,
      [project, ticketId],
    );
    return row === undefined ? null : asTicketRecord(row);
  }

  /** The project that worked on a ticket when an event happened. */
  async function readProjects(on: Db, home: ProjectId, ticketId: string): Promise<(eventId: number) => ProjectId> {
    const values = [home, ticketId];
    const changes = await on.query<{ id: number; project_id: string }>(LIST_MOVES_BETWEEN_PROJECTS, values);
    return (eventId) => asProjectId(changes.findLast((change) => change.id <= eventId)?.project_id ?? home);
  }

  /** What was said in a ticket and done to it. Its rows belong to its home project, which its record names. */
  async function readContents(on: Db, home: ProjectId, ticketId: string): Promise<TicketContents> {
    const values = [home, ticketId, null];
    const messages = shown<MessageRow>(await on.query<MessageRow & Counted>(LIST_MESSAGES, values));
    const replies = shown<ReplyRow>(await on.query<ReplyRow & Counted>(LIST_REPLIES, values));
    const events = shown<EventRow>(await on.query<EventRow & Counted>(LIST_EVENTS, values));
    const [draft] = await on.query<DraftRow>(FIND_DRAFT, [home, ticketId]);
    const projectAt = await readProjects(on, home, ticketId);
    return {
      messages: messages.rows.map(asMessage),
      replies: replies.rows.map(asReply),
      events: events.rows.map((row) => asEvent(row, projectAt)),
      draft: draft === undefined ? null : asDraft(draft),
      more: { messages: messages.hasMore, replies: replies.hasMore, events: events.hasMore },
    };
  }

  return {
    /** The ticket that people of a project work on, or null. */
    findOpened: (project: ProjectId, ticketId: string) => findOpened(db, project, ticketId),

    /** As `findOpened`, and a ticket that was accepted in this project and is not opened yet, in version 0. */
    async find(project: ProjectId, ticketId: string): Promise<TicketRecord | null> {
      // The last look is for a ticket that was opened between the first two.
      return (
        (await findOpened(db, project, ticketId)) ??
        (await findReceived(db, project, ticketId)) ??
        (await findOpened(db, project, ticketId))
      );
    },

    /**
     * What `find` finds, with what was said in it and done to it, all as of one moment: whoever decides about what is
     * shown names the version that it is shown with. Locks nothing.
     */
    read(project: ProjectId, ticketId: string): Promise<{ ticket: TicketRecord; contents: TicketContents } | null> {
      return db.transaction(async (tx) => {
        // One snapshot for all that follows. Without it a draft could be shown with the version of the one before.
        await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
        const ticket = (await findOpened(tx, project, ticketId)) ?? (await findReceived(tx, project, ticketId));
        if (ticket === null) return null;
        return { ticket, contents: await readContents(tx, ticket.homeProject, ticket.id) };
      });
    },

    /**
     * What was said in a ticket of the project and done to it before these places, the newest of that first to be
     * given, and oldest first as in `read`; null where the project has no such ticket.
     */
    async readOlder(
      project: ProjectId,
      ticketId: string,
      before: OlderThan,
    ): Promise<Omit<TicketContents, "draft"> | null> {
      const ticket = await findOpened(db, project, ticketId);
      if (ticket === null) return null;
      const home = ticket.homeProject;
      // A list that is not asked for begins before the first place.
      const values = (place: number | null) => [home, ticketId, place ?? 0];
      const messages = shown<MessageRow>(await db.query<MessageRow & Counted>(LIST_MESSAGES, values(before.messages)));
      const replies = shown<ReplyRow>(await db.query<ReplyRow & Counted>(LIST_REPLIES, values(before.replies)));
      const events = shown<EventRow>(await db.query<EventRow & Counted>(LIST_EVENTS, values(before.events)));
      const projectAt = await readProjects(db, home, ticketId);
      return {
        messages: messages.rows.map(asMessage),
        replies: replies.rows.map(asReply),
        events: events.rows.map((row) => asEvent(row, projectAt)),
        more: { messages: messages.hasMore, replies: replies.hasMore, events: events.hasMore },
      };
    },

    /**
     * Changes fields of a ticket, raises its version and writes down who did it, in one statement; null when the project
     * has no such ticket that is opened, or `versions` is given and has not the present one. Locks the ticket's row.
     */
    async update(
      project: ProjectId,
      ticketId: string,
      change: TicketFieldChange,
      { versions, actor }: { versions: readonly number[] | null; actor: string },
    ): Promise<TicketRecord | null> {
      const [row] = await db.query<TicketRow>(
        `WITH t AS (
           UPDATE tickets SET subject = coalesce($4, subject), priority = coalesce($5, priority),
             tags = coalesce($6::text[], tags), version = version + 1, updated_at = now()
           WHERE project_id = $1 AND id = $2 AND ($3::integer[] IS NULL OR version = ANY ($3)) RETURNING *
         ), event AS (
           INSERT INTO ticket_events (ticket_id, project_id, actor, data)
           SELECT id, home_project_id, $7, $8::jsonb FROM t
         )
         SELECT ${RECORD_COLUMNS} FROM t ${RECORD_JOINS}`,
        [
          project,
          ticketId,
          versions,
          change.subject ?? null,
          change.priority ?? null,
          change.tags ?? null,
          actor,
          JSON.stringify({ decision: "change", change }),
        ],
      );
      return row === undefined ? null : asTicketRecord(row);
    },
  };
}

function asMessage(row: MessageRow): MessageRecord {
  return {
    id: row.id,
    seq: row.seq,
    userId: row.user_id,
    text: row.text,
    timestampMs: row.timestamp_ms,
    attachments: row.attachments ?? [],
    meta: row.channel_meta,
    mode: row.mode,
    state: row.state,
    attempts: row.attempts,
    failure: row.failure,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  };
}

function asReply(row: ReplyRow): ReplyRecord {
  return {
    id: row.id,
    seq: row.seq,
    inReplyTo: row.in_reply_to,
    author: row.author,
    createdAt: row.created_at,
    deliveredAt: row.delivered_at,
    content:
      row.type === "message"
        ? { type: "message", text: row.text ?? "", markdown: row.markdown ?? false, sources: row.sources ?? [] }
        : {
            type: "attachment",
            filename: row.filename ?? "",
            mime: row.mime ?? "",
            sizeBytes: row.size_bytes ?? 0,
          },
  };
}

function asDraft(row: DraftRow): DraftRecord {
  return {
    text: row.text,
    markdown: row.markdown,
    sources: row.sources,
    confidence: asConfidence(row.confidence),
    why: row.why,
    covers: row.covers,
    isStale: row.is_stale,
    createdAt: row.created_at,
  };
}
