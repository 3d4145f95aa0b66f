import type { CallbackBody, CallbackType } from "@svc/contracts";
import type { Log } from "@svc/log";
import { announceWork, QueueDownError } from "@svc/queue";
import type { Queues } from "@svc/queue";
import type { CallbackRef, DeliveryRequest, DueDelivery, Store } from "@svc/store";
import { replyJson } from "../messages/response-writer.ts";

/** Returns the body of a callback. It only depends on stored data, so that all attempts send the same bytes. */
export function callbackBody(delivery: DeliveryRequest): string {
  const body: CallbackBody = {
    ok: true,
    mode: "webhook",
    // `readWebhookEvent` makes the bodies of events.
    type: delivery.type as CallbackType,
    deliveryId: delivery.id,
    timestamp: delivery.createdAt.toISOString(),
    chatId: delivery.chatId,
    ticketId: delivery.ticketId,
    messageId: delivery.messageId,
    replies: delivery.replies.map(replyJson),
    ...(delivery.coveredBy === null ? {} : { coveredBy: delivery.coveredBy }),
    meta: delivery.meta,
  };
  return JSON.stringify(body);
}

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
