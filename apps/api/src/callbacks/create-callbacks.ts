import { QueueDownError, announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { Log } from "@svc/log";
import type { CallbackRef, Store } from "@svc/store";

/**
 * Creates the due callbacks of conversations, and announces them. Idempotent: announced callbacks are not announced
 * again, and the sweeper repairs lost announcements.
 */
export async function createCallbacks(
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
