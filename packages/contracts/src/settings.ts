import { z } from "zod";
import { mapChannels, mapSecrets } from "./channels.ts";
import type { CHANNELS, ChannelId } from "./channels.ts";
import { integrationIdSchema } from "./message-request.ts";
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
