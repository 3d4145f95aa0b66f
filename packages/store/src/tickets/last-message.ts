/** The newest message or reply of a ticket, cut to its beginning. */
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

/** Characters that are read of a text: enough to fill a line after Markdown is removed from it. */
const READ_CHARS = 400;

export const LAST_MESSAGE_COLUMNS =
  "l.text AS last_text, l.author AS last_author, l.actor AS last_actor, l.at AS last_at";

/**
 * Joins the newest message or reply to a ticket `t`. Reads one row of each backwards along the index on (ticket_id, seq),
 * and only the beginning of its text, however long the conversation is. Notices of the service and files of replies are
 * skipped: they say nothing about where a conversation stands. Use it on one page of tickets only.
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
      (SELECT r.seq, r.author, r.created_at, left(r.text, ${READ_CHARS})
       FROM replies r WHERE r.ticket_id = t.id AND r.project_id = t.home_project_id
         AND r.type = 'message' AND r.author <> 'system' ORDER BY r.seq DESC LIMIT 1)
      ORDER BY seq DESC LIMIT 1
    ) AS said
  ) AS l ON true`;

/** The last message from its columns. */
export function asLastMessage({ lastText, lastAuthor, lastActor, lastAt }: LastMessageRow): LastMessageRecord | null {
  if (lastText === null || lastAuthor === null || lastAt === null) return null;
  return { text: lastText, author: lastAuthor, actor: lastActor, at: lastAt };
}
