import type { Log } from "@svc/log";
import { isUnavailable } from "@svc/store";
import type { Store } from "@svc/store";

const EVERY_MS = 60_000;

/** Removes the files that no message names after a day, once a minute; replicas share the work. */
export function startFileSweeper({ store, log }: { store: Store; log: Log }): { stop: () => Promise<void> } {
  let isStopped = false;
  let sweeping: Promise<void> = Promise.resolve();

  async function sweep(): Promise<void> {
    try {
      let isMore = true;
      while (isMore) isMore = (await store.widgetFiles.removeUnused()) && !isStopped;
    } catch (error) {
      log[isUnavailable(error) ? "debug" : "error"]({ error }, "unused files could not be removed; it is tried again");
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
