import { setTimeout as delay } from "node:timers/promises";

const POLL_MS = 20;

/**
 * Waits until `check` answers something truthy and resolves to that. A check that throws has not come true yet. Fails
 * after `timeoutMs` (30 s, far more than anything takes: a busy machine is slow, and what goes well waits for nothing) with `what` was waited for, and with the last error of the check as the cause.
 */
export async function waitFor<Found>(
  check: () => Found | Promise<Found>,
  options: { what: string | (() => string); timeoutMs?: number },
): Promise<Exclude<Found, false | null | undefined | 0 | "">> {
  const { what, timeoutMs = 30_000 } = options;
  const deadline = performance.now() + timeoutMs;
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
  } while (performance.now() < deadline);
  const text = typeof what === "string" ? what : what();
  const because = cause instanceof Error ? ` (${cause.message})` : "";
  throw new Error(`Waited ${timeoutMs} ms in vain for ${text}${because}.`, { cause });
}
