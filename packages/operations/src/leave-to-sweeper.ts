import type { Log } from "@svc/log";
import { QueueDownError } from "@svc/queue";

/**
 * Announces what is committed. While the queue is away nothing is lost: a sweeper finds it and announces it, so that is
 * logged only, with `facts` that name it. Any other fault is thrown.
 */
export async function leaveToSweeper(log: Log, facts: object, announce: () => Promise<void>): Promise<void> {
  try {
    await announce();
  } catch (error) {
    if (!(error instanceof QueueDownError)) throw error;
    log.debug(facts, "queue unavailable; a sweeper will announce the committed work");
  }
}
