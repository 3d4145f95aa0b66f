import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "@svc/log";
import { isUnavailable } from "@svc/store";

const RETRY_MS = 500;
/** Attempts of work that fails for another reason than an unavailable store, such as a deadlock. */
const ATTEMPTS_MAX = 10;

/**
 * Creates the persister of work that must be recorded after a response was sent: it is retried as long as the store is
 * unavailable, and after any other error up to ten times, since what is never recorded is shown again when this process
 * ends. Each piece of work is idempotent.
 */
export function createPersister(log: Log, { retryMs } = { retryMs: RETRY_MS }) {
  const open = new Set<Promise<void>>();
  let closed = false;

  async function insist(what: string, work: () => Promise<void>): Promise<void> {
    let errors = 0;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isUnavailable(error) && ++errors >= ATTEMPTS_MAX) return log.error({ error }, `${what} failed`);
        // When this process dies without having written it, its presence ends and the replies are free again.
        if (closed) return log.warn({ error }, `${what} abandoned`);
        await sleep(retryMs);
      }
    }
  }

  return {
    /** Does the work now, and again until the store takes it. Never rejects; the answer need not be awaited. */
    persist(what: string, work: () => Promise<void>): Promise<void> {
      const running = insist(what, work);
      open.add(running);
      void running.finally(() => open.delete(running));
      return running;
    },

    /** Waits for what is open; nothing is tried a further time. */
    async close(): Promise<void> {
      closed = true;
      await Promise.all(open);
    },
  };
}

export type Persister = ReturnType<typeof createPersister>;
