import { createFileReader, createPageFetcher } from "@svc/knowledge";
import { createFetchGuard } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import { keepIngestLeases } from "./ingest-leases.ts";
import { startIngestSweeper } from "./ingest-sweeper.ts";
import { INGEST_CONCURRENCY, createIngestWorker } from "./work-on-ingests.ts";

/** What is being read at a stop gets this long; then it is broken off and read again elsewhere. */
const GIVE_UP_MS = 1_500;
const STOP_DEADLINE_MS = 3_000;

/** Reads what was accepted into knowledge bases: works on its queue and sweeps for what the queue has lost. */
export function startIngests({ config, store, queues, log }: Resources): { drain(): void; stop(): Promise<void> } {
  let isStopping = false;
  const reader = createFileReader();
  const fetcher = createPageFetcher({ guard: createFetchGuard(config) });
  const leases = keepIngestLeases(store, log);
  const workOnIngests = createIngestWorker({ store, queues, log, reader, fetcher }, leases);
  const consumer = queues.consume("ingest-documents", () => workOnIngests(() => isStopping), {
    concurrency: INGEST_CONCURRENCY,
  });
  const sweeper = startIngestSweeper({ store, queues, log });

  let closing: Promise<void> | undefined;
  let giveUpTimer: NodeJS.Timeout | undefined;
  function drain(): void {
    isStopping = true;
    giveUpTimer ??= setTimeout(() => leases.abortAll(), GIVE_UP_MS);
    closing ??= consumer.close(STOP_DEADLINE_MS);
  }

  return {
    /** Takes nothing further. */
    drain,

    /** Gives back what is still being read and ends within 5 s. */
    async stop() {
      drain();
      await sweeper.stop();
      await closing;
      clearTimeout(giveUpTimer);
      leases.close();
      await Promise.all([reader.close(), fetcher.close()]);
    },
  };
}
