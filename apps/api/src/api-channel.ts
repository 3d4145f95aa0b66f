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
import type { Listening } from "@svc/http";
import type { Log } from "@svc/log";
import { errorMessage } from "@svc/primitives";
import type { CallbackWork } from "./callbacks/deliver-callbacks.ts";
import type { ReplyBoard } from "./messages/reply-board.ts";

/** Wait after a failed change of the host: each attempt closes the port for a moment. */
const RETRY_MS = 10_000;

/** The host that the HTTP API listens on, which can be changed while it runs. */
interface Binding {
  /** Returns the current host; null before the server listens. */
  host(): string | null;
  /** Sets the server, which listens on this host. */
  attach(listening: Listening, host: string): void;
  /** Makes the server listen on this host. If that fails, it keeps the previous one, and later calls retry. */
  follow(host: string): Promise<void>;
  /** Returns why the server does not listen on the configured host, as a sentence; null if it does. */
  findProblem(): string | null;
}

/** Creates a binding without a server. */
export function createBinding(log: Log): Binding {
  let bound: { listening: Listening; host: string } | null = null;
  let failed: { host: string; text: string; retryAt: number } | null = null;
  return {
    host: () => bound?.host ?? null,
    attach(listening, host) {
      bound = { listening, host };
    },
    async follow(host) {
      if (bound === null) return;
      if (bound.host === host) {
        failed = null;
        return;
      }
      if (failed?.host === host && Date.now() < failed.retryAt) return;
      try {
        await bound.listening.rebind(host);
        bound.host = host;
        failed = null;
        log.info({ host, port: bound.listening.port }, "HTTP API now listens on another host");
      } catch (error) {
        const reason = errorMessage(error);
        const text = `Cannot listen on ${host}; still listening on ${bound.host}. ${reason}`;
        failed = { host, text, retryAt: Date.now() + RETRY_MS };
        log.warn({ error, host }, "HTTP API cannot listen on the new host");
      }
    },
    findProblem: () => failed?.text ?? null,
  };
}

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
