import type { Log } from "@svc/log";
import { isUnavailable } from "@svc/store";
import type { Store } from "@svc/store";

const EVERY_MS = 60_000;

/**
 * Removes the files that no message names after a day, and the ids of messages that never came, once a minute; replicas
 * share the work.
 */
export function startFileSweeper({ store, log }: { store: Store; log: Log }): { stop: () => Promise<void> } {
  let isStopped = false;
  let sweeping: Promise<void> = Promise.resolve();

  async function sweep(): Promise<void> {
    try {
      for (const remove of [() => store.widgetFiles.removeUnused(), () => store.visitors.removeReserved()]) {
        let isMore = !isStopped;
        while (isMore) isMore = (await remove()) && !isStopped;
      }
    } catch (error) {
      log[isUnavailable(error) ? "debug" : "error"]({ error }, "failed to delete unreferenced files; retrying");
    }
  }

  const timer = setInterval(() => {
    sweeping = sweeping.then(sweep);
  }, EVERY_MS);
  timer.unref();
  return {
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await sweeping;
    },
  };
}
