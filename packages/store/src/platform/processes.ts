import { expiredLease } from "../messages/chats.ts";
import { statements } from "../sql.ts";
import { batched } from "../context.ts";
import type { Context } from "../context.ts";
import type { Db } from "../db.ts";
import type { ChannelsConfig, IntegrationId } from "@svc/contracts";
import { CHANNELS_COLUMNS, toChannelsConfig } from "./installation.ts";
import { DEFAULT_PROJECT } from "./projects.ts";

/**
 * A process that was silent for this long has vanished: far more than a lost line, or a machine that is too busy,
 * takes.
 */
export const SILENT_MS = 30_000;
/** A process that runs is heard every 5 s; one that has been silent for longer may have ended. */
const LATE_MS = 6_000;
/** Replicas of the app itself tell of it first, where there are any: it is looked for in their log. */
const REPORTED_BY_OTHERS_MS = 4 * SILENT_MS;

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

const sql = statements("platform/processes", {
  expiredLease: expiredLease("c", "c.lease_group"),
  lateMs: LATE_MS,
  silentMs: SILENT_MS,
  toldByOthersMs: REPORTED_BY_OTHERS_MS,
});

/** A process that has not been heard for longer than a beat, and that nobody has reported as vanished. */
export interface SilentProcess {
  id: string;
  host: string;
  pid: number;
  /** True once it has been silent for so long that it has vanished. */
  hasVanished: boolean;
}

/**
 * Records that this process runs, and what it uses. One that was thought to have vanished is back. Returns the others that
 * are silent: whether they still run is for the caller to find out.
 */
export const beat = (context: Context, { app, host, pid, memoryBytes, memoryLimitBytes }: ProcessFacts) =>
  sql.beat.all<SilentProcess>(context.leases, {
    ownId: context.processId,
    app,
    host,
    pid,
    memoryBytes,
    memoryLimitBytes,
  });

/** Says that this process stops, and forgets those that vanished more than a day ago. */
export const end = (context: Context) => sql.end.exec(context.leases, { ownId: context.processId });

/**
 * Records that an unexpected error ends this process, and with the messages that it is working on that it crashed
 * while it had them: those that do not finish before it ends are released in order, and could cause it again.
 */
export const crash = (context: Context) => sql.crash.exec(context.leases, { ownId: context.processId });

/**
 * Records that these processes have vanished, whose ids the host no longer knows; each is returned to one caller only.
 */
export const takeMissing = (context: Context, ids: readonly string[]) =>
  sql.takeMissing.all<VanishedProcess>(context.leases, { ids });

/**
 * The processes that have vanished, each reported to one caller only: those of its own app after 30 s, the others after
 * two minutes. To be asked by those alone who have been heard for that long: while the database is unavailable, nobody is.
 */
export const takeVanished = (context: Context, app: string) =>
  sql.takeVanished.all<VanishedProcess>(context.leases, { app });

/** All that have vanished within a day, whether or not that was reported, the last one first. */
export const listVanished = (context: Context) => sql.listVanished.all<VanishedProcess>(context.leases);

/** How many processes of each app run, by its name, and how many of them not on this host. */
export const countRunning = (context: Context, host: string) =>
  sql.countRunning.all<RunningCount>(context.leases, { host });

/**
 * Takes a lease for `leaseMs`, or renews it. Returns false while another holder has it. A holder whose renewal fails has
 * lost the lease, and must end its work before the lease expires.
 */
const takeLease = (db: Db, name: string, holder: string, leaseMs: number) =>
  replicaSql.takeLease.any(db, { name, holder, leaseMs });

/** Gives a lease back, so that another one need not wait for its end. Does nothing when it is another's. */
const releaseLease = (db: Db, name: string, holder: string) => replicaSql.releaseLease.exec(db, { name, holder });

/** How one process is doing with a channel. */
export interface ReplicaState {
  id: IntegrationId;
  state: "running" | "stopped" | "failing";
  /** Since when it is in that state. */
  since: Date;
  /** Why, while it is failing. */
  error: string | null;
  /** Sockets of visitors that are open in this process; absent for a channel without sockets. */
  sockets?: number;
}

/** A process that has not said anything for so long is gone. */
export const REPORTED_WITHIN_MS = 5_000;

const reportAll = batched(async ({ leases, processId }: Context, reports: (readonly ReplicaState[])[]) => {
  // A statement writes a row once: the last report of a channel counts.
  const states = [...new Map(reports.flat().map((state) => [state.id, state])).values()];
  const settings = await replicaSql.reportState.one(leases, {
    replica: processId,
    id: states.map(({ id }) => id),
    state: states.map(({ state }) => state),
    since: states.map(({ since }) => since),
    error: states.map(({ error }) => error),
    sockets: states.map(({ sockets = 0 }) => sockets),
  });
  return reports.map(() => toChannelsConfig(settings));
});

/**
 * Records how this process is doing with its channels, and returns the settings that they follow. Concurrent reports share
 * a statement.
 */
const reportState = (context: Context, states: readonly ReplicaState[]): Promise<ChannelsConfig> =>
  reportAll(context, states);

/** Forgets channels of this process that have ended, and processes that died without saying so. */
const forgetState = ({ leases, processId }: Context, ids: readonly IntegrationId[]) =>
  replicaSql.forgetState.exec(leases, { replica: processId, ids });

/** What the living processes say, by channel, the longest in its state first. */
async function listStates({ leases }: Context): Promise<ReplicaState[]> {
  const rows = await replicaSql.listStates.all<Omit<ReplicaState, "id" | "sockets"> & { channelId: IntegrationId }>(
    leases,
  );
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

const replicaSql = statements("platform/replicas", {
  channelsColumns: CHANNELS_COLUMNS,
  reportedWithinMs: REPORTED_WITHIN_MS,
  defaultProject: DEFAULT_PROJECT,
  aliveMs: ALIVE_MS,
  gapMs: GAP_MS,
});

/** Says that a process lives: for another 4 s. */
const beatInstance = (db: Db, id: string, app: string) => replicaSql.beatInstance.exec(db, { id, app });

/** Says that a process is gone, and forgets those that died more than a day ago. */
const endInstance = (db: Db, id: string) => replicaSql.endInstance.exec(db, { id });

/** How many processes of an app are alive. */
async function countAlive(db: Db, app: string): Promise<number> {
  const row = await replicaSql.countAlive.one<{ count: number }>(db, { app });
  return row?.count ?? 0;
}

/** Functions of `store.channelStates`. */
export const channelStates = { report: reportState, forget: forgetState, list: listStates };

/** Functions of `store.instances`. */
export const instances = { beat: beatInstance, end: endInstance, countAlive };

/** Functions of `store.serviceLeases`. */
export const serviceLeases = { take: takeLease, release: releaseLease };
