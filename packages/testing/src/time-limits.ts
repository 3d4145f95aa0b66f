import { availableParallelism, loadavg } from "node:os";

/** Runnable processes for each core during a run of tests on a machine of its own. */
const NORMAL_LOAD = 2;
const MAX_STRETCH = 6;

/**
 * How many times longer than usual something may take now, because the machine has more to do than these tests: 1 on a
 * machine of their own, at most 6. Measured by its load, that is the average number of runnable processes in the last
 * minute; always 1 on Windows, which has no such figure.
 */
export function stretchOfLimits(load = loadavg()[0] ?? 0, cores = availableParallelism()): number {
  return Math.min(MAX_STRETCH, Math.max(1, load / cores / NORMAL_LOAD));
}
