import { ServiceError } from "@svc/contracts";
import type {
  AcceptedMessage,
  Channel,
  IncomingContext,
  IncomingHandler,
  IncomingMessage,
  ReplyAnnouncement,
} from "@svc/contracts";

/** The HTTP API as a channel, with the way in for its routes. */
export interface ApiChannel extends Channel {
  /** Hands a message over; rejects with `channel_disabled` while the channel is switched off. */
  receive(message: IncomingMessage, context: IncomingContext): Promise<AcceptedMessage>;
}

/**
 * The HTTP API channel. Its replies are collected (by waiting calls and drains) or go by callback, so that it is only
 * told of them, and hands the news on to `settle`. Starting and stopping opens and shuts the way in; the server itself
 * also carries administration and stays. `findFault` returns what is wrong with that server, in words.
 */
export function createApiChannel(
  settle: (news: readonly ReplyAnnouncement[]) => Promise<void>,
  findFault: () => string | null = () => null,
): ApiChannel {
  let handler: IncomingHandler | null = null;
  let isOpen = false;
  const tell = (context: { project?: string; ticketId?: string; inReplyTo?: string } | undefined) => {
    const { project, ticketId, inReplyTo = null } = context ?? {};
    if (project === undefined || ticketId === undefined) return Promise.resolve();
    return settle([{ project, ticketId, messageId: inReplyTo, mode: null }]);
  };
  return {
    id: "api",
    start() {
      isOpen = true;
      return Promise.resolve();
    },
    stop() {
      isOpen = false;
      return Promise.resolve();
    },
    onMessage(given) {
      if (handler !== null) throw new Error("the api channel already has a handler");
      handler = given;
    },
    async receive(message, context) {
      if (!isOpen || handler === null) {
        throw new ServiceError(
          "channel_disabled",
          "The HTTP API channel is disabled. An administrator can enable it: svc channels enable api.",
          {
            headers: { "Retry-After": "30" },
          },
        );
      }
      return handler(message, context);
    },
    sendMessage: (_chatId, _text, metadata) => tell(metadata),
    sendAttachment: (_chatId, _attachment, context) => tell(context),
    announce: settle,
    findFault,
  };
}
