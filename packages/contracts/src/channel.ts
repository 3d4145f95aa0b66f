import { z } from "zod";
import { mapChannels, mapSecrets } from "./channels.ts";
import type { ChannelId, CHANNELS } from "./channels.ts";
import { integrationIdSchema } from "./message-request.ts";
import type { IncomingMessage, MessageMode } from "./message-request.ts";
import { LIMITS } from "./limits.ts";
import {
  prechatFieldSchema,
  sitePathSchema,
  widgetColorSchema,
  widgetLanguagesSchema,
  widgetLauncherSchema,
  widgetPositionSchema,
  widgetQuestionsSchema,
  widgetStringsSchema,
  widgetThemeSchema,
} from "./widget.ts";

/** A secret as stored: sealed with `SVC_SECRET_KEY`. */
export const sealedSchema = z.object({ sealed: z.string() });
export type Sealed = z.infer<typeof sealedSchema>;

/**
 * Signing secrets of callbacks: for the project `default` in `channels_config.api.config`, for other projects in their
 * own row.
 */
export const webhookSecretsSchema = z.object({
  /** HMAC secret of webhook signatures. If unset, the API key of the message is used. */
  webhookSecret: sealedSchema.nullable().default(null),
  /** The secret before the last rotation, which also signs until this time (RFC 3339). */
  previousWebhookSecret: sealedSchema.extend({ until: z.iso.datetime() }).nullable().default(null),
});
export type WebhookSecrets = z.infer<typeof webhookSecretsSchema>;

/** `channels_config.api.config` (service document, section 2.6). */
export const apiSettingsSchema = z.object({
  /** 127.0.0.1 = local processes only; 0.0.0.0 = reachable from the local network. */
  bindHost: z.enum(["127.0.0.1", "0.0.0.0"]).default("127.0.0.1"),
  /** Default `timeoutMs` of messages. */
  timeoutMs: z.int().min(1).max(LIMITS.timeoutMaxMs).default(30_000),
  ...webhookSecretsSchema.shape,
  /** Days after which a reply is removed from the buffer. The ticket keeps it. */
  bufferDays: z.int().min(1).max(365).default(7),
});
export type ApiSettings = z.infer<typeof apiSettingsSchema>;

/** `channels_config.widget.config` (service document, sections 2.6 and 4.5). */
export const widgetSettingsSchema = z.object({
  apiKey: z.string().nullable().default(null),
  allowedOrigins: z.array(z.string()).default([]),
  /** Name of the project that receives the widget's messages. */
  project: z.string().default("default"),
  theme: widgetThemeSchema.default("auto"),
  color: widgetColorSchema.default("#3366ff"),
  position: widgetPositionSchema.default("bottom-right"),
  /** Fallback language (BCP 47) if the page's language is not supported. */
  locale: z.string().default("en"),
  /** Title and welcome text. If empty, the default text in the visitor's language. */
  title: z.string().default(""),
  greeting: z.string().default(""),
  /** Widget texts overridden by the site, by name. */
  strings: widgetStringsSchema.default({}),
  /** Questions shown as buttons before the first message. */
  questions: widgetQuestionsSchema.default([]),
  /** Texts and questions of one language, by its two-letter code. */
  languages: widgetLanguagesSchema.default({}),
  /** Path of an image on the site, shown beside the title. */
  logo: sitePathSchema.default(""),
  launcher: widgetLauncherSchema.prefault({}),
  features: z
    .object({
      upload: z.boolean().default(true),
      rating: z.boolean().default(true),
      person: z.boolean().default(true),
      sound: z.boolean().default(true),
      tables: z.boolean().default(false),
      prechat: z.array(prechatFieldSchema).default([]),
    })
    .prefault({}),
  /** Secret for the hashes of signed-in users: HMAC-SHA256 of the user ID. */
  identitySecret: sealedSchema.nullable().default(null),
  /** If true, only visitors with a signed user ID can write. */
  requireIdentity: z.boolean().default(false),
  /** Rate limits per minute and address, shared by all replicas. */
  messagesPerMinute: z.int().min(1).default(30),
  configReadsPerMinute: z.int().min(1).default(60),
  filesPerMinute: z.int().min(1).default(30),
  socketsPerMinute: z.int().min(1).default(10),
});
export type WidgetSettings = z.infer<typeof widgetSettingsSchema>;

/** Settings schemas of the channels that have more settings than secrets. */
const SETTINGS = { api: apiSettingsSchema, widget: widgetSettingsSchema };
const sealedSettingSchema = sealedSchema.nullable().default(null);

type SettingsSchema<Id extends ChannelId> = Id extends keyof typeof SETTINGS
  ? (typeof SETTINGS)[Id]
  : z.ZodObject<Record<keyof (typeof CHANNELS)[Id]["secrets"] & string, typeof sealedSettingSchema>>;
type ConfigSchema<Id extends ChannelId> = z.ZodPrefault<z.ZodObject<{ config: SettingsSchema<Id> }>>;

/** Settings schema of each channel as stored. */
export const CHANNEL_SETTINGS = mapChannels<{ [Id in ChannelId]: SettingsSchema<Id> }>((id, channel) =>
  id in SETTINGS ? SETTINGS[id as keyof typeof SETTINGS] : z.object(mapSecrets(channel, () => sealedSettingSchema)),
);

/** Settings that can be changed at run time, named as in the service document. */
export const channelsConfigSchema = z.object({
  enabled: z.array(integrationIdSchema),
  ...mapChannels<{ [Id in ChannelId]: ConfigSchema<Id> }>((id) =>
    z.object({ config: CHANNEL_SETTINGS[id] }).prefault({ config: {} }),
  ),
  version: z.number(),
});
export type ChannelsConfig = z.infer<typeof channelsConfigSchema>;

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
