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
  inReplyTo?: string;
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
  /** Resolves when the text is handed over for good; rejects when it has to be tried again. */
  sendMessage(chatId: string, text: string, metadata?: SendMetadata): Promise<void>;
  sendAttachment?(chatId: string, attachment: OutgoingAttachment, context?: ReplyContext): Promise<void>;
  /**
   * Only on a channel whose receivers collect their replies themselves: tells those who wait to look. Such a channel is
   * not sent what is in the store; it reads it there, and a reply stays until it is collected. Rejects when it has to be
   * told again.
   */
  announce?(reply: ReplyAnnouncement): Promise<void>;
  markTyping?(chatId: string, context?: Pick<ReplyContext, "project" | "ticketId">): Promise<void>;
}
