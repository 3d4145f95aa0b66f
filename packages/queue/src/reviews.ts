import type { ReviewJob } from "@svc/contracts";
import type { Queues } from "./open-queues.ts";

/** A decision to announce, with what tells it from the ticket's other ones. */
export interface ReviewAnnouncement extends ReviewJob {
  /** Of the ticket after the decision; a try of the decision counts on from there. */
  mark: string;
}

/** Announces what people have decided to the pipeline. The same announced twice while its job waits is one job. */
export async function publishReviews(queues: Queues, reviews: ReviewAnnouncement[]): Promise<void> {
  if (reviews.length === 0) return;
  await queues.publish(
    "review-decisions",
    reviews.map(({ project, ticketId, mark }) => ({ id: `${ticketId}-${mark}`, data: { project, ticketId } })),
  );
}
