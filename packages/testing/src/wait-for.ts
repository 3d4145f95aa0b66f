import { setTimeout as delay } from "node:timers/promises";
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

const MIN_PAUSE_MS = 20;
/**
 * Maximum pause between two checks. A check often calls the product or reads a database, which would cost more than the
 * rest of a test at 50 times per second, so pauses grow with the waiting time.
 */
const MAX_PAUSE_MS = 200;
/** Pause as a share of the waiting time, which limits the delay. */
const PAUSE_SHARE = 0.1;

/** Returns the pause before the next check after this waiting time. */
export const pauseAfter = (waitedMs: number): number =>
  Math.min(Math.max(waitedMs * PAUSE_SHARE, MIN_PAUSE_MS), MAX_PAUSE_MS);

/**
 * Waits until `check` returns a truthy value and resolves to it. A check that throws is repeated. Fails after
 * `timeoutMs` (30 s), longer on a busy machine, with `what` in the message and the last error of the check as the
 * cause.
 */
export async function waitFor<Found>(
  check: () => Found | Promise<Found>,
  options: { what: string | (() => string); timeoutMs?: number },
): Promise<Exclude<Found, false | null | undefined | 0 | "">> {
  const { what, timeoutMs = 30_000 } = options;
  const startedAt = performance.now();
  let cause: unknown;
  do {
    try {
      const found = await check();
      if (found) return found as Exclude<Found, false | null | undefined | 0 | "">;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await delay(pauseAfter(performance.now() - startedAt));
  } while (performance.now() - startedAt < timeoutMs * stretchOfLimits());
  const text = typeof what === "string" ? what : what();
  const because = cause instanceof Error ? ` (${cause.message})` : "";
  throw new Error(`Waited ${Math.round(performance.now() - startedAt)} ms in vain for ${text}${because}.`, { cause });
}

/** Random numbers from 0 (included) to 1 (excluded) that a seed repeats (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
