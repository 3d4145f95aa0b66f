import { setTimeout as delay } from "node:timers/promises";
import { stretchOfLimits } from "./time-limits.ts";

const MIN_PAUSE_MS = 20;
/**
 * A check often asks the product or reads a database, which costs more than the rest of a test when it is done 50 times a
 * second: the longer a wait has taken, the longer its pauses are, up to this.
 */
const MAX_PAUSE_MS = 200;
/** A wait ends at most this share of its time later than what it waits for. */
const PAUSE_SHARE = 0.1;

/** Returns the pause before the next check of a wait that has taken so many milliseconds. */
export const pauseAfter = (waitedMs: number): number =>
  Math.min(Math.max(waitedMs * PAUSE_SHARE, MIN_PAUSE_MS), MAX_PAUSE_MS);

/**
 * Waits until `check` answers something truthy and resolves to that. A check that throws has not come true yet. Fails
 * after `timeoutMs` (30 s), longer on a machine that is busy with something else, with `what` was waited for and the last
 * error of the check as the cause.
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
