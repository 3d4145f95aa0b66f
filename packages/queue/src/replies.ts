import { PUSHING_CHANNELS, REPLY_QUEUES } from "@svc/contracts";
import type { QueueName, ReplyJob } from "@svc/contracts";
import type { JobToPublish, Queues } from "./open-queues.ts";

/** The queues that carry replies back to their channels. */
export type ReplyQueueName = Extract<QueueName, `replies-${string}`>;

/** Chats that one job tells of at most. */
const MAX_BUNDLED = 100;

const PUSHING: readonly QueueName[] = PUSHING_CHANNELS.map((channel) => REPLY_QUEUES[channel]);
const BUNDLED = new Set<QueueName>(Object.values(REPLY_QUEUES).filter((name) => !PUSHING.includes(name)));

/** Announces replies that are committed. The same range announced twice while its job waits is one job. */
export async function publishReply(queues: Queues, queue: ReplyQueueName, job: ReplyJob): Promise<void> {
  await queues.publish(queue, [{ id: `${job.messageId ?? job.ticketId}-${job.fromSeq}-${job.toSeq}`, data: job }]);
}

/**
 * Jobs as they are published. News for a channel whose receivers collect, which is only told of it, is bundled: one job
 * for all that came at once costs that channel and Redis as much as one for each would. A channel that pushes works on
 * each chat for itself, and keeps a job for each.
 */
export function bundleReplies(name: QueueName, jobs: JobToPublish<QueueName>[]): JobToPublish<QueueName>[] {
  if (!BUNDLED.has(name) || jobs.length < 2) return jobs;
  const bundles: JobToPublish<QueueName>[] = [];
  for (let at = 0; at < jobs.length; at += MAX_BUNDLED) {
    const [first, ...others] = jobs.slice(at, at + MAX_BUNDLED);
    if (first === undefined) break;
    const last = others.at(-1);
    const data = { ...first.data, others: others.map((job) => job.data) };
    bundles.push(last === undefined ? first : { id: `${first.id}--${last.id}`, data });
  }
  return bundles;
}

/** All news that a job carries. */
export function newsOf({ others = [], ...first }: ReplyJob): ReplyJob[] {
  return [first, ...others];
}
