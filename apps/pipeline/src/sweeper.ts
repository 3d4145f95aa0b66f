import type { Log } from "@svc/log";
import { QueueDownError, publishIncoming } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { Store } from "@svc/store";

const SWEEP_MS = 500;
const SWEEP_LIMIT = 1_000;

/**
 * Finds messages that were never announced, or announced in vain, and announces them: twice a second, in every
 * replica. This is what lets the queue lose everything it has without a message being lost.
 */
export function startSweeper(store: Store, queues: Queues, log: Log): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();

  async function sweep(): Promise<void> {
    if (!queues.isUp()) return;
    try {
      const due = await store.messages.takeDue(SWEEP_LIMIT);
      if (due.length === 0) return;
      await publishIncoming(queues, due);
      log.debug({ count: due.length }, "waiting messages were announced again");
    } catch (error) {
      if (!(error instanceof QueueDownError)) log.debug({ error }, "the sweep failed; the next one follows");
    }
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
