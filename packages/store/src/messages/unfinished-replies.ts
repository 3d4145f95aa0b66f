import { createBatcher } from "../batcher.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import type { LeaseRef } from "./chats.ts";
import { IS_CALL_OVER } from "./replies.ts";

/** The message of a chat that is being answered, and what its answer says so far. */
export interface UnfinishedReply {
  messageId: string;
  /** Null while nothing of it can be shown. */
  text: string | null;
  /** True when its reply will be collected from the buffer; else a call waits for it, or it goes by callback. */
  isCollected: boolean;
}

/** What the text of a message's answer is, for the holder of the chat's lease. */
export interface UnfinishedText extends LeaseRef {
  messageId: string;
  text: string;
}

/** A text that nobody has added to for so long is no longer being written, or comes again with its next piece. */
const KEPT_SECONDS = 60;

/** What answers say while they are being written. It may be lost in a crash: the reply comes all the same. */
export function unfinishedRepliesTable(db: Db, relaxed: Db) {
  // Fenced by the lease: a worker that lost it writes nothing. The chat's row is held against the statement that
  // finishes the message, which takes the lease away: whichever comes first, no text is written after the reply.
  // Locks: the chats' rows in the order of their ids, as every statement on chats, and so that others can read them.
  const WRITE = `
    WITH input AS (
      SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[])
        AS i (project_id, ticket_id, lease_id, message_id, text)
    ), held AS MATERIALIZED (
      SELECT c.ticket_id, c.lease_id FROM chats c
      JOIN input i ON c.ticket_id = i.ticket_id AND c.project_id = i.project_id AND c.lease_id = i.lease_id
      ORDER BY c.ticket_id FOR KEY SHARE OF c
    )
    INSERT INTO unfinished_replies (message_id, project_id, ticket_id, text)
    SELECT i.message_id, i.project_id, i.ticket_id, i.text FROM input i JOIN held USING (ticket_id, lease_id)
    ON CONFLICT (message_id) DO UPDATE SET text = excluded.text, updated_at = now()
    RETURNING message_id`;

  const write = createBatcher<UnfinishedText, boolean>(
    async (items) => {
      const rows = await relaxed.prepared<{ message_id: string }>("unfinished_replies_write", WRITE, [
        items.map((item) => item.project),
        items.map((item) => item.ticketId),
        items.map((item) => item.leaseId),
        items.map((item) => item.messageId),
        items.map((item) => item.text),
      ]);
      const written = new Set(rows.map((row) => row.message_id));
      return items.map((item) => written.has(item.messageId));
    },
    // One at a time: leases are claimed and renewed on these connections, and go first.
    { keyOf: (item) => item.ticketId, lanes: 1 },
  );

  // The oldest message of each chat that has no answer yet: the one that is being worked on. Messages that are finished
  // are not found, so that nobody is shown what was left of their texts. Reads only.
  const FIND = `
    SELECT i.project_id, i.ticket_id, m.id AS message_id, u.text,
      m.mode IS NOT DISTINCT FROM 'async' OR (m.mode = 'sync' AND ${IS_CALL_OVER}) AS is_collected
    FROM unnest($1::uuid[], $2::uuid[]) AS i (project_id, ticket_id)
    CROSS JOIN LATERAL (
      SELECT id, mode, call_ended_at, call_instance FROM messages
      WHERE ticket_id = i.ticket_id AND project_id = i.project_id AND state = 'received' ORDER BY seq LIMIT 1
    ) m
    LEFT JOIN unfinished_replies u ON u.message_id = m.id`;

  interface ChatRef {
    project: ProjectId;
    ticketId: string;
  }
  const find = createBatcher<ChatRef, UnfinishedReply | null>(async (items) => {
    const rows = await db.prepared<{
      project_id: string;
      ticket_id: string;
      message_id: string;
      text: string | null;
      is_collected: boolean;
    }>("unfinished_replies_find", FIND, [items.map((item) => item.project), items.map((item) => item.ticketId)]);
    const found = new Map(
      rows.map((row): [string, UnfinishedReply] => [
        `${row.project_id}/${row.ticket_id}`,
        { messageId: row.message_id, text: row.text, isCollected: row.is_collected },
      ]),
    );
    return items.map((item) => found.get(`${item.project}/${item.ticketId}`) ?? null);
  });

  return {
    /**
     * Says what the answer to a message says so far; false when the lease is lost and nothing was written. Of one
     * message only the holder of the lease calls it, one call after the other. Concurrent calls share a statement.
     */
    write(project: ProjectId, text: Omit<UnfinishedText, "project">): Promise<boolean> {
      return write({ ...text, project });
    },

    /** The message of a chat that is being answered; null when none is. Concurrent calls share a read. */
    find(project: ProjectId, ticketId: string): Promise<UnfinishedReply | null> {
      return find({ project, ticketId });
    },

    /** Forgets the texts that nobody adds to any more, of all projects. */
    async removeIdle(): Promise<void> {
      await relaxed.query(
        `DELETE FROM unfinished_replies WHERE updated_at < now() - interval '${KEPT_SECONDS} seconds'`,
      );
    },
  };
}
