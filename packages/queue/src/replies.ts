import type { QueueName, ReplyJob } from "@svc/contracts";
import type { Queues } from "./open-queues.ts";

/** The queues that carry replies back to their channels. */
export type ReplyQueueName = Extract<QueueName, `replies-${string}`>;

/** Announces replies that are committed. The same range announced twice while its job waits is one job. */
export async function publishReply(queues: Queues, queue: ReplyQueueName, job: ReplyJob): Promise<void> {
  await queues.publish(queue, [{ id: `${job.messageId ?? job.ticketId}-${job.fromSeq}-${job.toSeq}`, data: job }]);
}
