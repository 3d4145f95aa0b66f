import { QueueDownError, announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { Log } from "@svc/log";
import type { CallbackRef, Store } from "@svc/store";

/**
 * Makes the callbacks that conversations call for, and announces them. Idempotent: what was announced is not announced
 * again, and an announcement that is lost is made good by the sweeper.
 */
export async function settleCallbacks(
  { store, queues, log }: { store: Store; queues: Queues; log: Log },
  refs: CallbackRef[],
): Promise<void> {
  const made = await store.callbacks.settle(refs);
  try {
    await announceWork(queues, "webhook-deliveries", made);
  } catch (error) {
    if (!(error instanceof QueueDownError)) throw error;
    log.debug({ count: made.length }, "callbacks stored but not announced; the sweeper will announce them");
  }
}
