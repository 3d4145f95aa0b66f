import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Log } from "@svc/log";

const CHECK_MS = 1_000;
/**
 * Delay of the event loop, or of the renewal of leases, from which a process counts as overloaded: a quarter of the
 * lease duration.
 */
const LATE_MS = 1_000;
/** Interval of the timer that measures delays: its resolution, a small part of the threshold. */
const RESOLUTION_MS = 100;
/** Checks in a row without a delay after which a process takes more jobs again. */
const CHECKS_WITHOUT_DELAY = 5;
/** Smallest share of its jobs that a process works on. */
const SHARE_MIN = 1 / 16;

/** Load of a process. */
export interface Load {
  /** The share of its jobs that it works on at once, between 1/16 and 1. */
  share: number;
  /** Checks without a delay since the share last changed. */
  checksWithoutDelay: number;
}

/**
 * Returns the load after another check: half the share if the event loop or the renewal of leases was late, twice the share
 * after five checks without a delay.
 */
export function nextLoad({ share, checksWithoutDelay }: Load, lateMs: number): Load {
  if (lateMs >= LATE_MS) return { share: Math.max(SHARE_MIN, share / 2), checksWithoutDelay: 0 };
  if (share === 1 || checksWithoutDelay + 1 < CHECKS_WITHOUT_DELAY)
    return { share, checksWithoutDelay: checksWithoutDelay + 1 };
  return { share: share * 2, checksWithoutDelay: 0 };
}

/**
 * Checks once a second how late the event loop and the renewal of leases are, and calls `setShare` when the process
 * should run fewer or more jobs concurrently: an overloaded process loses its leases. Returns a function that stops
 * the checks.
 */
export function watchLoad(
  log: Log,
  leases: { renewalLateMs: () => number },
  setShare: (share: number) => void,
): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  let load: Load = { share: 1, checksWithoutDelay: 0 };
  const timer = setInterval(() => {
    const lateMs = Math.max(delays.max / 1e6, leases.renewalLateMs());
    delays.reset();
    const { share } = load;
    load = nextLoad(load, lateMs);
    if (load.share === share) return;
    setShare(load.share);
    const facts = { share: load.share, lateMs: Math.round(lateMs) };
    if (load.share < share) log.warn(facts, "process overloaded; reducing concurrency");
    else log.info(facts, "increasing concurrency again");
  }, CHECK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    delays.disable();
  };
}
