import type { Db } from "./db.ts";

/** How long a process counts as alive after its last heartbeat. */
export const ALIVE_MS = 4_000;

/** How long the heartbeats of a living process may lie apart. */
const BEAT_GAP_MS = 1_000;

/**
 * SQL that is true while the process of a row `i` counts as alive. Nobody could say so while the database was away:
 * whoever may have been alive until then has as long as after any heartbeat, from the start of the database on.
 */
export const IS_ALIVE = `(i.alive_until > now() OR (
  i.alive_until < pg_postmaster_start_time() + interval '${BEAT_GAP_MS} milliseconds'
  AND now() < pg_postmaster_start_time() + interval '${ALIVE_MS} milliseconds'))`;

/** Processes that hold calls open. */
export function instancesTable(db: Db) {
  return {
    /** Says that a process lives: for another 4 s. */
    async beat(id: string, app: string): Promise<void> {
      await db.prepared(
        "instances_beat",
        `INSERT INTO instances (id, app, alive_until) VALUES ($1, $2, now() + interval '${ALIVE_MS} milliseconds')
         ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until`,
        [id, app],
      );
    },

    /** Says that a process is gone, and forgets those that died more than a day ago. */
    async end(id: string): Promise<void> {
      await db.query("DELETE FROM instances WHERE id = $1 OR alive_until < now() - interval '1 day'", [id]);
    },

    /** How many processes of an app are alive. */
    async countAlive(app: string): Promise<number> {
      const rows = await db.query<{ count: number }>(
        `SELECT count(*) AS count FROM instances i WHERE app = $1 AND ${IS_ALIVE}`,
        [app],
      );
      return rows[0]?.count ?? 0;
    },
  };
}
