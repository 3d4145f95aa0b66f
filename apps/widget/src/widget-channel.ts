import { ServiceError } from "@svc/contracts";
import type { Channel, IncomingHandler } from "@svc/contracts";

/** The widget as a channel, with the entry point for its routes and sockets. */
export interface WidgetChannel extends Channel {
  /** Accepts a message; rejects with `channel_disabled` while the channel is disabled. */
  receive: IncomingHandler;
}

/** Returns the error of all requests of visitors while the channel is disabled. */
export const widgetDisabled = (): ServiceError =>
  new ServiceError(
    "channel_disabled",
    "The widget is disabled. An administrator can enable it: svc channels enable widget.",
    { headers: { "Retry-After": "30" } },
  );

/** Parts that the channel starts and stops, and the receiver of its announcements. */
export interface WidgetServer {
  /** Binds the port. */
  open: () => Promise<void>;
  /** Closes every socket and frees the port; safe to call if nothing is open. */
  close: () => Promise<void>;
  /** Announces changes in these conversations to the sockets of every replica. */
  tell: (ticketIds: string[]) => void;
  /** Number of open sockets. */
  countSockets: () => number;
}

/**
 * Creates the widget channel. `start` binds its port; `stop` frees it, or leaves only the unsubscribe links of emails
 * on it (ADR 0064). Replies are read from the store by their sequence numbers, so that the channel is only notified of
 * them; they stay there until their visitor is connected.
 */
export function createWidgetChannel(server: WidgetServer): WidgetChannel {
  let handler: IncomingHandler | null = null;
  let isOpen = false;
  const tell = (ticketId: string | undefined) => {
    if (ticketId !== undefined) server.tell([ticketId]);
    return Promise.resolve();
  };
  return {
    id: "widget",
    countSockets: () => server.countSockets(),
    async start() {
      await server.open();
      isOpen = true;
    },
    async stop() {
      isOpen = false;
      await server.close();
    },
    onMessage(given) {
      if (handler !== null) throw new Error("the widget channel already has a handler");
      handler = given;
    },
    async receive(message, context) {
      if (!isOpen || handler === null) throw widgetDisabled();
      return handler(message, context);
    },
    sendMessage: (_chatId, _text, metadata) => tell(metadata?.ticketId),
    sendAttachment: (_chatId, _attachment, context) => tell(context?.ticketId),
    async announce(replies) {
      await Promise.all(replies.map(({ ticketId }) => tell(ticketId)));
    },
    markTyping: (_chatId, context) => tell(context?.ticketId),
  };
}
