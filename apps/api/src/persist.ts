import type { Log } from "@svc/log";
import { isUnavailable } from "@svc/store";

const RETRY_MS = 500;

/**
 * Work that must still be written down after an answer was given, and that is tried again while the store is away.
 * Each piece of work is idempotent.
 */
export function createPersister(log: Log) {
  const open = new Set<Promise<void>>();
  let closed = false;

  async function insist(what: string, work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isUnavailable(error)) return log.error({ error }, `${what} failed`);
        // When this process dies without having written it, its presence ends and the replies are free again.
        if (closed) return log.warn({ error }, `${what} is left undone`);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
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
