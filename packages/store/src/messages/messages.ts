import type {
  AcceptedMessage,
  AttachmentRef,
  CallbackTarget,
  ChannelId,
  MessageMode,
  MessageState,
} from "@svc/contracts";
import { ISSUE_CHAT_PREFIX, isIssueChat } from "@svc/contracts";
import { createBatcher } from "../batcher.ts";
import { LEASE_MS } from "./chats.ts";
import { isUniqueViolation } from "../db.ts";
import type { Db } from "../db.ts";
import { SUSPECT_AFTER_CRASHES, expiredLease, lapseWait, leaseHistory } from "./expired-leases.ts";
import type { LeaseHistory } from "./expired-leases.ts";
import { asProjectId, newId, ticketIdOf } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

/** A message to commit: the IncomingMessage of the service document with where it belongs and how it is answered. */
export interface NewMessage {
  channelId: ChannelId;
  chatId: string;
  userId: string | null;
  text: string;
  timestampMs: number;
  attachments: AttachmentRef[] | null;
  channelMeta: Record<string, unknown>;
  /** How the sender takes its replies; null on channels that push them. */
  mode: MessageMode | null;
  /** The process that holds a sync call open for it, else null. */
  callInstance: string | null;
  /** Where its callbacks go, for a message of mode webhook; else null. */
  callback: CallbackTarget | null;
  /** Its place in a trace, as `traceparent` says it; absent or null where nobody traces. */
  trace?: string | null;
}

/** A message that a worker has a lease for. */
export interface ClaimedMessage extends LeaseHistory {
  project: ProjectId;
  messageId: string;
  ticketId: string;
  leaseId: string;
  seq: number;
  channelId: ChannelId;
  chatId: string;
  userId: string | null;
  text: string;
  channelMeta: Record<string, unknown>;
  /** How the sender takes its replies; null on channels that push them. */
  mode: MessageMode | null;
  /** Number of attempts, this one included. An attempt whose lease expired is not counted. */
  attempts: number;
  /** True if its last crash happened while its process ran nothing else. */
  hasCrashedAlone: boolean;
  /** What earlier attempts have found, as they left it. */
  progress: Record<string, unknown> | null;
  /** Its place in a trace, as `traceparent` says it; null where nobody traces. */
  trace: string | null;
}

/** A message whose job has to be published again. */
export interface DueMessage {
  project: ProjectId;
  messageId: string;
  ticketId: string;
  /** Number of attempts, those included whose lease expired: it distinguishes this job from earlier ones. */
  attempts: number;
  /** True for a submitted issue, which has a queue of its own. */
  isIssue: boolean;
}

/** A message that failed five times and waits for an operator. */
export interface DeadLetter {
  messageId: string;
  ticketId: string;
  channelId: ChannelId;
  chatId: string;
  text: string;
  failure: string;
  failedAt: Date;
}

/** A message that is not claimed next to others, because processes crashed while they had it (ADR 0026). */
export interface Suspect {
  /** Number of suspects that may run together with it, itself included: half of those at its last crash. */
  groupLimit: number;
}

/** The message at the head of a chat; `id` is null if it was not claimed. */
interface ClaimedRow extends LeaseHistory {
  project_id: string;
  id: string | null;
  ticket_id: string;
  lease_id: string;
  seq: number;
  channel_id: ChannelId;
  chat_id: string;
  user_id: string | null;
  text: string;
  channel_meta: Record<string, unknown>;
  mode: MessageMode | null;
  attempts: number;
  progress: Record<string, unknown> | null;
  trace: string | null;
  last_group: number | null;
}

/** A callback's target with the names of its columns. */
function callbackJson({ url, apiKeyId, sealedSecret, deliveryId, timeoutMs }: CallbackTarget): string {
  return JSON.stringify({
    url,
    api_key_id: apiKeyId,
    sealed_secret: sealedSecret?.sealed ?? null,
    delivery_id: deliveryId,
    timeout_ms: timeoutMs,
  });
}

/** How long the sweeper leaves a new message to its job, and a published one to its worker. */
const SWEEP_AFTER_MS = 2_000;

/** Incoming messages: committed once, claimed in the order of their chat. `processId` is the process that holds leases. */
export function messagesTable(db: Db, leases: Db, processId: string) {
  // Concurrent messages are committed in one statement. The chat's row gives each its place; rows are locked in the
  // order of their ids, as in every statement on chats, so that two batches cannot wait for each other. A chat that was
  // erased gets its chat_id back.
  const ACCEPT = `
    WITH input AS (
      SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
        $8::bigint[], $9::jsonb[], $10::jsonb[], $11::text[], $12::uuid[], $13::jsonb[], $14::text[])
        WITH ORDINALITY AS i (id, project_id, ticket_id, channel_id, chat_id, user_id, text, timestamp_ms, attachments,
          channel_meta, mode, call_instance, callback, trace, place)
    ), callback AS (
      INSERT INTO callbacks (message_id, project_id, ticket_id, url, api_key_id, sealed_secret, delivery_id, timeout_at)
      SELECT i.id, i.project_id, i.ticket_id, c.url, c.api_key_id, c.sealed_secret, c.delivery_id,
        now() + c.timeout_ms * interval '1 millisecond'
      FROM input i CROSS JOIN LATERAL jsonb_to_record(i.callback) AS c
        (url text, api_key_id uuid, sealed_secret text, delivery_id uuid, timeout_ms integer)
      WHERE i.callback IS NOT NULL
    ), chat AS (
      INSERT INTO chats AS c (ticket_id, project_id, channel_id, chat_id, last_seq)
      SELECT ticket_id, project_id, channel_id, chat_id, count(*) FROM input
      GROUP BY ticket_id, project_id, channel_id, chat_id ORDER BY ticket_id
      ON CONFLICT (ticket_id) DO UPDATE SET last_seq = c.last_seq + excluded.last_seq, chat_id = excluded.chat_id
      RETURNING ticket_id, last_seq
    )
    INSERT INTO messages (id, project_id, ticket_id, seq, user_id, text, timestamp_ms, attachments, channel_meta, mode,
      call_instance, trace, due_at)
    SELECT i.id, i.project_id, i.ticket_id,
      chat.last_seq - count(*) OVER (PARTITION BY i.ticket_id)
        + row_number() OVER (PARTITION BY i.ticket_id ORDER BY i.place),
      i.user_id, i.text, i.timestamp_ms, i.attachments, i.channel_meta, i.mode, i.call_instance, i.trace,
      now() + interval '${SWEEP_AFTER_MS} milliseconds'
    FROM input i JOIN chat USING (ticket_id)
    RETURNING id, seq`;

  async function findAccepted(project: ProjectId, id: string): Promise<AcceptedMessage | null> {
    const [row] = await db.query<{ ticket_id: string; seq: number }>(
      "SELECT ticket_id, seq FROM messages WHERE id = $2 AND project_id = $1",
      [project, id],
    );
    return row === undefined ? null : { messageId: id, ticketId: row.ticket_id, seq: row.seq };
  }

  interface AcceptItem {
    id: string;
    project: ProjectId;
    ticketId: string;
    message: NewMessage;
  }

  const accept = createBatcher<AcceptItem, AcceptedMessage>(
    async (items) => {
      const rows = await db.prepared<{ id: string; seq: number }>("messages_accept", ACCEPT, [
        items.map((item) => item.id),
        items.map((item) => item.project),
        items.map((item) => item.ticketId),
        items.map((item) => item.message.channelId),
        items.map((item) => item.message.chatId),
        items.map((item) => item.message.userId),
        items.map((item) => item.message.text),
        items.map((item) => item.message.timestampMs),
        items.map((item) => item.message.attachments && JSON.stringify(item.message.attachments)),
        items.map((item) => JSON.stringify(item.message.channelMeta)),
        items.map((item) => item.message.mode),
        items.map((item) => item.message.callInstance),
        items.map(({ message }) => message.callback && callbackJson(message.callback)),
        items.map(({ message }) => message.trace ?? null),
      ]);
      const seqs = new Map(rows.map((row) => [row.id, row.seq]));
      return items.map((item) => ({ messageId: item.id, ticketId: item.ticketId, seq: seqs.get(item.id) ?? 0 }));
    },
    { keyOf: (item) => item.ticketId },
  );

  async function acceptOnce(
    project: ProjectId,
    message: NewMessage,
    id: string,
  ): Promise<AcceptedMessage & { isNew: boolean }> {
    const ticketId = ticketIdOf(project, message.channelId, message.chatId);
    try {
      return { ...(await accept({ id, project, ticketId, message })), isNew: true };
    } catch (error) {
      const known = isUniqueViolation(error) ? await findAccepted(project, id) : null;
      if (known === null) throw error;
      return { ...known, isNew: false };
    }
  }

  // Claims the lease of each chat that is free and has a message to work on, and counts the attempt. What a person has
  // decided goes first: a chat with a decision that is not carried out yet is left to it. The snapshot may be older than
  // the lock that was waited for, so the message's state is checked again by its own UPDATE: a message that was finished in
  // the meantime is not claimed. A claim that a crash of the database undoes is made again. A message with an expired
  // lease is only reported (`id` NULL): that is rare, and judged by CLAIM_EXPIRED.
  const CLAIM = `
    WITH input AS (
      SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS i (project_id, ticket_id, lease_id)
    ), free AS MATERIALIZED (
      SELECT c.project_id, c.ticket_id, c.channel_id, c.chat_id, i.lease_id, c.lease_id IS NOT NULL AS is_expired
      FROM chats c JOIN input i ON i.ticket_id = c.ticket_id AND i.project_id = c.project_id
      WHERE (c.lease_until IS NULL OR c.lease_until < now()) AND c.review_id IS NULL
      ORDER BY c.ticket_id FOR UPDATE OF c
    ), head AS (
      SELECT f.project_id, f.ticket_id, f.channel_id, f.chat_id, f.lease_id, m.id,
        f.is_expired OR m.expired_leases IS NOT NULL AS is_left
      FROM free f CROSS JOIN LATERAL (
        SELECT id, not_before, expired_leases FROM messages
        WHERE ticket_id = f.ticket_id AND state = 'received' ORDER BY seq LIMIT 1
      ) m
      WHERE m.not_before IS NULL OR m.not_before <= now()
    ), claimed AS (
      UPDATE messages m SET attempts = m.attempts + 1, not_before = NULL, failure = NULL
      FROM head h WHERE m.id = h.id AND NOT h.is_left AND m.state = 'received'
        AND (m.not_before IS NULL OR m.not_before <= now())
      RETURNING m.id, m.ticket_id, m.seq, m.user_id, m.text, m.channel_meta, m.mode, m.attempts, m.progress, m.trace,
        h.lease_id
    ), leased AS (
      UPDATE chats c SET lease_id = k.lease_id, lease_until = now() + interval '${LEASE_MS} milliseconds',
        lease_holder = $4::uuid, lease_group = NULL
      FROM claimed k WHERE c.ticket_id = k.ticket_id
    )
    SELECT h.project_id, h.ticket_id, h.channel_id, h.chat_id, h.lease_id, k.id, k.seq, k.user_id, k.text, k.channel_meta,
      k.mode, k.attempts, k.progress, k.trace, 0 AS crashes, 0 AS lapses, NULL::integer AS last_group
    FROM head h LEFT JOIN claimed k ON k.id = h.id WHERE k.id IS NOT NULL OR h.is_left`;

  // The same for one chat whose lease expired, now or at an earlier attempt. The expired lease is recorded with the
  // message and not counted as an attempt. A message with which processes have crashed is claimed only if $5, the number
  // of messages that this process runs exclusively, is at most half of those at the last crash; where it is not, the
  // message stays as it is, because a claim that ends in a crash before it is released would cost it a crash.
  const CLAIM_EXPIRED = `
    WITH free AS MATERIALIZED (
      SELECT project_id, ticket_id, channel_id, chat_id, lease_until, ${expiredLease("c", "lease_group")} AS expired
      FROM chats c
      WHERE ticket_id = $2 AND project_id = $1 AND (lease_until IS NULL OR lease_until < now()) AND review_id IS NULL
      FOR UPDATE
    ), head AS (
      SELECT f.*, m.id, coalesce(m.expired_leases || f.expired, m.expired_leases, f.expired) AS leases
      FROM free f CROSS JOIN LATERAL (
        SELECT id, not_before, expired_leases FROM messages
        WHERE ticket_id = f.ticket_id AND state = 'received' ORDER BY seq LIMIT 1
      ) m
      WHERE m.not_before IS NULL OR m.not_before <= now()
    ), judged AS (
      SELECT h.*, s.*, s.crashes >= ${SUSPECT_AFTER_CRASHES}
        AND $5::integer IS DISTINCT FROM 1
        AND ($5::integer IS NULL OR $5::integer > coalesce(s.last_group / 2, $5::integer)) AS is_left
      FROM head h CROSS JOIN LATERAL (${leaseHistory("h.leases")}) s
      WHERE h.expired IS NULL OR h.lease_until + ${lapseWait("s.lapses")} <= now()
    ), claimed AS (
      UPDATE messages m SET attempts = greatest(1, m.attempts + CASE WHEN j.expired IS NULL THEN 1 ELSE 0 END),
        not_before = NULL, failure = CASE WHEN j.expired IS NOT NULL THEN 'lease expired' END, expired_leases = j.leases
      FROM judged j WHERE m.id = j.id AND NOT j.is_left AND m.state = 'received'
        AND (m.not_before IS NULL OR m.not_before <= now())
      RETURNING m.id, m.ticket_id, m.seq, m.user_id, m.text, m.channel_meta, m.mode, m.attempts, m.progress, m.trace
    ), leased AS (
      UPDATE chats c SET lease_id = $3, lease_until = now() + interval '${LEASE_MS} milliseconds',
        lease_holder = $4::uuid, lease_group = CASE WHEN j.crashes >= ${SUSPECT_AFTER_CRASHES} THEN $5::integer END
      FROM claimed k JOIN judged j USING (ticket_id) WHERE c.ticket_id = k.ticket_id
    )
    SELECT j.project_id, j.ticket_id, j.channel_id, j.chat_id, $3::uuid AS lease_id, k.id, k.seq, k.user_id, k.text,
      k.channel_meta, k.mode, k.attempts, k.progress, k.trace, j.crashes, j.lapses, j.last_group
    FROM judged j LEFT JOIN claimed k ON k.id = j.id WHERE k.id IS NOT NULL OR j.is_left`;

  interface ClaimItem {
    project: ProjectId;
    ticketId: string;
  }

  /** Claims what has no expired lease; "expired" for a chat that CLAIM_EXPIRED has to judge. */
  const claimFresh = createBatcher<ClaimItem, ClaimedMessage | "expired" | null>(async (items) => {
    // Two jobs of one chat in one batch would ask for two leases on it: the first asks for both.
    const keyOf = (project: string, ticketId: string) => `${project}/${ticketId}`;
    const byTicket = new Map(items.map((item) => [keyOf(item.project, item.ticketId), { ...item, leaseId: newId() }]));
    const unique = [...byTicket.values()].sort((a, b) => (a.ticketId < b.ticketId ? -1 : 1));
    const rows = await leases.prepared<ClaimedRow>("messages_claim", CLAIM, [
      unique.map((item) => item.project),
      unique.map((item) => item.ticketId),
      unique.map((item) => item.leaseId),
      processId,
    ]);
    const claimed = new Map(rows.map((row) => [keyOf(row.project_id, row.ticket_id), row]));
    return items.map((item) => {
      const key = keyOf(item.project, item.ticketId);
      const row = claimed.get(key);
      claimed.delete(key);
      if (row === undefined) return null;
      return row.id === null ? "expired" : asClaimed(row, row.id);
    });
  });

  async function claimIn(
    group: number | null,
    { project, ticketId }: ClaimItem,
  ): Promise<ClaimedMessage | Suspect | null> {
    const fresh = await claimFresh({ project, ticketId });
    if (fresh !== "expired") return fresh;
    const [row] = await leases.prepared<ClaimedRow>("messages_claim_expired", CLAIM_EXPIRED, [
      project,
      ticketId,
      newId(),
      processId,
      group,
    ]);
    if (row === undefined) return null;
    if (row.id !== null) return asClaimed(row, row.id);
    return { groupLimit: row.last_group === null ? Infinity : Math.max(1, Math.floor(row.last_group / 2)) };
  }

  function asClaimed(row: ClaimedRow, messageId: string): ClaimedMessage {
    return {
      project: asProjectId(row.project_id),
      messageId,
      ticketId: row.ticket_id,
      leaseId: row.lease_id,
      seq: row.seq,
      channelId: row.channel_id,
      chatId: row.chat_id,
      userId: row.user_id,
      text: row.text,
      channelMeta: row.channel_meta,
      mode: row.mode,
      attempts: row.attempts,
      crashes: row.crashes,
      lapses: row.lapses,
      hasCrashedAlone: row.last_group === 1,
      progress: row.progress,
      trace: row.trace,
    };
  }

  // A failed try: the lease goes back, the message waits its time. Fenced by the lease.
  const RETRY_LATER = `
    WITH mine AS (
      UPDATE chats SET lease_id = NULL, lease_until = NULL
      WHERE ticket_id = $2 AND project_id = $1 AND lease_id = $4
      RETURNING ticket_id
    )
    UPDATE messages m SET not_before = now() + $5 * interval '1 millisecond',
      due_at = now() + $5 * interval '1 millisecond', progress = $6, failure = $7, attempts = m.attempts - $8::integer
    FROM mine WHERE m.id = $3 AND m.ticket_id = mine.ticket_id AND m.state = 'received'`;

  // Messages that nobody has finished in time: published in vain, or never. Each is put off again, by its own age at
  // most, so that a long backlog is not published over and over. SKIP LOCKED shares the work among replicas.
  const DUE = `
    WITH due AS MATERIALIZED (
      SELECT m.id, c.channel_id, c.chat_id FROM messages m JOIN chats c USING (ticket_id)
      WHERE m.state = 'received' AND m.due_at <= now() AND (c.lease_until IS NULL OR c.lease_until < now())
        AND c.review_id IS NULL
      ORDER BY m.due_at LIMIT $1 FOR UPDATE OF m SKIP LOCKED
    )
    UPDATE messages m
    SET due_at = now() + least(interval '10 seconds', greatest(interval '2 seconds', now() - m.created_at))
    FROM due WHERE m.id = due.id
    RETURNING m.id, m.ticket_id, m.project_id,
      m.attempts + coalesce(jsonb_array_length(m.expired_leases), 0) AS attempts, due.channel_id, due.chat_id`;

  return {
    /**
     * Commits a message and answers its ids and its place in the chat; one that is there already stays as it is.
     * Concurrent calls share a statement and a commit; when this resolves, the message is durable. When it rejects with
     * `unavailable` the message may be there all the same; a caller that has to know gives the id itself.
     */
    async accept(project: ProjectId, message: NewMessage, id = newId()): Promise<AcceptedMessage> {
      const { isNew: _, ...accepted } = await acceptOnce(project, message, id);
      return accepted;
    },

    /** As `accept`, and whether this call has committed it. */
    acceptOnce,

    /**
     * Claims the lease on a chat and its oldest unfinished message; null when another worker has the lease, nothing
     * waits, the message may not be tried yet, or it is a suspect that must not run with so many others. The lease lasts
     * 4 s and must be renewed. To be called by a process that runs `group` messages exclusively.
     */
    async claim(project: ProjectId, ticketId: string, group = 1): Promise<ClaimedMessage | null> {
      const claimed = await claimIn(group, { project, ticketId });
      return claimed !== null && "groupLimit" in claimed ? null : claimed;
    },

    /**
     * As `claim`, for a message that runs concurrently with any others. Returns a `Suspect`, which stays as it is, if
     * processes have crashed again and again while they had it.
     */
    claimBeside(project: ProjectId, ticketId: string): Promise<ClaimedMessage | Suspect | null> {
      return claimIn(null, { project, ticketId });
    },

    /**
     * Puts a message off after a failed try and gives the lease back. `counts` false takes the try back, for faults
     * that are not the message's (the store or the queue was away). Does nothing when the lease was lost.
     */
    async retryLater(
      message: Pick<ClaimedMessage, "project" | "ticketId" | "messageId" | "leaseId">,
      retry: { delayMs: number; progress: object; failure: string; counts: boolean },
    ): Promise<void> {
      await db.query(RETRY_LATER, [
        message.project,
        message.ticketId,
        message.messageId,
        message.leaseId,
        retry.delayMs,
        JSON.stringify(retry.progress),
        retry.failure,
        retry.counts ? 0 : 1,
      ]);
    },

    /** Up to `limit` messages of all projects that wait longer than they should, for the sweeper to publish again. */
    async takeDue(limit: number): Promise<DueMessage[]> {
      const rows = await db.query<{
        id: string;
        ticket_id: string;
        project_id: string;
        attempts: number;
        channel_id: ChannelId;
        chat_id: string;
      }>(DUE, [limit]);
      return rows.map((row) => ({
        project: asProjectId(row.project_id),
        messageId: row.id,
        ticketId: row.ticket_id,
        attempts: row.attempts,
        isIssue: isIssueChat({ channelId: row.channel_id, chatId: row.chat_id }),
      }));
    },

    /**
     * Age in milliseconds of the oldest message of a customer that waits for the pipeline and could be worked on; 0 when
     * none does. Submitted issues are none: nobody waits long for them.
     */
    async oldestWaitingMs(): Promise<number> {
      const rows = await db.query<{ age: number | null }>(
        `SELECT (extract(epoch FROM now() - min(greatest(m.created_at, m.not_before))) * 1000)::float8 AS age
         FROM messages m JOIN chats c USING (ticket_id)
         WHERE m.state = 'received' AND (m.not_before IS NULL OR m.not_before < now())
           AND (c.lease_until IS NULL OR c.lease_until < now())
           AND NOT (c.channel_id = 'api' AND starts_with(coalesce(c.chat_id, ''), $1))`,
        [ISSUE_CHAT_PREFIX],
      );
      return rows[0]?.age ?? 0;
    },

    /** The places of messages in their traces, as `traceparent` says them; of those that have one. */
    async findTraces(project: ProjectId, messageIds: readonly string[]): Promise<Map<string, string>> {
      const rows = await db.query<{ id: string; trace: string }>(
        "SELECT id, trace FROM messages WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND trace IS NOT NULL",
        [project, messageIds],
      );
      return new Map(rows.map(({ id, trace }) => [id, trace]));
    },

    /** State of a message, or null when this project has no such message. */
    async findState(project: ProjectId, messageId: string): Promise<MessageState | null> {
      const rows = await db.query<{ state: MessageState }>(
        "SELECT state FROM messages WHERE id = $2 AND project_id = $1",
        [project, messageId],
      );
      return rows[0]?.state ?? null;
    },

    /** What the channel has said about a message; null when this project has no such message. */
    async findMeta(project: ProjectId, messageId: string): Promise<Record<string, unknown> | null> {
      const rows = await db.query<{ channel_meta: Record<string, unknown> }>(
        "SELECT channel_meta FROM messages WHERE id = $2 AND project_id = $1",
        [project, messageId],
      );
      return rows[0]?.channel_meta ?? null;
    },

    /** The same of the newest message of a conversation; null when it has none. */
    async findLastMeta(project: ProjectId, ticketId: string): Promise<Record<string, unknown> | null> {
      const rows = await db.query<{ channel_meta: Record<string, unknown> }>(
        "SELECT channel_meta FROM messages WHERE ticket_id = $2 AND project_id = $1 ORDER BY seq DESC LIMIT 1",
        [project, ticketId],
      );
      return rows[0]?.channel_meta ?? null;
    },

    /** What a sync call has sent, and into which chat; null when this project has no such message. */
    async findSyncCall(project: ProjectId, messageId: string): Promise<{ chatId: string; text: string } | null> {
      const rows = await db.query<{ chat_id: string; text: string }>(
        `SELECT c.chat_id, m.text FROM messages m JOIN chats c USING (ticket_id)
         WHERE m.id = $2 AND m.project_id = $1 AND m.mode = 'sync' AND c.project_id = $1`,
        [project, messageId],
      );
      const row = rows[0];
      return row === undefined ? null : { chatId: row.chat_id, text: row.text };
    },

    /** The dead letters of the tickets that a project works on, newest first, at most `limit`. */
    async listDeadLetters(project: ProjectId, limit: number): Promise<DeadLetter[]> {
      const rows = await db.query<{
        id: string;
        ticket_id: string;
        channel_id: ChannelId;
        chat_id: string;
        text: string;
        failure: string | null;
        finished_at: Date;
      }>(
        // Most tickets are worked on where they came in; a message may also have failed before it had a ticket.
        `WITH dead AS (
           (SELECT m.id, m.ticket_id, m.text, m.failure, m.finished_at
            FROM messages m LEFT JOIN tickets t ON t.id = m.ticket_id
            WHERE m.project_id = $1 AND m.state = 'failed' AND coalesce(t.project_id, $1) = $1
            ORDER BY m.finished_at DESC LIMIT $2)
           UNION ALL
           SELECT m.id, m.ticket_id, m.text, m.failure, m.finished_at
           FROM tickets t JOIN messages m ON m.ticket_id = t.id
           WHERE t.project_id = $1 AND t.home_project_id <> $1 AND t.project_id <> t.home_project_id
             AND m.state = 'failed'
         )
         SELECT dead.*, c.channel_id, c.chat_id FROM dead JOIN chats c USING (ticket_id)
         ORDER BY finished_at DESC LIMIT $2`,
        [project, limit],
      );
      return rows.map((row) => ({
        messageId: row.id,
        ticketId: row.ticket_id,
        channelId: row.channel_id,
        chatId: row.chat_id,
        text: row.text,
        failure: row.failure ?? "",
        failedAt: row.finished_at,
      }));
    },

    /**
     * Where a dead letter is, or null when it is none of a ticket that this project works on, or a reply to it is on
     * its way. `isOpened` is false where the message failed before it had a ticket.
     */
    async findDeadLetter(
      project: ProjectId,
      messageId: string,
    ): Promise<(Pick<DueMessage, "project" | "ticketId" | "messageId"> & { isOpened: boolean }) | null> {
      const [row] = await db.query<{ id: string; project_id: string; ticket_id: string; is_opened: boolean }>(
        `SELECT m.id, m.project_id, m.ticket_id, t.id IS NOT NULL AS is_opened
         FROM messages m LEFT JOIN tickets t ON t.id = m.ticket_id
         WHERE m.id = $2 AND m.state = 'failed' AND m.covered_by IS NULL AND coalesce(t.project_id, m.project_id) = $1`,
        [project, messageId],
      );
      if (row === undefined) return null;
      return {
        project: asProjectId(row.project_id),
        ticketId: row.ticket_id,
        messageId: row.id,
        isOpened: row.is_opened,
      };
    },
  };
}
