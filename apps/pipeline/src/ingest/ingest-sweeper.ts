import type { Log } from "@svc/log";
import { followDeletions, publishIngests } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { startSweeps } from "@svc/runtime";
import type { Store } from "@svc/store";

/** A deletion wakes the sweep up; this is for one whose wake-up was lost. */
const PURGE_KBS_MS = 10_000;
/** Imports that ended long ago are looked for this often. */
const PURGE_IMPORTS_MS = 3_600_000;
/** Announcements of one sweep: whoever works goes on by itself from one document to the next. */
const SWEEP_LIMIT = 20;

/**
 * Twice a second in every replica: announces documents whose job was lost, whose worker has died or whose next try is
 * due. Less often: removes what deleted knowledge bases held, and imports that ended long ago. This is what lets the queue lose
 * everything it has without a document being lost.
 */
export function startIngestSweeper({ store, queues, log }: { store: Store; queues: Queues; log: Log }): {
  stop(): Promise<void>;
} {
  async function announceDue(): Promise<void> {
    if (queues.isUp()) await publishIngests(queues, await store.ingests.takeDue(SWEEP_LIMIT));
  }

  async function purge(isStopped: () => boolean): Promise<void> {
    for (;;) {
      if (isStopped() || !(await store.kbs.purge())) return;
      // A large knowledge base takes many steps, and what waits to be read must not wait for them.
      await announceDue();
    }
  }

  async function purgeImports(isStopped: () => boolean): Promise<void> {
    while (!isStopped() && (await store.imports.purge())) await announceDue();
  }

  const sweeps = startSweeps(log, "documents", [
    announceDue,
    { everyMs: PURGE_KBS_MS, run: purge },
    { everyMs: PURGE_IMPORTS_MS, run: purgeImports },
  ]);
  const silence = followDeletions(queues, () => sweeps.wake());
  return {
    stop() {
      silence();
      return sweeps.stop();
    },
  };
}
