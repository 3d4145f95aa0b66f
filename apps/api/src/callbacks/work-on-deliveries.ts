import type { Log } from "@svc/log";
import type { AddressGuard } from "@svc/outbound";
import type { ApiSettings } from "@svc/contracts";
import type { ClaimedDelivery, ProjectId, Store } from "@svc/store";
import type { Persister } from "../persist.ts";
import { createReceiverLoad } from "./receiver-load.ts";
import { tryDelivery } from "./try-delivery.ts";

/** What making callbacks needs. */
export interface DeliveryContext {
  store: Store;
  log: Log;
  guard: AddressGuard;
  persister: Persister;
  readSettings: () => Promise<ApiSettings>;
  /** Tells whoever waits for replies of a conversation to look. */
  tell: (ticketId: string) => void;
}

/**
 * How long a job waits for its tries; they go on without it, so that slow receivers take no place of the others. For a
 * receiver that is known to be slow right now it does not wait at all.
 */
const JOB_WAIT_MS = 250;
/** How long a callback waits whose receiver has enough on its way; spread, so that they do not come back together. */
const BUSY_RECEIVER_MS = 1_000;
const BUSY_RECEIVER_SPREAD_MS = 4_000;

/**
 * Makes the worker of the queue `webhook-deliveries`. Idempotent: the lease on the chat's oldest callback is taken
 * first, so that a job that comes twice finds it taken or nothing to do. A try that was made in the moment of a crash is
 * made again, with the same id.
 */
export function createDeliveryWorker(context: DeliveryContext) {
  const { store, log, guard, persister } = context;
  const load = createReceiverLoad();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  /** Makes one try; true when the next callback of the chat can follow. `letGo` is called when it may take long. */
  async function handle(delivery: ClaimedDelivery, letGo: () => void): Promise<boolean> {
    const counted = load.enter(delivery.url);
    if (counted?.isSlow === true) letGo();
    if (counted === null) {
      await store.deliveries.postpone(delivery, BUSY_RECEIVER_MS + Math.random() * BUSY_RECEIVER_SPREAD_MS);
      return false;
    }
    try {
      const tools = { guard, sealer: store.sealer, settings: await context.readSettings() };
      const result = await tryDelivery(delivery, tools, stopping.signal);
      await persister.persist("noting a callback", () => store.deliveries.finishTry(delivery, result));
      const { id, messageId, attempt } = delivery;
      const facts = { deliveryId: id, messageId, attempt, status: result.status, ms: Math.round(result.durationMs) };
      if (result.next === "dead") {
        log.warn({ ...facts, reason: result.error }, "a callback is dead; its replies are in the drain");
        context.tell(delivery.ticketId);
      } else {
        log.debug({ ...facts, reason: result.error }, "a callback was tried");
      }
      return typeof result.next === "string";
    } catch (error) {
      if (!stopping.signal.aborted) throw error;
      // The next process makes the try; this one does not count.
      await store.deliveries.postpone(delivery, 0);
      return false;
    } finally {
      counted.leave();
    }
  }

  async function workOnChat(project: ProjectId, ticketId: string, letGo: () => void): Promise<void> {
    while (!stopping.signal.aborted) {
      const delivery = await store.deliveries.claim(project, ticketId);
      if (delivery === null || !(await handle(delivery, letGo))) return;
    }
  }

  return {
    /** Makes the callbacks of a chat that are due, one after the other. Waits for them a moment at most. */
    async work(project: ProjectId, ticketId: string): Promise<void> {
      let isWaitedFor = true;
      let letGo: () => void = () => undefined;
      const waited = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const run = workOnChat(project, ticketId, letGo).catch((error: unknown) => {
        if (isWaitedFor) throw error;
        // Its lease runs out, and the sweeper finds it.
        log.warn({ error, ticketId }, "a callback could not be worked on; it will be tried again");
      });
      running.add(run);
      const timer = setTimeout(letGo, JOB_WAIT_MS);
      try {
        await Promise.race([run.finally(() => running.delete(run)), waited]);
      } finally {
        isWaitedFor = false;
        clearTimeout(timer);
      }
    },

    /** Breaks off the tries that are on their way, to be made again by another process, and waits for their end. */
    async stop(): Promise<void> {
      stopping.abort(new Error("the process stops"));
      await Promise.allSettled(running);
    },
  };
}
