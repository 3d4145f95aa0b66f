import type { Queues } from "@svc/queue";
import { asProjectId } from "@svc/store";
import { startCallbackSweeper } from "./sweeper.ts";
import { createDeliveryWorker } from "./work-on-deliveries.ts";
import type { DeliveryContext } from "./work-on-deliveries.ts";

/** Callbacks on their way get this long at a stop; after that they are broken off and made again elsewhere. */
const STOP_DEADLINE_MS = 2_000;

/**
 * A callback that is due for longer while this process takes none up at all: it does not do its work. The age alone would
 * not say so: after a rush all replicas are busy with what is old, and none of them must be taken from its callers.
 */
const IDLE_TOO_LONG_MS = 120_000;
/** Sweeps come twice a second; a statement ends after 30 s at the latest. */
const SWEEP_TOO_LONG_MS = 90_000;

const inSeconds = (ms: number) => `${Math.round(ms / 1_000)} s`;

/**
 * Makes the callbacks of webhook messages: works on their queue and sweeps for what the queue has lost. It goes on while
 * the channel is switched off, for what was accepted before.
 */
export function startCallbacks(context: DeliveryContext & { queues: Queues }): {
  /** What keeps this process from making callbacks, in words; null while it makes them, or none is due. */
  findFault(): Promise<string | null>;
  stop(): Promise<void>;
} {
  const worker = createDeliveryWorker(context);
  const consumer = context.queues.consume("webhook-deliveries", ({ project, ticketId }) =>
    worker.work(asProjectId(project), ticketId),
  );
  const sweeper = startCallbackSweeper(context);
  let stopping: Promise<void> | undefined;

  async function stop(): Promise<void> {
    await sweeper.stop();
    await Promise.all([consumer.close(STOP_DEADLINE_MS), worker.stop(STOP_DEADLINE_MS)]);
  }

  return {
    async findFault() {
      const sweepMs = sweeper.sinceRoundMs();
      if (sweepMs >= SWEEP_TOO_LONG_MS) return `the last check for due callbacks was ${inSeconds(sweepMs)} ago`;
      const idleMs = worker.sinceTakenMs();
      if (idleMs < IDLE_TOO_LONG_MS || !context.queues.isUp()) return null;
      const dueMs = await context.store.deliveries.oldestDueMs();
      if (dueMs < IDLE_TOO_LONG_MS) return null;
      return `a callback has been due for ${inSeconds(dueMs)}, and this process has not claimed one for ${inSeconds(idleMs)}`;
    },

    /** Safe to call twice. */
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}
