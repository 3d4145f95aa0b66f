import { DeliveryError, REPLY_QUEUES } from "@svc/contracts";
import type { Channel, ChannelId, ReplyContext, ReplyJob } from "@svc/contracts";
import type { Log } from "@svc/log";
import type { Queues } from "@svc/queue";
import { asProjectId, isUnavailable, MAX_LAPSES, OUTBOX_LEASE_MS, retryThroughOutage } from "@svc/store";
import type { ClaimedReply, OutboxRef, ProjectId, Store, StoredReply } from "@svc/store";
import { count, isTracing, observe, startSpan } from "@svc/telemetry";
import type { Span } from "@svc/telemetry";
import { createLeaseManager, defineWork } from "@svc/work";
import type { ClaimContext, Failure, FailurePolicy, HeldLease, Work } from "@svc/work";

/** Dependencies of accepting and delivering messages. */
export interface ChannelResources {
  store: Store;
  queues: Queues;
  log: Log;
}

/** A delivery of replies that a caller has requested. */
interface Delivery {
  /** Reports whether they have arrived. */
  end(hasArrived: boolean): void;
}

/**
 * Counts replies that are delivered on request, and adds a span to the trace of each message that they answer. `link`
 * is the trace of the request. Nothing waits for it.
 */
export function beginDelivery(
  store: Pick<Store, "messages">,
  project: ProjectId,
  replies: readonly Pick<StoredReply, "inReplyTo">[],
  { way, link = null }: { way: "drain" | "stream" | "socket"; link?: string | null },
): Delivery {
  const answered = [...new Set(replies.flatMap(({ inReplyTo }) => inReplyTo ?? []))];
  const finding = isTracing() && answered.length > 0 ? store.messages.findTraces(project, answered) : null;
  const spans = finding?.then((traces) =>
    [...traces].map(([messageId, parent]) =>
      startSpan("deliver reply", { parent, link, attributes: { "svc.way": way, "svc.message_id": messageId } }),
    ),
  );
  // If the store is unavailable, only the trace of this delivery is lost.
  spans?.catch(() => undefined);
  return {
    end(hasArrived) {
      if (replies.length > 0) {
        count("svc_deliveries_total", { way, outcome: hasArrived ? "delivered" : "later" }, replies.length);
      }
      const finish = (begun: Span[]) => {
        for (const span of begun) {
          if (!hasArrived) span.fail(null);
          span.end();
        }
      };
      spans?.then(finish).catch(() => undefined);
    },
  };
}

const ATTEMPTS_MAX = 5;
const RENEW_MS = OUTBOX_LEASE_MS / 4;
const PAUSE_MAX_MS = 60_000;
/** Maximum of conversations in which replies are sent concurrently; a throttled chat delays no other. */
const CONCURRENCY = 64;
/** Maximum wait of a job for the replies of its chat, which are sent without it afterwards. */
const JOB_WAIT_MS = 250;
/** Replies in progress are aborted after the first of these times of a shutdown. */
const SHUTDOWN = { abortAfterMs: 4_000, deadlineMs: 6_000 };
/**
 * The store may be unavailable when a reply is sent, and a reply that is not recorded as sent is sent again. A restart
 * of the store, or a failover, takes less than this time; the lease stays in the row as long as no other process claims
 * it.
 */
const RECORD_FOR_MS = 10 * 60_000;

/** The result of one attempt to send a reply. */
type Outcome = "delivered" | "later" | "closed" | "dead" | "broken_off";

/** A reply that this process sends. */
interface ReplyClaim extends ClaimedReply {
  span: Span;
  outcome: Outcome;
}

/** Returns a delay in milliseconds that doubles each time, with jitter. */
const pauseMs = (times: number) => Math.min(PAUSE_MAX_MS, 1_000 * 2 ** Math.min(times, 10)) * (0.5 + Math.random() / 2);

const factsOf = ({ ticketId, reply, tries }: ClaimedReply) => ({ ticketId, replyId: reply.id, tries });

/** Handles a claimed reply in a span of the trace of its message, and counts the result. */
async function handleInSpan(
  store: Store,
  channelId: ChannelId,
  claimed: ClaimedReply,
  handle: ClaimContext<ReplyClaim>["handle"],
): Promise<boolean> {
  const startedAt = performance.now();
  const span = startSpan("deliver reply", {
    parent: await findTrace(store, claimed),
    kind: "client",
    attributes: { "svc.channel": channelId, "svc.ticket_id": claimed.ticketId, "svc.tries": claimed.tries },
  });
  const claim: ReplyClaim = { ...claimed, span, outcome: "broken_off" };
  try {
    const mayContinue = await handle(claim);
    span.annotate({ "svc.outcome": claim.outcome });
    count("svc_deliveries_total", { way: "push", outcome: claim.outcome });
    observe("svc_delivery_duration_seconds", { way: "push" }, (performance.now() - startedAt) / 1_000);
    return mayContinue;
  } finally {
    span.end();
  }
}

/** Sends the replies of a conversation, until none is left or one has to wait. */
async function sendAll(
  store: Store,
  channelId: ChannelId,
  chat: OutboxRef,
  { handle, mayContinue }: Pick<ClaimContext<ReplyClaim>, "handle"> & { mayContinue: () => boolean },
): Promise<void> {
  let leaseId: string | undefined;
  while (mayContinue()) {
    const claimed = await store.outboxes.claimNext(chat, leaseId);
    if (claimed === null) return;
    ({ leaseId } = claimed);
    if (!(await handleInSpan(store, channelId, claimed, handle))) return;
  }
  // The lease is released immediately, and does not have to expire.
  if (leaseId !== undefined) await store.outboxes.release(chat, leaseId);
}

/** Runs at most one send per conversation, and a limited number of conversations. */
function createRuns(log: Log) {
  /** Conversations with a send in progress, and whether more replies were announced in the meantime. */
  const running = new Map<string, { isAnnouncedAgain: boolean }>();
  const isFull = () => running.size >= CONCURRENCY;
  return {
    isFull,
    /** Sends again if more replies are announced in the meantime. Never rejects. */
    async run(
      ticketId: string,
      { send, mayContinue }: { send: (mayContinue: () => boolean) => Promise<void>; mayContinue: () => boolean },
    ): Promise<void> {
      const present = running.get(ticketId);
      // The current run may have read before the latest reply was committed.
      if (present !== undefined) present.isAnnouncedAgain = true;
      // Over the limit, the next sweep finds the conversation.
      if (present !== undefined || isFull()) return;
      const run = { isAnnouncedAgain: false };
      running.set(ticketId, run);
      try {
        do {
          run.isAnnouncedAgain = false;
          await send(mayContinue);
        } while (run.isAnnouncedAgain && mayContinue());
      } catch (error) {
        if (isUnavailable(error)) log.debug({ error }, "database unavailable; replies are delayed");
        else log.warn({ error }, "failed to send replies; retrying");
      } finally {
        running.delete(ticketId);
      }
    },
  };
}

/** Returns how failed attempts are judged and recorded. */
function failurePolicy(store: Store, log: Log): FailurePolicy<ReplyClaim> {
  return {
    maxAttempts: ATTEMPTS_MAX,
    retry: [],
    explainExpiredLeases,
    judge,
    async retryLater(reply, { delayMs, counts, error }) {
      reply.span.fail(error);
      await store.outboxes.retryLater(reply, { delayMs, counts });
      const facts = { ...factsOf(reply), reason: reasonOf(error), inMs: Math.round(delayMs) };
      if (counts) log.warn({ ...facts, error }, "reply failed; it will be retried");
      else if (reply.outcome === "later") log.debug(facts, "reply deferred");
    },
    async giveUp(reply, reason, error) {
      reply.span.fail(error);
      const isDead = !isClosed(error);
      reply.outcome = isDead ? "dead" : "closed";
      const facts = { ...factsOf(reply), reason };
      if (isDead) log.error({ ...facts, error }, "reply failed permanently; moved to dead letters");
      else log.info(facts, "conversation no longer accepts replies");
      await store.outboxes.markUndeliverable(reply, { reason, isDead });
      return true;
    },
    facts: (reply) => factsOf(reply),
  };
}

/**
 * Defines the work of sending the replies of a channel that pushes, in the order of each conversation: those that were
 * announced, and in sweeps those whose job was lost or that had to wait. Idempotent: each part of a reply is recorded
 * once it is sent. What was sent at the moment of a crash may be sent again: one part of one reply. A standby replica
 * wakes up the active one.
 */
export function deliverReplies(
  { store, queues, log }: ChannelResources,
  channel: Channel,
  { jobWaitMs = JOB_WAIT_MS, shutdown = SHUTDOWN }: { jobWaitMs?: number; shutdown?: typeof SHUTDOWN } = {},
): Work<OutboxRef> {
  const topic = `outbox-${channel.id}`;
  const isActive = () => channel.isActive?.() !== false;
  const runs = createRuns(log);

  async function claim(chat: OutboxRef, context: ClaimContext<ReplyClaim>): Promise<boolean> {
    if (!isActive()) {
      queues.wakeUps.send(topic, [`${chat.project}/${chat.ticketId}`]);
      return false;
    }
    await runs.run(chat.ticketId, {
      send: (mayContinue) => sendAll(store, channel.id, chat, { ...context, mayContinue }),
      mayContinue: () => isActive() && !context.isDraining(),
    });
    return false;
  }

  async function sendDue(): Promise<void> {
    if (!isActive() || runs.isFull()) return;
    for (const chat of await store.outboxes.listDue(channel.id, CONCURRENCY)) if (isActive()) void work.process(chat);
  }

  const work = defineWork(
    { queues, log },
    {
      name: "replies",
      consumes: [{ queue: REPLY_QUEUES[channel.id] }],
      targets: ({ project, ticketId }: ReplyJob): OutboxRef[] => [{ project: asProjectId(project), ticketId }],
      leases: createLeaseManager<ReplyClaim>(log, {
        name: "replies",
        ms: OUTBOX_LEASE_MS,
        renewMs: RENEW_MS,
        renewOne: (reply) => store.outboxes.renew(reply),
        isUnfenced: true,
      }),
      claim,
      async run(reply, lease) {
        await sendReply(store, channel, reply, lease);
        reply.outcome = "delivered";
        log.debug(factsOf(reply), "reply sent");
        return true;
      },
      failures: failurePolicy(store, log),
      sweeps: [{ isDue: async () => isActive() && (await store.dueWork.find()).outboxes, run: sendDue }],
      listen: ({ process }) =>
        queues.wakeUps.listen(topic, (chats) => {
          for (const [project, ticketId] of chats.map((chat) => chat.split("/"))) {
            if (!isActive() || project === undefined || ticketId === undefined) continue;
            void process({ project: asProjectId(project), ticketId });
          }
        }),
      jobWaitMs,
      shutdown,
    },
  );
  return work;
}

/** Returns the trace of the message that a reply answers; null if there is none, or nothing is traced. */
async function findTrace(store: Store, { project, reply }: ClaimedReply): Promise<string | null> {
  if (!isTracing() || reply.inReplyTo === null) return null;
  // A missing trace must not delay or lose a reply.
  const traces = await store.messages.findTraces(project, [reply.inReplyTo]).catch(() => null);
  return traces?.get(reply.inReplyTo) ?? null;
}

/** Returns the reason why a reply fails because of its expired leases; null if it can be attempted. */
function explainExpiredLeases({ crashes, lapses }: ReplyClaim): string | null {
  if (crashes >= ATTEMPTS_MAX) return `the sending process crashed ${crashes} times`;
  return lapses < MAX_LAPSES ? null : `the sending process lost its lease ${lapses} times`;
}

const isClosed = (error: unknown) => error instanceof DeliveryError && error.fault === "closed";

/**
 * Returns the reason why a reply was not sent, for operators. The text of an unknown error may contain data that
 * belongs only in the log.
 */
const reasonOf = (error: unknown) =>
  error instanceof DeliveryError ? error.message : "the channel failed to send the reply; see the log";

/** Classifies the error of an attempt. Only an error of the reply or its receiver counts. */
function judge(error: unknown, reply: ReplyClaim): Failure {
  if (isUnavailable(error)) return { counts: false, delayMs: 0 };
  const known = error instanceof DeliveryError ? error : null;
  reply.outcome = "later";
  if (known?.fault === "later") return { counts: false, delayMs: known.retryAfterMs ?? pauseMs(reply.deferrals) };
  return {
    counts: true,
    reason: reasonOf(error),
    isFinal: isClosed(error),
    attempts: reply.tries,
    minDelayMs: known?.retryAfterMs ?? pauseMs(reply.tries),
  };
}

/** Sends one reply through its channel and records that it was sent. */
async function sendReply(store: Store, channel: Channel, claim: ClaimedReply, lease: HeldLease): Promise<void> {
  const { project, ticketId, chatId, reply, sentParts } = claim;
  const context: ReplyContext = {
    project,
    ticketId,
    replyId: reply.id,
    seq: reply.seq,
    ...(reply.inReplyTo === null ? {} : { inReplyTo: reply.inReplyTo }),
    sentParts,
    signal: lease.signal,
    async recordSentParts(parts) {
      if (await record(lease, () => store.outboxes.recordSentParts(claim, parts))) return;
      lease.lose();
      throw new DeliveryError("later", "another process is sending in this conversation");
    },
  };
  if (reply.type === "message") {
    await channel.sendMessage(chatId, reply.text, { ...context, markdown: reply.markdown });
  } else if (channel.sendAttachment === undefined) {
    // A channel without attachments sends the name of the file.
    await channel.sendMessage(chatId, reply.filename, context);
  } else {
    await channel.sendAttachment(chatId, reply, context);
  }
  await record(lease, () => store.outboxes.markDelivered(claim));
}

/** Records what was sent, also during a short outage of the store, since it would be sent again otherwise. */
function record<Result>(lease: HeldLease, write: () => Promise<Result>): Promise<Result> {
  const giveUpAt = performance.now() + RECORD_FOR_MS;
  return retryThroughOutage(write, () => !lease.isShutDown() && performance.now() < giveUpAt);
}
