import { availableParallelism, loadavg } from "node:os";

/** Runnable processes per core during a run of tests on an otherwise idle machine. */
const NORMAL_LOAD = 2;
const MAX_STRETCH = 6;

/**
 * Returns the factor for timeouts on a busy machine: 1 on an otherwise idle one, at most 6. Uses the load, the average
 * number of runnable processes in the last minute; always 1 on Windows, which does not report it.
 */
export function stretchOfLimits(load = loadavg()[0] ?? 0, cores = availableParallelism()): number {
  return Math.min(MAX_STRETCH, Math.max(1, load / cores / NORMAL_LOAD));
}
