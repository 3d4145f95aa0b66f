import type { ChannelsConfig, IntegrationId } from "@svc/contracts";
import { batched } from "../batcher.ts";
import type { Db } from "../db.ts";
import { statements } from "../sql.ts";
import { CHANNELS_COLUMNS, toChannelsConfig } from "./installation.ts";

/**
 * Takes a lease, or renews it, for so long. False while another holder has it. Who renews in vain has lost it, and
 * must have ended its work before the time is over that it has had.
 */
export const takeLease = (db: Db, name: string, holder: string, leaseMs: number) =>
  sql.takeLease.any(db, { name, holder, leaseMs });

/** Gives a lease back, so that another one need not wait for its end. Does nothing when it is another's. */
export const releaseLease = (db: Db, name: string, holder: string) => sql.releaseLease.exec(db, { name, holder });

/** How one process is doing with a channel. */
export interface ReplicaState {
  id: IntegrationId;
  state: "running" | "stopped" | "failing";
  /** Since when it is in that state. */
  since: Date;
  /** Why, while it is failing. */
  error: string | null;
}

/** A process that has not said anything for so long is gone. */
const REPORTED_WITHIN_MS = 5_000;

const reportAll = batched(async (db: Db, reports: { replica: string; states: readonly ReplicaState[] }[]) => {
  const rows = reports.flatMap(({ replica, states }) => states.map((state) => ({ replica, ...state })));
  const settings = await sql.reportState.one(db, {
    replica: rows.map(({ replica }) => replica),
    id: rows.map(({ id }) => id),
    state: rows.map(({ state }) => state),
    since: rows.map(({ since }) => since),
    error: rows.map(({ error }) => error),
  });
  return reports.map(() => toChannelsConfig(settings));
});

/**
 * Records how a replica is doing with its channels, and returns the settings that it follows. Concurrent reports share a
 * statement.
 */
export const reportState = (db: Db, replica: string, states: readonly ReplicaState[]): Promise<ChannelsConfig> =>
  reportAll(db, { replica, states });

/** Forgets a process that has ended, and those that died without saying so. */
export const forgetState = (db: Db, replica: string) => sql.forgetState.exec(db, { replica });

/** What the living processes say, by channel, the longest in its state first. */
export async function listStates(db: Db): Promise<ReplicaState[]> {
  const rows = await sql.listStates.all<Omit<ReplicaState, "id"> & { channelId: IntegrationId }>(db);
  return rows.map(({ channelId, state, since, error }) => ({ id: channelId, state, since, error }));
}

/** How long a process counts as alive after its last heartbeat. */
export const ALIVE_MS = 4_000;

/** Heartbeats that lie further apart are a gap: the process, or the database, was away. */
const GAP_MS = 2_500;

/**
 * After the start of the database, which may have been away for long and may have lost the last heartbeats before a
 * crash, everybody has so long to come back.
 */
const COME_BACK_MS = 6_000;

/** A process that was not renewed for this long is dead: far longer than it takes to notice a half-open connection. */
const DEAD_MS = 120_000;

/**
 * SQL that is true while the process of a row `i` may be alive. It is not once its time is over and somebody can tell
 * that it would have said so: a process that has been heard of without a gap since before then, or for as long as
 * after any heartbeat. After a database or a line to it was away nobody can: all have a gap, and each gets its time to
 * come back.
 */
export const IS_ALIVE = `(i.alive_until > now()
  OR now() < pg_postmaster_start_time() + interval '${COME_BACK_MS} milliseconds'
  OR (i.alive_until > now() - interval '${DEAD_MS} milliseconds' AND NOT EXISTS (
    SELECT 1 FROM instances w WHERE w.alive_until > now()
    AND (w.alive_since <= i.alive_until OR w.alive_since < now() - interval '${ALIVE_MS} milliseconds'))))`;

const sql = statements("platform/replicas", {
  channelsColumns: CHANNELS_COLUMNS,
  reportedWithinMs: REPORTED_WITHIN_MS,
  aliveMs: ALIVE_MS,
  gapMs: GAP_MS,
});

/** Says that a process lives: for another 4 s. */
export const beatInstance = (db: Db, id: string, app: string) => sql.beatInstance.exec(db, { id, app });

/** Says that a process is gone, and forgets those that died more than a day ago. */
export const endInstance = (db: Db, id: string) => sql.endInstance.exec(db, { id });

/** How many processes of an app are alive. */
export async function countAlive(db: Db, app: string): Promise<number> {
  const row = await sql.countAlive.one<{ count: number }>(db, { app });
  return row?.count ?? 0;
}
