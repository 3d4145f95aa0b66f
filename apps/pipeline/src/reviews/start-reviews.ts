import { publishReviews } from "@svc/queue";
import { startSweeps } from "@svc/runtime";
import { asProjectId } from "@svc/store";
import type { Isolation } from "../create-isolation.ts";
import type { LeaseKeeper } from "../lease-keeper.ts";
import type { StageContext } from "../stage-context.ts";
import { createReviewWorker } from "./work-on-review.ts";
import type { ChatWork } from "./work-on-review.ts";

const SWEEP_LIMIT = 200;

/**
 * Carries out what people decide about tickets: works on its queue and, twice a second in every replica, announces what
 * the queue has lost, whose worker has died or whose next try is due.
 */
export function startReviews(
  context: StageContext,
  deps: { leases: LeaseKeeper; isolation: Isolation; workOnChat: ChatWork },
): { drain(deadlineMs: number): void; stop(): Promise<void> } {
  const { store, queues, log } = context;
  let isStopping = false;
  const workOnReview = createReviewWorker(context, deps);
  const consumer = queues.consume("review-decisions", ({ project, ticketId }) =>
    workOnReview(asProjectId(project), ticketId, () => isStopping),
  );

  async function announceDue(): Promise<void> {
    if (!queues.isUp()) return;
    const due = await store.reviews.takeDue(SWEEP_LIMIT);
    await publishReviews(
      queues,
      due.map(({ project, ticketId, reviewId, attempts }) => ({ project, ticketId, mark: `${reviewId}-${attempts}` })),
    );
  }
  const sweeper = startSweeps(log, "decisions", [announceDue]);

  let closing: Promise<void> | undefined;
  return {
    /** Takes nothing further; what is being carried out has so long. Safe to call twice. */
    drain(deadlineMs) {
      isStopping = true;
      closing ??= consumer.close(deadlineMs);
    },

    /** Ends once what is being carried out has ended. To be called after `drain`. */
    async stop() {
      await sweeper.stop();
      await closing;
    },
  };
}
