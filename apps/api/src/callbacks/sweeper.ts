import type { Log } from "@svc/log";
import { publishDeliveries } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { startSweeps } from "@svc/runtime";
import type { Sweeps } from "@svc/runtime";
import type { Store } from "@svc/store";
import { settleCallbacks } from "./settle-callbacks.ts";

const SWEEP_LIMIT = 1_000;
/** How often what is too old is deleted. */
const FORGET_MS = 60_000;
const FORGET_LIMIT = 5_000;

/**
 * Twice a second in every replica: makes the callbacks whose job was lost and the timeouts that are due, announces
 * what is to be tried again, and, each minute, forgets old keys, secrets and bodies of hooks. This is what lets the queue lose
 * everything it has without a callback being lost.
 */
export function startCallbackSweeper({ store, queues, log }: { store: Store; queues: Queues; log: Log }): Sweeps {
  async function settleLeftOvers(): Promise<void> {
    const late = await store.callbacks.markTimeouts(SWEEP_LIMIT);
    await settleCallbacks({ store, queues, log }, [...late, ...(await store.callbacks.findUnsettled(SWEEP_LIMIT))]);
  }

  async function announceDue(): Promise<void> {
    if (queues.isUp()) await publishDeliveries(queues, await store.deliveries.takeDue(SWEEP_LIMIT));
  }

  /** What is more than the limit is left to the next round. */
  async function forget(): Promise<void> {
    await store.idempotencyKeys.deleteExpired(FORGET_LIMIT);
    await store.hooks.forgetOld(FORGET_LIMIT);
    const old = await store.callbacks.eraseOldSecrets(FORGET_LIMIT);
    const revoked = await store.callbacks.eraseRevokedSecrets(FORGET_LIMIT);
    if (old + revoked > 0) log.info({ old, revoked }, "deleted sealed API keys that are no longer needed");
  }

  return startSweeps(log, "callbacks", [settleLeftOvers, announceDue, { everyMs: FORGET_MS, run: forget }]);
}
