import type { Log } from "@svc/log";
import { QueueDownError, publishDeliveries } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { Store } from "@svc/store";
import { settleCallbacks } from "./settle-callbacks.ts";

const SWEEP_MS = 500;
const SWEEP_LIMIT = 1_000;
/** Sweeps between two rounds of forgetting what is too old. */
const FORGET_EVERY = 120;

/**
 * Twice a second in every replica: makes the callbacks whose job was lost and the timeouts that are due, announces
 * what is to be tried again, and, each minute, forgets old keys and secrets. This is what lets the queue lose
 * everything it has without a callback being lost.
 */
export function startCallbackSweeper({ store, queues, log }: { store: Store; queues: Queues; log: Log }): {
  stop(): Promise<void>;
} {
  let stopped = false;
  let rounds = 0;
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> = Promise.resolve();

  async function forget(): Promise<void> {
    await store.idempotencyKeys.deleteExpired();
    const count = await store.callbacks.eraseOldSecrets();
    if (count > 0) log.info({ count }, "sealed API keys of old messages are erased");
  }

  async function sweep(): Promise<void> {
    try {
      await settleCallbacks({ store, queues, log }, await store.callbacks.findUnsettled(SWEEP_LIMIT));
      if (queues.isUp()) await publishDeliveries(queues, await store.deliveries.takeDue(SWEEP_LIMIT));
      if (rounds++ % FORGET_EVERY === 0) await forget();
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
