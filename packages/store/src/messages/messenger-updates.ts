import type { Db } from "../db.ts";
import { asProjectId, newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";

/** An update as it came, with what has to be known of it before it is read. */
export interface NewMessengerUpdate {
  updateId: number;
  /** Of which conversation and chat, and who wrote; null where it is about none. Then it is nothing to answer. */
  origin: { ticketId: string; chatId: string; userId: string | null } | null;
  /** All of it, as JSON. */
  body: string;
  /** How its text begins. */
  excerpt: string;
  /** The album that it is a part of, else null. */
  albumId: string | null;
}

/** An update whose turn it is in its conversation. */
export interface WaitingUpdate {
  project: ProjectId;
  botId: number;
  updateId: number;
  ticketId: string;
  /** The message that it becomes. */
  messageId: string;
  chatId: string;
  body: string;
  isAlbum: boolean;
  /** Tries that have failed. */
  tries: number;
  receivedAt: Date;
}

/** What an update has become; see the migration. */
export type SettledState = "accepted" | "answered" | "ignored";

/** A message that was made of an update. */
export interface SentMessage {
  text: string;
  channelMeta: Record<string, unknown>;
}

/** An update that five tries have failed on. */
export interface DeadUpdate {
  messageId: string;
  ticketId: string;
  chatId: string;
  text: string;
  failure: string;
  failedAt: Date;
}

interface WaitingRow {
  project_id: string;
  bot_id: number;
  update_id: number;
  ticket_id: string;
  message_id: string;
  chat_id: string;
  body: string;
  album_id: string | null;
  tries: number;
  received_at: Date;
}

const asWaiting = (row: WaitingRow): WaitingUpdate => ({
  project: asProjectId(row.project_id),
  botId: row.bot_id,
  updateId: row.update_id,
  ticketId: row.ticket_id,
  messageId: row.message_id,
  chatId: row.chat_id,
  body: row.body,
  isAlbum: row.album_id !== null,
  tries: row.tries,
  receivedAt: row.received_at,
});

/** The parts of an album come one after the other: so long its first one waits for the others. */
const ALBUM_WAIT = "interval '1 second'";
/** Telegram keeps an update for a day; after that it cannot come again. */
const SETTLED_KEPT = "interval '2 days'";
/** What nobody has looked at until then is given up, and so is what waits for a bot that does not come back. */
const UNSETTLED_KEPT = "interval '30 days'";
const PRUNE_PAGE = 1_000;

const COLUMNS =
  "u.project_id, u.bot_id, u.update_id, u.ticket_id, u.message_id, u.chat_id, u.body, u.album_id, u.tries, u.received_at";

/** Updates of the messenger: stored once, taken one by one in the order of their conversation. */
export function messengerUpdatesTable(db: Db) {
  const INSERT = `
    INSERT INTO messenger_updates (
      bot_id, update_id, project_id, ticket_id, message_id, state, chat_id, user_id, body, excerpt, album_id, next_at,
      settled_at
    )
    SELECT $1, i.update_id, $2, i.ticket_id, i.message_id,
      CASE WHEN i.ticket_id IS NULL THEN 'ignored' ELSE 'waiting' END,
      i.chat_id, i.user_id, CASE WHEN i.ticket_id IS NOT NULL THEN i.body END,
      CASE WHEN i.ticket_id IS NOT NULL THEN i.excerpt END, i.album_id,
      CASE WHEN i.album_id IS NULL THEN now() ELSE now() + ${ALBUM_WAIT} END,
      CASE WHEN i.ticket_id IS NULL THEN now() END
    FROM unnest($3::bigint[], $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
      AS i (update_id, ticket_id, message_id, chat_id, user_id, body, excerpt, album_id)
    ORDER BY i.update_id
    ON CONFLICT (bot_id, update_id) DO NOTHING
    RETURNING 1`;

  // Goes from conversation to conversation along the index, so that a long backlog of one costs no more than its head. A
  // part of an album that was joined goes with the first one. Reads only: one process at a time takes updates of a bot.
  const LIST_HEADS = `
    WITH RECURSIVE chat AS (
      (SELECT ticket_id FROM messenger_updates
       WHERE bot_id = $1 AND state = 'waiting' ORDER BY ticket_id LIMIT 1)
      UNION ALL
      SELECT (
        SELECT u.ticket_id FROM messenger_updates u
        WHERE u.bot_id = $1 AND u.state = 'waiting' AND u.ticket_id > c.ticket_id ORDER BY u.ticket_id LIMIT 1
      ) FROM chat c WHERE c.ticket_id IS NOT NULL
    )
    SELECT ${COLUMNS} FROM chat c CROSS JOIN LATERAL (
      SELECT * FROM messenger_updates w
      WHERE w.bot_id = $1 AND w.ticket_id = c.ticket_id AND w.state = 'waiting'
        AND (w.joined_to IS NULL OR w.joined_to = w.update_id)
      ORDER BY w.update_id LIMIT 1
    ) u
    WHERE c.ticket_id <> ALL ($2::uuid[]) AND u.next_at <= now()
    ORDER BY u.update_id LIMIT $3`;

  return {
    /** Commits updates; those that are there already stay as they are. Answers how many were new. */
    async insertMany(project: ProjectId, botId: number, updates: readonly NewMessengerUpdate[]): Promise<number> {
      if (updates.length === 0) return 0;
      // One id cannot be written twice by a statement.
      const unique = [...new Map(updates.map((update) => [update.updateId, update])).values()];
      const rows = await db.query(INSERT, [
        botId,
        project,
        unique.map(({ updateId }) => updateId),
        unique.map(({ origin }) => origin?.ticketId ?? null),
        unique.map(() => newId()),
        unique.map(({ origin }) => origin?.chatId ?? null),
        unique.map(({ origin }) => origin?.userId ?? null),
        unique.map(({ body }) => body),
        unique.map(({ excerpt }) => excerpt),
        unique.map(({ albumId }) => albumId),
      ]);
      return rows.length;
    },

    /** The oldest update of each conversation, where it may be taken now: at most `limit`, without the busy ones. */
    async listHeads(botId: number, busyTicketIds: readonly string[], limit: number): Promise<WaitingUpdate[]> {
      const rows = await db.prepared<WaitingRow>("messenger_updates_heads", LIST_HEADS, [botId, busyTicketIds, limit]);
      return rows.map(asWaiting);
    },

    /**
     * All parts of an album, its first one among them, in their order. What has come until it is first asked for belongs
     * together from then on; what comes later is an update of its own.
     */
    async joinAlbum(first: Pick<WaitingUpdate, "botId" | "updateId">): Promise<WaitingUpdate[]> {
      const key = [first.botId, first.updateId];
      // Locks the rows of this album alone, which nobody else takes.
      await db.query(
        `UPDATE messenger_updates p SET joined_to = f.update_id
         FROM messenger_updates f
         WHERE f.bot_id = $1 AND f.update_id = $2 AND f.joined_to IS NULL AND f.state = 'waiting'
           AND p.bot_id = f.bot_id AND p.ticket_id = f.ticket_id AND p.album_id = f.album_id AND p.state = 'waiting'
           AND p.update_id >= f.update_id`,
        key,
      );
      const rows = await db.query<WaitingRow>(
        `SELECT ${COLUMNS} FROM messenger_updates f JOIN messenger_updates u
           ON u.bot_id = f.bot_id AND u.ticket_id = f.ticket_id AND u.state = 'waiting' AND u.joined_to = f.update_id
         WHERE f.bot_id = $1 AND f.update_id = $2 ORDER BY u.update_id`,
        key,
      );
      return rows.map(asWaiting);
    },

    /** Whether an update is still to be taken: who wrote it may have been erased since it was listed. */
    async isWaiting({ botId, updateId }: Pick<WaitingUpdate, "botId" | "updateId">): Promise<boolean> {
      const rows = await db.prepared(
        "messenger_updates_is_waiting",
        "SELECT 1 FROM messenger_updates WHERE bot_id = $1 AND update_id = $2 AND state = 'waiting'",
        [botId, updateId],
      );
      return rows.length > 0;
    },

    /** Notes what updates have become, and forgets what they said. */
    async settle(botId: number, updateIds: readonly number[], state: SettledState): Promise<void> {
      await db.prepared(
        "messenger_updates_settle",
        `UPDATE messenger_updates SET state = $3, settled_at = now(), chat_id = NULL, user_id = NULL, body = NULL,
           excerpt = NULL, failure = NULL
         WHERE bot_id = $1 AND update_id = ANY ($2::bigint[]) AND state = 'waiting'`,
        [botId, updateIds, state],
      );
    },

    /** Puts an update off, and with it what comes after it in its conversation. The try counts if `counts`. */
    async retryLater(
      { botId, updateId }: Pick<WaitingUpdate, "botId" | "updateId">,
      { delayMs, failure, counts }: { delayMs: number; failure: string; counts: boolean },
    ): Promise<void> {
      await db.query(
        `UPDATE messenger_updates SET next_at = now() + $3 * interval '1 millisecond', failure = $4, tries = tries + $5
         WHERE bot_id = $1 AND update_id = $2 AND state = 'waiting'`,
        [botId, updateId, Math.round(delayMs), failure, counts ? 1 : 0],
      );
    },

    /** Gives updates up: they wait for an operator, and the conversation goes on without them. */
    async bury(botId: number, updateIds: readonly number[], failure: string): Promise<void> {
      await db.query(
        `UPDATE messenger_updates SET state = 'dead', settled_at = now(), failure = $3, tries = tries + 1
         WHERE bot_id = $1 AND update_id = ANY ($2::bigint[]) AND state = 'waiting'`,
        [botId, updateIds, failure],
      );
    },

    /** The dead updates of a project, newest first, at most `limit`. */
    async listDead(project: ProjectId, limit: number): Promise<DeadUpdate[]> {
      const rows = await db.query<{
        message_id: string;
        ticket_id: string;
        chat_id: string | null;
        excerpt: string | null;
        failure: string | null;
        settled_at: Date;
      }>(
        `SELECT message_id, ticket_id, chat_id, excerpt, failure, settled_at FROM messenger_updates
         WHERE project_id = $1 AND state = 'dead' AND (joined_to IS NULL OR joined_to = update_id)
         ORDER BY settled_at DESC LIMIT $2`,
        [project, limit],
      );
      return rows.map((row) => ({
        messageId: row.message_id,
        ticketId: row.ticket_id,
        chatId: row.chat_id ?? "",
        text: row.excerpt ?? "",
        failure: row.failure ?? "",
        failedAt: row.settled_at,
      }));
    },

    /** Has a dead update, with the rest of its album, taken again, with five fresh tries. False when there is none. */
    async revive(project: ProjectId, messageId: string): Promise<boolean> {
      const rows = await db.query(
        `WITH first AS (
           SELECT bot_id, update_id FROM messenger_updates
           WHERE project_id = $1 AND message_id = $2 AND state = 'dead' FOR UPDATE
         )
         UPDATE messenger_updates u SET state = 'waiting', settled_at = NULL, tries = 0, next_at = now()
         FROM first f
         WHERE u.project_id = $1 AND u.state = 'dead' AND u.bot_id = f.bot_id
           AND (u.update_id = f.update_id OR u.joined_to = f.update_id)
         RETURNING 1`,
        [project, messageId],
      );
      return rows.length > 0;
    },

    /**
     * Forgets what can come no more, and what nobody has looked at for a month. Answers how many of them had not been
     * answered, and whether there may be more to forget.
     */
    async prune(): Promise<{ unanswered: number; isMore: boolean }> {
      const rows = await db.query<{ is_unanswered: boolean }>(
        `DELETE FROM messenger_updates WHERE (bot_id, update_id) IN (
           (SELECT bot_id, update_id FROM messenger_updates
            WHERE state <> 'waiting' AND settled_at < now() - ${SETTLED_KEPT}
              AND (state <> 'dead' OR settled_at < now() - ${UNSETTLED_KEPT})
            LIMIT ${PRUNE_PAGE})
           UNION ALL
           (SELECT bot_id, update_id FROM messenger_updates
            WHERE state = 'waiting' AND received_at < now() - ${UNSETTLED_KEPT} LIMIT ${PRUNE_PAGE})
         ) RETURNING state IN ('waiting', 'dead') AS is_unanswered`,
      );
      return {
        unanswered: rows.filter(({ is_unanswered: isUnanswered }) => isUnanswered).length,
        isMore: rows.length >= PRUNE_PAGE,
      };
    },

    /** The newest of the messages of a conversation that came as this message of Telegram, if it was lately; else null. */
    async findMessage(project: ProjectId, ticketId: string, telegramMessageId: number): Promise<SentMessage | null> {
      const [row] = await db.query<{ text: string; channel_meta: Record<string, unknown> }>(
        `SELECT text, channel_meta FROM (
           SELECT seq, text, channel_meta FROM messages
           WHERE ticket_id = $2 AND project_id = $1 ORDER BY seq DESC LIMIT 200
         ) m
         WHERE channel_meta #>> '{telegram,messageId}' = $3
         ORDER BY seq DESC LIMIT 1`,
        [project, ticketId, String(telegramMessageId)],
      );
      return row === undefined ? null : { text: row.text, channelMeta: row.channel_meta };
    },
  };
}
