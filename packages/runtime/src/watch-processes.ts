import { hostname } from "node:os";
import type { Log } from "@svc/log";
import { errorCode, withinMs } from "@svc/primitives";
import { SILENT_MS } from "@svc/store";
import type { Store, VanishedProcess } from "@svc/store";
import { describeVanished } from "./describe-vanished.ts";
import { readOwnMemory } from "./read-memory.ts";
import { findMemoryLimit } from "./watch-memory.ts";

const BEAT_MS = 5_000;
/** A stop does not wait longer for a database that is away: the process is then told of as one that has vanished. */
const END_WAIT_MS = 1_000;

/** The part of the store that knows which processes run. */
type Processes = Pick<Store["processes"], "beat" | "crash" | "end" | "listSilent" | "takeMissing" | "takeVanished">;

/** True if a process with this id runs on this machine. */
export function isRunning(pid: number): boolean {
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

  async function reportMissing(): Promise<void> {
    const silent = await processes.listSilent(host);
    const missing = silent.filter(({ pid }) => !isAlive(pid)).map(({ id }) => id);
    if (missing.length > 0) report(await processes.takeMissing(missing));
  }

  async function beat(): Promise<void> {
    const begunAt = Date.now();
    try {
      const memoryBytes = readOwnMemory();
      await processes.beat({ app, host, pid: process.pid, memoryBytes, memoryLimitBytes });
      const now = Date.now();
      const isGap = now - heardAt > 2 * BEAT_MS || now - begunAt > BEAT_MS || now < heardAt;
      if (heardSince === null || isGap) heardSince = now;
      heardAt = now;
      if (isEnded) return;
      await reportMissing();
      if (now - heardSince >= SILENT_MS) report(await processes.takeVanished(app));
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
