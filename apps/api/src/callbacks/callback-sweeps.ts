import type { Log } from "@svc/log";
import { announceWork } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { Store } from "@svc/store";
import { createCallbacks } from "./create-callbacks.ts";

const SWEEP_LIMIT = 1_000;
/** How often old rows are deleted. */
const DELETE_MS = 60_000;
const DELETE_LIMIT = 5_000;

/**
 * Returns the sweeps for callbacks. They create the callbacks whose job was lost and the timeouts that are due,
 * announce due attempts, and each minute delete old keys, secrets, bodies of hooks and deliveries of events. Because
 * of them, the queue may lose all its data without the loss of a callback or event.
 */
export function callbackSweeps({ store, queues, log }: { store: Store; queues: Queues; log: Log }) {
  async function settleOverdue(): Promise<void> {
    const late = await store.callbacks.markTimeouts(SWEEP_LIMIT);
    await createCallbacks({ store, queues, log }, [...late, ...(await store.callbacks.findUnsettled(SWEEP_LIMIT))]);
  }

  async function announceDue(): Promise<void> {
    await announceWork(queues, "webhook-deliveries", await store.deliveries.claimDue(SWEEP_LIMIT));
  }

  /** Rows over the limit are left to the next sweep. */
  async function deleteOld(): Promise<void> {
    await store.idempotencyKeys.deleteExpired(DELETE_LIMIT);
    await store.hooks.deleteOld(DELETE_LIMIT);
    await store.webhooks.deleteOldDeliveries(DELETE_LIMIT);
    const old = await store.callbacks.eraseOldSecrets(DELETE_LIMIT);
    const revoked = await store.callbacks.eraseRevokedSecrets(DELETE_LIMIT);
    if (old + revoked > 0) log.info({ old, revoked }, "deleted sealed API keys that are no longer needed");
  }

  return [
    { isDue: async () => (await store.dueWork.find()).callbacks, run: settleOverdue },
    { isDue: async () => queues.isUp() && (await store.dueWork.find()).deliveries, run: announceDue },
    { everyMs: DELETE_MS, run: deleteOld },
  ];
}
