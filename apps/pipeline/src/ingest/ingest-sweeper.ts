import type { Log } from "@svc/log";
import { QueueDownError, publishIngests } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { isUnavailable } from "@svc/store";
import type { Store } from "@svc/store";

const SWEEP_MS = 500;
/** Imports that ended long ago are looked for this often. */
const PURGE_IMPORTS_MS = 3_600_000;
/** Announcements of one sweep: whoever works goes on by itself from one document to the next. */
const SWEEP_LIMIT = 20;

/**
 * Twice a second in every replica: announces documents whose job was lost, whose worker has died or whose next try is
 * due, and removes what deleted knowledge bases held, and imports that ended long ago. This is what lets the queue lose everything it has without a
 * document being lost.
 */
export function startIngestSweeper({ store, queues, log }: { store: Store; queues: Queues; log: Log }): {
  stop(): Promise<void>;
} {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();
  let importsPurgedAtMs = -Infinity;

  async function announceDue(): Promise<void> {
    if (queues.isUp()) await publishIngests(queues, await store.ingests.takeDue(SWEEP_LIMIT));
  }

  async function purge(): Promise<void> {
    for (;;) {
      if (stopped || !(await store.kbs.purge())) return;
      // A large knowledge base takes many steps, and what waits to be read must not wait for them.
      await announceDue();
    }
  }

  async function purgeImports(): Promise<void> {
    if (performance.now() - importsPurgedAtMs < PURGE_IMPORTS_MS) return;
    // Some at a time: what is left after one sweep is for the next.
    if (!(await store.ingests.purgeImports())) importsPurgedAtMs = performance.now();
  }

  /** Makes one step; its failure does not keep the others from their work. */
  async function attempt(step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (error instanceof QueueDownError) return;
      if (isUnavailable(error)) log.debug({ error }, "the store is away; the next sweep follows");
      else log.warn({ error }, "a sweep of documents failed; the next one follows");
    }
  }

  async function sweep(): Promise<void> {
    for (const step of [announceDue, purge, purgeImports]) await attempt(step);
  }

  const sweepLater = () => {
    if (stopped) return;
    timer = setTimeout(() => {
      sweeping = sweep();
      void sweeping.finally(sweepLater);
    }, SWEEP_MS);
  };
  sweepLater();

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await sweeping;
    },
  };
}
