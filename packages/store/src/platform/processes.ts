import type { Db } from "../db.ts";
import { expiredLease } from "../messages/expired-leases.ts";

/** Whoever has not been heard of for so long has vanished: far more than a lost line, or a machine that is too busy, takes. */
export const SILENT_MS = 30_000;
/** A process that runs is heard every 5 s; one that has been silent for longer may have ended. */
const LATE_MS = 6_000;
/** Replicas of the app itself tell of it first, where there are any: it is looked for in their log. */
const TOLD_BY_OTHERS_MS = 4 * SILENT_MS;

/** A process of the product. */
export interface ProcessFacts {
  app: string;
  /** The name of the machine or container. */
  host: string;
  pid: number;
  memoryBytes: number;
  /** Null where nothing limits it. */
  memoryLimitBytes: number | null;
}

/** A process that has ended without a stop, as far as anybody can say. */
export interface VanishedProcess extends ProcessFacts {
  startedAt: Date;
  heardAt: Date;
}

/** How many processes of an app run. */
export interface RunningCount {
  app: string;
  count: number;
  /** Those on other hosts. */
  elsewhere: number;
}

const COLUMNS = `app, host, pid, started_at AS "startedAt", heard_at AS "heardAt", memory_bytes AS "memoryBytes",
  memory_limit_bytes AS "memoryLimitBytes"`;
const IS_SILENT = `heard_at < now() - interval '${SILENT_MS} milliseconds'`;
const IS_FORGOTTEN = "heard_at < now() - interval '1 day'";

/** Processes that run, and those that have vanished without a stop within the last day. */
export function processesTable(db: Db, ownId: string) {
  return {
    /** Id of this process, by which the leases that it holds name it. */
    ownId,

    /** Says that this process runs, and what it uses. One that was thought to have vanished is back. */
    async beat({ app, host, pid, memoryBytes, memoryLimitBytes }: ProcessFacts): Promise<void> {
      await db.prepared(
        "processes_beat",
        `INSERT INTO processes (id, app, host, pid, memory_bytes, memory_limit_bytes) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (id) DO UPDATE SET heard_at = now(), memory_bytes = excluded.memory_bytes, told_at = NULL`,
        [ownId, app, host, pid, memoryBytes, memoryLimitBytes],
      );
    },

    /** Says that this process stops, and forgets those that vanished more than a day ago. */
    async end(): Promise<void> {
      await db.query(`DELETE FROM processes WHERE id = $1 OR ${IS_FORGOTTEN}`, [ownId]);
    },

    /**
     * Records that an unexpected error ends this process, and with the messages that it is working on that it crashed
     * while it had them: those that do not finish before it ends are released in order, and could cause it again.
     */
    async crash(): Promise<void> {
      await db.query(
        `WITH crashed AS (
           UPDATE processes SET crashed_at = now() WHERE id = $1
         ), held AS (
           SELECT c.ticket_id, ${expiredLease("c", "c.lease_group")} AS lease FROM chats c
           WHERE c.lease_holder = $1 AND c.lease_id IS NOT NULL AND c.lease_until > now() AND c.review_id IS NULL
         )
         UPDATE messages m SET expired_leases = coalesce(m.expired_leases || held.lease, held.lease)
         FROM held WHERE m.id = (SELECT id FROM messages WHERE ticket_id = held.ticket_id AND state = 'received'
           ORDER BY seq LIMIT 1)`,
        [ownId],
      );
    },

    /**
     * Processes on this host that have not been heard for longer than a beat and that nobody has reported as vanished.
     * Whether they still run is for the caller to find out.
     */
    async listSilent(host: string): Promise<{ id: string; pid: number }[]> {
      return db.prepared(
        "processes_list_silent",
        `SELECT id, pid FROM processes WHERE host = $1 AND id <> $2 AND told_at IS NULL
           AND heard_at < now() - interval '${LATE_MS} milliseconds' AND NOT ${IS_FORGOTTEN}`,
        [host, ownId],
      );
    },

    /** Records that these processes have vanished, whose ids the host no longer knows; each is returned to one caller only. */
    async takeMissing(ids: readonly string[]): Promise<VanishedProcess[]> {
      return db.query<VanishedProcess>(
        `UPDATE processes SET told_at = now() WHERE id = ANY ($1::uuid[]) AND told_at IS NULL
           AND heard_at < now() - interval '${LATE_MS} milliseconds'
         RETURNING ${COLUMNS}`,
        [ids],
      );
    },

    /**
     * The processes that have vanished, each told to one caller only: those of its own app after 30 s, the others after
     * two minutes. To be asked by those alone who have been heard for that long: while the database is away, nobody is.
     */
    async takeVanished(app: string): Promise<VanishedProcess[]> {
      return db.prepared<VanishedProcess>(
        "processes_take_vanished",
        `UPDATE processes SET told_at = now()
         WHERE told_at IS NULL AND ${IS_SILENT} AND NOT ${IS_FORGOTTEN}
           AND (app = $1 OR heard_at < now() - interval '${TOLD_BY_OTHERS_MS} milliseconds')
         RETURNING ${COLUMNS}`,
        [app],
      );
    },

    /** All that have vanished within a day, whoever was told, the last one first. */
    async listVanished(): Promise<VanishedProcess[]> {
      return db.query<VanishedProcess>(
        `SELECT ${COLUMNS} FROM processes WHERE ${IS_SILENT} AND NOT ${IS_FORGOTTEN} ORDER BY heard_at DESC LIMIT 1000`,
      );
    },

    /** How many processes of each app run, by its name, and how many of them not on this host. */
    async countRunning(host: string): Promise<RunningCount[]> {
      return db.query<RunningCount>(
        `SELECT app, count(*) AS count, count(*) FILTER (WHERE host <> $1) AS elsewhere
         FROM processes WHERE NOT ${IS_SILENT} GROUP BY app ORDER BY app`,
        [host],
      );
    },
  };
}
