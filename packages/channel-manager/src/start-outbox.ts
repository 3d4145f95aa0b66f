import type { Channel } from "@svc/contracts";
import type { Log } from "@svc/log";
import { withinMs } from "@svc/primitives";
import { asProjectId, isUnavailable } from "@svc/store";
import type { OutboxRef } from "@svc/store";
import type { ChannelResources } from "./accept-message.ts";
import { deliverReply } from "./deliver-reply.ts";

/** What sends the replies of a channel that pushes. */
export interface Outbox {
  /** Sends what waits in a conversation, or tells the replica that works for this one. Never rejects. */
  take(where: OutboxRef): Promise<void>;
  /** Begins nothing more and waits so long for what is being sent; then that is broken off. */
  stop(deadlineMs: number): Promise<void>;
}

const SWEEP_MS = 500;
/** Conversations that are sent in at once; a chat that has to wait for its turn holds up none of the others. */
const AT_ONCE = 64;
/** After that a stop waits no longer for what was broken off. */
const BREAK_OFF_MS = 2_000;

const topicOf = (channel: Channel) => `outbox-${channel.id}`;

/**
 * Sends the replies of a channel that pushes: those that it is told of, and twice a second those that the queue lost or
 * that had to wait. In a replica that only stands by it sends nothing.
 */
export function startOutbox({ store, queues, log }: ChannelResources, channel: Channel): Outbox {
  const stopping = new AbortController();
  const breakingOff = new AbortController();
  const running = new Map<string, { isAskedAgain: boolean; done: Promise<void> }>();
  let timer: NodeJS.Timeout | undefined;
  const isActive = () => !stopping.signal.aborted && channel.isActive?.() !== false;

  function begin(where: OutboxRef): Promise<void> {
    const present = running.get(where.ticketId);
    if (present !== undefined) {
      // What was committed just now may be missing in what the run has read.
      present.isAskedAgain = true;
      return present.done;
    }
    // The sweeper comes back for what has no place now.
    if (running.size >= AT_ONCE) return Promise.resolve();
    const run = { isAskedAgain: false, done: Promise.resolve() };
    running.set(where.ticketId, run);
    run.done = (async () => {
      try {
        do {
          run.isAskedAgain = false;
          await deliverReply({ store, log }, channel, where, { mayGoOn: isActive, signal: breakingOff.signal });
        } while (run.isAskedAgain && isActive());
      } catch (error) {
        note(log, error);
      } finally {
        running.delete(where.ticketId);
      }
    })();
    return run.done;
  }

  async function sweep(): Promise<void> {
    if (!isActive() || running.size >= AT_ONCE) return;
    for (const where of await store.outboxes.listDue(channel.id, AT_ONCE)) {
      if (isActive()) void begin(where);
    }
  }

  const sweepLater = () => {
    if (stopping.signal.aborted) return;
    timer = setTimeout(() => {
      sweep()
        .catch((error: unknown) => note(log, error))
        .finally(sweepLater);
    }, SWEEP_MS);
  };
  sweepLater();

  const silence = queues.wakeUps.listen(topicOf(channel), (places) => {
    for (const [project, ticketId] of places.map((place) => place.split("/"))) {
      if (isActive() && project !== undefined && ticketId !== undefined) {
        void begin({ project: asProjectId(project), ticketId });
      }
    }
  });

  return {
    async take(where) {
      if (isActive()) await begin(where);
      else queues.wakeUps.send(topicOf(channel), [`${where.project}/${where.ticketId}`]);
    },

    async stop(deadlineMs) {
      stopping.abort();
      clearTimeout(timer);
      silence();
      const rest = () => Promise.all([...running.values()].map(({ done }) => done)).then(() => undefined);
      await withinMs(rest(), deadlineMs);
      breakingOff.abort();
      await withinMs(rest(), BREAK_OFF_MS);
    },
  };
}

function note(log: Log, error: unknown): void {
  if (isUnavailable(error)) log.debug({ error }, "database unavailable; replies are delayed");
  else log.warn({ error }, "failed to send replies; retrying");
}
