import type { DeliveryJob, WebhookSecrets } from "@svc/contracts";
import type { Log } from "@svc/log";
import { readWebhookEvent } from "@svc/operations";
import type { AddressGuard } from "@svc/outbound";
import type { Queues } from "@svc/queue";
import { asProjectId, isUnavailable } from "@svc/store";
import type {
  CallbackRef,
  ClaimedDelivery,
  DeliveryRequest,
  DueDelivery,
  ProjectId,
  Store,
  AttemptResult,
} from "@svc/store";
import { count, observe, traceIdOf } from "@svc/telemetry";
import { createLeaseManager, defineWork, retryUntilStored } from "@svc/work";
import type { HeldLease, Work } from "@svc/work";
import { callbackBody, callbackSweeps, createCallbacks } from "./create-callbacks.ts";
import { createReceiverLoad } from "./receiver-load.ts";
import type { AdmittedAttempt, ReceiverLoad } from "./receiver-load.ts";
import { failedAttempt, attemptDelivery } from "./attempt-delivery.ts";

/** What delivering callbacks needs. */
export interface DeliveryContext {
  store: Store;
  queues: Queues;
  log: Log;
  guard: AddressGuard;
  readSecrets: (project: ProjectId) => Promise<WebhookSecrets>;
  /** Notifies waiters for replies of a conversation. */
  notifyWaiters: (ticketId: string) => void;
}

/** A conversation with callbacks to deliver. */
interface Chat {
  project: ProjectId;
  ticketId: string;
}

/** A callback that this process delivers. */
interface DeliveryClaim extends ClaimedDelivery {
  /** Completes the job while the delivery continues. */
  releaseJob: () => void;
}

/** An attempt that a shutdown aborted. */
interface InterruptedAttempt {
  abortedAfterMs: number;
}

/**
 * Time that a job waits for its attempts, which continue without it, so that slow receivers occupy no worker slots.
 * For a receiver that is known to be slow, a job does not wait.
 */
const JOB_WAIT_MS = 250;
/**
 * Maximum number of chats whose new callbacks a process delivers without a job, which would cost as much as the delivery
 * itself. As many as jobs of one consumer on Redis; any process can deliver the others.
 */
const WITHOUT_JOB_MAX = 100;
/** Number of failed attempts from which an operator is warned. */
const FAILING_ATTEMPTS = 3;
/** Lease duration, as the store sets it: no attempt lasts longer. */
const LEASE_MS = 20_000;
/**
 * The request is sent within this time after the store was asked to begin the attempt, or not at all: then it ends before
 * the lease expires (20 s less the 15 s of an attempt and a second for the clock), and no other worker sends this callback
 * or the next one of the chat meanwhile.
 */
const SEND_WITHIN_MS = 4_000;
/** Delay before the next claim of a callback that could not be sent because the store did not respond in time. */
const STORE_DELAY_MS = 1_000;
/**
 * Maximum number of consecutive leases of a callback that expire without a result. The delays between them grow, so
 * that the last one is most of a day after the first: by then the callback itself must be what crashes the process.
 */
const LAPSES_MAX = 9;
/** During shutdown, attempts are aborted after the first of these times and repeated by another process. */
const SHUTDOWN = { abortAfterMs: 2_000, deadlineMs: 32_000 };

/**
 * Age of a due callback from which this process counts as not working, if it claims none at all. The age alone is not
 * enough: after a burst all replicas are busy with old callbacks, and none of them must lose its callers.
 */
const IDLE_TOO_LONG_MS = 120_000;
/** Sweeps come twice a second; a statement ends after 30 s at the latest. */
const SWEEP_TOO_LONG_MS = 90_000;

const inSeconds = (ms: number) => `${Math.round(ms / 1_000)} s`;

/** The delivery of callbacks in this process. */
export interface CallbackWork extends Work<Chat> {
  /**
   * Creates the due callbacks of conversations and starts to deliver them, in this process if it has capacity. Idempotent:
   * if it crashes, the sweeper announces what it has created.
   */
  create(refs: CallbackRef[]): Promise<void>;
  /** Returns why this process does not deliver callbacks, in words; null if it does, or if none is due. */
  findProblem(): Promise<string | null>;
}

/**
 * Defines the work of delivering the callbacks of webhook messages and the events of webhooks. Those of a chat, and
 * those of a webhook about one object, are delivered in order, each at least once and always with the same id: an
 * attempt in progress during a crash is repeated. Callbacks of accepted messages are also delivered while the channel
 * is disabled.
 */
export function deliverCallbacks(
  context: DeliveryContext,
  shutdown: { abortAfterMs: number; deadlineMs: number } = SHUTDOWN,
): CallbackWork {
  const { store, queues, log } = context;
  const load = createReceiverLoad();
  let claimedAt = performance.now();
  let withoutJob = 0;

  const work = defineWork(
    { queues, log },
    {
      name: "callbacks",
      consumes: [{ queue: "webhook-deliveries" }],
      targets: ({ project, ticketId }: DeliveryJob) => [{ project: asProjectId(project), ticketId }],
      leases: createLeaseManager<DeliveryClaim>(log, { name: "callbacks", ms: LEASE_MS, renewMs: LEASE_MS }),
      async claim({ project, ticketId }: Chat, { handle, releaseJob }) {
        const askedAt = performance.now();
        const delivery = await store.deliveries.claim(project, ticketId);
        if (delivery === null) return false;
        claimedAt = askedAt;
        return handle({ ...delivery, releaseJob });
      },
      run: (delivery: DeliveryClaim, { signal }: HeldLease) => deliver(context, load, delivery, signal),
      sweeps: callbackSweeps(context),
      jobWaitMs: JOB_WAIT_MS,
      shutdown,
    },
  );

  /** Delivers a callback without a job; false if this process has no capacity or is stopping. */
  function deliverWithoutJob({ project, ticketId, deliveryId }: DueDelivery): boolean {
    if (withoutJob >= WITHOUT_JOB_MAX || work.isDraining()) return false;
    withoutJob++;
    work
      .process({ project, ticketId })
      .finally(() => withoutJob--)
      .catch((error: unknown) =>
        log.warn({ error, deliveryId }, "callback not delivered; the sweeper will announce it"),
      );
    return true;
  }

  return {
    ...work,
    create: (refs) => createCallbacks({ store, queues, log, deliver: deliverWithoutJob }, refs),
    async findProblem() {
      const sweepMs = work.sinceSweepMs();
      if (sweepMs >= SWEEP_TOO_LONG_MS) return `the last check for due callbacks was ${inSeconds(sweepMs)} ago`;
      const idleMs = performance.now() - claimedAt;
      if (idleMs < IDLE_TOO_LONG_MS || !queues.isUp()) return null;
      const dueMs = await store.deliveries.oldestDueMs();
      if (dueMs < IDLE_TOO_LONG_MS) return null;
      return `a callback has been due for ${inSeconds(dueMs)}, and this process has not claimed one for ${inSeconds(idleMs)}`;
    },
  };
}

/** Delivers a claimed callback. Returns true if the next one of the chat can follow. */
async function deliver(
  context: DeliveryContext,
  load: ReceiverLoad,
  delivery: DeliveryClaim,
  signal: AbortSignal,
): Promise<boolean> {
  const { store, log } = context;
  const counted = await load.enter(delivery.url);
  const record = (what: string, write: () => Promise<void>) => retryUntilStored(log, write, { what, signal });
  /** Releases a callback of which nothing was sent. */
  const release = (delayMs: number) =>
    record("releasing a callback", () => store.deliveries.postpone(delivery, delayMs));
  if ("waitMs" in counted) {
    await release(counted.waitMs * (1 + Math.random()));
    return false;
  }
  if (counted.isSlow) delivery.releaseJob();
  try {
    const result = await attempt(context, delivery, { send: counted.send, signal });
    if (result === null) {
      await release(signal.aborted ? 0 : STORE_DELAY_MS);
      return false;
    }
    if ("abortedAfterMs" in result) {
      // The receiver may have received it: the attempt is recorded, and another process makes the next one.
      const interrupt = () => store.deliveries.interrupt(delivery, result.abortedAfterMs, "interrupted by shutdown");
      await record("releasing a callback", interrupt);
      return false;
    }
    await record("recording the result of a callback", () => store.deliveries.finishAttempt(delivery, result));
    reportResult(context, delivery, result);
    return typeof result.next === "string";
  } finally {
    counted.leave();
  }
}

/** Why an event cannot be sent, in words for an operator. */
const NOTHING_TO_SEND =
  "what the event is about no longer exists in this project: it was erased, or another project works on it";
const INACTIVE = "the webhook is not active; activate it, then replay this delivery";

/** A request that can be sent now, or the reason why it can never be sent. */
type BegunAttempt = { request: DeliveryRequest; secrets: WebhookSecrets; body: string } | { problem: string };

/** Reads the content of the request and begins the attempt; null if nothing can be sent now. */
async function begin(
  { store, readSecrets }: DeliveryContext,
  claimed: ClaimedDelivery,
  signal: AbortSignal,
): Promise<BegunAttempt | null> {
  try {
    const { event, project } = claimed;
    const eventBody = event && (await readWebhookEvent({ store }, claimed, event));
    if (event !== null && eventBody === null) return { problem: NOTHING_TO_SEND };
    const ofProject = event === null ? await readSecrets(project) : null;
    const askedAt = performance.now();
    const request: DeliveryRequest | null = await store.deliveries.begin(claimed);
    if (request === null || signal.aborted || performance.now() > askedAt + SEND_WITHIN_MS) return null;
    if (request.webhook?.isActive === false) return { problem: INACTIVE };
    const secrets = request.webhook ?? ofProject;
    return secrets && { request, secrets, body: eventBody ?? callbackBody(request) };
  } catch (error) {
    if (isUnavailable(error)) return null;
    throw error;
  }
}

/** Makes one attempt and returns its result, or its duration if the shutdown aborted it; null if nothing was sent. */
async function attempt(
  context: DeliveryContext,
  claimed: ClaimedDelivery,
  { send, signal }: { send: AdmittedAttempt["send"]; signal: AbortSignal },
): Promise<AttemptResult | InterruptedAttempt | null> {
  if (claimed.lapses >= LAPSES_MAX) {
    const error = `the service stopped ${LAPSES_MAX} times in a row while delivering this callback`;
    return { durationMs: 0, status: null, error, next: "dead" };
  }
  let sentAt: number | null = null;
  try {
    const begun = await begin(context, claimed, signal);
    if (begun === null) return null;
    if ("problem" in begun) return { durationMs: 0, status: null, error: begun.problem, next: "dead" };
    sentAt = performance.now();
    const tools = { guard: context.guard, sealer: context.store.sealer, secrets: begun.secrets, body: begun.body };
    return await send(() => attemptDelivery(begun.request, tools, signal));
  } catch (error) {
    if (signal.aborted) return sentAt === null ? null : { abortedAfterMs: performance.now() - sentAt };
    // An error of the service counts as a failed attempt: it must not block the chat.
    context.log.error({ error, deliveryId: claimed.id }, "callback delivery failed unexpectedly");
    const text = "internal error while delivering this callback";
    return failedAttempt(claimed, { durationMs: 0, status: null, error: text });
  }
}

/** Reports the recorded result of an attempt to metrics, the log and waiters. */
function reportResult({ log, notifyWaiters }: DeliveryContext, delivery: ClaimedDelivery, result: AttemptResult): void {
  const { id, messageId, attempt, event } = delivery;
  const way = event === null ? "callback" : "event";
  count("svc_deliveries_total", {
    way,
    outcome: typeof result.next === "string" ? result.next : "later",
  });
  observe("svc_delivery_duration_seconds", { way }, result.durationMs / 1_000);
  const facts = {
    deliveryId: id,
    ...(event === null ? { messageId, ticketId: delivery.ticketId } : { eventId: messageId, ...event }),
    traceId: traceIdOf(delivery.trace),
    attempt,
    status: result.status,
    ms: Math.round(result.durationMs),
  };
  if (result.next === "dead") {
    log.warn(
      { ...facts, reason: result.error },
      event === null
        ? "callback permanently failed; its replies can be collected by polling"
        : "event permanently failed; it can be replayed",
    );
    notifyWaiters(delivery.ticketId);
  } else if (result.next !== "delivered" && delivery.failures + 1 >= FAILING_ATTEMPTS) {
    const inS = Math.round(result.next.delayMs / 1_000);
    log.warn({ ...facts, host: new URL(delivery.url).host, reason: result.error, inS }, `${way} keeps failing`);
  } else {
    log.debug({ ...facts, reason: result.error }, `${way} attempted`);
  }
}
