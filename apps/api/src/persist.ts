import type { Log } from "@svc/log";
import { retryUntilStored } from "@svc/work";

/**
 * Creates the persister of work that must be recorded after a response was sent. It retries as long as the store is
 * unavailable, and up to ten times after any other error, since replies whose delivery is never recorded are
 * delivered again when this process ends. The work must be idempotent.
 */
export function createPersister(log: Log, options: { retryMs?: number } = {}) {
  const open = new Set<Promise<void>>();
  const closing = new AbortController();

  return {
    /** Does the work, and repeats it until the store accepts it. Never rejects; the result need not be awaited. */
    persist(what: string, work: () => Promise<void>): Promise<void> {
      const running = retryUntilStored(log, work, { ...options, what, signal: closing.signal });
      open.add(running);
      void running.finally(() => open.delete(running));
      return running;
    },

    /** Waits for open work without further retries, since replies are released when this process ends. */
    async close(): Promise<void> {
      closing.abort();
      await Promise.all(open);
    },
  };
}

export type Persister = ReturnType<typeof createPersister>;
