import { setTimeout as sleep } from "node:timers/promises";
import { DeliveryError } from "@svc/contracts";
import type { Channel, ReplyContext } from "@svc/contracts";
import type { Log } from "@svc/log";
import { MAX_LAPSES, OUTBOX_LEASE_MS, isUnavailable } from "@svc/store";
import type { ClaimedReply, OutboxRef, Store } from "@svc/store";
import { count, isTracing, observe, startSpan } from "@svc/telemetry";
import type { Span } from "@svc/telemetry";

const TRIES_MAX = 5;
const RENEW_MS = OUTBOX_LEASE_MS / 4;
const PAUSE_MAX_MS = 60_000;
/**
 * The store may be away in the moment in which a reply is sent: only what is noted is not sent again. A restart of it, or a
 * move to its standby, is over by then; the lease stays in the row as long as nobody else takes it.
 */
const NOTE_FOR_MS = 10 * 60_000;
const NOTE_AGAIN_MS = 500;

/** A pause that doubles with each time, with jitter. */
const pauseMs = (times: number) => Math.min(PAUSE_MAX_MS, 1_000 * 2 ** Math.min(times, 10)) * (0.5 + Math.random() / 2);

/**
 * Sends what waits in a conversation of a channel that pushes, in its order, until nothing is left, something has to
 * wait, or `mayGoOn` says no; what is being sent is broken off by `signal`. Idempotent: it holds the lease on the
 * conversation, reads what is not sent yet, and notes each part once it is sent, so that a call that comes twice finds
 * nothing, or the lease taken. What was sent in the moment of a crash may be sent again: one part of one reply.
 */
export async function deliverReply(
  { store, log }: { store: Store; log: Log },
  channel: Channel,
  where: OutboxRef,
  { mayGoOn, signal }: { mayGoOn: () => boolean; signal: AbortSignal },
): Promise<void> {
  let leaseId: string | undefined;
  while (mayGoOn()) {
    const claimed = await store.outboxes.claimNext(where, leaseId);
    if (claimed === null) return;
    ({ leaseId } = claimed);
    if (!(await deliverOne({ store, log }, channel, claimed, signal))) return;
  }
  // What is still held here is free at once, and not when the lease runs out.
  if (leaseId !== undefined) await store.outboxes.release(where, leaseId);
}

/** The place in its trace of the message that a reply answers; null where there is none, or where nobody traces. */
async function findTrace(store: Store, { project, reply }: ClaimedReply): Promise<string | null> {
  if (!isTracing() || reply.inReplyTo === null) return null;
  const traces = await store.messages.findTraces(project, [reply.inReplyTo]);
  return traces.get(reply.inReplyTo) ?? null;
}

/** Sends one reply and counts what became of it; true when the next one can follow. */
async function deliverOne(
  deps: { store: Store; log: Log },
  channel: Channel,
  claimed: ClaimedReply,
  stopping: AbortSignal,
): Promise<boolean> {
  const startedAt = performance.now();
  // A trace is worth no reply that is late, and none that is lost.
  const parent = await findTrace(deps.store, claimed).catch(() => null);
  const span = startSpan("deliver reply", {
    parent,
    kind: "client",
    attributes: { "svc.channel": channel.id, "svc.ticket_id": claimed.ticketId, "svc.tries": claimed.tries },
  });
  try {
    const { outcome, mayGoOn } = await tryToDeliver(deps, channel, claimed, { stopping, span });
    span.annotate({ "svc.outcome": outcome });
    count("svc_deliveries_total", { way: "push", outcome });
    observe("svc_delivery_duration_seconds", { way: "push" }, (performance.now() - startedAt) / 1_000);
    return mayGoOn;
  } finally {
    span.end();
  }
}

/** What became of one try of a reply, and whether the next one of its conversation can follow. */
interface Tried {
  outcome: "delivered" | "later" | "closed" | "dead" | "broken_off";
  mayGoOn: boolean;
}

async function tryToDeliver(
  { store, log }: { store: Store; log: Log },
  channel: Channel,
  claimed: ClaimedReply,
  { stopping, span }: { stopping: AbortSignal; span: Span },
): Promise<Tried> {
  const { ticketId, reply, tries } = claimed;
  const facts = { ticketId, replyId: reply.id, tries };
  const lost = new AbortController();
  const signal = AbortSignal.any([stopping, lost.signal]);
  const endRenewing = keepLease({ store, log }, claimed, lost);
  try {
    const reason = explainExpiredLeases(claimed);
    if (reason !== null) throw new AbandonedReply(reason);
    await send(channel, claimed, {
      project: claimed.project,
      ticketId,
      replyId: reply.id,
      seq: reply.seq,
      ...(reply.inReplyTo === null ? {} : { inReplyTo: reply.inReplyTo }),
      sentParts: claimed.sentParts,
      signal,
      async noteSent(parts) {
        if (await persist(log, stopping, () => store.outboxes.noteSent(claimed, parts))) return;
        lost.abort();
        throw new DeliveryError("later", "another process is sending in this conversation");
      },
    });
    await persist(log, stopping, () => store.outboxes.settleDelivered(claimed));
    log.debug(facts, "reply sent");
    return { outcome: "delivered", mayGoOn: true };
  } catch (error) {
    span.fail(error);
    // Neither the receiver nor the reply has failed. Fenced: nothing happens if another process has the lease.
    if (lost.signal.aborted || stopping.aborted || isUnavailable(error)) {
      await giveBack({ store, log }, claimed, { delayMs: 0, counts: false }, stopping);
      return { outcome: "broken_off", mayGoOn: false };
    }
    return settleFault({ store, log }, claimed, error, stopping);
  } finally {
    endRenewing();
  }
}

/** A reply that is given up because of the leases on it that expired. */
class AbandonedReply extends Error {}

/** Why a reply is given up because of the leases on it that expired; null while it can be tried again. */
function explainExpiredLeases({ crashes, lapses }: ClaimedReply): string | null {
  if (crashes >= TRIES_MAX) return `the sending process crashed ${crashes} times`;
  if (lapses < MAX_LAPSES) return null;
  return `the sending process lost its lease ${lapses} times`;
}

/** Notes what becomes of a reply that was not sent. */
async function settleFault(
  { store, log }: { store: Store; log: Log },
  claimed: ClaimedReply,
  error: unknown,
  stopping: AbortSignal,
): Promise<Tried> {
  const { ticketId, reply, tries, deferrals } = claimed;
  const isAbandoned = error instanceof AbandonedReply;
  const fault = error instanceof DeliveryError ? error.fault : "refused";
  // The text of any other error may hold what only the log may show.
  const reason =
    error instanceof DeliveryError || isAbandoned ? error.message : "the channel failed to send the reply; see the log";
  const facts = { ticketId, replyId: reply.id, tries, reason };
  if (fault === "closed") {
    log.info(facts, "conversation no longer accepts replies");
    await persist(log, stopping, () => store.outboxes.settleUndelivered(claimed, { reason, isDead: false }));
    return { outcome: "closed", mayGoOn: true };
  }
  if (fault === "refused" && (isAbandoned || tries >= TRIES_MAX)) {
    log.error({ ...facts, error }, "reply failed permanently; moved to dead letters");
    await persist(log, stopping, () => store.outboxes.settleUndelivered(claimed, { reason, isDead: true }));
    return { outcome: "dead", mayGoOn: true };
  }
  const asked = error instanceof DeliveryError ? error.retryAfterMs : null;
  const counts = fault === "refused";
  const delayMs = asked ?? pauseMs(counts ? tries : deferrals);
  if (counts) log.warn({ ...facts, error, inMs: Math.round(delayMs) }, "reply failed; it will be retried");
  else log.debug({ ...facts, inMs: Math.round(delayMs) }, "reply deferred");
  await giveBack({ store, log }, claimed, { delayMs, counts }, stopping);
  return { outcome: "later", mayGoOn: false };
}

/**
 * Releases a reply for another time, also if the store is unavailable for a while: an attempt that is not uncounted here
 * counts as one that ended the process. During a shutdown the lease expires by itself then.
 */
async function giveBack(
  { store, log }: { store: Store; log: Log },
  claimed: ClaimedReply,
  how: { delayMs: number; counts: boolean },
  stopping: AbortSignal,
): Promise<void> {
  await persist(log, stopping, () => store.outboxes.giveBack(claimed, how)).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error;
    log.debug({ error, ticketId: claimed.ticketId }, "failed to release a reply; its lease will expire");
  });
}

/** Renews the lease until the answer is called; aborts `lost` when it is another's, or may be. */
function keepLease(
  { store, log }: { store: Store; log: Log },
  claimed: ClaimedReply,
  lost: AbortController,
): () => void {
  let heldUntil = performance.now() + OUTBOX_LEASE_MS;
  const timer = setInterval(() => {
    const at = performance.now();
    store.outboxes
      .renew(claimed)
      .then((isHeld) => {
        if (isHeld) heldUntil = at + OUTBOX_LEASE_MS;
        else lost.abort();
      })
      .catch((error: unknown) => log.debug({ error }, "failed to renew the lease of a conversation"));
    if (at > heldUntil - RENEW_MS) lost.abort();
  }, RENEW_MS);
  return () => clearInterval(timer);
}

/** Writes down what was done, also if the store is away for a while: it would be done again else. A stop ends that. */
async function persist<Result>(log: Log, stopping: AbortSignal, write: () => Promise<Result>): Promise<Result> {
  const giveUpAt = performance.now() + NOTE_FOR_MS;
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isUnavailable(error) || stopping.aborted || performance.now() > giveUpAt) throw error;
      log.debug({ error }, "failed to record a sent reply; retrying");
      await sleep(NOTE_AGAIN_MS);
    }
  }
}

async function send(channel: Channel, { chatId, reply }: ClaimedReply, context: ReplyContext): Promise<void> {
  if (reply.type === "message") {
    await channel.sendMessage(chatId, reply.text, { ...context, markdown: reply.markdown });
    return;
  }
  // A channel without attachments still says that there is one.
  if (channel.sendAttachment === undefined) await channel.sendMessage(chatId, reply.filename, context);
  else await channel.sendAttachment(chatId, reply, context);
}
