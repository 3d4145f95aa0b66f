import type { Db } from "./db.ts";

/** Whoever has not been heard of for so long has vanished: far more than a lost line, or a machine that is too busy, takes. */
export const SILENT_MS = 30_000;
/** Replicas of the app itself tell of it first, where there are any: it is looked for in their log. */
const TOLD_BY_OTHERS_MS = 4 * SILENT_MS;

/** A process of the product. */
export interface ProcessFacts {
  id: string;
  app: string;
  /** The name of the machine or container. */
  host: string;
  pid: number;
  memoryBytes: number;
  /** Null where nothing limits it. */
  memoryLimitBytes: number | null;
}

/** A process that has ended without a stop, as far as anybody can say. */
export interface VanishedProcess extends Omit<ProcessFacts, "id"> {
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
export function processesTable(db: Db) {
  return {
    /** Says that a process runs, and what it uses. One that was thought to have vanished is back. */
    async beat({ id, app, host, pid, memoryBytes, memoryLimitBytes }: ProcessFacts): Promise<void> {
      await db.prepared(
        "processes_beat",
        `INSERT INTO processes (id, app, host, pid, memory_bytes, memory_limit_bytes) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (id) DO UPDATE SET heard_at = now(), memory_bytes = excluded.memory_bytes, told_at = NULL`,
        [id, app, host, pid, memoryBytes, memoryLimitBytes],
      );
    },

    /** Says that a process stops, and forgets those that vanished more than a day ago. */
    async end(id: string): Promise<void> {
      await db.query(`DELETE FROM processes WHERE id = $1 OR ${IS_FORGOTTEN}`, [id]);
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
