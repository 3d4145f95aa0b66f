import type { Log } from "@svc/log";
import { retryUntilStored } from "@svc/work";

/**
 * Creates the persister of work that must be recorded after a response was sent: it is retried as long as the store is
 * unavailable, and after any other error up to ten times, since what is never recorded is shown again when this process
 * ends. Each piece of work is idempotent.
 */
export function createPersister(log: Log, options: { retryMs?: number } = {}) {
  const open = new Set<Promise<void>>();
  const closing = new AbortController();

  return {
    /** Does the work now, and again until the store accepts it. Never rejects; the result need not be awaited. */
    persist(what: string, work: () => Promise<void>): Promise<void> {
      const running = retryUntilStored(log, work, { ...options, what, signal: closing.signal });
      open.add(running);
      void running.finally(() => open.delete(running));
      return running;
    },

    /** Waits for open work; nothing is tried a further time, since replies are released when this process ends. */
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(open);
    },
  };
}

export type Persister = ReturnType<typeof createPersister>;
