import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Log } from "@svc/log";
import { errorCode, withinMs } from "@svc/primitives";
import { SILENT_MS } from "@svc/store";
import type { SilentProcess, Store, VanishedProcess } from "@svc/store";
import { msUntilTick } from "@svc/work";

const STATUS_FILE = "/proc/self/status";
const KB = 1_024;

/**
 * Returns the bytes that the system cannot reclaim from a process, from the text of its status on Linux; null if the
 * text does not contain them. Mapped files, such as the program itself, are part of the resident set too, but do not
 * count towards the container's limit.
 */
export function parseOwnMemory(status: string): number | null {
  const [, kb] = /^RssAnon:\s+(\d+) kB$/m.exec(status) ?? [];
  return kb === undefined ? null : Number(kb) * KB;
}

/**
 * Returns the memory of this process that counts towards its container's limit; its resident set on systems that do not
 * report it.
 */
export function readOwnMemory(): number {
  // This file exists on Linux only.
  const own = process.platform === "linux" ? parseOwnMemory(readFileSync(STATUS_FILE, "utf8")) : null;
  return own ?? process.memoryUsage.rss();
}

const POLL_MS = 5_000;
/** A warning is logged above this share of the limit, and again only after usage was below the lower one. */
const HIGH = 0.85;
const CALM = 0.7;
const MB = 1_000_000;
/** Systems without a limit report more than any machine has. */
const NO_LIMIT_BYTES = 2 ** 50;

const isLimit = (bytes: number) => bytes > 0 && bytes <= NO_LIMIT_BYTES;

/** Returns the memory limit of this process's container; null if there is none. */
function findMemoryLimit(): number | null {
  const bytes = process.constrainedMemory();
  return isLimit(bytes) ? bytes : null;
}

/** Describes that a process is close to the limit of its container; null if it is not, or if there is no limit. */
export function findMemoryProblem(usedBytes: number, limitBytes: number): string | null {
  if (!isLimit(limitBytes) || usedBytes < limitBytes * HIGH) return null;
  const used = Math.round(usedBytes / MB);
  const limit = Math.round(limitBytes / MB);
  return `This process uses ${used} of ${limit} MB. Above the limit, the system kills it (exit code 137) and its unfinished work is repeated. Raise the limit, or run more replicas.`;
}

/** Logs a warning whenever the process approaches its memory limit. Returns a function that ends the watch. */
export function watchMemory(log: Log): () => void {
  let isWarned = false;
  const timer = setInterval(() => {
    const limit = process.constrainedMemory();
    const used = readOwnMemory();
    const error = findMemoryProblem(used, limit);
    if (error !== null && !isWarned) log.warn({}, error);
    if (error !== null) isWarned = true;
    else if (used < limit * CALM) isWarned = false;
  }, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Above this share of its limit, memory is the most likely reason why a process was killed. */
const NEAR = 0.8;

const asMb = (bytes: number) => Math.round(bytes / MB);

/**
 * Describes that a process ended unexpectedly, and the likely reason. The memory usage is that of its last heartbeat,
 * up to five seconds before its end.
 */
export function describeVanished(gone: VanishedProcess): string {
  const { app, host, pid, heardAt, memoryBytes, memoryLimitBytes } = gone;
  const who = `The ${app} on ${host} (process ${pid}) last reported at ${heardAt.toISOString()} and did not shut down cleanly`;
  const used =
    memoryLimitBytes === null
      ? `It used ${asMb(memoryBytes)} MB`
      : `It used ${asMb(memoryBytes)} of ${asMb(memoryLimitBytes)} MB`;
  if (memoryLimitBytes !== null && memoryBytes >= memoryLimitBytes * NEAR)
    return `${who}: it probably ran out of memory and was killed. ${used}. Raise the limit (SVC_MEMORY_LIMIT), or run more replicas.`;
  return `${who}: it was killed (by kill -9, or because of its memory usage), crashed, or cannot reach the database. ${used}.`;
}

const HEARTBEAT_INTERVAL_MS = 5_000;
/** How long a shutdown waits for an unavailable database. After that, the process is reported as crashed. */
const END_WAIT_MS = 1_000;

/** The part of the store that records running processes. */
type Processes = Pick<Store["processes"], "beat" | "crash" | "end" | "recordVanished" | "claimVanished">;

/** Returns true if a process with this id runs on this machine. */
function isRunning(pid: number): boolean {
  // The id was reused: this process has it now, as in a restarted container.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Any other error, such as EPERM, means that the process exists.
    return errorCode(error) !== "ESRCH";
  }
}

/**
 * Records a heartbeat in the store every five seconds, and logs a warning about each process that ended unexpectedly:
 * killed, for its memory or otherwise, or crashed. A process on this host has ended if its id does not exist; any other
 * one if it sent no heartbeat for 30 s. The latter is not checked within 30 s after this process itself could not reach
 * the store, since the others may not have reached it either. Call the returned function when the shutdown begins: it
 * records whether this process stops as intended or crashed.
 */
// oxlint-disable-next-line max-lines-per-function -- One watch whose functions share its state.
export function watchProcesses(
  app: string,
  processes: Processes,
  log: Log,
  isAlive: (pid: number) => boolean = isRunning,
): (options?: { hasCrashed?: boolean }) => Promise<void> {
  const host = hostname();
  const memoryLimitBytes = findMemoryLimit();
  let isEnded = false;
  /** Time since which each heartbeat was recorded. By the wall clock, which also shows that the machine has slept. */
  let heardSince: number | null = null;
  let heardAt = 0;

  function report(vanished: readonly VanishedProcess[]): void {
    for (const gone of vanished) log.warn({ vanished: gone }, describeVanished(gone));
  }

  async function reportMissing(silent: readonly SilentProcess[]): Promise<void> {
    const missing = silent.filter((other) => other.host === host && !isAlive(other.pid)).map(({ id }) => id);
    if (missing.length > 0) report(await processes.recordVanished(missing));
  }

  async function beat(): Promise<void> {
    const begunAt = Date.now();
    try {
      const memoryBytes = readOwnMemory();
      const silent = await processes.beat({ app, host, pid: process.pid, memoryBytes, memoryLimitBytes });
      const now = Date.now();
      const isGap = now - heardAt > 2 * HEARTBEAT_INTERVAL_MS || now - begunAt > HEARTBEAT_INTERVAL_MS || now < heardAt;
      if (heardSince === null || isGap) heardSince = now;
      heardAt = now;
      if (isEnded) return;
      await reportMissing(silent);
      const isAnyVanished = silent.some(({ hasVanished }) => hasVanished);
      if (isAnyVanished && now - heardSince >= SILENT_MS) report(await processes.claimVanished(app));
    } catch (error) {
      heardSince = null;
      log.debug({ error }, "failed to renew this process's heartbeat");
    }
  }

  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = beat();
  const beatLater = () => {
    if (isEnded) return;
    timer = setTimeout(() => {
      beating = beat();
      void beating.finally(beatLater);
    }, msUntilTick(HEARTBEAT_INTERVAL_MS));
    timer.unref();
  };
  void beating.finally(beatLater);

  async function end(hasCrashed: boolean): Promise<void> {
    // A heartbeat in progress would insert the row again.
    await beating;
    try {
      await (hasCrashed ? processes.crash() : processes.end());
    } catch (error) {
      log.debug({ error, hasCrashed }, "failed to record the shutdown of this process");
    }
  }

  return async ({ hasCrashed = false } = {}) => {
    isEnded = true;
    clearTimeout(timer);
    await withinMs(end(hasCrashed), END_WAIT_MS);
  };
}
