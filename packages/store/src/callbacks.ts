import type { CallbackType, MessageState } from "@svc/contracts";
import type { Db } from "./db.ts";
import { asProjectId, newId } from "./ids.ts";
import type { ProjectId } from "./ids.ts";

/** A conversation that may have callbacks to make. */
export interface CallbackRef {
  project: ProjectId;
  ticketId: string;
  /** The message that there is news of; null to look at the open ones alone. */
  messageId: string | null;
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

/** Where the callbacks of webhook messages go, and which of them have been made. */
export function callbacksTable(db: Db) {
  // Whoever makes callbacks of a message holds its row, so that each is made once. The rows are found through two indexes
  // first (an OR of both would read every open callback there is), then locked in the order of their ids. One that
  // became final while it was waited for is locked too: the comparison finds nothing new for it.
  const LOCK = `
    WITH ref AS (
      SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS i (project_id, ticket_id, message_id)
    ), found AS (
      SELECT cb.message_id FROM ref
      JOIN callbacks cb ON cb.ticket_id = ref.ticket_id AND cb.project_id = ref.project_id AND NOT cb.is_final_made
      UNION
      SELECT cb.message_id FROM ref
      JOIN callbacks cb ON cb.message_id = ref.message_id AND cb.ticket_id = ref.ticket_id
        AND cb.project_id = ref.project_id
    )
    SELECT cb.message_id FROM callbacks cb WHERE cb.message_id IN (SELECT message_id FROM found)
    ORDER BY cb.message_id FOR UPDATE OF cb`;

  // Compares what each sender was told with where its message is and which replies no callback carries yet. A statement
  // of its own after the lock, so that it sees a message and its replies as they were committed together.
  const MAKE = `
    WITH news AS (
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
      SELECT *, type = 'message.completed' AND NOT is_final_made AS is_final FROM news
      WHERE type IS NOT NULL AND (type IS DISTINCT FROM told OR reply_ids <> '{}')
    ), marked AS (
      UPDATE callbacks cb SET told = made.type, timeout_at = NULL, is_final_made = cb.is_final_made OR made.is_final
      FROM made WHERE cb.message_id = made.message_id
    )
    INSERT INTO deliveries (id, project_id, ticket_id, message_id, type, url, reply_ids, due_at)
    SELECT CASE WHEN is_final THEN delivery_id ELSE new_id END, project_id, ticket_id, message_id, type, url, reply_ids,
      now() + interval '${SWEEP_AFTER_MS} milliseconds'
    FROM made ORDER BY seq
    RETURNING id, project_id, ticket_id`;

  return {
    /**
     * Makes the deliveries that these conversations call for, in the order of their messages, and answers them to be
     * published. Safe to repeat: what was told once is not told again.
     */
    async settle(refs: CallbackRef[]): Promise<DueDelivery[]> {
      if (refs.length === 0) return [];
      return db.transaction(async (tx) => {
        const open = await tx.query<{ message_id: string }>(LOCK, [
          refs.map((ref) => ref.project),
          refs.map((ref) => ref.ticketId),
          refs.map((ref) => ref.messageId),
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
     * Conversations of all projects with a message that is finished or out of time and whose sender was not told: for
     * the sweeper to settle. At most `limit`.
     */
    async findUnsettled(limit: number): Promise<CallbackRef[]> {
      const rows = await db.query<{ project_id: string; ticket_id: string }>(
        `SELECT DISTINCT cb.project_id, cb.ticket_id FROM callbacks cb JOIN messages m ON m.id = cb.message_id
         WHERE NOT cb.is_final_made AND ${TYPE_NOW} IS DISTINCT FROM coalesce(cb.told, '') AND ${TYPE_NOW} IS NOT NULL
           AND (m.finished_at IS NULL OR m.finished_at < now() - interval '${SWEEP_AFTER_MS} milliseconds')
         LIMIT $1`,
        [limit],
      );
      return rows.map((row) => ({ project: asProjectId(row.project_id), ticketId: row.ticket_id, messageId: null }));
    },

    /** The id of a message's final callback, or null when the project has no such message of mode webhook. */
    async findDeliveryId(project: ProjectId, messageId: string): Promise<string | null> {
      const rows = await db.query<{ delivery_id: string }>(
        "SELECT delivery_id FROM callbacks WHERE message_id = $2 AND project_id = $1",
        [project, messageId],
      );
      return rows[0]?.delivery_id ?? null;
    },

    /** Forgets the sealed keys that are older than 30 days; answers how many. */
    async eraseOldSecrets(): Promise<number> {
      // A row that somebody makes callbacks of is left to the next time: waiting for it, in an order of one's own, could
      // end in two statements that wait for each other.
      const rows = await db.query(
        `UPDATE callbacks SET sealed_secret = NULL WHERE message_id IN (
           SELECT message_id FROM callbacks
           WHERE sealed_secret IS NOT NULL AND created_at < now() - interval '${SECRET_DAYS} days' FOR UPDATE SKIP LOCKED
         ) RETURNING message_id`,
      );
      return rows.length;
    },
  };
}
