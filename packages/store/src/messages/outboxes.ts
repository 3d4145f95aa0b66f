import type { ChannelId } from "@svc/contracts";
import type { Db } from "../db.ts";
import { expiredLease, leaseHistory } from "./expired-leases.ts";
import type { LeaseHistory } from "./expired-leases.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { REPLY_COLUMNS, asReply } from "./replies.ts";
import type { ReplyRow, StoredReply } from "./replies.ts";

/** How long a lease on an outbox lasts without being renewed. */
export const OUTBOX_LEASE_MS = 10_000;

/** A conversation that replies have to be sent in. */
export interface OutboxRef {
  project: ProjectId;
  ticketId: string;
}

/** The oldest reply of a conversation that is not sent, for whoever holds the lease. */
export interface ClaimedReply extends OutboxRef, LeaseHistory {
  leaseId: string;
  channelId: ChannelId;
  chatId: string;
  reply: StoredReply;
  /** Number of attempts, this one included. An attempt whose lease expired is not counted. */
  tries: number;
  /** How often it was put off in a row without that counting. */
  deferrals: number;
  /** Parts of it that were sent before. */
  sentParts: number;
}

/** Why a reply is given up, in words for an operator; `isDead` when it failed too often and can be sent again. */
export interface Undelivered {
  reason: string;
  isDead: boolean;
}

/** A reply that was given up after five tries. */
export interface DeadReply {
  replyId: string;
  ticketId: string;
  channelId: ChannelId;
  chatId: string;
  /** Its text, or the name of its file. */
  text: string;
  failure: string;
  failedAt: Date;
}

interface ClaimRow extends ReplyRow, LeaseHistory {
  channel_id: ChannelId;
  chat_id: string;
  tries: number;
  deferrals: number;
  sent_parts: number;
}

/** Replies that a channel pushes: sent one after the other in each conversation, by one process at a time. */
export function outboxesTable(db: Db, processId: string) {
  // Claims or extends the lease and counts the attempt, or records the lease of another worker that expired instead. Where
  // no reply is left, all that was wanted in the moment of this look is settled, and not what was committed while the lock
  // was waited for. Locks the outbox alone.
  const CLAIM = `
    WITH seen AS MATERIALIZED (
      SELECT wanted_seq FROM outboxes WHERE ticket_id = $2 AND project_id = $1
    ), box AS MATERIALIZED (
      SELECT o.ticket_id, o.settled_seq, CASE WHEN o.lease_id <> $3::uuid THEN ${expiredLease("o")} END AS expired
      FROM outboxes o
      WHERE o.ticket_id = $2 AND o.project_id = $1
        AND (o.lease_id = $3 OR ((o.lease_until IS NULL OR o.lease_until < now()) AND o.next_at <= now()))
      FOR UPDATE
    ), oldest AS MATERIALIZED (
      SELECT r.id FROM box JOIN replies r ON r.ticket_id = box.ticket_id AND r.seq > box.settled_seq
        AND r.delivered_at IS NULL AND r.undeliverable_at IS NULL
      ORDER BY r.seq LIMIT 1
    ), claimed AS (
      UPDATE outboxes o SET
        lease_id = CASE WHEN oldest.id IS NULL THEN NULL ELSE $3::uuid END,
        lease_until = CASE WHEN oldest.id IS NULL THEN NULL ELSE now() + interval '${OUTBOX_LEASE_MS} milliseconds' END,
        lease_holder = $4::uuid,
        tries = CASE WHEN oldest.id IS NULL THEN 0 WHEN box.expired IS NULL THEN o.tries + 1 ELSE greatest(1, o.tries) END,
        expired_leases = CASE WHEN oldest.id IS NOT NULL
          THEN coalesce(o.expired_leases || box.expired, o.expired_leases, box.expired) END,
        settled_seq = CASE WHEN oldest.id IS NULL THEN greatest(o.settled_seq, seen.wanted_seq) ELSE o.settled_seq END
      FROM box JOIN seen ON true LEFT JOIN oldest ON true WHERE o.ticket_id = box.ticket_id
      RETURNING o.ticket_id, o.channel_id, o.tries, o.deferrals, o.sent_parts, o.expired_leases
    )
    SELECT claimed.channel_id, c.chat_id, claimed.tries, claimed.deferrals, claimed.sent_parts, s.crashes, s.lapses,
      ${REPLY_COLUMNS}
    FROM claimed CROSS JOIN LATERAL (${leaseHistory("claimed.expired_leases")}) s JOIN chats c ON c.ticket_id = claimed.ticket_id JOIN oldest ON true JOIN replies r ON r.id = oldest.id`;

  const RENEW = `
    UPDATE outboxes SET lease_until = now() + interval '${OUTBOX_LEASE_MS} milliseconds'
    WHERE ticket_id = $2 AND project_id = $1 AND lease_id = $3 RETURNING 1`;

  const NOTE_SENT = `
    UPDATE outboxes SET sent_parts = greatest(sent_parts, $4), deferrals = 0,
      lease_until = now() + interval '${OUTBOX_LEASE_MS} milliseconds'
    WHERE ticket_id = $2 AND project_id = $1 AND lease_id = $3 RETURNING 1`;

  // The next reply of the conversation begins anew. Fenced: a late sender changes nothing.
  const SETTLED = `
    box AS (
      UPDATE outboxes SET settled_seq = greatest(settled_seq, $4), tries = 0, deferrals = 0, sent_parts = 0,
        expired_leases = NULL
      WHERE ticket_id = $2 AND project_id = $1 AND lease_id = $3 RETURNING ticket_id
    )`;

  const DELIVERED = `
    WITH ${SETTLED}
    UPDATE replies r SET delivered_at = now() FROM box WHERE r.ticket_id = box.ticket_id AND r.id = $5
      AND r.delivered_at IS NULL RETURNING 1`;

  // The ticket says that its customer has not got it.
  const UNDELIVERED = `
    WITH ${SETTLED}, lost AS (
      UPDATE replies r SET undeliverable_at = now(), failure = $6, is_dead = $7 FROM box WHERE r.ticket_id = box.ticket_id AND r.id = $5
        AND r.delivered_at IS NULL RETURNING r.ticket_id, r.id
    )
    INSERT INTO ticket_events (ticket_id, project_id, actor, data)
    SELECT t.id, t.project_id, 'channel', jsonb_build_object('undelivered',
      jsonb_build_object('replyId', lost.id, 'reason', $6::text, 'isDead', $7::boolean))
    FROM lost JOIN tickets t ON t.id = lost.ticket_id RETURNING 1`;

  const GIVE_BACK = `
    UPDATE outboxes SET lease_id = NULL, lease_until = NULL, next_at = now() + make_interval(secs => $4),
      tries = CASE WHEN $5 THEN tries ELSE greatest(tries - 1, 0) END,
      deferrals = CASE WHEN $5 THEN 0 ELSE deferrals + 1 END
    WHERE ticket_id = $2 AND project_id = $1 AND lease_id = $3`;

  const DUE = `
    SELECT project_id, ticket_id FROM outboxes
    WHERE channel_id = $1 AND settled_seq < wanted_seq AND next_at <= now() AND (lease_until IS NULL OR lease_until < now())
    ORDER BY next_at LIMIT $2`;

  const LIST_DEAD = `
    SELECT r.id, r.ticket_id, c.channel_id, c.chat_id, coalesce(r.text, r.filename) AS text, r.failure, r.undeliverable_at
    FROM replies r JOIN tickets t ON t.id = r.ticket_id JOIN chats c ON c.ticket_id = r.ticket_id
    WHERE r.is_dead AND t.project_id = $1 ORDER BY r.undeliverable_at DESC LIMIT $2`;

  // Looks again from the place of the reply on: later ones that are delivered are passed over. The ticket says who did it.
  const SEND_AGAIN = `
    WITH again AS (
      UPDATE replies r SET undeliverable_at = NULL, failure = NULL, is_dead = false FROM tickets t
      WHERE t.id = r.ticket_id AND t.project_id = $1 AND r.id = $2 AND r.undeliverable_at IS NOT NULL
        AND r.delivered_at IS NULL AND EXISTS (SELECT 1 FROM outboxes o WHERE o.ticket_id = r.ticket_id)
      RETURNING r.ticket_id, r.seq
    ), box AS (
      UPDATE outboxes o SET settled_seq = least(o.settled_seq, again.seq - 1), wanted_seq = greatest(o.wanted_seq, again.seq),
        tries = 0, deferrals = 0, sent_parts = 0, expired_leases = NULL, next_at = now()
      FROM again WHERE o.ticket_id = again.ticket_id RETURNING o.ticket_id, o.project_id
    ), noted AS (
      INSERT INTO ticket_events (ticket_id, project_id, actor, data)
      SELECT t.id, t.project_id, $3, jsonb_build_object('sentAgain', $2::text) FROM box JOIN tickets t ON t.id = box.ticket_id
    )
    SELECT ticket_id, project_id FROM box`;

  return {
    /**
     * Claims the oldest reply of a conversation that is not sent, under a lease of ten seconds, and counts the attempt. Pass
     * the lease that is held to go on with the next one. Null when there is nothing to send, not yet, or another process
     * has the lease.
     */
    async claimNext({ project, ticketId }: OutboxRef, leaseId = newId()): Promise<ClaimedReply | null> {
      const [row] = await db.prepared<ClaimRow>("outboxes_claim", CLAIM, [project, ticketId, leaseId, processId]);
      if (row === undefined) return null;
      const { channel_id: channelId, chat_id: chatId, tries, deferrals, sent_parts: sentParts, crashes, lapses } = row;
      const history = { tries, deferrals, sentParts, crashes, lapses };
      return { project, ticketId, leaseId, channelId, chatId, reply: asReply(row), ...history };
    },

    /** Extends the lease by ten seconds; false when it is lost. */
    async renew({ project, ticketId, leaseId }: ClaimedReply): Promise<boolean> {
      return (await db.prepared("outboxes_renew", RENEW, [project, ticketId, leaseId])).length > 0;
    },

    /** Notes that so many parts of the reply are sent; false when the lease is lost. */
    async noteSent({ project, ticketId, leaseId }: ClaimedReply, parts: number): Promise<boolean> {
      return (await db.prepared("outboxes_note_sent", NOTE_SENT, [project, ticketId, leaseId, parts])).length > 0;
    },

    /** Notes that the receiver has the reply. Does nothing when the lease is lost. */
    async settleDelivered({ project, ticketId, leaseId, reply }: ClaimedReply): Promise<void> {
      await db.prepared("outboxes_delivered", DELIVERED, [project, ticketId, leaseId, reply.seq, reply.id]);
    },

    /** Gives the reply up, and says so on the ticket. Does nothing when the lease is lost. */
    async settleUndelivered(claimed: ClaimedReply, { reason, isDead }: Undelivered): Promise<void> {
      const { project, ticketId, leaseId, reply } = claimed;
      const values = [project, ticketId, leaseId, reply.seq, reply.id, reason, isDead];
      await db.prepared("outboxes_undelivered", UNDELIVERED, values);
    },

    /** Gives the lease back: the reply is tried again after `delayMs`, and this time counts as a try or not. */
    async giveBack(
      { project, ticketId, leaseId }: ClaimedReply,
      { delayMs, counts }: { delayMs: number; counts: boolean },
    ): Promise<void> {
      await db.prepared("outboxes_give_back", GIVE_BACK, [project, ticketId, leaseId, delayMs / 1_000, counts]);
    },

    /** Gives a lease back that nothing is done with. */
    async release({ project, ticketId }: OutboxRef, leaseId: string): Promise<void> {
      await db.query(
        "UPDATE outboxes SET lease_id = NULL, lease_until = NULL WHERE project_id = $1 AND ticket_id = $2 AND lease_id = $3",
        [project, ticketId, leaseId],
      );
    },

    /** Conversations of a channel in which something is to be sent now and nobody does, those that wait longest first. */
    async listDue(channelId: ChannelId, limit: number): Promise<OutboxRef[]> {
      const rows = await db.prepared<{ project_id: string; ticket_id: string }>("outboxes_due", DUE, [
        channelId,
        limit,
      ]);
      return rows.map((row) => ({ project: asProjectId(row.project_id), ticketId: row.ticket_id }));
    },

    /** How long the reply of a channel that waits longest could have been sent, in milliseconds; 0 when none waits. */
    async oldestDueMs(channelId: ChannelId): Promise<number> {
      const [row] = await db.query<{ age: number | null }>(
        `SELECT (extract(epoch FROM now() - min(next_at)) * 1000)::float8 AS age FROM outboxes
         WHERE channel_id = $1 AND settled_seq < wanted_seq AND next_at <= now()
           AND (lease_until IS NULL OR lease_until < now())`,
        [channelId],
      );
      return row?.age ?? 0;
    },

    /** Replies that were given up after five tries, of tickets that a project works on, newest first. */
    async listDead(project: ProjectId, limit: number): Promise<DeadReply[]> {
      const rows = await db.query<{
        id: string;
        ticket_id: string;
        channel_id: ChannelId;
        chat_id: string;
        text: string;
        failure: string | null;
        undeliverable_at: Date;
      }>(LIST_DEAD, [project, limit]);
      return rows.map((row) => ({
        replyId: row.id,
        ticketId: row.ticket_id,
        channelId: row.channel_id,
        chatId: row.chat_id,
        text: row.text,
        failure: row.failure ?? "",
        failedAt: row.undeliverable_at,
      }));
    },

    /**
     * Adds a text to a conversation that answers nothing: it is sent after what waits there. Answers its id; null where
     * the project has no such conversation. Locks the chat.
     */
    insertNotice(project: ProjectId, ticketId: string, text: string): Promise<string | null> {
      return db.transaction(async (tx) => {
        const [chat] = await tx.query<{ last_seq: number; channel_id: ChannelId }>(
          `UPDATE chats SET last_seq = last_seq + 1 WHERE project_id = $1 AND ticket_id = $2 AND chat_id <> ''
           RETURNING last_seq, channel_id`,
          [project, ticketId],
        );
        if (chat === undefined) return null;
        const id = newId();
        await tx.query(
          `INSERT INTO replies (id, project_id, ticket_id, seq, author, type, text, markdown)
           VALUES ($1, $2, $3, $4, 'system', 'message', $5, false)`,
          [id, project, ticketId, chat.last_seq, text],
        );
        await tx.query(
          `INSERT INTO outboxes (ticket_id, project_id, channel_id, wanted_seq) VALUES ($1, $2, $3, $4)
           ON CONFLICT (ticket_id) DO UPDATE SET wanted_seq = excluded.wanted_seq`,
          [ticketId, project, chat.channel_id, chat.last_seq],
        );
        return id;
      });
    },

    /** What became of a reply so far; null where it is not there (any more). */
    async findOutcome(
      project: ProjectId,
      replyId: string,
    ): Promise<{ isDelivered: boolean; failure: string | null } | null> {
      const [row] = await db.query<{ is_delivered: boolean; failure: string | null }>(
        `SELECT delivered_at IS NOT NULL AS is_delivered,
           CASE WHEN undeliverable_at IS NOT NULL THEN coalesce(failure, '') END AS failure
         FROM replies WHERE project_id = $1 AND id = $2`,
        [project, replyId],
      );
      return row === undefined ? null : { isDelivered: row.is_delivered, failure: row.failure };
    },

    /** Has a reply that was given up sent again, in the name of `actor`; where, or null when the project works on no such ticket. */
    async sendAgain(project: ProjectId, replyId: string, actor: string): Promise<OutboxRef | null> {
      const [row] = await db.query<{ project_id: string; ticket_id: string }>(SEND_AGAIN, [project, replyId, actor]);
      return row === undefined ? null : { project: asProjectId(row.project_id), ticketId: row.ticket_id };
    },
  };
}
