import { QueueDownError, announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { Log } from "@svc/log";
import type { CallbackRef, DueDelivery, Store } from "@svc/store";

/** What creating callbacks needs. */
interface CallbacksContext {
  store: Store;
  queues: Queues;
  log: Log;
  /** Starts to deliver a new callback in this process; false if it needs a job. By default, all get a job. */
  deliver?: (delivery: DueDelivery) => boolean;
}

/**
 * Creates the due callbacks of conversations, and delivers or announces them. Idempotent: callbacks that exist are not
 * announced again, and the sweeper repairs lost announcements.
 */
export async function createCallbacks(
  { store, queues, log, deliver = () => false }: CallbacksContext,
  refs: CallbackRef[],
): Promise<void> {
  const made = await store.callbacks.settle(refs);
  const announced = made.filter((delivery) => !deliver(delivery));
  try {
    await announceWork(queues, "webhook-deliveries", announced);
  } catch (error) {
    if (!(error instanceof QueueDownError)) throw error;
    log.debug({ count: announced.length }, "callbacks stored but not announced; the sweeper will announce them");
  }
}
