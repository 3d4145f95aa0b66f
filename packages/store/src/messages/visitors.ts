import { WIDGET_LIMITS } from "@svc/contracts";
import type { ReplyAuthor, Source, WidgetFile } from "@svc/contracts";
import { BAD_RATING_MAX_SCORE } from "../platform/answer-stats.ts";
import { createBatcher } from "../batcher.ts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

/** Reserved ids that one step of the sweeper goes through. */
const SWEEP_PAGE = 500;

/** The message that a client's id stands for; `seq` is null while it is not committed. */
export interface ReservedMessage {
  messageId: string;
  seq: number | null;
}

/** A reply that was handed over: which message it answers, if any. */
export interface ConfirmedReply {
  inReplyTo: string | null;
}

/** Places of a chat that follow each other: those after `after`, up to `upTo`. */
export interface PlaceRange {
  after: number;
  upTo: number;
}

/** How a visitor's conversation stands. */
export interface ChatView {
  /** Place of the newest message or reply; 0 in a chat that is not there yet. */
  lastSeq: number;
  /** The message that is being answered; null when none is. */
  pending: { messageId: string; text: string | null } | null;
  state: "open" | "waiting" | "done";
  /** The score that the visitor gave, 1 to 5; null while none. */
  rating: number | null;
}

/** Something that was said in a chat, as its visitor may see it. */
export type ChatEntry =
  | {
      kind: "message";
      id: string;
      seq: number;
      createdAt: Date;
      clientMessageId: string | null;
      text: string;
      attachments: WidgetFile[];
    }
  | {
      kind: "reply";
      id: string;
      seq: number;
      createdAt: Date;
      author: ReplyAuthor;
      inReplyTo: string | null;
      item:
        | { type: "message"; text: string; markdown: boolean; sources: Source[] }
        | ({ type: "attachment" } & WidgetFile);
    };

interface EntryRow {
  kind: "message" | "reply";
  id: string;
  seq: number;
  created_at: Date;
  client_message_id: string | null;
  text: string | null;
  files: WidgetFile[] | null;
  author: ReplyAuthor;
  in_reply_to: string | null;
  type: "message" | "attachment";
  markdown: boolean | null;
  sources: Source[] | null;
  filename: string | null;
  mime: string | null;
  size_bytes: number | null;
}

function asEntry(row: EntryRow): ChatEntry {
  const place = { id: row.id, seq: row.seq, createdAt: row.created_at };
  if (row.kind === "message") {
    const { client_message_id: clientMessageId, text, files } = row;
    return { kind: "message", ...place, clientMessageId, text: text ?? "", attachments: files ?? [] };
  }
  const { author, in_reply_to: inReplyTo } = row;
  const item =
    row.type === "message"
      ? { type: "message" as const, text: row.text ?? "", markdown: row.markdown ?? false, sources: row.sources ?? [] }
      : {
          type: "attachment" as const,
          fileId: row.id,
          filename: row.filename ?? "",
          mime: row.mime ?? "",
          sizeBytes: row.size_bytes ?? 0,
        };
  return { kind: "reply", ...place, author, inReplyTo, item };
}

/** What the sockets of the widget read and write beside messages and replies. */
export function visitorsTable(db: Db) {
  // The first call reserves the id; a repeat finds it, with the place of its message once that is committed. The update
  // makes the row that another call has just made visible, and keeps it from the sweeper for a further day.
  const RESERVE = `
    WITH reserved AS (
      INSERT INTO widget_messages AS w (project_id, ticket_id, client_message_id, message_id) VALUES ($1, $2, $3, $4)
      ON CONFLICT (ticket_id, client_message_id) DO UPDATE SET created_at = now(), is_kept = false
      RETURNING message_id
    )
    SELECT r.message_id, m.seq FROM reserved r LEFT JOIN messages m ON m.id = r.message_id`;

  // A message may have been reserved and never committed. As with files: a day later it has come or never will.
  const SWEEP = `
    WITH old AS MATERIALIZED (
      SELECT w.ticket_id, w.client_message_id, EXISTS (SELECT 1 FROM messages m WHERE m.id = w.message_id) AS is_used
      FROM widget_messages w
      WHERE NOT w.is_kept AND w.created_at < now() - interval '${WIDGET_LIMITS.unusedFileHours} hours'
      ORDER BY w.created_at LIMIT ${SWEEP_PAGE} FOR UPDATE OF w SKIP LOCKED
    ), kept AS (
      UPDATE widget_messages w SET is_kept = true FROM old
      WHERE w.ticket_id = old.ticket_id AND w.client_message_id = old.client_message_id AND old.is_used
    ), gone AS (
      DELETE FROM widget_messages w USING old
      WHERE w.ticket_id = old.ticket_id AND w.client_message_id = old.client_message_id AND NOT old.is_used
    )
    SELECT count(*)::integer AS seen FROM old`;

  // How many chats stand, in one statement however many sockets are open: a few index look-ups a chat. Reads only.
  const LOOK = `
    SELECT i.place, c.last_seq, p.id AS message_id, u.text, v.score,
      CASE WHEN t.status = 'resolved' THEN 'done'
        WHEN t.stage IN ('review', 'failed') OR t.assignee IS NOT NULL THEN 'waiting' ELSE 'open' END AS state
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS i (project_id, ticket_id, place)
    JOIN chats c ON c.ticket_id = i.ticket_id AND c.project_id = i.project_id
    LEFT JOIN tickets t ON t.id = c.ticket_id
    LEFT JOIN visitors v ON v.ticket_id = c.ticket_id
    LEFT JOIN LATERAL (
      SELECT id FROM messages WHERE ticket_id = c.ticket_id AND state = 'received' ORDER BY seq LIMIT 1
    ) p ON true
    LEFT JOIN unfinished_replies u ON u.message_id = p.id`;

  // Messages and replies share the places of their chat, and both tables have an index on them. Of a file its facts.
  const READ = `
    (SELECT 'message' AS kind, m.id, m.seq, m.created_at, w.client_message_id, m.text,
       (SELECT jsonb_agg(jsonb_build_object('fileId', f.id, 'filename', f.filename, 'mime', f.mime,
          'sizeBytes', octet_length(f.content)) || CASE WHEN f.expired_at IS NULL THEN '{}'::jsonb
          ELSE '{"expired":true}' END ORDER BY f.id) FROM widget_files f WHERE f.message_id = m.id) AS files,
       NULL AS author, NULL::uuid AS in_reply_to, NULL AS type, NULL::boolean AS markdown, NULL::jsonb AS sources,
       NULL AS filename, NULL AS mime, NULL::integer AS size_bytes
     FROM messages m LEFT JOIN widget_messages w ON w.message_id = m.id
     WHERE m.ticket_id = $2 AND m.project_id = $1 AND m.seq > $3 ORDER BY m.seq LIMIT $4)
    UNION ALL
    (SELECT 'reply', r.id, r.seq, r.created_at, NULL, r.text, NULL, r.author, r.in_reply_to, r.type, r.markdown,
       r.sources, r.filename, r.mime, octet_length(r.content)
     FROM replies r WHERE r.ticket_id = $2 AND r.project_id = $1 AND r.seq > $3 ORDER BY r.seq LIMIT $4)
    ORDER BY seq LIMIT $4`;

  // Only in a chat that is there, never past its end and never back. Locks the visitor's row.
  const READ_UP_TO = `
    WITH chat AS (
      SELECT ticket_id, project_id, least($3, last_seq) AS seq FROM chats
      WHERE ticket_id = $2 AND project_id = $1 AND chat_id <> ''
    )
    INSERT INTO visitors AS v (ticket_id, project_id, read_seq) SELECT ticket_id, project_id, seq FROM chat
    ON CONFLICT (ticket_id) DO UPDATE SET read_seq = excluded.read_seq, updated_at = now()
    WHERE v.read_seq < excluded.read_seq`;

  // The same rating again changes nothing and leaves no event. Locks the ticket's row against an erasure.
  const RATE = `
    WITH ticket AS (
      SELECT id, home_project_id FROM tickets WHERE id = $2 AND home_project_id = $1 FOR KEY SHARE
    ), rated AS (
      INSERT INTO visitors AS v (ticket_id, project_id, score, comment, rated_at)
      SELECT id, home_project_id, $3::integer, $4::text, now() FROM ticket
      ON CONFLICT (ticket_id) DO UPDATE SET score = excluded.score, comment = excluded.comment, rated_at = now(),
        updated_at = now()
      WHERE v.score IS DISTINCT FROM excluded.score OR v.comment IS DISTINCT FROM excluded.comment
      RETURNING ticket_id, project_id
    ), event AS (
      INSERT INTO ticket_events (ticket_id, project_id, actor, data, answer_step)
      SELECT ticket_id, project_id, 'visitor',
        jsonb_strip_nulls(jsonb_build_object('decision', 'rate', 'score', $3::integer, 'comment', $4::text)),
        CASE WHEN $3::integer <= ${BAD_RATING_MAX_SCORE} THEN 'badRating' END
      FROM rated
    )
    SELECT id FROM ticket`;

  // What stands between two places was handed to a socket of the visitor. Locks the replies' rows.
  const CONFIRM = `
    UPDATE replies r SET delivered_at = now()
    FROM (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[])
        AS i (project_id, ticket_id, after, up_to)
      ORDER BY ticket_id, up_to) i
    WHERE r.ticket_id = i.ticket_id AND r.project_id = i.project_id AND r.seq > i.after AND r.seq <= i.up_to
      AND r.delivered_at IS NULL
    RETURNING r.ticket_id, r.in_reply_to`;

  interface HandedOver extends PlaceRange {
    project: ProjectId;
    ticketId: string;
  }
  const confirm = createBatcher<HandedOver, ConfirmedReply[]>(
    async (items) => {
      const rows = await db.prepared<{ ticket_id: string; in_reply_to: string | null }>("visitors_confirm", CONFIRM, [
        items.map((item) => item.project),
        items.map((item) => item.ticketId),
        items.map((item) => item.after),
        items.map((item) => item.upTo),
      ]);
      const byTicket = new Map<string, ConfirmedReply[]>();
      for (const { ticket_id: ticketId, in_reply_to: inReplyTo } of rows) {
        byTicket.set(ticketId, [...(byTicket.get(ticketId) ?? []), { inReplyTo }]);
      }
      return items.map(({ ticketId }) => {
        const confirmed = byTicket.get(ticketId) ?? [];
        // Two calls for one chat in one batch: the first one has confirmed what both have shown.
        byTicket.delete(ticketId);
        return confirmed;
      });
    },
    { lanes: 1 },
  );

  return {
    /**
     * The message that a client's id stands for in a chat: reserved by the first call, the same for every later one, on
     * every replica. `seq` is there once it is committed.
     */
    async reserve(project: ProjectId, ticketId: string, clientMessageId: string): Promise<ReservedMessage> {
      const [row] = await db.prepared<{ message_id: string; seq: number | null }>("visitors_reserve", RESERVE, [
        project,
        ticketId,
        clientMessageId,
        newId(),
      ]);
      if (row === undefined) throw new Error("a reserved client ID was not found");
      return { messageId: row.message_id, seq: row.seq };
    },

    /** Removes some of the ids of all projects whose message has not come within a day. True when there may be more. */
    async removeReserved(): Promise<boolean> {
      const [row] = await db.query<{ seen: number }>(SWEEP);
      return row?.seen === SWEEP_PAGE;
    },

    /** How chats stand, in the order of the question; of one that is not there yet: empty and open. */
    async look(chats: readonly { project: ProjectId; ticketId: string }[]): Promise<ChatView[]> {
      const rows = await db.prepared<{
        place: number;
        last_seq: number;
        message_id: string | null;
        text: string | null;
        score: number | null;
        state: ChatView["state"];
      }>("visitors_look", LOOK, [chats.map((chat) => chat.project), chats.map((chat) => chat.ticketId)]);
      const found = new Map(
        rows.map((row): [number, ChatView] => [
          row.place,
          {
            lastSeq: row.last_seq,
            pending: row.message_id === null ? null : { messageId: row.message_id, text: row.text },
            state: row.state,
            rating: row.score,
          },
        ]),
      );
      return chats.map(
        (_chat, index) => found.get(index + 1) ?? { lastSeq: 0, pending: null, state: "open", rating: null },
      );
    },

    /** What was said in a chat after a place, oldest first, at most `limit`. */
    async listAfter(project: ProjectId, ticketId: string, seq: number, limit: number): Promise<ChatEntry[]> {
      const rows = await db.prepared<EntryRow>("visitors_list_after", READ, [project, ticketId, seq, limit]);
      return rows.map(asEntry);
    },

    /**
     * Notes that the replies of some places were handed over, and answers those of which that was not known. Many calls
     * share a statement. Safe to repeat.
     */
    confirm(project: ProjectId, ticketId: string, places: PlaceRange): Promise<ConfirmedReply[]> {
      return confirm({ project, ticketId, ...places });
    },

    /** Notes up to where a visitor has read; what is not there yet is not read, and a place never goes back. */
    async noteRead(project: ProjectId, ticketId: string, seq: number): Promise<void> {
      await db.prepared("visitors_note_read", READ_UP_TO, [project, ticketId, seq]);
    },

    /**
     * Keeps how satisfied a visitor is, in place of what was said before, with an event on the ticket. False when the
     * conversation has no ticket yet.
     */
    async rate(
      project: ProjectId,
      ticketId: string,
      { score, comment }: { score: number; comment: string | null },
    ): Promise<boolean> {
      const rows = await db.query(RATE, [project, ticketId, score, comment]);
      return rows.length > 0;
    },
  };
}
