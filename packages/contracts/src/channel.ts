import type { ChannelId } from "./channels.ts";
import type { IncomingMessage, MessageMode } from "./message-request.ts";
import type { Sealed } from "./settings.ts";

/** Identifies the ticket of a channel call, because the same `chatId` can exist in two projects. */
export interface ReplyContext {
  /** ID of the project that received the message. */
  project: string;
  ticketId: string;
  replyId: string;
  seq: number;
  /** ID of the message that the reply answers. Absent if it answers none. */
  inReplyTo?: string;
  /** Number of parts of this reply that were already sent, if the channel splits replies. These are not sent again. */
  sentParts?: number;
  /**
   * Records durably how many parts are sent, before the next one is sent. Rejects if another process has taken over.
   */
  recordSentParts?: (parts: number) => Promise<void>;
  /** Aborted when this process must stop sending the reply. */
  signal?: AbortSignal;
}

/**
 * How a failed delivery is handled. `later`: retried after `retryAfterMs` or with a growing backoff, without counting
 * as an attempt (the receiver's server is unavailable, or a rate limit is exceeded). `closed`: the chat no longer
 * accepts replies. `refused`: counts as an attempt; after five attempts the reply becomes a dead letter, as with any
 * other error.
 */
export type DeliveryErrorKind = "later" | "closed" | "refused";

/** Thrown when a channel cannot send a reply. The message is shown to operators and contains no secrets. */
export class DeliveryError extends Error {
  readonly fault: DeliveryErrorKind;
  readonly retryAfterMs: number | null;

  constructor(
    error: DeliveryErrorKind,
    message: string,
    options: { retryAfterMs?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "DeliveryError";
    this.fault = error;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** New replies in a conversation: the message they answer, and how its sender receives replies. */
export interface ReplyAnnouncement {
  project: string;
  ticketId: string;
  /** Null for a reply that answers no message. */
  messageId: string | null;
  /** Null on channels that push replies, and for a reply that answers no message. */
  mode: MessageMode | null;
}

/** Metadata of a send call (service document, section 2.4), with the context of the reply. */
export interface SendMetadata extends Partial<ReplyContext> {
  markdown?: boolean;
}

/** An outgoing file. */
export interface OutgoingAttachment {
  filename: string;
  mime: string;
  content: Buffer;
}

/** Result of an accepted message: it is committed with these IDs. */
export interface AcceptedMessage {
  messageId: string;
  ticketId: string;
  /** Position in the chat. */
  seq: number;
}

/** Destination of the callbacks of a message, and the secret that signs them. */
export interface CallbackTarget {
  url: string;
  /** ID of the final callback, as returned to the sender. */
  deliveryId: string;
  /** API key that sent the message. Null if there is none. */
  apiKeyId: string | null;
  /** The API key itself, sealed, if no webhook secret is set. */
  sealedSecret: Sealed | null;
  /** After this time, the sender receives `message.timeout`. */
  timeoutMs: number;
}

/** Context of an incoming message that only its channel knows. */
export interface IncomingContext {
  /** ID of the project that received the message. */
  project: string;
  /** How the sender receives replies. Absent on channels that push them. */
  mode?: MessageMode;
  /** The process that holds a sync request open for it. */
  callInstance?: string;
  /** ID of the message, if the channel needs it before the message is accepted. */
  messageId?: string;
  /** For messages of mode `webhook`. */
  callback?: CallbackTarget;
  /** Trace context as a `traceparent` value. Null or absent without tracing. */
  trace?: string | null;
}

/** Handler for incoming messages. Resolves when the message is committed. */
export type IncomingHandler = (message: IncomingMessage, context: IncomingContext) => Promise<AcceptedMessage>;

/**
 * A channel (service document, section 2.5). It must be started only once at a time, delivers no messages before
 * `start` has resolved or after `stop` has resolved, and can be restarted after `stop`.
 */
export interface Channel {
  readonly id: ChannelId;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Registers the handler for incoming messages. Throws if one is already registered. */
  onMessage(handler: IncomingHandler): void;
  /**
   * Sends a reply. Resolves when it is delivered durably. Rejects with `DeliveryError`; after any other error, the
   * reply is retried.
   */
  sendMessage(chatId: string, text: string, metadata?: SendMetadata): Promise<void>;
  sendAttachment?(chatId: string, attachment: OutgoingAttachment, context?: ReplyContext): Promise<void>;
  /**
   * Only on channels whose receivers collect replies: wakes waiting receivers, for all replies that arrived together.
   * Such a channel is not sent stored replies; it reads them from the store, and a reply stays there until it is
   * collected. Rejects if it must be notified again.
   */
  announce?(replies: readonly ReplyAnnouncement[]): Promise<void>;
  /** False while another replica is active instead of this one: nothing is sent here. */
  isActive?(): boolean;
  /** Problem of a started channel, in words for an operator. Null while it works. */
  findProblem?(): string | null;
  /** Number of sockets that are open in this process, for the usage of the project. */
  countSockets?(): number;
  markTyping?(chatId: string, context?: Pick<ReplyContext, "project" | "ticketId">): Promise<void>;
}
