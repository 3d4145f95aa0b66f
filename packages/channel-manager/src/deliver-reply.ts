import type { Channel, ReplyContext, ReplyJob } from "@svc/contracts";
import type { Log } from "@svc/log";
import { asProjectId } from "@svc/store";
import type { Store, StoredReply } from "@svc/store";

/**
 * Hands announced replies to their channel, in the order of the chat. Idempotent: it reads what is not delivered yet,
 * so that a job that comes twice finds nothing; each reply is confirmed once it is sent, and one that was sent in the
 * moment of a crash may be sent again. A channel whose receivers collect their replies is only told.
 */
export async function deliverReply(
  { store, log }: { store: Store; log: Log },
  channel: Channel,
  job: ReplyJob,
): Promise<void> {
  if (channel.announce !== undefined) {
    await channel.announce(job);
    return;
  }
  const project = asProjectId(job.project);
  const outgoing = await store.replies.readRange(project, job);
  if (outgoing === null) return;
  for (const reply of outgoing.replies) {
    await send(channel, outgoing.chatId, reply, {
      project,
      ticketId: job.ticketId,
      replyId: reply.id,
      seq: reply.seq,
    });
    await store.replies.confirm(project, reply.id);
  }
  log.debug({ ticketId: job.ticketId, replies: outgoing.replies.length }, "replies handed to their channel");
}

async function send(channel: Channel, chatId: string, reply: StoredReply, context: ReplyContext): Promise<void> {
  if (reply.type === "message") {
    await channel.sendMessage(chatId, reply.text, {
      ...context,
      markdown: reply.markdown,
      ...(reply.inReplyTo === null ? {} : { inReplyTo: reply.inReplyTo }),
    });
    return;
  }
  // A channel without attachments still says that there is one.
  if (channel.sendAttachment === undefined) await channel.sendMessage(chatId, reply.filename, context);
  else await channel.sendAttachment(chatId, reply, context);
}
