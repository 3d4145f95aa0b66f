import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import type { Log } from "@svc/log";
import { errorCode, withinMs } from "@svc/primitives";
import { SILENT_MS } from "@svc/store";
import type { SilentProcess, Store, VanishedProcess } from "@svc/store";

const STATUS_FILE = "/proc/self/status";
const KB = 1_024;

/**
 * Bytes that the system cannot take back from a process, by the text of its status on Linux; null where it says nothing of
 * them. The files that it has mapped, such as its program, are in its resident set too, and do not count towards the limit
 * of its container.
 */
export function parseOwnMemory(status: string): number | null {
  const [, kb] = /^RssAnon:\s+(\d+) kB$/m.exec(status) ?? [];
  return kb === undefined ? null : Number(kb) * KB;
}

/** What this process uses of what its container may; where the system does not tell, its resident set. */
export function readOwnMemory(): number {
  // Elsewhere than on Linux there is no such file.
  const own = process.platform === "linux" ? parseOwnMemory(readFileSync(STATUS_FILE, "utf8")) : null;
  return own ?? process.memoryUsage.rss();
}

const POLL_MS = 5_000;
/** From this share of its limit on a process is warned of, and again once it has been below the lower one. */
const HIGH = 0.85;
const CALM = 0.7;
const MB = 1_000_000;
/** What systems without a limit answer is beyond any machine. */
const NO_LIMIT_BYTES = 2 ** 50;

const isLimit = (bytes: number) => bytes > 0 && bytes <= NO_LIMIT_BYTES;

/** What this process may use at most, as its container says; null where nothing limits it. */
function findMemoryLimit(): number | null {
  const bytes = process.constrainedMemory();
  return isLimit(bytes) ? bytes : null;
}

/** Says in words that a process nears the limit of its container; null while it does not, or where there is none. */
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

/** From this share of its limit on, the limit is what has most likely killed a process. */
const NEAR = 0.8;

const asMb = (bytes: number) => Math.round(bytes / MB);

/**
 * Says in words that a process has ended without a stop, and what is likely to have ended it. The number is what it used when
 * it was last heard of, up to five seconds before its end.
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

const BEAT_MS = 5_000;
/** How long a shutdown waits for an unavailable database. After that, the process is reported as crashed. */
const END_WAIT_MS = 1_000;

/** The part of the store that knows which processes run. */
type Processes = Pick<Store["processes"], "beat" | "crash" | "end" | "takeMissing" | "takeVanished">;

/** True if a process with this id runs on this machine. */
function isRunning(pid: number): boolean {
  // The id of this process belonged to another one before it, as in a container that was started again.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Anything else, such as EPERM, says that there is such a process.
    return errorCode(error) !== "ESRCH";
  }
}

/**
 * Records in the store every five seconds that this process runs, and logs a warning about each process that has ended
 * without a stop: killed, for its memory or otherwise, or crashed. A process on this host has ended if its id is no longer
 * known; any other one if it was silent for 30 s. The latter is not checked within 30 s after this process itself could not
 * reach the store, since then the others may not have reached it either. Call the returned function when the stop begins:
 * it records that this process stops in order, or that it crashed.
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
  /** Since when each beat has been heard. By the clock of the machine, which also tells that it has slept. */
  let heardSince: number | null = null;
  let heardAt = 0;

  function report(vanished: readonly VanishedProcess[]): void {
    for (const gone of vanished) log.warn({ vanished: gone }, describeVanished(gone));
  }

  async function reportMissing(silent: readonly SilentProcess[]): Promise<void> {
    const missing = silent.filter((other) => other.host === host && !isAlive(other.pid)).map(({ id }) => id);
    if (missing.length > 0) report(await processes.takeMissing(missing));
  }

  async function beat(): Promise<void> {
    const begunAt = Date.now();
    try {
      const memoryBytes = readOwnMemory();
      const silent = await processes.beat({ app, host, pid: process.pid, memoryBytes, memoryLimitBytes });
      const now = Date.now();
      const isGap = now - heardAt > 2 * BEAT_MS || now - begunAt > BEAT_MS || now < heardAt;
      if (heardSince === null || isGap) heardSince = now;
      heardAt = now;
      if (isEnded) return;
      await reportMissing(silent);
      const isAnyVanished = silent.some(({ hasVanished }) => hasVanished);
      if (isAnyVanished && now - heardSince >= SILENT_MS) report(await processes.takeVanished(app));
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
    }, BEAT_MS);
    timer.unref();
  };
  void beating.finally(beatLater);

  async function end(hasCrashed: boolean): Promise<void> {
    // A beat on its way would bring the row back.
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
