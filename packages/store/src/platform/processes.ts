import type { ChannelsConfig, IntegrationId } from "@svc/contracts";
import { batched } from "../context.ts";
import type { Context } from "../context.ts";
import type { Db } from "../db.ts";
import { expiredLease } from "../messages/chats.ts";
import { columnsOf, statements } from "../sql.ts";
import { WORDS_VERSION } from "../tickets/ticket-record.ts";
import { CHANNELS_COLUMNS, toChannelsConfig } from "./installation.ts";
import { DEFAULT_PROJECT } from "./projects.ts";

/**
 * A process without a heartbeat for this time has vanished: much longer than a dropped connection or an overloaded
 * machine causes.
 */
export const SILENT_MS = 30_000;
/** Running processes send a heartbeat every 5 s; one that is later may have ended. */
const LATE_MS = 6_000;
/** Replicas of the same app report it first, if there are any, since administrators look into their log. */
const REPORTED_BY_OTHERS_MS = 4 * SILENT_MS;

/** A process of the product. */
export interface ProcessFacts {
  app: string;
  /** Name of the machine or container. */
  host: string;
  pid: number;
  memoryBytes: number;
  /** Null if there is no limit. */
  memoryLimitBytes: number | null;
}

/** A process that ended unexpectedly, as far as can be determined. */
export interface VanishedProcess extends ProcessFacts {
  startedAt: Date;
  heardAt: Date;
}

/** Number of running processes of an app. */
export interface RunningCount {
  app: string;
  count: number;
  /** Number of those on other hosts. */
  elsewhere: number;
}

/** State of a channel in one process. */
export interface ReplicaState {
  id: IntegrationId;
  state: "running" | "stopped" | "failing";
  /** Time since which it is in that state. */
  since: Date;
  /** Error while it is failing. */
  error: string | null;
  /** Open visitor sockets in this process; absent for a channel without sockets. */
  sockets?: number;
}

/** A process without a report for this time has ended. */
export const REPORTED_WITHIN_MS = 5_000;

/** Duration for which a heartbeat is valid. */
export const ALIVE_MS = 4_000;

/** A longer time between two heartbeats is a gap: the process or the database was unavailable. */
const GAP_MS = 2_500;

const sql = statements("platform/processes", {
  expiredLease: expiredLease("c", "c.lease_group"),
  lateMs: LATE_MS,
  silentMs: SILENT_MS,
  toldByOthersMs: REPORTED_BY_OTHERS_MS,
  channelsColumns: CHANNELS_COLUMNS,
  reportedWithinMs: REPORTED_WITHIN_MS,
  defaultProject: DEFAULT_PROJECT,
  aliveMs: ALIVE_MS,
  gapMs: GAP_MS,
});

/** A process whose heartbeat is overdue, and that was not reported as vanished. */
export interface SilentProcess {
  id: string;
  host: string;
  pid: number;
  /** True if its heartbeat is so late that it has vanished. */
  hasVanished: boolean;
}

/** What a process reports of itself at one moment. */
interface Report {
  process?: ProcessFacts;
  channels?: readonly ReplicaState[];
  instance?: { id: string; app: string };
}

const NO_PROCESS = { app: null, host: null, pid: null, memoryBytes: null, memoryLimitBytes: null };

/** Reports of this process at the same moment share a statement. */
const report = batched(async ({ leases, processId }: Context, reports: Report[]) => {
  // A statement can write a row only once: the last report of a row counts.
  const channels = [...new Map(reports.flatMap((one) => one.channels ?? []).map((one) => [one.id, one])).values()];
  const given = reports.flatMap(({ instance }) => (instance === undefined ? [] : [instance]));
  const instances = [...new Map(given.map((one) => [one.id, one])).values()];
  const row = await sql.beat.one(leases, {
    ...columnsOf(channels, "id", "state", "since", "error"),
    ownId: processId,
    ...(reports.findLast(({ process }) => process !== undefined)?.process ?? NO_PROCESS),
    sockets: channels.map(({ sockets = 0 }) => sockets),
    instanceId: instances.map(({ id }) => id),
    instanceApp: instances.map(({ app }) => app),
  });
  let settings: ChannelsConfig | undefined;
  const readSettings = () => (settings ??= toChannelsConfig(row));
  return reports.map(() => ({ readSettings, silent: (row?.silent ?? []) as SilentProcess[] }));
});

/**
 * Records a heartbeat of this process, and its memory. A process that was considered vanished is running again. Returns
 * the others with overdue heartbeats: the caller checks whether they still run.
 */
export async function beat(context: Context, process: ProcessFacts): Promise<SilentProcess[]> {
  return (await report(context, { process })).silent;
}

/** Reports the states of this process's channels, and returns the settings that they follow. */
const reportState = async (context: Context, channels: readonly ReplicaState[]): Promise<ChannelsConfig> =>
  (await report(context, { channels })).readSettings();

/** Records a heartbeat of a process that holds calls, valid for 4 s. */
async function beatInstance(context: Context, id: string, app: string): Promise<void> {
  await report(context, { instance: { id, app } });
}

/** Deletes this process, and those that vanished more than a day ago. */
export const end = (context: Context) => sql.end.exec(context.leases, { ownId: context.processId });

/**
 * Records that an unexpected error ends this process, and records a crash for the messages that it is processing: those
 * that do not finish before it ends are released, and could cause it again.
 */
export const crash = (context: Context) => sql.crash.exec(context.leases, { ownId: context.processId });

/**
 * Records that these processes have vanished, since their ids no longer exist on the host; each is returned to one
 * caller only.
 */
export const recordVanished = (context: Context, ids: readonly string[]) =>
  sql.recordVanished.all<VanishedProcess>(context.leases, { ids });

/**
 * Returns the processes that have vanished, each to one caller only: those of its own app after 30 s, the others after
 * two minutes. Call it only after this process has recorded heartbeats for that long: while the database is
 * unavailable, no process can.
 */
export const claimVanished = (context: Context, app: string) =>
  sql.claimVanished.all<VanishedProcess>(context.leases, { app });

/** Returns all processes that vanished within a day, reported or not, the last one first. */
export const listVanished = (context: Context) => sql.listVanished.all<VanishedProcess>(context.leases);

/** Counts the running processes of each app, and those on other hosts. */
export const countRunning = (context: Context, host: string) =>
  sql.countRunning.all<RunningCount>(context.leases, { host });

/**
 * Acquires or renews a lease for `leaseMs`, durably. Returns false while another holder has it. A holder whose renewal
 * fails has lost the lease, and must stop its work before the lease expires.
 */
const claimLease = (db: Db, name: string, holder: string, leaseMs: number) =>
  replicaSql.claimLease.any(db, { name, holder, leaseMs });

/** Releases a lease, so that another process can acquire it at once. Has no effect if another process holds it. */
const releaseLease = (db: Db, name: string, holder: string) => replicaSql.releaseLease.exec(db, { name, holder });

/** Deletes stopped channels of this process, and those of crashed processes. */
const removeState = ({ leases, processId }: Context, ids: readonly IntegrationId[]) =>
  replicaSql.removeState.exec(leases, { replica: processId, ids });

/** Returns the channel states of running processes, by channel, the longest in its state first. */
async function listStates({ leases }: Context): Promise<ReplicaState[]> {
  const rows = await replicaSql.listStates.all<Omit<ReplicaState, "id" | "sockets"> & { channelId: IntegrationId }>(
    leases,
  );
  return rows.map(({ channelId, state, since, error }) => ({ id: channelId, state, since, error }));
}

/**
 * After a start of the database, which may have been unavailable for long and may have lost the last heartbeats before
 * a crash, all processes have this time to send one.
 */
const COME_BACK_MS = 6_000;

/** A process without a heartbeat for this time is dead: much longer than it takes to notice a half-open connection. */
const DEAD_MS = 120_000;

/**
 * SQL that is true while the process of a row `i` may be running. It is false once its heartbeat has expired and
 * another process proves that heartbeats were possible: one that has sent them without a gap since before then, or for
 * longer than a heartbeat is valid. After an outage of the database all processes have a gap, so none can prove it, and
 * each gets time to send a heartbeat. It is true for all processes until `COME_BACK_MS` after a start of the database,
 * and otherwise false once the heartbeat expired more than `DEAD_MS` ago.
 */
export const IS_ALIVE = `(i.alive_until > now()
  OR now() < pg_postmaster_start_time() + interval '${COME_BACK_MS} milliseconds'
  OR (i.alive_until > now() - interval '${DEAD_MS} milliseconds' AND NOT EXISTS (
    SELECT 1 FROM instances w WHERE w.alive_until > now()
    AND (w.alive_since <= i.alive_until OR w.alive_since < now() - interval '${ALIVE_MS} milliseconds'))))`;

const replicaSql = statements("platform/replicas", { reportedWithinMs: REPORTED_WITHIN_MS });

/** Deletes a stopped process, and those that crashed more than a day ago. */
const endInstance = ({ leases }: Context, id: string) => replicaSql.endInstance.exec(leases, { id });

/** Counts the running processes of an app. */
async function countAlive({ leases }: Context, app: string): Promise<number> {
  const row = await replicaSql.countAlive.one(leases, { app });
  return row?.count ?? 0;
}

/** Functions of `store.channelStates`. */
export const channelStates = { report: reportState, remove: removeState, list: listStates };

/** Functions of `store.instances`. */
export const instances = { beat: beatInstance, end: endInstance, countAlive };

/** Functions of `store.serviceLeases`. */
export const serviceLeases = { claim: claimLease, release: releaseLease };

/** Kinds of work that sweeps process; true if some may be due, or will be soon. */
export interface DueWork {
  messages: boolean;
  reviews: boolean;
  ingests: boolean;
  modelPulls: boolean;
  callbacks: boolean;
  deliveries: boolean;
  outboxes: boolean;
  /** Ticket events that the ticket lists do not include yet. */
  ticketEvents: boolean;
  /** Tickets whose words are to be indexed. */
  ticketTexts: boolean;
  /** Tickets whose snooze has ended. */
  snoozes: boolean;
  /** Tickets whose SLA deadline has passed. */
  deadlines: boolean;
  /** Emails to operators. */
  emails: boolean;
  /** Tags to be renamed on tickets. */
  tagChanges: boolean;
  /** Tickets to be assigned in turn. */
  assignments: boolean;
}

/**
 * Time for which work is reported before it is due, in milliseconds, if its time is promised: longer than the interval of
 * sweeps in an idle process, so that by then its sweeps run twice a second.
 */
const AHEAD_MS = 2_500;

const dueSql = statements("platform/due-work", { aheadMs: AHEAD_MS, wordsVersion: WORDS_VERSION });

const findForAll = batched(async (db: Db, sweeps: null[]) => {
  const row = await dueSql.find.one<DueWork>(db);
  if (row === null) throw new Error("a statement without conditions returned no row");
  return sweeps.map(() => row);
});

/** Returns which kinds of work may be due. The sweeps of a process that ask at the same time share one statement. */
const findDueWork = (db: Db): Promise<DueWork> => findForAll(db, null);

/** Functions of `store.dueWork`. */
export const dueWork = { find: findDueWork };
