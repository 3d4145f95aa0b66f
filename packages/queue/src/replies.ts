import { PUSHING_CHANNELS, REPLY_QUEUES } from "@svc/contracts";
import type { ChannelId, QueueName, ReplyJob } from "@svc/contracts";
import type { JobToPublish, Queues } from "./queues.ts";

/** Maximum number of chats that one job announces. */
const MAX_BUNDLED = 100;

const PUSHING: readonly QueueName[] = PUSHING_CHANNELS.map((channel) => REPLY_QUEUES[channel]);
const BUNDLED = new Set<QueueName>(Object.values(REPLY_QUEUES).filter((name) => !PUSHING.includes(name)));

/**
 * Announces committed replies on the queue of the conversation's channel. Announcements of the same range are one job
 * while that job waits.
 */
export async function announceReply(
  queues: Pick<Queues, "publish">,
  channelId: ChannelId,
  job: ReplyJob,
): Promise<void> {
  const id = `${job.messageId ?? job.ticketId}-${job.fromSeq}-${job.toSeq}`;
  await queues.publish(REPLY_QUEUES[channelId], [{ id, data: job }]);
}

/**
 * Returns the jobs to publish. Channels whose receivers collect replies get bundles: one job for several chats costs
 * less than one for each. A channel that pushes works on each chat separately, and gets a job for each.
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

/** Returns all announcements that a job carries. */
export function jobsOf({ others = [], ...first }: ReplyJob): ReplyJob[] {
  return [first, ...others];
}
