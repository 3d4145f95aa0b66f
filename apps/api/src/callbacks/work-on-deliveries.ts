import { setMaxListeners } from "node:events";
import type { Log } from "@svc/log";
import type { AddressGuard } from "@svc/outbound";
import type { WebhookSecrets } from "@svc/contracts";
import { withinMs } from "@svc/primitives";
import { isUnavailable } from "@svc/store";
import type { ClaimedDelivery, DeliveryRequest, ProjectId, Store, TryResult } from "@svc/store";
import { count, observe, traceIdOf } from "@svc/telemetry";
import { createPersister } from "../persist.ts";
import { createReceiverLoad } from "./receiver-load.ts";
import { failedTry, tryDelivery } from "./try-delivery.ts";
import type { DeliveryTools } from "./try-delivery.ts";

/** What making callbacks needs. */
export interface DeliveryContext {
  store: Store;
  log: Log;
  guard: AddressGuard;
  readSecrets: (project: ProjectId) => Promise<WebhookSecrets>;
  /** Notifies waiters for replies of a conversation. */
  tell: (ticketId: string) => void;
}

/** A try that a stop broke off. */
interface Interrupted {
  brokenOffAfterMs: number;
}

/**
 * How long a job waits for its tries; they go on without it, so that slow receivers take no place of the others. For a
 * receiver that is known to be slow right now it does not wait at all.
 */
const JOB_WAIT_MS = 250;
/** From so many failed tries on an operator should know. */
const FAILING_TRIES = 3;
/**
 * The request is sent within this time after the store was asked to begin the attempt, or not at all: then it ends before
 * the lease expires (20 s less the 15 s of an attempt and a second for the clock), and no other worker sends this callback
 * or the next one of the chat meanwhile.
 */
const SEND_WITHIN_MS = 4_000;
/** Wait before the next claim of a callback that could not be sent because the store did not respond in time. */
const STORE_DELAY_MS = 1_000;
/**
 * Leases of one callback in a row that may expire without a result. The waits between them grow, so that the last one is
 * most of a day after the first: whatever ends the process each time is then the callback itself.
 */
const LAPSES_MAX = 9;

/**
 * Makes the worker of the queue `webhook-deliveries`. Idempotent: the lease on the chat's oldest callback is taken
 * first, so that a job that comes twice finds it taken or nothing to do. A try that was made in the moment of a crash is
 * made again, with the same id.
 */
export function createDeliveryWorker(context: DeliveryContext) {
  const { store, log, guard } = context;
  // Its own, to be closed at a stop: what cannot be written down then is tried again by another process.
  const persister = createPersister(log);
  const load = createReceiverLoad();
  const running = new Set<Promise<void>>();
  let latestAt = performance.now();
  // Aborted when the tries on their way are broken off: all of them listen to it.
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  // Aborted before that: no further try is begun.
  const draining = new AbortController();

  /** Reads what the request is made of and begins the attempt; null when nothing can be sent now. */
  async function begin(claimed: ClaimedDelivery): Promise<{ request: DeliveryRequest; tools: DeliveryTools } | null> {
    try {
      const tools = { guard, sealer: store.sealer, secrets: await context.readSecrets(claimed.project) };
      const askedAt = performance.now();
      const request = await store.deliveries.begin(claimed);
      if (request === null || stopping.signal.aborted || performance.now() > askedAt + SEND_WITHIN_MS) return null;
      return { request, tools };
    } catch (error) {
      if (isUnavailable(error)) return null;
      throw error;
    }
  }

  /** Makes one attempt and returns its result, or its duration if the stop aborted it; null when nothing was sent. */
  async function makeTry(claimed: ClaimedDelivery): Promise<TryResult | Interrupted | null> {
    if (claimed.lapses >= LAPSES_MAX) {
      const error = `the service stopped ${LAPSES_MAX} times in a row while delivering this callback`;
      return { durationMs: 0, status: null, error, next: "dead" };
    }
    let sentAt: number | null = null;
    try {
      const begun = await begin(claimed);
      if (begun === null) return null;
      sentAt = performance.now();
      return await tryDelivery(begun.request, begun.tools, stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) return sentAt === null ? null : { brokenOffAfterMs: performance.now() - sentAt };
      // An error of the service counts as a failed attempt: it must not hold the chat back for ever.
      log.error({ error, deliveryId: claimed.id }, "callback delivery failed unexpectedly");
      return failedTry(claimed, {
        durationMs: 0,
        status: null,
        error: "internal error while delivering this callback",
      });
    }
  }

  async function noteTry(delivery: ClaimedDelivery, result: TryResult): Promise<void> {
    await persister.persist("recording the result of a callback", () => store.deliveries.finishTry(delivery, result));
    const { id, messageId, attempt } = delivery;
    count("svc_deliveries_total", {
      way: "callback",
      outcome: typeof result.next === "string" ? result.next : "later",
    });
    observe("svc_delivery_duration_seconds", { way: "callback" }, result.durationMs / 1_000);
    const facts = {
      deliveryId: id,
      messageId,
      ticketId: delivery.ticketId,
      traceId: traceIdOf(delivery.trace),
      attempt,
      status: result.status,
      ms: Math.round(result.durationMs),
    };
    if (result.next === "dead") {
      log.warn(
        { ...facts, reason: result.error },
        "callback permanently failed; its replies can be collected by polling",
      );
      context.tell(delivery.ticketId);
    } else if (result.next !== "delivered" && delivery.failures + 1 >= FAILING_TRIES) {
      const inS = Math.round(result.next.delayMs / 1_000);
      log.warn({ ...facts, host: new URL(delivery.url).host, reason: result.error, inS }, "callback keeps failing");
    } else {
      log.debug({ ...facts, reason: result.error }, "callback attempted");
    }
  }

  /** Releases a callback of which nothing was sent; any worker may claim it after `delayMs`. */
  function giveBack(delivery: ClaimedDelivery, delayMs: number): Promise<void> {
    return persister.persist("releasing a callback", () => store.deliveries.postpone(delivery, delayMs));
  }

  /** Gives a callback back whose receiver may have it: the try is kept, and another process makes the next one. */
  function giveUp(delivery: ClaimedDelivery, { brokenOffAfterMs }: Interrupted): Promise<void> {
    return persister.persist("releasing a callback", () =>
      store.deliveries.interrupt(delivery, brokenOffAfterMs, "interrupted by shutdown"),
    );
  }

  /** Makes one try; true when the next callback of the chat can follow. `letGo` is called when it may take long. */
  async function handle(delivery: ClaimedDelivery, letGo: () => void): Promise<boolean> {
    const counted = load.enter(delivery.url);
    if ("waitMs" in counted) {
      await giveBack(delivery, counted.waitMs * (1 + Math.random()));
      return false;
    }
    if (counted.isSlow) letGo();
    try {
      const result = await makeTry(delivery);
      if (result === null) await giveBack(delivery, stopping.signal.aborted ? 0 : STORE_DELAY_MS);
      else if ("brokenOffAfterMs" in result) await giveUp(delivery, result);
      else await noteTry(delivery, result);
      return result !== null && "next" in result && typeof result.next === "string";
    } finally {
      counted.leave();
    }
  }

  async function workOnChat(project: ProjectId, ticketId: string, letGo: () => void): Promise<void> {
    while (!draining.signal.aborted) {
      const claimedAt = performance.now();
      const delivery = await store.deliveries.claim(project, ticketId);
      if (delivery !== null) latestAt = claimedAt;
      if (delivery === null || !(await handle(delivery, letGo))) return;
    }
  }

  return {
    /** How long ago the latest callback was taken up here, or the worker made. */
    sinceTakenMs: () => performance.now() - latestAt,

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
        log.warn({ error, ticketId }, "callback could not be processed; it will be retried");
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

    /**
     * Begins no further try and waits for those on their way, at most `deadlineMs`; then breaks them off, to be made
     * again by another process.
     */
    async stop(deadlineMs: number): Promise<void> {
      draining.abort();
      const allOver = Promise.allSettled(running).then(() => undefined);
      await withinMs(allOver, deadlineMs);
      stopping.abort(new Error("the process is shutting down"));
      await Promise.all([persister.close(), Promise.allSettled(running)]);
    },
  };
}
