import type { CallbackType, MessageState } from "@svc/contracts";
import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

/** A conversation that may have callbacks to make. */
export interface CallbackRef {
  project: ProjectId;
  ticketId: string;
}

/** A delivery whose job has to be published. */
export interface DueDelivery {
  project: ProjectId;
  ticketId: string;
  deliveryId: string;
  tries: number;
}

/** What the sender of a message hears when the message is in a state. */
const TYPE_OF_STATE = {
  answered: "message.completed",
  held: "message.in_review",
  rejected: "message.rejected",
  failed: "message.failed",
} as const satisfies Record<Exclude<MessageState, "received">, CallbackType>;

// The callback that a message in its present state calls for, or NULL: of messages `m` with callbacks `cb`.
const TYPE_NOW = `CASE m.state ${Object.entries(TYPE_OF_STATE)
  .map(([state, type]) => `WHEN '${state}' THEN '${type}'`)
  .join(" ")} ELSE CASE WHEN cb.timeout_at <= now() THEN 'message.timeout' END END`;

/** How long the sweeper leaves a finished message to its job. */
const SWEEP_AFTER_MS = 2_000;
/** A sealed key of a sender is forgotten after this time, whatever became of its message. */
const SECRET_DAYS = 30;

interface RefRow {
  project_id: string;
  ticket_id: string;
}

function asRef(row: RefRow): CallbackRef {
  return { project: asProjectId(row.project_id), ticketId: row.ticket_id };
}

/** Where the callbacks of webhook messages go, and which of them have been made. */
export function callbacksTable(db: Db) {
  // Whoever makes callbacks of a message holds its row, so that each is made once.
  const LOCK = `
    SELECT cb.message_id FROM callbacks cb
    JOIN unnest($1::uuid[], $2::uuid[]) AS i (project_id, ticket_id)
      ON cb.ticket_id = i.ticket_id AND cb.project_id = i.project_id
    WHERE cb.has_news
    ORDER BY cb.message_id FOR UPDATE OF cb`;

  // Compares what each sender was told with where its message is and which replies no callback carries yet. A statement
  // of its own after the lock, so that it sees a message and its replies as they were committed together.
  const MAKE = `
    WITH changed AS (
      SELECT cb.message_id, cb.project_id, cb.ticket_id, cb.url, m.seq, i.new_id, ${TYPE_NOW} AS type, cb.told,
        cb.is_final_made, cb.delivery_id, coalesce(r.ids, '{}') AS reply_ids
      FROM unnest($1::uuid[], $2::uuid[]) AS i (message_id, new_id)
      JOIN callbacks cb USING (message_id)
      JOIN messages m ON m.id = cb.message_id
      LEFT JOIN LATERAL (
        SELECT array_agg(r.id ORDER BY r.seq) AS ids FROM replies r
        WHERE r.ticket_id = cb.ticket_id AND r.in_reply_to = cb.message_id AND r.delivered_at IS NULL
          AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = cb.message_id AND r.id = ANY (d.reply_ids))
      ) r ON true
    ), made AS (
      SELECT *, type IN ('message.completed', 'message.rejected') AND NOT is_final_made AS is_final FROM changed
      WHERE type IS NOT NULL AND (type IS DISTINCT FROM told OR reply_ids <> '{}')
    ), marked AS (
      UPDATE callbacks cb SET has_news = false, told = coalesce(made.type, cb.told),
        timeout_at = CASE WHEN made.type IS NULL THEN cb.timeout_at END,
        is_final_made = cb.is_final_made OR coalesce(made.is_final, false)
      FROM changed LEFT JOIN made USING (message_id) WHERE cb.message_id = changed.message_id
    )
    INSERT INTO deliveries (id, project_id, ticket_id, message_id, type, url, reply_ids, due_at)
    SELECT CASE WHEN is_final THEN delivery_id ELSE new_id END, project_id, ticket_id, message_id, type, url, reply_ids,
      now() + interval '${SWEEP_AFTER_MS} milliseconds'
    FROM made ORDER BY seq
    RETURNING id, project_id, ticket_id`;

  return {
    /**
     * Makes the deliveries that the news of these conversations calls for, in the order of their messages, and answers
     * them to be published. Safe to repeat: what was told once is not told again.
     */
    async settle(refs: CallbackRef[]): Promise<DueDelivery[]> {
      if (refs.length === 0) return [];
      return db.transaction(async (tx) => {
        const open = await tx.query<{ message_id: string }>(LOCK, [
          refs.map((ref) => ref.project),
          refs.map((ref) => ref.ticketId),
        ]);
        if (open.length === 0) return [];
        const made = await tx.query<{ id: string; project_id: string; ticket_id: string }>(MAKE, [
          open.map((row) => row.message_id),
          open.map(() => newId()),
        ]);
        return made.map((row) => ({
          project: asProjectId(row.project_id),
          ticketId: row.ticket_id,
          deliveryId: row.id,
          tries: 0,
        }));
      });
    },

    /**
     * Marks the messages whose time is over as news, so that their senders hear it. Answers their conversations, at most
     * `limit`.
     */
    async markTimeouts(limit: number): Promise<CallbackRef[]> {
      const rows = await db.query<RefRow>(
        `UPDATE callbacks SET has_news = true, news_at = now()
         WHERE message_id IN (
           SELECT message_id FROM callbacks WHERE timeout_at <= now() AND NOT has_news
           ORDER BY timeout_at LIMIT $1 FOR UPDATE SKIP LOCKED
         )
         RETURNING project_id, ticket_id`,
        [limit],
      );
      return rows.map(asRef);
    },

    /** Conversations of all projects with news that their job has not settled in time, at most `limit`. */
    async findUnsettled(limit: number): Promise<CallbackRef[]> {
      const rows = await db.query<RefRow>(
        `SELECT DISTINCT project_id, ticket_id FROM callbacks
         WHERE has_news AND news_at < now() - interval '${SWEEP_AFTER_MS} milliseconds' LIMIT $1`,
        [limit],
      );
      return rows.map(asRef);
    },

    /** The id of a message's final callback, or null when the project has no such message of mode webhook. */
    async findDeliveryId(project: ProjectId, messageId: string): Promise<string | null> {
      const rows = await db.query<{ delivery_id: string }>(
        "SELECT delivery_id FROM callbacks WHERE message_id = $2 AND project_id = $1",
        [project, messageId],
      );
      return rows[0]?.delivery_id ?? null;
    },

    /** True while the key that sent a message is kept, sealed, to sign its callbacks, and is not revoked. */
    async hasSecret(project: ProjectId, messageId: string): Promise<boolean> {
      const rows = await db.query(
        `SELECT 1 FROM callbacks cb LEFT JOIN api_keys k ON k.id = cb.api_key_id
         WHERE cb.message_id = $2 AND cb.project_id = $1 AND cb.sealed_secret IS NOT NULL AND k.revoked_at IS NULL`,
        [project, messageId],
      );
      return rows.length > 0;
    },

    /** Forgets the sealed copies of keys that are revoked: they sign nothing. At most `limit`; answers how many. */
    async eraseRevokedSecrets(limit: number): Promise<number> {
      const rows = await db.query(
        `UPDATE callbacks SET sealed_secret = NULL
         WHERE message_id IN (
           SELECT cb.message_id FROM api_keys k JOIN callbacks cb ON cb.api_key_id = k.id
           WHERE k.revoked_at IS NOT NULL AND cb.sealed_secret IS NOT NULL
           LIMIT $1 FOR UPDATE OF cb SKIP LOCKED
         )
         RETURNING 1`,
        [limit],
      );
      return rows.length;
    },

    /** Forgets sealed keys that are older than 30 days, at most `limit`; answers how many. */
    async eraseOldSecrets(limit: number): Promise<number> {
      // A row that somebody makes callbacks of is left to the next time: waiting for it, in an order of one's own, could
      // end in two statements that wait for each other.
      const rows = await db.query(
        `UPDATE callbacks SET sealed_secret = NULL
         WHERE message_id IN (
           SELECT message_id FROM callbacks
           WHERE sealed_secret IS NOT NULL AND created_at < now() - interval '${SECRET_DAYS} days'
           LIMIT $1 FOR UPDATE SKIP LOCKED
         )
         RETURNING 1`,
        [limit],
      );
      return rows.length;
    },
  };
}
