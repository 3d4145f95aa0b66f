import type { CallbackType, DeliveryItem, DeliveryState, Sealed } from "@svc/contracts";
import type { DueDelivery } from "./callbacks.ts";
import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { COVERED_BY, REPLY_COLUMNS, asReply } from "./replies.ts";
import type { ReplyRow, StoredReply } from "./replies.ts";

/** A delivery that a worker holds the lease of. Nothing has been sent yet. */
export interface ClaimedDelivery {
  project: ProjectId;
  id: string;
  leaseId: string;
  ticketId: string;
  messageId: string;
  type: CallbackType;
  url: string;
  createdAt: Date;
  replyIds: string[];
  /** Failed attempts since the delivery was created or last replayed: its position in the retry schedule. */
  failures: number;
  /** Leases in a row that expired without a result: each time the worker's process ended, or lost the store for long. */
  lapses: number;
  /** Number of the attempt that comes next, counted over replays too. */
  attempt: number;
  /** `traceparent` of its message; null if tracing is off. */
  trace: string | null;
}

/** A delivery whose attempt has begun, with the content of its request. */
export interface DeliveryRequest extends ClaimedDelivery {
  chatId: string;
  meta: Record<string, unknown>;
  /** The later message whose reply answers this one too; null for all others. */
  coveredBy: string | null;
  replies: StoredReply[];
  /** The sender's key, sealed; null if a webhook secret was set, or after the key has been erased. */
  sealedSecret: Sealed | null;
  /** True when the sender's key was revoked: it signs nothing any more. */
  isKeyRevoked: boolean;
}

/** What became of a try. */
export interface TryResult {
  durationMs: number;
  /** HTTP status of the receiver's answer; null when there was none. */
  status: number | null;
  error: string | null;
  /** Received, given up, or to be tried again after this time. */
  next: "delivered" | "dead" | { delayMs: number };
}

/** Longer than an attempt may take, so that a lease expires only if its process ended or cannot reach the store. */
const LEASE_MS = 20_000;

interface ClaimedRow {
  id: string;
  message_id: string;
  type: CallbackType;
  url: string;
  reply_ids: string[];
  created_at: Date;
  tries: number;
  lapses: number;
  number: number;
  trace: string | null;
}

interface ContentRow {
  chat_id: string;
  channel_meta: Record<string, unknown>;
  covered_by: string | null;
  sealed_secret: string | null;
  is_key_revoked: boolean;
}

interface ItemRow {
  id: string;
  type: CallbackType;
  ticket_id: string;
  chat_id: string | null;
  message_id: string;
  url: string;
  state: DeliveryState;
  next_at: Date;
  created_at: Date;
  attempts: { at: string; status: number | null; ms: number | null; error: string | null }[];
}

const ITEM = `(SELECT c.chat_id FROM chats c WHERE c.ticket_id = d.ticket_id) AS chat_id, d.id, d.type, d.ticket_id, d.message_id, d.url, d.state, d.next_at, d.created_at,
  coalesce((SELECT jsonb_agg(jsonb_build_object('at', a.at, 'status', a.status, 'ms', a.duration_ms, 'error', a.error)
    ORDER BY a.number) FROM delivery_attempts a WHERE a.delivery_id = d.id), '[]') AS attempts`;

/** Callbacks on their way: claimed one after the other in each chat, each try noted, given up or received. */
export function deliveriesTable(db: Db) {
  // The oldest pending callback of the chat alone: one that waits for its next try holds back the later ones. The row
  // is locked and not skipped, so that two workers cannot take two callbacks of one chat. A claim is not an attempt: that
  // begins with BEGIN. A lease that expired without a result counts as a lapse; from the second one in a row on, `next_at`
  // is where the next claim may follow if this lease expires too, so that a callback that ends its process does so ever
  // more rarely.
  const CLAIM = `
    WITH head AS (
      SELECT id FROM deliveries WHERE ticket_id = $2 AND project_id = $1 AND state = 'pending'
      ORDER BY place LIMIT 1 FOR UPDATE
    )
    UPDATE deliveries d SET lease_id = $3, lease_until = now() + interval '${LEASE_MS} milliseconds',
      lapses = CASE WHEN d.lease_id IS NULL THEN 0 ELSE d.lapses + 1 END,
      next_at = CASE WHEN d.lease_id IS NULL OR d.lapses = 0 THEN d.next_at
        ELSE now() + least(interval '6 hours', interval '30 seconds' * power(4, d.lapses - 1)) END
    FROM head WHERE d.id = head.id AND d.state = 'pending' AND d.next_at <= now()
      AND (d.lease_until IS NULL OR d.lease_until < now())
    RETURNING d.id, d.message_id, d.type, d.url, d.reply_ids, d.created_at, d.tries, d.lapses,
      1 + coalesce((SELECT max(number) FROM delivery_attempts a WHERE a.delivery_id = d.id), 0) AS number,
      (SELECT m.trace FROM messages m WHERE m.id = d.message_id) AS trace`;

  // The attempt begins: it is recorded, and the lease lasts as long as the request may take. Fenced by the lease.
  const BEGIN = `
    WITH begun AS (
      UPDATE deliveries SET lease_until = now() + interval '${LEASE_MS} milliseconds'
      WHERE id = $2 AND project_id = $1 AND lease_id = $3 AND state = 'pending' RETURNING id, message_id
    ), content AS (
      SELECT begun.id, c.chat_id, m.channel_meta, ${COVERED_BY} AS covered_by, cb.sealed_secret,
        k.revoked_at IS NOT NULL AS is_key_revoked
      FROM begun JOIN messages m ON m.id = begun.message_id AND m.project_id = $1 JOIN chats c USING (ticket_id)
      JOIN callbacks cb ON cb.message_id = m.id LEFT JOIN api_keys k ON k.id = cb.api_key_id
    ), attempt AS (
      INSERT INTO delivery_attempts (delivery_id, number) SELECT id, $4 FROM content ON CONFLICT DO NOTHING
    )
    SELECT * FROM content`;

  const REPLIES = `
    SELECT ${REPLY_COLUMNS} FROM replies r
    WHERE r.ticket_id = $2 AND r.project_id = $1 AND r.id = ANY ($3::uuid[]) ORDER BY r.seq`;

  // A result may come without a recorded beginning, when the request could not be made.
  const NOTE_TRY = `
    WITH attempt AS (
      INSERT INTO delivery_attempts (delivery_id, number, duration_ms, status, error)
      SELECT id, $3, $4, $5, $6 FROM deliveries WHERE id = $1
      ON CONFLICT (delivery_id, number) DO UPDATE
        SET duration_ms = excluded.duration_ms, status = excluded.status, error = excluded.error
    )`;

  // The receiver has it: so its replies are delivered. After a message's final callback the sender's key is forgotten.
  const DELIVERED = `${NOTE_TRY}, ended AS (
      UPDATE deliveries SET state = 'delivered', finished_at = now(), lease_id = NULL, lease_until = NULL
      WHERE id = $1 AND lease_id = $2 RETURNING id, message_id, reply_ids
    ), secret AS (
      UPDATE callbacks cb SET sealed_secret = NULL FROM ended
      WHERE cb.message_id = ended.message_id AND cb.delivery_id = ended.id AND cb.sealed_secret IS NOT NULL
    )
    UPDATE replies r SET delivered_at = now() FROM ended WHERE r.id = ANY (ended.reply_ids) AND r.delivered_at IS NULL`;

  // Given up: its replies go to the buffer, each at a new place at the end of the chat, so that a reader who is beyond
  // its old place finds it too. Locks the chat's row last, as a run of the pipeline has it only for one statement.
  const DEAD = `${NOTE_TRY}, ended AS (
      UPDATE deliveries SET state = 'dead', finished_at = now(), lease_id = NULL, lease_until = NULL
      WHERE id = $1 AND lease_id = $2 RETURNING ticket_id, reply_ids
    ), moved AS (
      SELECT r.id, row_number() OVER (ORDER BY r.seq) AS number, count(*) OVER () AS total
      FROM ended JOIN replies r ON r.id = ANY (ended.reply_ids) WHERE r.delivered_at IS NULL
    ), chat AS (
      UPDATE chats c SET last_seq = c.last_seq + (SELECT count(*) FROM moved)
      FROM ended WHERE c.ticket_id = ended.ticket_id RETURNING c.last_seq
    )
    UPDATE replies r SET seq = chat.last_seq - moved.total + moved.number, undeliverable_at = now()
    FROM moved, chat WHERE r.id = moved.id`;

  const LATER = `${NOTE_TRY}
    UPDATE deliveries SET lease_id = NULL, lease_until = NULL, tries = tries + 1,
      next_at = now() + $7 * interval '1 millisecond', due_at = now() + $7 * interval '1 millisecond'
    WHERE id = $1 AND lease_id = $2`;

  // Aborted after its request was sent: the attempt is kept, but is not a failure.
  const INTERRUPT = `
    WITH attempt AS (
      UPDATE delivery_attempts SET duration_ms = $4, error = $5 WHERE delivery_id = $1 AND number = $3
    )
    UPDATE deliveries SET lease_id = NULL, lease_until = NULL, next_at = now(), due_at = now()
    WHERE id = $1 AND lease_id = $2`;

  // Nothing was sent: an attempt that was recorded all the same, because the response of BEGIN was lost, is removed.
  const POSTPONE = `
    WITH mine AS (
      UPDATE deliveries SET lease_id = NULL, lease_until = NULL,
        next_at = now() + $4 * interval '1 millisecond', due_at = now() + $4 * interval '1 millisecond'
      WHERE id = $1 AND lease_id = $2 RETURNING id
    )
    DELETE FROM delivery_attempts a USING mine WHERE a.delivery_id = mine.id AND a.number = $3 AND a.duration_ms IS NULL`;

  // As with messages: each is put off by its own age at most, and SKIP LOCKED shares the work among replicas. One that
  // is held back is put off until the one before it is due and is not announced: whoever ends that one goes on with it,
  // and a receiver that is away with many callbacks waiting must not fill the queue.
  const DUE = `
    WITH due AS (
      SELECT id, ticket_id, place FROM deliveries
      WHERE state = 'pending' AND due_at <= now() AND (lease_until IS NULL OR lease_until < now())
      ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
    ), placed AS (
      SELECT due.id, head.id = due.id AS is_head, head.next_at AS head_at
      FROM due CROSS JOIN LATERAL (
        SELECT h.id, h.next_at FROM deliveries h
        WHERE h.ticket_id = due.ticket_id AND h.state = 'pending' ORDER BY h.place LIMIT 1
      ) head
    ), put_off AS (
      UPDATE deliveries d SET due_at = greatest(placed.head_at,
        now() + least(interval '10 seconds', greatest(interval '2 seconds', now() - d.created_at)))
      FROM placed WHERE d.id = placed.id
      RETURNING d.id, d.project_id, d.ticket_id, d.tries, placed.is_head
    )
    SELECT id, project_id, ticket_id, tries FROM put_off WHERE is_head`;

  async function postpone(
    { id, leaseId, attempt }: Pick<ClaimedDelivery, "id" | "leaseId" | "attempt">,
    delayMs: number,
  ): Promise<void> {
    await db.prepared("deliveries_postpone", POSTPONE, [id, leaseId, attempt, Math.round(delayMs)]);
  }

  return {
    /**
     * Claims the oldest pending delivery of a chat; null if there is none, it is not due yet, or another worker has it.
     * The lease lasts 20 s. A claim is not an attempt: `begin` or `postpone` follows.
     */
    async claim(project: ProjectId, ticketId: string): Promise<ClaimedDelivery | null> {
      const leaseId = newId();
      const [row] = await db.prepared<ClaimedRow>("deliveries_claim", CLAIM, [project, ticketId, leaseId]);
      if (row === undefined) return null;
      return {
        project,
        id: row.id,
        leaseId,
        ticketId,
        messageId: row.message_id,
        type: row.type,
        url: row.url,
        createdAt: row.created_at,
        replyIds: row.reply_ids,
        failures: row.tries,
        lapses: row.lapses,
        attempt: row.number,
        trace: row.trace,
      };
    },

    /**
     * Begins an attempt: records it, renews the lease for 20 s and returns the content of its request. The request, or
     * `postpone` if it cannot be made, follows at once. Null if the lease was lost or the conversation was erased.
     */
    async begin(delivery: ClaimedDelivery): Promise<DeliveryRequest | null> {
      const { project, id, leaseId, ticketId, replyIds, attempt, type } = delivery;
      const replies = await db.prepared<ReplyRow>("deliveries_replies", REPLIES, [project, ticketId, replyIds]);
      const [content] = await db.prepared<ContentRow>("deliveries_begin", BEGIN, [project, id, leaseId, attempt]);
      if (content === undefined) return null;
      return {
        ...delivery,
        chatId: content.chat_id,
        meta: content.channel_meta,
        // What was said before the reply existed stays the same in all attempts.
        coveredBy: type === "message.completed" ? content.covered_by : null,
        replies: replies.map(asReply),
        sealedSecret: content.sealed_secret === null ? null : { sealed: content.sealed_secret },
        isKeyRevoked: content.is_key_revoked,
      };
    },

    /**
     * Records the result of an attempt. If the lease was lost, the delivery stays as it is: then another attempt counts.
     */
    async finishTry({ id, leaseId, attempt }: ClaimedDelivery, result: TryResult): Promise<void> {
      const { durationMs, status, error, next } = result;
      const values = [id, leaseId, attempt, Math.round(durationMs), status, error];
      if (next === "delivered") await db.prepared("deliveries_delivered", DELIVERED, values);
      else if (next === "dead") await db.prepared("deliveries_dead", DEAD, values);
      else await db.prepared("deliveries_later", LATER, [...values, Math.round(next.delayMs)]);
    },

    /** Releases a lease under which nothing was sent: the delivery waits for `delayMs`, and no attempt is counted. */
    postpone,

    /**
     * Releases a lease after an attempt that was aborted when its request had been sent: the attempt is kept, is not a
     * failure, and the next one may follow at once.
     */
    async interrupt({ id, leaseId, attempt }: ClaimedDelivery, durationMs: number, error: string): Promise<void> {
      await db.prepared("deliveries_interrupt", INTERRUPT, [id, leaseId, attempt, Math.round(durationMs), error]);
    },

    /** Age in milliseconds of the oldest delivery that could be tried and that nobody has; 0 when there is none. */
    async oldestDueMs(): Promise<number> {
      const rows = await db.query<{ age: number | null }>(
        `SELECT (extract(epoch FROM now() - min(greatest(d.created_at, d.next_at))) * 1000)::float8 AS age
         FROM deliveries d
         WHERE d.state = 'pending' AND d.due_at <= now() AND d.next_at <= now()
           AND (d.lease_until IS NULL OR d.lease_until < now())
           AND NOT EXISTS (SELECT 1 FROM deliveries earlier WHERE earlier.ticket_id = d.ticket_id
             AND earlier.state = 'pending' AND earlier.place < d.place)`,
      );
      return rows[0]?.age ?? 0;
    },

    /**
     * Of up to `limit` deliveries of all projects that are due and that nobody has, those that are next in their chat,
     * for the sweeper to publish.
     */
    async takeDue(limit: number): Promise<DueDelivery[]> {
      const rows = await db.query<{ id: string; project_id: string; ticket_id: string; tries: number }>(DUE, [limit]);
      return rows.map((row) => ({
        project: asProjectId(row.project_id),
        ticketId: row.ticket_id,
        deliveryId: row.id,
        tries: row.tries,
      }));
    },

    /** At most `limit` deliveries of a project after the one with the id `before`, newest first, of one state or all. */
    async listPage(
      project: ProjectId,
      options: { limit: number; before?: string | undefined; state?: DeliveryState | undefined },
    ): Promise<DeliveryItem[]> {
      const rows = await db.query<ItemRow>(
        `SELECT ${ITEM} FROM deliveries d
         WHERE d.project_id = $1 AND ($2::text IS NULL OR d.state = $2)
           AND ($3::uuid IS NULL OR d.place < (SELECT place FROM deliveries WHERE id = $3))
         ORDER BY d.place DESC LIMIT $4`,
        [project, options.state ?? null, options.before ?? null, options.limit],
      );
      return rows.map(asItem);
    },

    /** A delivery of this project, or null. */
    async find(project: ProjectId, id: string): Promise<DeliveryItem | null> {
      const rows = await db.query<ItemRow>(`SELECT ${ITEM} FROM deliveries d WHERE d.project_id = $1 AND d.id = $2`, [
        project,
        id,
      ]);
      const row = rows[0];
      return row === undefined ? null : asItem(row);
    },

    /**
     * Makes a delivery that is over pending again, with fresh tries; one that is pending is tried now, and no sooner
     * dead for it. What of a dead one nobody has collected leaves the buffer, and what a reader has just taken does not
     * come back to it. Answers what has to be published, or null when the project has no such delivery.
     */
    async replay(project: ProjectId, id: string): Promise<DueDelivery | null> {
      const rows = await db.query<{ ticket_id: string; tries: number }>(
        `WITH again AS (
           UPDATE deliveries SET state = 'pending', tries = CASE state WHEN 'pending' THEN tries ELSE 0 END, lapses = 0,
             next_at = now(), due_at = now(), finished_at = NULL
           WHERE project_id = $1 AND id = $2 RETURNING ticket_id, reply_ids, tries
         ), unbuffered AS (
           UPDATE replies r SET undeliverable_at = NULL FROM again
           WHERE r.id = ANY (again.reply_ids) AND r.delivered_at IS NULL
         )
         SELECT ticket_id, tries FROM again`,
        [project, id],
      );
      const row = rows[0];
      return row === undefined ? null : { project, ticketId: row.ticket_id, deliveryId: id, tries: row.tries };
    },

    /** How many deliveries of all projects have failed at least so often and are still tried. */
    async countFailing(tries: number): Promise<number> {
      const rows = await db.query<{ count: number }>(
        "SELECT count(*) AS count FROM deliveries WHERE state = 'pending' AND tries >= $1",
        [tries],
      );
      return rows[0]?.count ?? 0;
    },

    /** How many deliveries of all projects are dead. */
    async countDead(): Promise<number> {
      const rows = await db.query<{ count: number }>("SELECT count(*) AS count FROM deliveries WHERE state = 'dead'");
      return rows[0]?.count ?? 0;
    },
  };
}

function asItem(row: ItemRow): DeliveryItem {
  return {
    id: row.id,
    type: row.type,
    ticketId: row.ticket_id,
    chatId: row.chat_id ?? "",
    messageId: row.message_id,
    url: row.url,
    state: row.state,
    attempts: row.attempts.map((attempt, index) => ({
      ...attempt,
      at: new Date(attempt.at).toISOString(),
      // A later try shows that the process of this one died, or lost its lease.
      error: attempt.ms === null && index < row.attempts.length - 1 ? "interrupted" : attempt.error,
    })),
    nextAt: row.state === "pending" ? row.next_at.toISOString() : null,
    createdAt: row.created_at.toISOString(),
  };
}
