import { z } from "zod";
import { integrationIdSchema } from "./incoming-message.ts";
import { LIMITS } from "./limits.ts";
import {
  prechatFieldSchema,
  widgetColorSchema,
  widgetPositionSchema,
  widgetStringsSchema,
  widgetThemeSchema,
} from "./widget.ts";

/** A secret as it lies in the store: sealed with `SVC_SECRET_KEY`. */
export const sealedSchema = z.object({ sealed: z.string() });
export type Sealed = z.infer<typeof sealedSchema>;

/** What signs callbacks: of the project `default` in `channels_config.api.config`, of another one in its own row. */
export const webhookSecretsSchema = z.object({
  /** HMAC secret of webhook signatures; the API key of the message is used if unset. */
  webhookSecret: sealedSchema.nullable().default(null),
  /** The secret before the last rotation, which signs beside the current one until this time (RFC 3339). */
  previousWebhookSecret: sealedSchema.extend({ until: z.iso.datetime() }).nullable().default(null),
});
export type WebhookSecrets = z.infer<typeof webhookSecretsSchema>;

/** `channels_config.api.config` (service document, section 2.6). */
export const apiSettingsSchema = z.object({
  /** 127.0.0.1 = local processes only; 0.0.0.0 = reachable from the local network. */
  bindHost: z.enum(["127.0.0.1", "0.0.0.0"]).default("127.0.0.1"),
  /** Default of a message's `timeoutMs`. */
  timeoutMs: z.int().min(1).max(LIMITS.timeoutMaxMs).default(30_000),
  ...webhookSecretsSchema.shape,
  /** After so many days a reply leaves the buffer; the ticket keeps it. */
  bufferDays: z.int().min(1).max(365).default(7),
});
export type ApiSettings = z.infer<typeof apiSettingsSchema>;

/** `channels_config.widget.config` (service document, sections 2.6 and 4.5). */
export const widgetSettingsSchema = z.object({
  apiKey: z.string().nullable().default(null),
  allowedOrigins: z.array(z.string()).default([]),
  /** Name of the project that the widget's messages belong to. */
  project: z.string().default("default"),
  theme: widgetThemeSchema.default("auto"),
  color: widgetColorSchema.default("#3366ff"),
  position: widgetPositionSchema.default("bottom-right"),
  /** BCP 47; the page's own language wins where it is supported. */
  locale: z.string().default("en"),
  /** Head of the panel and first line in it; the widget's own in the visitor's language where empty. */
  title: z.string().default(""),
  greeting: z.string().default(""),
  /** Texts of the widget that the site replaces, by name. */
  strings: widgetStringsSchema.default({}),
  features: z
    .object({
      upload: z.boolean().default(true),
      rating: z.boolean().default(true),
      person: z.boolean().default(true),
      sound: z.boolean().default(true),
      prechat: z.array(prechatFieldSchema).default([]),
    })
    .prefault({}),
  /** Signs the ids of a site's signed-in users: HMAC-SHA256 of the user id. */
  identitySecret: sealedSchema.nullable().default(null),
  /** True: only visitors with a signed user id may write. */
  requireIdentity: z.boolean().default(false),
  /** Limits a minute of each (address + key), which all replicas share. */
  messagesPerMinute: z.int().min(1).default(30),
  configReadsPerMinute: z.int().min(1).default(60),
  filesPerMinute: z.int().min(1).default(30),
  socketsPerMinute: z.int().min(1).default(10),
});
export type WidgetSettings = z.infer<typeof widgetSettingsSchema>;

/** `channels_config.messenger.config`: the bot token is the only setting of that channel. */
export const messengerSettingsSchema = z.object({
  botToken: sealedSchema.nullable().default(null),
});
export type MessengerSettings = z.infer<typeof messengerSettingsSchema>;

/** The settings that change while the service runs, named as the service document names them. */
export const channelsConfigSchema = z.object({
  enabled: z.array(integrationIdSchema),
  api: z.object({ config: apiSettingsSchema }),
  widget: z.object({ config: widgetSettingsSchema }),
  messenger: z.object({ config: messengerSettingsSchema }),
  version: z.number(),
});
export type ChannelsConfig = z.infer<typeof channelsConfigSchema>;
