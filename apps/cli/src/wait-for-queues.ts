import { setTimeout as delay } from "node:timers/promises";
import type { Queues } from "@svc/queue";

const TIMEOUT_MS = 3_000;
const POLL_MS = 20;

/** Waits up to three seconds until the queues, which connect in the background, can be reached; answers whether. */
export async function waitForQueues(queues: Queues): Promise<boolean> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (performance.now() < deadline) {
    try {
      // Asking for a queue is what makes it connect.
      await queues.countJobs("incoming-messages");
      return true;
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "QueueDownError") throw error;
      await delay(POLL_MS);
    }
  }
  return false;
}
