import type { ChannelId, IncomingMessage } from "./incoming-message.ts";
import type { MessageMode } from "./message-request.ts";
import type { Sealed } from "./settings.ts";

/** Which reply a channel call is about: one `chatId` may exist in two projects, so the ticket says which is meant. */
export interface ReplyContext {
  /** Id of the project that the message came in to. */
  project: string;
  ticketId: string;
  replyId: string;
  seq: number;
  /** Id of the message that it answers; absent where it answers none. */
  inReplyTo?: string;
  /** Parts of this reply that were sent before, where a channel splits what it sends: these are not sent again. */
  sentParts?: number;
  /** Notes for good that so many parts of it are sent, before the next one is. Rejects when another process sends now. */
  noteSent?: (parts: number) => Promise<void>;
  /** Aborted when the reply is not to be sent here any more. */
  signal?: AbortSignal;
}

/**
 * What becomes of a reply that could not be sent. `later`: tried again, after `retryAfterMs` or a pause that grows,
 * without that counting (the receiver's server is away, or too much was sent). `closed`: this chat takes nothing any
 * more. `refused`: counted; after five tries it is a dead letter, as with any other error.
 */
export type DeliveryFault = "later" | "closed" | "refused";

/** A channel could not send a reply. The message is for operators and holds no secret. */
export class DeliveryError extends Error {
  readonly fault: DeliveryFault;
  readonly retryAfterMs: number | null;

  constructor(fault: DeliveryFault, message: string, options: { retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "DeliveryError";
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** News of a conversation: to which message, and how its sender takes replies. */
export interface ReplyAnnouncement {
  project: string;
  ticketId: string;
  /** Null for a reply that answers no message. */
  messageId: string | null;
  /** Null on channels that push, and for a reply that answers no message. */
  mode: MessageMode | null;
}

/** Send metadata (service document, section 2.4), with the context of the reply besides. */
export interface SendMetadata extends Partial<ReplyContext> {
  markdown?: boolean;
}

/** A file that goes out. */
export interface OutgoingAttachment {
  filename: string;
  mime: string;
  content: Buffer;
}

/** What became of an incoming message: it is committed under these ids. */
export interface AcceptedMessage {
  messageId: string;
  ticketId: string;
  /** Place in its chat. */
  seq: number;
}

/** Where the callbacks of a message go, and what signs them. */
export interface CallbackTarget {
  url: string;
  /** Id of the final callback, as the sender is told. */
  deliveryId: string;
  /** The key that sent the message; null when none did. */
  apiKeyId: string | null;
  /** That key itself, sealed, where no webhook secret is set. */
  sealedSecret: Sealed | null;
  /** After this time the sender hears that there is no answer yet. */
  timeoutMs: number;
}

/** Where a message came in, which its channel alone can tell. */
export interface IncomingContext {
  /** Id of the project that it came in to. */
  project: string;
  /** How the sender takes the replies; absent on channels that push them. */
  mode?: MessageMode;
  /** The process that holds a sync call open for it. */
  callInstance?: string;
  /** The message's id, where the channel has to know it whatever becomes of the acceptance. */
  messageId?: string;
  /** Of a message of mode webhook. */
  callback?: CallbackTarget;
  /** Its place in a trace, as `traceparent` says it; null or absent where nobody traces. */
  trace?: string | null;
}

/** The one handler that a channel hands its incoming messages to. It resolves when the message is committed. */
export type IncomingHandler = (message: IncomingMessage, context: IncomingContext) => Promise<AcceptedMessage>;

/**
 * A way in and out (service document, section 2.5). A channel may only be started once at a time, hands over nothing
 * before `start` has resolved and nothing after `stop` has, and can be started again after `stop`.
 */
export interface Channel {
  readonly id: ChannelId;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Registers the one handler for incoming messages; a second registration throws. */
  onMessage(handler: IncomingHandler): void;
  /** Resolves when the text is handed over for good; rejects with what becomes of it, `DeliveryError`, else it is tried again. */
  sendMessage(chatId: string, text: string, metadata?: SendMetadata): Promise<void>;
  sendAttachment?(chatId: string, attachment: OutgoingAttachment, context?: ReplyContext): Promise<void>;
  /**
   * Only on a channel whose receivers collect their replies themselves: tells those who wait to look, of all that came at once. Such a channel is
   * not sent what is in the store; it reads it there, and a reply stays until it is collected. Rejects when it has to be
   * told again.
   */
  announce?(replies: readonly ReplyAnnouncement[]): Promise<void>;
  /** False while another replica works for this one: nothing is sent here. */
  isActive?(): boolean;
  /** What is wrong with a started channel, in words for an operator; null while it works. */
  findFault?(): string | null;
  markTyping?(chatId: string, context?: Pick<ReplyContext, "project" | "ticketId">): Promise<void>;
}
