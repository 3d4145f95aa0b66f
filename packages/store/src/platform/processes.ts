import { expiredLease } from "../messages/chats.ts";
import { statements } from "../sql.ts";
import type { Context } from "../context.ts";

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
  sql.beat.all<SilentProcess>(context.leases, { ownId: context.processId, app, host, pid, memoryBytes, memoryLimitBytes });

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
