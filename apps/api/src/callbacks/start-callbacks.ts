import type { ApiContext } from "../api-context.ts";
import { asProjectId } from "@svc/store";
import { startCallbackSweeper } from "./sweeper.ts";
import { createDeliveryWorker } from "./work-on-deliveries.ts";

/** Callbacks on their way get this long at a stop; after that they are broken off and made again elsewhere. */
const STOP_DEADLINE_MS = 2_000;

/**
 * Makes the callbacks of webhook messages: works on their queue and sweeps for what the queue has lost. It goes on while
 * the channel is switched off, for what was accepted before.
 */
export function startCallbacks(context: ApiContext): { stop(): Promise<void> } {
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
    /** Safe to call twice. */
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}
