import type { ChannelId, MessageState, ReplyAuthor, Source } from "@svc/contracts";
import { createBatcher } from "../batcher.ts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { IS_ALIVE } from "../platform/instances.ts";

interface ReplyPlace {
  id: string;
  ticketId: string;
  seq: number;
  inReplyTo: string | null;
  author: ReplyAuthor;
  createdAt: Date;
}

/** A reply item as it lies in the store. */
export type StoredReply =
  | (ReplyPlace & { type: "message"; text: string; markdown: boolean; sources: Source[] | null })
  | (ReplyPlace & { type: "attachment"; filename: string; mime: string; content: Buffer });

/** What a waiting sync call finds: where its message is, and the replies to it. */
export interface CallOutcome {
  state: MessageState;
  /** The later message whose reply, which a person has decided on, answers this one too; null for all others. */
  coveredBy: string | null;
  replies: StoredReply[];
}

/** One answer of the drain. */
export interface DrainPage {
  replies: StoredReply[];
  /** Place of the last reply that this answer covers, to be given back as `after`. */
  cursor: number;
  /** True when more replies wait than this answer could hold. */
  more: boolean;
}

/** How much one drain answer may hold, and for how many days a reply stays in the buffer. */
export interface DrainLimits {
  maxReplies: number;
  maxBytes: number;
  keptDays: number;
}

/** What has to be delivered through a channel: a range of places in a chat. */
export interface ReplyRange {
  project: ProjectId;
  ticketId: string;
  fromSeq: number;
  toSeq: number;
}

/** Replies of one ticket with where they go. */
export interface OutgoingReplies {
  channelId: ChannelId;
  chatId: string;
  replies: StoredReply[];
}

/** A row of `REPLY_COLUMNS`. */
export interface ReplyRow {
  id: string;
  ticket_id: string;
  seq: number;
  in_reply_to: string | null;
  author: ReplyAuthor;
  created_at: Date;
  type: "message" | "attachment";
  text: string | null;
  markdown: boolean | null;
  sources: Source[] | null;
  filename: string | null;
  mime: string | null;
  content: Buffer | null;
}

/** What a reply item is made from, of replies `r`. */
export const REPLY_COLUMNS =
  "r.id, r.ticket_id, r.seq, r.in_reply_to, r.author, r.created_at, r.type, r.text, r.markdown, r.sources, r.filename, r.mime, r.content";

/**
 * Nobody hands a reply over for so long: an answer that makes no progress is cut much earlier. What was taken and
 * forgotten, which should not happen, is free again then.
 */
const TAKEN_MINUTES = 30;

// Nobody is handing the reply over: it was never taken, or the process that took it is dead.
const FREE = `(r.taken_by IS NULL OR r.taken_at < now() - interval '${TAKEN_MINUTES} minutes' OR NOT EXISTS (
  SELECT 1 FROM instances i WHERE i.id = r.taken_by AND ${IS_ALIVE}))`;

/** SQL that is true when no call holds the message `m` open any more: it has ended, or its process is dead. */
export const IS_CALL_OVER = `(m.call_ended_at IS NOT NULL OR NOT EXISTS (
  SELECT 1 FROM instances i WHERE i.id = m.call_instance AND ${IS_ALIVE}))`;

// The reply is in the buffer: its message was sent async, or sync and the call is over, or its callback is dead, or it
// answers no message. What a webhook message gets goes by its callback else.
const IN_BUFFER = `(m.id IS NULL OR m.mode = 'async' OR r.undeliverable_at IS NOT NULL
  OR (m.mode = 'sync' AND ${IS_CALL_OVER}))`;

/** The reply has not been in the buffer for longer than it is kept there: `days` is an SQL expression. */
const isKept = (days: string) => `coalesce(r.undeliverable_at, r.created_at) > now() - make_interval(days => ${days})`;

// The first place of a reply that is not in the buffer but may come into it (its call is open, or a reader has it and
// may lose it): a cursor at or beyond it would acknowledge it unseen. A reply that comes from a dead callback gets a new
// place then.
const FIRST_HIDDEN = `coalesce((
  SELECT min(r.seq) FROM replies r LEFT JOIN messages m ON m.id = r.in_reply_to
  WHERE r.ticket_id = $2 AND r.project_id = $1 AND r.delivered_at IS NULL
    AND (m.mode IS DISTINCT FROM 'webhook' OR r.undeliverable_at IS NOT NULL)
    AND NOT (${FREE} AND ${IN_BUFFER})
), 9223372036854775807)`;

// How many bytes a reply takes in an answer, roughly: content is sent in base64.
const SIZE = "octet_length(coalesce(r.text, '')) + octet_length(coalesce(r.content, '')) * 4 / 3 + 200";

/**
 * What callers have received is written at once; while one statement is on its way, further notes gather for the next one.
 * Replies of different batches are never locked at the same time.
 */
const NOTES = { lanes: 1, maxItems: 1_000 };

/** The message whose reply answers message `m` too, once that is committed: NULL for one that has its own. */
export const COVERED_BY = "CASE WHEN m.state = 'answered' AND m.covered_by <> m.id THEN m.covered_by END";

/** `notes` is for what callers have received. Reply items: made once by `tickets.finish` or `reviews.finishSend`, handed over by the channels. */
export function repliesTable(db: Db, notes: Db) {
  // What a waiting call finds: the state of its message and the replies to it, in one read. The replies of an open call
  // belong to it alone as long as its process lives and no other call has taken its place, so nothing has to be taken.
  const READ_FOR_CALL = `
    SELECT m.id AS message_id, m.project_id, c.instance, m.state, ${COVERED_BY} AS covered_by, ${REPLY_COLUMNS}
    FROM (SELECT DISTINCT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[])) AS c (project_id, message_id, instance)
    JOIN messages m ON m.id = c.message_id AND m.project_id = c.project_id
    LEFT JOIN replies r ON r.ticket_id = m.ticket_id AND r.in_reply_to = m.id AND r.delivered_at IS NULL
      AND r.taken_by IS NULL AND m.state <> 'received' AND m.call_ended_at IS NULL AND m.call_instance = c.instance
      AND EXISTS (SELECT 1 FROM instances i WHERE i.id = m.call_instance AND ${IS_ALIVE})
    ORDER BY r.seq`;

  interface CallRef {
    project: ProjectId;
    messageId: string;
  }
  interface ReadItem extends CallRef {
    instance: string;
  }
  const readForCall = createBatcher<ReadItem, CallOutcome | null>(async (items) => {
    const rows = await db.prepared<
      ReplyRow & {
        message_id: string;
        project_id: string;
        instance: string;
        state: MessageState;
        covered_by: string | null;
      }
    >("replies_read_for_call", READ_FOR_CALL, [
      items.map((item) => item.project),
      items.map((item) => item.messageId),
      items.map((item) => item.instance),
    ]);
    const outcomes = new Map<string, CallOutcome>();
    for (const row of rows) {
      const key = `${row.project_id}/${row.message_id}/${row.instance}`;
      const outcome = outcomes.get(key) ?? { state: row.state, coveredBy: row.covered_by, replies: [] };
      if (row.id !== null) outcome.replies.push(asReply(row));
      outcomes.set(key, outcome);
    }
    return items.map((item) => outcomes.get(`${item.project}/${item.messageId}/${item.instance}`) ?? null);
  });

  // The caller has these replies.
  const CONFIRM = `
    UPDATE replies r SET delivered_at = now(), taken_by = NULL
    FROM unnest($1::uuid[], $2::uuid[]) AS i (project_id, id)
    WHERE r.id = i.id AND r.project_id = i.project_id AND r.delivered_at IS NULL`;
  interface ReplyRef {
    project: ProjectId;
    id: string;
  }
  const confirm = createBatcher<ReplyRef, void>(async (items) => {
    await notes.prepared("replies_confirm", CONFIRM, [items.map((item) => item.project), items.map((item) => item.id)]);
    return items.map(() => undefined);
  }, NOTES);

  // Calls are over: the replies that their callers have are delivered, all others are in the buffer from now on.
  const END_CALL = `
    WITH call AS (
      UPDATE messages m SET call_ended_at = now()
      FROM unnest($1::uuid[], $2::uuid[]) AS i (project_id, message_id)
      WHERE m.id = i.message_id AND m.project_id = i.project_id AND m.call_ended_at IS NULL
    )
    UPDATE replies r SET delivered_at = now()
    FROM unnest($3::uuid[], $4::uuid[]) AS d (project_id, id)
    WHERE r.id = d.id AND r.project_id = d.project_id AND r.delivered_at IS NULL`;
  interface EndItem extends CallRef {
    delivered: string[];
  }
  const runEndCalls = async (items: EndItem[]): Promise<void[]> => {
    const delivered = items.flatMap(({ project, delivered: ids }) => ids.map((id) => ({ project, id })));
    await notes.prepared("replies_end_call", END_CALL, [
      items.map((item) => item.project),
      items.map((item) => item.messageId),
      delivered.map((reply) => reply.project),
      delivered.map((reply) => reply.id),
    ]);
    return items.map(() => undefined);
  };
  const endCall = createBatcher(runEndCalls, NOTES);

  // The oldest buffered replies that fit into one answer are taken. SKIP LOCKED: of several plain readers each gets
  // other replies. The candidates are locked first, then counted, since a window cannot be locked.
  const TAKE_FROM_BUFFER = `
    WITH candidate AS MATERIALIZED (
      SELECT r.id, r.seq, ${SIZE} AS size_bytes FROM replies r LEFT JOIN messages m ON m.id = r.in_reply_to
      WHERE r.ticket_id = $2 AND r.project_id = $1 AND r.delivered_at IS NULL AND ${FREE} AND ${IN_BUFFER}
        AND ${isKept("$6::integer")}
      ORDER BY r.seq LIMIT $4::integer + 1 FOR UPDATE OF r SKIP LOCKED
    ), fitting AS (
      SELECT id FROM (
        SELECT id, row_number() OVER (ORDER BY seq) AS place, sum(size_bytes) OVER (ORDER BY seq) AS total FROM candidate
      ) c WHERE place <= $4 AND (place = 1 OR total <= $5)
    ), taken AS (
      UPDATE replies r SET taken_by = $3, taken_at = now(), take_id = $7 FROM fitting f WHERE r.id = f.id RETURNING ${REPLY_COLUMNS}
    )
    SELECT t.*, (SELECT count(*) FROM candidate) AS candidates, ${FIRST_HIDDEN} AS first_hidden
    FROM taken t ORDER BY t.seq`;

  const READ_BUFFER = `
    WITH candidate AS MATERIALIZED (
      SELECT ${REPLY_COLUMNS}, ${SIZE} AS size_bytes FROM replies r LEFT JOIN messages m ON m.id = r.in_reply_to
      WHERE r.ticket_id = $2 AND r.project_id = $1 AND r.seq > $3 AND r.delivered_at IS NULL AND ${FREE} AND ${IN_BUFFER}
        AND ${isKept("$6::integer")} AND r.seq < ${FIRST_HIDDEN}
      ORDER BY r.seq LIMIT $4::integer + 1
    )
    SELECT c.*, (SELECT count(*) FROM candidate) AS candidates FROM (
      SELECT *, row_number() OVER (ORDER BY seq) AS place, sum(size_bytes) OVER (ORDER BY seq) AS total FROM candidate
    ) c WHERE place <= $4 AND (place = 1 OR total <= $5) ORDER BY seq`;

  // A reader of the drain may have them in this moment: then the row's lock is waited for, and they are its own. While
  // the call of another live process has the message, it is for this one as if it were not answered yet.
  const TAKE_FOR_CALL = `
    WITH message AS (
      SELECT m.id, m.ticket_id, CASE WHEN ${IS_CALL_OVER} OR m.call_instance = $3 THEN m.state ELSE 'received' END AS state,
        ${COVERED_BY} AS covered_by
      FROM messages m WHERE m.id = $2 AND m.project_id = $1
    ), taken AS (
      UPDATE replies r SET taken_by = $3, taken_at = now(), take_id = $4 FROM message
      WHERE r.ticket_id = message.ticket_id AND r.in_reply_to = message.id AND r.delivered_at IS NULL
        AND message.state <> 'received' AND (${FREE} OR r.take_id = $4)
      RETURNING ${REPLY_COLUMNS}
    )
    SELECT message.state, message.covered_by, taken.* FROM message LEFT JOIN taken ON true ORDER BY taken.seq`;

  // Which of these chats have any reply after a place that is not delivered: what a look into the others would find is
  // known. Readers that wait for the next reply of their chat share this statement, which costs a fraction of a look.
  const HAVE_UNDELIVERED = `
    SELECT i.place FROM unnest($1::uuid[], $2::uuid[], $3::bigint[])
      WITH ORDINALITY AS i (project_id, ticket_id, after, place)
    CROSS JOIN LATERAL (
      SELECT 1 FROM replies r
      WHERE r.ticket_id = i.ticket_id AND r.project_id = i.project_id AND r.seq > i.after AND r.delivered_at IS NULL
      LIMIT 1
    ) r`;

  interface ChatPlace {
    project: ProjectId;
    ticketId: string;
    after: number;
  }
  const hasUndelivered = createBatcher<ChatPlace, boolean>(async (items) => {
    const rows = await db.prepared<{ place: number }>("replies_have_undelivered", HAVE_UNDELIVERED, [
      items.map((item) => item.project),
      items.map((item) => item.ticketId),
      items.map((item) => item.after),
    ]);
    const found = new Set(rows.map((row) => row.place));
    return items.map((_item, index) => found.has(index + 1));
  });

  const ACKNOWLEDGE = `
    WITH chat AS (
      SELECT last_seq >= $3 AS is_known FROM chats WHERE ticket_id = $2 AND project_id = $1
    ), acknowledged AS (
      UPDATE replies SET delivered_at = now(), taken_by = NULL WHERE id IN (
        SELECT r.id FROM replies r LEFT JOIN messages m ON m.id = r.in_reply_to
        WHERE r.ticket_id = $2 AND r.project_id = $1 AND r.seq <= $3 AND r.delivered_at IS NULL AND ${FREE} AND ${IN_BUFFER}
      ) AND (SELECT is_known FROM chat)
    )
    SELECT is_known FROM chat`;

  // By the request that took them, not by its process: done a second time, it must not free what another request of the
  // same process has taken since.
  const RELEASE = `
    UPDATE replies SET taken_by = NULL, take_id = NULL
    WHERE project_id = $1 AND ticket_id = $2 AND take_id = $3 AND delivered_at IS NULL`;

  // Replies of several announcements in one read, with the address of each chat.
  const READ_RANGES = `
    SELECT c.project_id, c.channel_id, c.chat_id, ${REPLY_COLUMNS}
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[]) AS i (project_id, ticket_id, from_seq, to_seq)
    JOIN chats c ON c.ticket_id = i.ticket_id AND c.project_id = i.project_id
    JOIN replies r ON r.ticket_id = i.ticket_id AND r.seq BETWEEN i.from_seq AND i.to_seq AND r.delivered_at IS NULL
    ORDER BY r.ticket_id, r.seq`;

  const readRange = createBatcher<ReplyRange, OutgoingReplies | null>(async (items) => {
    const rows = await db.prepared<ReplyRow & { project_id: string; channel_id: ChannelId; chat_id: string }>(
      "replies_range",
      READ_RANGES,
      [
        items.map((item) => item.project),
        items.map((item) => item.ticketId),
        items.map((item) => item.fromSeq),
        items.map((item) => item.toSeq),
      ],
    );
    return items.map((item) => {
      const own = rows.filter(
        (row) =>
          row.project_id === item.project &&
          row.ticket_id === item.ticketId &&
          row.seq >= item.fromSeq &&
          row.seq <= item.toSeq,
      );
      const [first] = own;
      if (first === undefined) return null;
      const unique = new Map(own.map((row) => [row.id, asReply(row)]));
      return { channelId: first.channel_id, chatId: first.chat_id, replies: [...unique.values()] };
    });
  });

  function asPage(rows: (ReplyRow & { candidates: number; first_hidden?: number })[], after: number): DrainPage {
    const replies = rows.map(asReply);
    const last = replies.at(-1)?.seq ?? after;
    return {
      replies,
      cursor: Math.min(last, (rows[0]?.first_hidden ?? Number.MAX_SAFE_INTEGER) - 1),
      more: (rows[0]?.candidates ?? 0) > rows.length,
    };
  }

  return {
    /**
     * Reads where a message is and the replies to it, for the call of this process that waits for them; null when there
     * is no such message. They stay out of the buffer while the process of the call lives, until `endCall` says what
     * became of them. A call whose place another process has taken finds no replies. Concurrent calls share a read.
     */
    readForCall(project: ProjectId, messageId: string, instance: string): Promise<CallOutcome | null> {
      return readForCall({ project, messageId, instance });
    },

    /**
     * Gives a sync call whose caller came back to the process of its new call: what is answered from now on is its own.
     * What is in the buffer already stays there until `takeForCall` takes it. A call that is not over after all (its
     * process was counted as dead for a moment) keeps its place.
     */
    async reopenCall(project: ProjectId, messageId: string, instance: string): Promise<void> {
      await db.query(
        `UPDATE messages m SET call_instance = $3, call_ended_at = NULL
         WHERE m.project_id = $1 AND m.id = $2 AND m.mode = 'sync' AND m.state = 'received' AND ${IS_CALL_OVER}`,
        [project, messageId, instance],
      );
    },

    /**
     * What a call finds whose message was sent before: its state (`received` as long as another call waits for it), and
     * the replies to it that nobody has, which are taken for this call; by the same id they are had again. `endAnsweredCall`, or `endCall` and `release`,
     * follow. Null when there is no such message.
     */
    async takeForCall(
      project: ProjectId,
      messageId: string,
      instance: string,
      takeId = newId(),
    ): Promise<CallOutcome | null> {
      const rows = await db.prepared<ReplyRow & { state: MessageState; covered_by: string | null }>(
        "replies_take_for_call",
        TAKE_FOR_CALL,
        [project, messageId, instance, takeId],
      );
      const [first] = rows;
      if (first === undefined) return null;
      return {
        state: first.state,
        coveredBy: first.covered_by,
        replies: rows.filter((row) => row.id !== null).map(asReply),
      };
    },

    /**
     * The replies that the call of a message has handed over, as far as it can know: for its caller who comes again and
     * says that it has not got them. None that a reader of the drain has got. Null while somebody is about to hand one
     * over: what comes of that is known a moment later.
     */
    async listHandedOver(project: ProjectId, messageId: string): Promise<StoredReply[] | null> {
      // The end of a call and the delivery of its replies are written by one statement, at one time.
      const rows = await db.query<ReplyRow & { is_delivered: boolean }>(
        `SELECT ${REPLY_COLUMNS}, r.delivered_at IS NOT NULL AS is_delivered
         FROM messages m JOIN replies r ON r.ticket_id = m.ticket_id AND r.in_reply_to = m.id
         WHERE m.project_id = $1 AND m.id = $2 AND (r.delivered_at IS NULL OR r.delivered_at = m.call_ended_at)
         ORDER BY r.seq`,
        [project, messageId],
      );
      return rows.every((row) => row.is_delivered) ? rows.map(asReply) : null;
    },

    /**
     * Ends a sync call without an answer: its replies go to the buffer, from the moment on when this resolves. Safe to
     * repeat.
     */
    endCall(project: ProjectId, messageId: string): Promise<void> {
      return endCall({ project, messageId, delivered: [] });
    },

    /** Ends a sync call whose caller has these replies; others go to the buffer. */
    endAnsweredCall(project: ProjectId, messageId: string, delivered: string[]): Promise<void> {
      return endCall({ project, messageId, delivered });
    },

    /**
     * Ends a sync call that went on with an earlier one, and whose caller has these replies. What it had taken from the
     * buffer, it has handed over from now on: `listHandedOver` finds it. Safe to repeat.
     */
    async endResumedCall(project: ProjectId, messageId: string, delivered: string[]): Promise<void> {
      // The replies first, as everywhere. A call that ended before ends anew in the moment of the delivery.
      await db.query(
        `WITH delivered AS (
           UPDATE replies SET delivered_at = now(), taken_by = NULL
           WHERE id = ANY ($3::uuid[]) AND project_id = $1 AND delivered_at IS NULL RETURNING 1
         )
         UPDATE messages m SET call_ended_at = now() FROM (SELECT count(*) AS count FROM delivered) d
         WHERE m.project_id = $1 AND m.id = $2 AND (d.count > 0 OR m.call_ended_at IS NULL)`,
        [project, messageId, delivered],
      );
    },

    /** Takes the oldest buffered replies of a chat, for an answer that `confirm` or `release` follows. */
    async takeFromBuffer(
      project: ProjectId,
      ticketId: string,
      instance: string,
      limits: DrainLimits,
      takeId = newId(),
    ): Promise<DrainPage> {
      if (!(await hasUndelivered({ project, ticketId, after: 0 }))) return asPage([], 0);
      const rows = await db.prepared<ReplyRow & { candidates: number; first_hidden: number }>(
        "replies_take_from_buffer",
        TAKE_FROM_BUFFER,
        [project, ticketId, instance, limits.maxReplies, limits.maxBytes, limits.keptDays, takeId],
      );
      return asPage(rows, 0);
    },

    /** Reads the buffered replies of a chat after a place, and takes nothing. */
    async readBuffer(project: ProjectId, ticketId: string, after: number, limits: DrainLimits): Promise<DrainPage> {
      if (!(await hasUndelivered({ project, ticketId, after }))) return asPage([], after);
      const rows = await db.prepared<ReplyRow & { candidates: number }>("replies_read_buffer", READ_BUFFER, [
        project,
        ticketId,
        after,
        limits.maxReplies,
        limits.maxBytes,
        limits.keptDays,
      ]);
      return asPage(rows, after);
    },

    /**
     * The caller has every buffered reply up to this place: they leave the buffer. False, and nothing happens, when the
     * chat has not come to this place yet; true for a chat that nobody knows.
     */
    async acknowledge(project: ProjectId, ticketId: string, upTo: number): Promise<boolean> {
      const rows = await db.query<{ is_known: boolean }>(ACKNOWLEDGE, [project, ticketId, upTo]);
      return rows[0]?.is_known ?? true;
    },

    /** The receiver has this reply. Concurrent calls share a statement. Safe to repeat. */
    confirm(project: ProjectId, id: string): Promise<void> {
      return confirm({ project, id });
    },

    /**
     * Whatever was taken by this id and not handed over goes back to the buffer, also where the store broke off and
     * nobody knows what was taken. Safe to repeat.
     */
    async release(project: ProjectId, ticketId: string, takeId: string): Promise<void> {
      await db.query(RELEASE, [project, ticketId, takeId]);
    },

    /** The undelivered replies of a range with where they go; null when there are none. Concurrent calls share a read. */
    readRange(project: ProjectId, range: Omit<ReplyRange, "project">): Promise<OutgoingReplies | null> {
      return readRange({ project, ...range });
    },
  };
}

/** A reply item from its row. */
export function asReply(row: ReplyRow): StoredReply {
  const place = {
    id: row.id,
    ticketId: row.ticket_id,
    seq: row.seq,
    inReplyTo: row.in_reply_to,
    author: row.author,
    createdAt: row.created_at,
  };
  return row.type === "message"
    ? { ...place, type: "message", text: row.text ?? "", markdown: row.markdown ?? false, sources: row.sources }
    : {
        ...place,
        type: "attachment",
        filename: row.filename ?? "",
        mime: row.mime ?? "",
        content: row.content ?? Buffer.alloc(0),
      };
}
