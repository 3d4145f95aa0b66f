import type { QueueName } from "@svc/contracts";
import type { Log } from "@svc/log";
import { STALLED_MS, isConnectionError } from "./backend.ts";

/** Interval of checks of a queue to which this process publishes nothing, and that has no jobs for it. */
const IDLE_MS = 60_000;
/**
 * Time for which a queue counts as active. A killed worker's lock expires within 6 s, and a job is available again once
 * two checks have found it without a lock: there are four in this time.
 */
const ACTIVE_MS = 3.5 * STALLED_MS;

/** Checks for stalled jobs that run until stopped. */
export interface StalledChecks {
  /** Reports a worker's start, or that a job was published or worked on: checks are frequent for the next 21 s. */
  reportActivity(): void;
  stop(): void;
}

/**
 * Checks a consumed queue for jobs whose worker was killed: every 6 s while the queue is active, and once a minute
 * otherwise. In an idle queue, a stalled job becomes noticeable when a sweep finds its work and publishes it once
 * more, which makes the queue active.
 */
export function startStalledChecks(log: Log, queue: QueueName, check: () => Promise<unknown>): StalledChecks {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let activeUntil = 0;
  let checkedAt = Number.NEGATIVE_INFINITY;

  function checkLater(): void {
    clearTimeout(timer);
    const everyMs = performance.now() < activeUntil ? STALLED_MS : IDLE_MS;
    timer = setTimeout(() => void run(), Math.max(0, checkedAt + everyMs - performance.now()));
    timer.unref();
  }

  async function run(): Promise<void> {
    try {
      await check();
    } catch (error) {
      if (isConnectionError(error)) log.debug({ error, queue }, "failed to look for stalled jobs");
      else log.warn({ error, queue }, "failed to look for stalled jobs");
    }
    // By the time of the response: the server ignores a call that comes less than `STALLED_MS` after the previous one.
    checkedAt = performance.now();
    if (!isStopped) checkLater();
  }

  function reportActivity(): void {
    const isIdle = performance.now() >= activeUntil;
    activeUntil = performance.now() + ACTIVE_MS;
    if (isIdle && !isStopped) checkLater();
  }

  return {
    reportActivity,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
