import type { Db } from "../db.ts";
import { statements } from "../sql.ts";

/** How long a process counts as alive after its last heartbeat. */
export const ALIVE_MS = 4_000;

/** Heartbeats that lie further apart are a gap: the process, or the database, was away. */
const GAP_MS = 2_500;

/**
 * After the start of the database, which may have been away for long and may have lost the last heartbeats before a crash,
 * everybody has so long to come back.
 */
const COME_BACK_MS = 6_000;

/** Whose time has been over for so long is dead, whoever could tell: far more than a silent line takes to be noticed. */
const DEAD_MS = 120_000;

/**
 * SQL that is true while the process of a row `i` may be alive. It is not once its time is over and somebody can tell that
 * it would have said so: a process that has been heard of without a gap since before then, or for as long as after any
 * heartbeat. After a database or a line to it was away nobody can: all have a gap, and each gets its time to come back.
 */
export const IS_ALIVE = `(i.alive_until > now()
  OR now() < pg_postmaster_start_time() + interval '${COME_BACK_MS} milliseconds'
  OR (i.alive_until > now() - interval '${DEAD_MS} milliseconds' AND NOT EXISTS (
    SELECT 1 FROM instances w WHERE w.alive_until > now()
    AND (w.alive_since <= i.alive_until OR w.alive_since < now() - interval '${ALIVE_MS} milliseconds'))))`;

const sql = statements("platform/instances", {
  aliveMs: ALIVE_MS,
  gapMs: GAP_MS,
});

/** Says that a process lives: for another 4 s. */
export async function beat(db: Db, id: string, app: string): Promise<void> {
  await sql.beat.run(db, { id, app });
}

/** Says that a process is gone, and forgets those that died more than a day ago. */
export async function end(db: Db, id: string): Promise<void> {
  await sql.end.run(db, { id });
}

/** How many processes of an app are alive. */
export async function countAlive(db: Db, app: string): Promise<number> {
  const row = await sql.countAlive.one<{ count: number }>(db, { app });
  return row?.count ?? 0;
}
