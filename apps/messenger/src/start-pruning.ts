import type { Log } from "@svc/log";
import { isUnavailable } from "@svc/store";
import type { Store } from "@svc/store";

const EVERY_MS = 10 * 60_000;

/** Forgets the updates that can come no more, now and then; replicas share the work. */
export function startPruning({ store, log }: { store: Pick<Store, "channelUpdates">; log: Log }): {
  stop: () => Promise<void>;
} {
  let isStopped = false;
  let pruning: Promise<void> = Promise.resolve();

  async function prune(): Promise<void> {
    try {
      let isDone = isStopped;
      while (!isDone) {
        const { unanswered, isMore } = await store.channelUpdates.prune();
        isDone = !isMore || isStopped;
        if (unanswered > 0) log.warn({ unanswered }, "removed updates that waited for a month");
      }
    } catch (error) {
      log[isUnavailable(error) ? "debug" : "error"]({ error }, "failed to remove old updates; retrying");
    }
  }

  const timer = setInterval(() => {
    pruning = pruning.then(prune);
  }, EVERY_MS);
  timer.unref();
  return {
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await pruning;
    },
  };
}
