import { REPLY_QUEUES } from "@svc/contracts";
import type { ChannelId, ReplyJob } from "@svc/contracts";
import { publishReply } from "@svc/queue";
import type { Queues } from "@svc/queue";

/** Announces committed replies on the queue of the channel that the conversation belongs to. */
export async function routeReply(queues: Queues, channelId: ChannelId, reply: ReplyJob): Promise<void> {
  await publishReply(queues, REPLY_QUEUES[channelId], reply);
}
