import type { Log } from "@svc/log";
import { publishIncoming, publishIssues } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { startSweeps } from "@svc/runtime";
import type { Sweeps } from "@svc/runtime";
import type { Store } from "@svc/store";

const SWEEP_LIMIT = 1_000;

/**
 * Finds messages that were never announced, or announced in vain, and announces them: twice a second, in every
 * replica. This is what lets the queue lose everything it has without a message being lost.
 */
export function startSweeper(store: Store, queues: Queues, log: Log): Sweeps {
  async function announceDue(): Promise<void> {
    if (!queues.isUp()) return;
    const due = await store.messages.takeDue(SWEEP_LIMIT);
    if (due.length === 0) return;
    await publishIncoming(
      queues,
      due.filter(({ isIssue }) => !isIssue),
    );
    await publishIssues(
      queues,
      due.filter(({ isIssue }) => isIssue),
    );
    log.debug({ count: due.length }, "waiting messages announced again");
  }

  return startSweeps(log, "waiting messages", [announceDue]);
}
