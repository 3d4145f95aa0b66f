import { publishModelPulls } from "@svc/queue";
import { startSweeps } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import { createPullWorker } from "./work-on-pulls.ts";

/** Models that one replica pulls at a time; others wait. */
const CONCURRENCY = 3;
/** What is being pulled is broken off at a stop and goes on elsewhere; giving it back takes a moment. */
const STOP_DEADLINE_MS = 2_000;
/** Pulls that ended long ago are looked for this often. */
const PURGE_MS = 3_600_000;
/** Announcements of one sweep: whoever works goes on by itself from one model to the next. */
const SWEEP_LIMIT = 20;

/**
 * Pulls the models that were asked for: works on its queue, and looks twice a second for those whose job was lost, whose
 * worker has died or whose next try is due.
 */
export function startPulls({ store, queues, catalogue, log }: Resources): { drain(): void; stop(): Promise<void> } {
  const stopping = new AbortController();
  const workOnPulls = createPullWorker({ store, log, catalogue }, { stopping: stopping.signal });
  const consumer = queues.consume("model-pulls", workOnPulls, { concurrency: CONCURRENCY });

  async function announceDue(): Promise<void> {
    if (queues.isUp()) await publishModelPulls(queues, await store.modelPulls.takeDue(SWEEP_LIMIT));
  }

  const purge = { everyMs: PURGE_MS, run: () => store.modelPulls.purge() };
  const sweeper = startSweeps(log, "model pulls", [announceDue, purge]);

  let closing: Promise<void> | undefined;
  function drain(): void {
    stopping.abort();
    closing ??= consumer.close(STOP_DEADLINE_MS);
  }

  return {
    /** Takes nothing further, and gives back what is being pulled. */
    drain,

    /** Ends within three seconds. */
    async stop() {
      drain();
      await sweeper.stop();
      await closing;
    },
  };
}
