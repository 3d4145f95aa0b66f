import { ServiceError } from "@svc/contracts";
import type {
  AcceptedMessage,
  Channel,
  IncomingContext,
  IncomingHandler,
  IncomingMessage,
  ReplyAnnouncement,
} from "@svc/contracts";
import { asProjectId } from "@svc/store";
import type { CallbackWork } from "./callbacks/deliver-callbacks.ts";
import type { Binding } from "./create-binding.ts";
import type { ReplyBoard } from "./messages/reply-board.ts";

/** The HTTP API as a channel that its routes pass messages to. */
export interface ApiChannel extends Channel {
  /** Passes a message on; rejects with `channel_disabled` while the channel is disabled. */
  receive(message: IncomingMessage, context: IncomingContext): Promise<AcceptedMessage>;
}

/** Dependencies of the channel. */
export interface ApiChannelContext {
  board: Pick<ReplyBoard, "notify">;
  callbacks: Pick<CallbackWork, "create">;
  /** The server, which also carries administration and is not stopped with the channel. */
  binding: Pick<Binding, "findProblem">;
}

/**
 * Creates the HTTP API channel. Replies are collected by waiting calls and drains, or sent to a callback URL, so the
 * channel only handles announcements: it wakes up the waiters, and creates the callbacks of webhook messages. Both
 * are safe to repeat. `start` and `stop` enable and disable incoming messages.
 */
export function createApiChannel({ board, callbacks, binding }: ApiChannelContext): ApiChannel {
  let handler: IncomingHandler | null = null;
  let isOpen = false;

  async function announce(announcements: readonly ReplyAnnouncement[]): Promise<void> {
    const webhooks = announcements.filter(({ mode }) => mode === "webhook");
    for (const { ticketId, messageId, mode } of announcements) {
      if (mode !== "webhook") board.notify(ticketId, messageId ?? undefined);
    }
    if (webhooks.length === 0) return;
    await callbacks.create(webhooks.map(({ project, ticketId }) => ({ project: asProjectId(project), ticketId })));
  }

  async function announceOne(context: { project?: string; ticketId?: string; inReplyTo?: string } = {}): Promise<void> {
    const { project, ticketId, inReplyTo = null } = context;
    if (project === undefined || ticketId === undefined) return;
    await announce([{ project, ticketId, messageId: inReplyTo, mode: null }]);
  }

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
          { headers: { "Retry-After": "30" } },
        );
      }
      return handler(message, context);
    },
    sendMessage: (_chatId, _text, metadata) => announceOne(metadata),
    sendAttachment: (_chatId, _attachment, context) => announceOne(context),
    announce,
    findProblem: () => binding.findProblem(),
  };
}
