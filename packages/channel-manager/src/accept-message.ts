import { incomingMessageSchema } from "@svc/contracts";
import type { AcceptedMessage, Channel, IncomingContext, IncomingMessage } from "@svc/contracts";
import type { Log } from "@svc/log";
import { withinMs } from "@svc/primitives";
import { announceWork, QueueDownError } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { asProjectId } from "@svc/store";
import type { Store } from "@svc/store";
import { count, startSpan } from "@svc/telemetry";

/** Dependencies of accepting and delivering messages. */
export interface ChannelResources {
  store: Store;
  queues: Queues;
  log: Log;
}

/** Maximum wait of an acceptance for its announcement; after that, the sweeper publishes it. */
const PUBLISH_WAIT_MS = 250;

/**
 * Entry point of every channel: commits a message, announces it to the pipeline and shows that a reply is pending. When
 * it resolves, the message is durable and will be processed, whatever happens to the queue. Rejects with `unavailable`
 * if the store is; if the connection drops during the commit, the message may be committed anyway.
 */
export async function acceptMessage(
  resources: ChannelResources,
  channel: Channel,
  incoming: IncomingMessage,
  context: IncomingContext,
): Promise<AcceptedMessage> {
  const message = incomingMessageSchema.parse(incoming);
  const span = startSpan("accept message", {
    parent: context.trace,
    kind: "producer",
    attributes: { "svc.channel": channel.id },
  });
  try {
    const accepted = await commitAndAnnounce(resources, channel, message, { ...context, trace: span.traceparent });
    span.annotate({ "svc.message_id": accepted.messageId, "svc.ticket_id": accepted.ticketId });
    count("svc_messages_accepted_total", { channel: channel.id });
    return accepted;
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

async function commitAndAnnounce(
  { store, queues, log }: ChannelResources,
  channel: Channel,
  message: IncomingMessage,
  context: IncomingContext,
): Promise<AcceptedMessage> {
  const project = asProjectId(context.project);
  const { priority, ...accepted } = await store.messages.accept(
    project,
    {
      channelId: message.channelId,
      chatId: message.chatId,
      userId: message.userId ?? null,
      text: message.text,
      timestampMs: message.timestamp,
      attachments: message.attachments ?? null,
      channelMeta: message.channelMeta,
      mode: context.mode ?? null,
      callInstance: context.callInstance ?? null,
      callback: context.callback ?? null,
      trace: context.trace ?? null,
    },
    context.messageId,
  );
  const { messageId, ticketId } = accepted;
  const work = { project, messageId, ticketId, attempts: 0, priority, isNew: true };
  const published = announceWork(queues, "incoming-messages", [work]).catch((error: unknown) => {
    const text = "message accepted but not announced; the sweeper will announce it";
    if (error instanceof QueueDownError) log.debug({ messageId }, text);
    else log.warn({ error, messageId }, text);
  });
  channel.markTyping?.(message.chatId, { project, ticketId }).catch((error: unknown) => {
    log.debug({ error, ticketId }, "failed to show the typing indicator");
  });
  await withinMs(published, PUBLISH_WAIT_MS);
  return accepted;
}
