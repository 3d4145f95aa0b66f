import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "@svc/log";
import { isUnavailable } from "@svc/store";

const RETRY_MS = 500;
/** Attempts of a write that fails for another reason than an unavailable store, such as a deadlock. */
const ATTEMPTS_MAX = 10;

/**
 * Records work that is already done, such as a sent message: the write is repeated while the store is unavailable, and after
 * any other error up to ten times. Gives up after `signal` is aborted, with one last attempt; never rejects. The write is
 * idempotent; `what` names it for the log.
 */
export async function retryUntilStored(
  log: Log,
  write: () => Promise<void>,
  { what, signal, retryMs = RETRY_MS }: { what: string; signal: AbortSignal; retryMs?: number },
): Promise<void> {
  for (let errors = 0; ;) {
    try {
      return await write();
    } catch (error) {
      if (!isUnavailable(error) && ++errors >= ATTEMPTS_MAX) return log.error({ error }, `${what} failed`);
      if (signal.aborted) return log.warn({ error }, `${what} abandoned`);
      await sleep(retryMs);
    }
  }
}
