import { setTimeout as delay } from "node:timers/promises";
import { stretchOfLimits } from "./time-limits.ts";

const POLL_MS = 20;

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
    await delay(POLL_MS);
  } while (performance.now() - startedAt < timeoutMs * stretchOfLimits());
  const text = typeof what === "string" ? what : what();
  const because = cause instanceof Error ? ` (${cause.message})` : "";
  throw new Error(`Waited ${Math.round(performance.now() - startedAt)} ms in vain for ${text}${because}.`, { cause });
}
