import type { Db } from "../db.ts";
import { eraseGapsOfTickets } from "../knowledge/gaps.ts";
import {
  HOOK_BODIES,
  LOOSE_BODIES,
  LOOSE_UPDATES,
  MESSENGER_UPDATES,
  TABLES_OF_PROJECTS,
  TICKET_ROWS,
} from "./held-data.ts";
import type { BodyOwner, HeldRows } from "./held-data.ts";
import { asProjectId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { outlastDeadlocks } from "../outlast-deadlocks.ts";
import { TAKE_TICKETS_BACK } from "../platform/projects.ts";

/** How many rows, by kind. */
export type HeldCounts = Record<string, number>;

/** Some rows of one kind, as an export shows them. */
export interface HeldRecords {
  kind: string;
  records: Record<string, unknown>[];
}

/** A project whose turn it is to be looked through for what it has kept for too long. */
export interface DuePurge {
  project: ProjectId;
  /** Name of the project. */
  name: string;
  retentionDays: number;
}

/** How often a project is looked through for what it has kept for too long. */
const PURGE_EVERY = "interval '1 hour'";
/** Chats that one look goes through, so that no statement lasts long. */
const PURGE_PAGE = 500;
/** Messages whose rows an export looks for at once. */
const MESSAGE_SLICE = 500;

/** What one step of the removal of a project takes at most. */
const REMOVAL = { tickets: 20, rows: 500 } as const;
/**
 * A request that was let in before its project was deleted may still write: so long is looked for that, and so often.
 */
const REMOVAL_SETTLES = "interval '10 minutes'";
const REMOVAL_LOOKS_AGAIN = "interval '20 seconds'";

const NOTHING: HeldCounts = Object.fromEntries(TICKET_ROWS.map(({ kind }) => [kind, 0]));

/** Adds what one erasure has counted to another. */
export function addCounts(one: HeldCounts, other: HeldCounts): HeldCounts {
  return Object.fromEntries(TICKET_ROWS.map(({ kind }) => [kind, (one[kind] ?? 0) + (other[kind] ?? 0)]));
}

// Who wrote a message, as its index has it.
const AUTHOR = "coalesce(m.user_id, m.channel_meta ->> 'userId')";

/**
 * SQL that is true when nothing has happened in the chat `c` for $2 days and nothing waits in it: no message, no reply,
 * no change of its ticket. What waits stays, however long: for the pipeline, for a person, or for a receiver of callbacks.
 */
const IS_IDLE = `(
  NOT EXISTS (SELECT 1 FROM messages m WHERE m.ticket_id = c.ticket_id
    AND (m.state IN ('received', 'held', 'failed') OR m.created_at >= now() - make_interval(days => $2)))
  AND NOT EXISTS (SELECT 1 FROM replies r WHERE r.ticket_id = c.ticket_id
    AND r.created_at >= now() - make_interval(days => $2))
  AND NOT EXISTS (SELECT 1 FROM tickets t WHERE t.id = c.ticket_id
    AND (t.stage IN ('review', 'failed') OR t.updated_at >= now() - make_interval(days => $2)))
  AND NOT EXISTS (SELECT 1 FROM reviews v WHERE v.ticket_id = c.ticket_id AND v.finished_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM callbacks k WHERE k.ticket_id = c.ticket_id AND k.has_news)
  AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.ticket_id = c.ticket_id AND d.state = 'pending')
)`;

/** A row as an export shows it, and what the next page begins after. */
type PlacedRow = Record<string, unknown> & { place_: string };

function withoutPlace(row: PlacedRow): Record<string, unknown> {
  const { place_: _, ...record } = row;
  return record;
}

async function messagesOf(db: Db, ticketId: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>("SELECT id FROM messages WHERE ticket_id = $1", [ticketId]);
  return rows.map(({ id }) => id);
}

/** Everything of personal data goes by these functions, a conversation at a time. */
export function erasuresTable(db: Db) {
  /**
   * Erases a conversation under the lock of its chat, by which whoever works on it loses its lease. What callbacks are on
   * their way is locked before, as those who make them lock the chat last; what was added meanwhile is locked once nobody
   * can add any more. Answers null when the project has no such chat, or when it is not idle for `ifIdleDays`.
   */
  async function eraseTicket(
    tx: Db,
    project: ProjectId,
    ticketId: string,
    { keepsPlace, ifIdleDays = null }: { keepsPlace: boolean; ifIdleDays?: number | null },
  ): Promise<HeldCounts | null> {
    await tx.query("SELECT id FROM deliveries WHERE ticket_id = $1 AND state = 'pending' ORDER BY id FOR UPDATE", [
      ticketId,
    ]);
    const [chat] = await tx.query("SELECT 1 FROM chats WHERE project_id = $1 AND ticket_id = $2 FOR UPDATE", [
      project,
      ticketId,
    ]);
    if (chat === undefined) return null;
    // A change that is just being made of the ticket is waited for and counts.
    const [ticket] = await tx.query<{ version: number }>("SELECT version FROM tickets WHERE id = $1 FOR UPDATE", [
      ticketId,
    ]);
    if (ifIdleDays !== null) {
      const [idle] = await tx.query(`SELECT 1 FROM chats c WHERE c.ticket_id = $1 AND ${IS_IDLE}`, [
        ticketId,
        ifIdleDays,
      ]);
      if (idle === undefined) return null;
    }
    const messages = await messagesOf(tx, ticketId);
    const learned = await tx.query<{ project_id: string }>(
      `SELECT project_id FROM tickets WHERE id = $1 AND status = 'resolved'
       UNION SELECT project_id FROM triage_messages WHERE ticket_id = $1 ORDER BY project_id`,
      [ticketId],
    );
    const counts: HeldCounts = { ...NOTHING, questions: await eraseQuestions(tx, ticketId) };
    for (const { kind, table, where, of } of TICKET_ROWS) {
      if (kind === "deliveryAttempts") {
        await tx.query("SELECT id FROM deliveries WHERE message_id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE", [
          messages,
        ]);
      }
      const [gone] = await tx.query<{ count: number }>(
        `WITH ids AS (SELECT $1::uuid, $2::uuid[]), gone AS (DELETE FROM ${table} x WHERE ${where} RETURNING 1)
         SELECT count(*) AS count FROM gone`,
        [ticketId, of === "messages" ? messages : []],
      );
      counts[kind] = (counts[kind] ?? 0) + (gone?.count ?? 0);
    }
    await tx.query("DELETE FROM outboxes WHERE ticket_id = $1", [ticketId]);
    if (keepsPlace) {
      await tx.query(
        `UPDATE chats SET chat_id = '', lease_id = NULL, lease_until = NULL, review_id = NULL,
           ticket_version = coalesce($2, ticket_version)
         WHERE ticket_id = $1`,
        [ticketId, ticket?.version ?? null],
      );
    } else {
      await tx.query("DELETE FROM chats WHERE ticket_id = $1", [ticketId]);
    }
    await tx.query("UPDATE projects SET erasures = erasures + 1 WHERE id = ANY ($1::uuid[])", [
      learned.map(({ project_id }) => project_id),
    ]);
    return counts;
  }

  /** Takes what the conversation has asked from the gaps of every project that noted it; answers how many messages. */
  async function eraseQuestions(tx: Db, ticketId: string): Promise<number> {
    const projects = await tx.query<{ project_id: string }>(
      "SELECT DISTINCT project_id FROM gap_examples WHERE ticket_id = $1 ORDER BY project_id",
      [ticketId],
    );
    let count = 0;
    for (const { project_id: project } of projects) {
      count += await eraseGapsOfTickets(tx, asProjectId(project), [ticketId]);
    }
    return count;
  }

  /** The ids of a conversation's messages in the order of their places, some at a time. */
  async function* readMessageIds(ticketId: string): AsyncGenerator<string[]> {
    let after = 0;
    for (;;) {
      const rows = await db.query<{ id: string; seq: number }>(
        `SELECT id, seq FROM messages WHERE ticket_id = $1 AND seq > $2 ORDER BY seq LIMIT ${MESSAGE_SLICE}`,
        [ticketId, after],
      );
      const last = rows.at(-1);
      if (last !== undefined) yield rows.map(({ id }) => id);
      if (last === undefined || rows.length < MESSAGE_SLICE) return;
      after = last.seq;
    }
  }

  /** All rows of one kind, page by page: each page goes on after the place of the last row, whatever came before. */
  async function* readRows(
    { kind, table, where, place, placeType, shown, pageRows }: HeldRows,
    id: string,
    ids: readonly string[],
  ): AsyncGenerator<HeldRecords> {
    // Attachments are replies too, and are erased before them.
    const filter = kind === "replies" ? `${where} AND x.type <> 'attachment'` : where;
    let after: string | null = null;
    do {
      const rows: PlacedRow[] = await db.query(
        `WITH ids AS (SELECT $1::uuid, $2::uuid[])
         SELECT ${shown}, (${place})::text AS place_ FROM ${table} x
         WHERE ${filter} AND ($3::${placeType} IS NULL OR ${place} > $3::${placeType})
         ORDER BY ${place} LIMIT ${pageRows}`,
        [id, ids, after],
      );
      if (rows.length > 0) yield { kind, records: rows.map(withoutPlace) };
      after = rows.length < pageRows ? null : (rows.at(-1)?.place_ ?? null);
    } while (after !== null);
  }

  /** Bodies of hooks belong to no conversation where no message was made of them. A hook has twenty at most. */
  async function purgeBodies(project: ProjectId, retentionDays: number): Promise<void> {
    await db.query(
      `DELETE FROM hook_bodies b USING hooks h
       WHERE h.project_id = $1 AND b.hook_id = h.id AND b.received_at < now() - make_interval(days => $2)`,
      [project, retentionDays],
    );
  }

  /** Updates of the messenger that were given up belong to no conversation where no message came before them. */
  async function purgeUpdates(project: ProjectId, retentionDays: number): Promise<void> {
    await db.query(
      `DELETE FROM messenger_updates
       WHERE project_id = $1 AND state = 'dead' AND received_at < now() - make_interval(days => $2)`,
      [project, retentionDays],
    );
  }

  /** Calls of models that were made for no conversation; the others go with theirs. Locks only what it deletes. */
  async function purgeModelCalls(project: ProjectId, retentionDays: number): Promise<void> {
    await db.query(
      `DELETE FROM model_calls
       WHERE project_id = $1 AND ticket_id IS NULL AND at < now() - make_interval(days => $2)`,
      [project, retentionDays],
    );
  }

  /** Views that operators have saved of the tickets of a user who has none (any more). There are few. */
  async function purgeViews(project: ProjectId): Promise<void> {
    await db.query(
      `DELETE FROM operator_views v WHERE v.project_id = $1 AND v.filters ? 'userId' AND NOT EXISTS (
         SELECT 1 FROM messages m WHERE m.project_id = $1 AND ${AUTHOR} = v.filters ->> 'userId'
           AND hashtextextended(${AUTHOR}, 0) = hashtextextended(v.filters ->> 'userId', 0))`,
      [project],
    );
  }

  return {
    /** The conversations that came in to this project and in which this user wrote, as a sender names it. */
    async findTicketsOfUser(project: ProjectId, userId: string): Promise<string[]> {
      const rows = await db.query<{ ticket_id: string }>(
        `SELECT DISTINCT m.ticket_id FROM messages m
         WHERE hashtextextended(${AUTHOR}, 0) = hashtextextended($2, 0) AND ${AUTHOR} = $2 AND m.project_id = $1
         ORDER BY m.ticket_id`,
        [project, userId],
      );
      return rows.map((row) => row.ticket_id);
    },

    /** Of these conversations, those that came in to this project. */
    async findTickets(project: ProjectId, ticketIds: string[]): Promise<string[]> {
      const rows = await db.query<{ ticket_id: string }>(
        "SELECT ticket_id FROM chats WHERE project_id = $1 AND ticket_id = ANY ($2::uuid[]) ORDER BY ticket_id",
        [project, ticketIds],
      );
      return rows.map((row) => row.ticket_id);
    },

    /**
     * Erases all of a conversation; a message that comes afterwards begins it anew, at the places that follow. Answers
     * what was erased, null when the project has no such conversation.
     */
    erase(project: ProjectId, ticketId: string): Promise<HeldCounts | null> {
      return outlastDeadlocks(db, (tx) => eraseTicket(tx, project, ticketId, { keepsPlace: true }));
    },

    /** All that is held of a conversation, kind by kind, in parts of some rows. */
    async *read(project: ProjectId, ticketId: string): AsyncGenerator<HeldRecords> {
      const known = await db.query("SELECT 1 FROM chats WHERE project_id = $1 AND ticket_id = $2", [project, ticketId]);
      if (known.length === 0) return;
      for (const rows of TICKET_ROWS) {
        if (rows.of === "ticket") yield* readRows(rows, ticketId, []);
        else for await (const messageIds of readMessageIds(ticketId)) yield* readRows(rows, ticketId, messageIds);
      }
    },

    /**
     * The bodies of hooks that name somebody and updates of the messenger, which belong to none of these conversations,
     * as `read` shows them. Each hook has twenty bodies at most.
     */
    async *readLoose(
      project: ProjectId,
      { userId, chatId, messengerChatId, ticketIds }: BodyOwner,
    ): AsyncGenerator<HeldRecords> {
      const rows = await db.query<{ id: string }>(`SELECT x.id FROM hook_bodies x WHERE ${LOOSE_BODIES}`, [
        project,
        userId,
        chatId,
        ticketIds,
      ]);
      const ids = rows.map(({ id }) => id);
      yield* readRows({ ...HOOK_BODIES, where: "x.project_id = $1 AND x.id = ANY ($2::uuid[])" }, project, ids);
      const updates = await db.query<{ message_id: string }>(
        `SELECT x.message_id FROM messenger_updates x WHERE ${LOOSE_UPDATES}`,
        [project, userId, messengerChatId, ticketIds],
      );
      yield* readRows(
        { ...MESSENGER_UPDATES, where: "x.project_id = $1 AND x.message_id = ANY ($2::uuid[])" },
        project,
        updates.map((row) => row.message_id),
      );
    },

    /** Erases what `readLoose` reads, so that nobody can try it again, and saved views of this user's tickets. Before the conversations, whose chats it needs. */
    async eraseLoose(
      project: ProjectId,
      { userId, chatId, messengerChatId, ticketIds }: BodyOwner,
    ): Promise<HeldCounts> {
      const gone = await db.query(`DELETE FROM hook_bodies x WHERE ${LOOSE_BODIES} RETURNING 1`, [
        project,
        userId,
        chatId,
        ticketIds,
      ]);
      const updates = await db.query(`DELETE FROM messenger_updates x WHERE ${LOOSE_UPDATES} RETURNING 1`, [
        project,
        userId,
        messengerChatId,
        ticketIds,
      ]);
      // A view that somebody has saved of the tickets of this user, also of all projects.
      await db.query(
        "DELETE FROM operator_views WHERE (project_id = $1 OR project_id IS NULL) AND filters ->> 'userId' = $2",
        [project, userId],
      );
      return { ...NOTHING, hookBodies: gone.length, messengerUpdates: updates.length };
    },

    /**
     * Takes the project whose turn it is to be looked through for what it has kept for too long; null when it is no
     * project's turn. Each has its turn once an hour, whichever replica takes it.
     */
    async takeDuePurge(): Promise<DuePurge | null> {
      const rows = await db.query<{ id: string; name: string; retention_days: number }>(
        `UPDATE projects SET purge_at = now() + ${PURGE_EVERY}
         WHERE id = (
           SELECT id FROM projects WHERE retention_days IS NOT NULL AND deleted_at IS NULL AND purge_at <= now()
           ORDER BY purge_at LIMIT 1 FOR UPDATE SKIP LOCKED
         ) RETURNING id, name, retention_days`,
      );
      const row = rows[0];
      return row === undefined
        ? null
        : { project: asProjectId(row.id), name: row.name, retentionDays: row.retention_days };
    },

    /**
     * Goes through some of a project's chats, those after `after`, and erases the conversations in which nothing has
     * happened for so many days; those that wait for a person stay. Answers how many, and where to go on; null at the end.
     * At the beginning, bodies of hooks that are as old go too, whether a message was made of them or not, updates of the
     * messenger that were given up, and calls of models that belong to no conversation. At the end, saved views of users
     * who have nothing here any more go.
     */
    async purgeIdle(
      { project, retentionDays }: Omit<DuePurge, "name">,
      after: string | null,
    ): Promise<{ erased: number; next: string | null }> {
      if (after === null) {
        await purgeBodies(project, retentionDays);
        await purgeUpdates(project, retentionDays);
        await purgeModelCalls(project, retentionDays);
      }
      const chats = await db.query<{ ticket_id: string; is_idle: boolean }>(
        `SELECT c.ticket_id, c.chat_id <> '' AND ${IS_IDLE} AS is_idle FROM (
           SELECT ticket_id, chat_id FROM chats WHERE project_id = $1 AND ($3::uuid IS NULL OR ticket_id > $3)
           ORDER BY ticket_id LIMIT ${PURGE_PAGE}
         ) c ORDER BY c.ticket_id`,
        [project, retentionDays, after],
      );
      let erased = 0;
      for (const { ticket_id: ticketId } of chats.filter(({ is_idle }) => is_idle)) {
        const counts = await outlastDeadlocks(db, (tx) =>
          eraseTicket(tx, project, ticketId, { keepsPlace: true, ifIdleDays: retentionDays }),
        );
        if (counts !== null) erased++;
      }
      if (chats.length < PURGE_PAGE) await purgeViews(project);
      return { erased, next: chats.length < PURGE_PAGE ? null : (chats.at(-1)?.ticket_id ?? null) };
    },

    /** Removes some of what deleted projects held. True when there may be more to remove. */
    purgeDeleted(): Promise<boolean> {
      return outlastDeadlocks(db, async (tx) => {
        // One process at a time: what another one is deleting right now would look like the end of a step.
        const [deleted] = await tx.query<{ id: string; is_settled: boolean }>(
          `SELECT id, deleted_at < now() - ${REMOVAL_SETTLES} AS is_settled FROM projects
           WHERE deleted_at IS NOT NULL AND purge_at <= now() ORDER BY purge_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
        );
        if (deleted === undefined) return false;
        const project = asProjectId(deleted.id);
        const chats = await tx.query<{ ticket_id: string }>(
          `SELECT ticket_id FROM chats WHERE project_id = $1 ORDER BY ticket_id LIMIT ${REMOVAL.tickets}`,
          [project],
        );
        for (const { ticket_id: ticketId } of chats) await eraseTicket(tx, project, ticketId, { keepsPlace: false });
        if (chats.length > 0) return true;
        if ((await tx.query(TAKE_TICKETS_BACK, [project])).length > 0) return true;
        for (const [table, goesWith] of Object.entries(TABLES_OF_PROJECTS)) {
          if (goesWith !== "itself") continue;
          const gone = await tx.query(
            `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
               SELECT ctid FROM ${table} WHERE project_id = $1 LIMIT ${REMOVAL.rows}
             )) RETURNING 1`,
            [project],
          );
          if (gone.length > 0) return true;
        }
        // Knowledge bases are removed by `kbs.purge`; one that was made by a late request is deleted like the others.
        await tx.query("UPDATE kbs SET deleted_at = now() WHERE project_id = $1 AND deleted_at IS NULL", [project]);
        const removed = await tx.query(
          `DELETE FROM projects p WHERE p.id = $1 AND $2 AND NOT EXISTS (SELECT 1 FROM kbs k WHERE k.project_id = p.id)
           RETURNING 1`,
          [project, deleted.is_settled],
        );
        if (removed.length > 0) {
          // Nothing of the project is left to be counted.
          await tx.query("DELETE FROM stored_bytes WHERE project_id = $1", [project]);
          return true;
        }
        await tx.query(`UPDATE projects SET purge_at = now() + ${REMOVAL_LOOKS_AGAIN} WHERE id = $1`, [project]);
        return true;
      });
    },
  };
}
