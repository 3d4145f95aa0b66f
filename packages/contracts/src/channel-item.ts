import { z } from "zod";
import { mapChannels, mapSecrets } from "./channels.ts";
import type { CHANNELS, ChannelId } from "./channels.ts";
import { integrationIdSchema } from "./message-request.ts";
import { LIMITS, parseUrl, textUpTo } from "./limits.ts";
import { projectNameSchema } from "./project.ts";
import { MASKED_SECRET, SECRET_LIMITS, maskedSchema, overlapSecondsSchema, secretSchema } from "./secret.ts";
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
import { itemAnswer, listAnswer, routesAt } from "./endpoint.ts";
import type { Endpoint } from "./endpoint.ts";

/** Limits of channel settings. */
export const CHANNEL_LIMITS = {
  ...SECRET_LIMITS,
  bufferMaxDays: 365,
  widgetKeyMinChars: 16,
  widgetKeyMaxChars: 128,
  originsMaxCount: 100,
  widgetTitleMaxChars: 100,
  widgetGreetingMaxChars: 1_000,
  widgetStringsMaxCount: 200,
  widgetLanguagesMaxCount: 20,
  /** Maximum of each rate limit of the widget, per minute. */
  widgetRateMax: 100_000,
} as const;

/** A language tag: language, script, region and variants (BCP 47). */
const LANGUAGE_TAG = /^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8}){0,4}$/;

const ORIGIN_WILDCARD = /^(https?):\/\/\*\.(.+)$/;

/** `https://example.com` or `https://*.example.com`: a scheme and a host, with a port if it is not the default. */
function isOrigin(text: string): boolean {
  const url = parseUrl(text.replace(ORIGIN_WILDCARD, "$1://$2"));
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.origin === text.replace("://*.", "://");
}

const wholeNumber = (max: number) => {
  const error = `must be an integer from 1 to ${max}`;
  return z.int({ error }).min(1, { error }).max(max, { error });
};

/** Changeable settings of the HTTP API. Omitted fields stay unchanged. */
const apiConfigChangeSchema = z.strictObject({
  bindHost: z
    .enum(["127.0.0.1", "0.0.0.0"], { error: "must be 127.0.0.1 or 0.0.0.0" })
    .optional()
    .describe(
      "127.0.0.1 for local processes only, or 0.0.0.0 for access from the network. Takes effect within two seconds, unless SVC_BIND_HOST is set.",
    ),
  timeoutMs: wholeNumber(LIMITS.timeoutMaxMs).optional().describe("Default `timeoutMs` of messages."),
  webhookSecret: secretSchema
    .optional()
    .describe(
      "Secret that signs the callbacks of the request's project. If null, callbacks are signed with the API key that sent the message. Shown as ******** if set.",
    ),
  overlapSeconds: overlapSecondsSchema,
  bufferDays: wholeNumber(CHANNEL_LIMITS.bufferMaxDays)
    .optional()
    .describe("Number of days that undelivered replies are buffered."),
});

/** Changeable settings of the widget. Omitted fields stay unchanged. */
const widgetConfigChangeSchema = z.strictObject({
  apiKey: z
    .string()
    .regex(/^[A-Za-z0-9_-]{16,128}$/, { error: "must have 16 to 128 characters of A-Z, a-z, 0-9, - and _" })
    .nullable()
    .optional()
    .describe("Public key in the script element of the page. Not a secret."),
  allowedOrigins: z
    .array(
      z
        .string()
        .refine(isOrigin, {
          error: "must be an origin such as https://example.com or https://*.example.com",
          params: { code: "invalid_origin" },
        })
        .meta({ pattern: "^https?://" }),
    )
    .max(CHANNEL_LIMITS.originsMaxCount, { error: `must have at most ${CHANNEL_LIMITS.originsMaxCount} origins` })
    .transform((origins) => [...new Set(origins)])
    .optional()
    .describe("Sites that can load the widget. If empty, any site can."),
  project: projectNameSchema.optional().describe("Name of the project that receives the widget's messages."),
  theme: widgetThemeSchema.optional().describe("Color scheme of the widget. `auto` follows the visitor's system."),
  color: widgetColorSchema
    .optional()
    .describe("Color of the launcher and the send button. `data-accent` in the page overrides it."),
  position: widgetPositionSchema.optional().describe("Corner of the page. `data-position` in the page overrides it."),
  locale: z
    .string()
    .regex(LANGUAGE_TAG, { error: "must be a language tag such as de or pt-BR" })
    .optional()
    .describe("Fallback language (BCP 47) if the widget does not support the page's language."),
  title: textUpTo(CHANNEL_LIMITS.widgetTitleMaxChars)
    .optional()
    .describe("Title of the widget. If empty, the default title."),
  greeting: textUpTo(CHANNEL_LIMITS.widgetGreetingMaxChars)
    .optional()
    .describe("Welcome text in an empty conversation. If empty, the default text."),
  strings: widgetStringsSchema
    .refine((strings) => Object.keys(strings).length <= CHANNEL_LIMITS.widgetStringsMaxCount, {
      error: `must have at most ${CHANNEL_LIMITS.widgetStringsMaxCount} texts`,
      params: { code: "too_many" },
    })
    .optional()
    .describe("Widget texts overridden by the site, by name. Replaces all overrides."),
  questions: widgetQuestionsSchema
    .optional()
    .describe("Questions shown as buttons before the first message. Replaces all questions."),
  languages: widgetLanguagesSchema
    .refine((languages) => Object.keys(languages).length <= CHANNEL_LIMITS.widgetLanguagesMaxCount, {
      error: `must have at most ${CHANNEL_LIMITS.widgetLanguagesMaxCount} languages`,
      params: { code: "too_many" },
    })
    .refine(
      (languages) =>
        Object.values(languages).every(
          ({ strings = {} }) => Object.keys(strings).length <= CHANNEL_LIMITS.widgetStringsMaxCount,
        ),
      { error: `must have at most ${CHANNEL_LIMITS.widgetStringsMaxCount} texts each`, params: { code: "too_many" } },
    )
    .optional()
    .describe("Texts (also `title` and `greeting`) and questions of one language, by its code. Replaces all of them."),
  logo: sitePathSchema.optional().describe("Path of an image on your site, shown beside the title."),
  launcher: widgetLauncherSchema.optional().describe("The launcher. Omitted fields get their defaults."),
  features: z
    .strictObject({
      upload: z.boolean().optional().describe("Visitors can send files."),
      rating: z.boolean().optional().describe("Visitors can rate conversations."),
      person: z.boolean().optional().describe("Visitors can ask for a person."),
      sound: z.boolean().optional().describe("Visitors can turn on notification sounds."),
      tables: z
        .boolean()
        .optional()
        .describe("Visitors get each table of an answer also as an XLSX file, if the project sends tables."),
      prechat: z
        .array(prechatFieldSchema)
        .max(prechatFieldSchema.options.length)
        .transform((fields) => [...new Set(fields)])
        .optional()
        .describe("Fields of the form before the first message. If empty, there is no form."),
    })
    .optional()
    .describe("Omitted fields stay unchanged."),
  identitySecret: secretSchema
    .refine((secret) => secret === null || secret === MASKED_SECRET || secret.length >= CHANNEL_LIMITS.secretMinBytes, {
      error: `must have at least ${CHANNEL_LIMITS.secretMinBytes} characters`,
      params: { code: "too_short" },
    })
    .optional()
    .describe("Secret for the hashes of signed-in users' IDs (HMAC-SHA256). Shown as ******** if set."),
  requireIdentity: z
    .boolean()
    .optional()
    .describe("If true, only visitors with a signed user ID can write. Requires `identitySecret`."),
  messagesPerMinute: wholeNumber(CHANNEL_LIMITS.widgetRateMax)
    .optional()
    .describe("Messages per minute and address. Default: 30."),
  configReadsPerMinute: wholeNumber(CHANNEL_LIMITS.widgetRateMax)
    .optional()
    .describe("Requests for the widget settings per minute and address. Default: 60."),
  filesPerMinute: wholeNumber(CHANNEL_LIMITS.widgetRateMax)
    .optional()
    .describe("Uploaded and downloaded files per minute and address. Default: 30."),
  socketsPerMinute: wholeNumber(CHANNEL_LIMITS.widgetRateMax)
    .optional()
    .describe("Sockets opened per minute and address. Default: 10."),
});

/** Changeable settings of the channels that have more settings than secrets. */
const CONFIG_CHANGES = { api: apiConfigChangeSchema, widget: widgetConfigChangeSchema };
const secretChangeSchema = secretSchema.optional();

type SecretsOf<Id extends ChannelId> = keyof (typeof CHANNELS)[Id]["secrets"] & string;
type ConfigChangeSchema<Id extends ChannelId> = Id extends keyof typeof CONFIG_CHANGES
  ? (typeof CONFIG_CHANGES)[Id]
  : z.ZodObject<Record<SecretsOf<Id>, typeof secretChangeSchema>, z.core.$strict>;
type ChangeSchema<Config extends z.ZodType> = z.ZodObject<
  { enabled: z.ZodOptional<z.ZodBoolean>; config: z.ZodOptional<Config> },
  z.core.$strict
>;

const changeOf = <Config extends z.ZodType>(config: Config): ChangeSchema<Config> =>
  z.strictObject({ enabled: z.boolean().optional(), config: config.optional() });

/** Body of `PUT /api/v1/admin/channels/:id`, by channel. Unknown fields are rejected. */
export const CHANNEL_CHANGES = {
  ...mapChannels<{ [Id in ChannelId]: ChangeSchema<ConfigChangeSchema<Id>> }>((id, channel) =>
    changeOf(
      id in CONFIG_CHANGES
        ? CONFIG_CHANGES[id as keyof typeof CONFIG_CHANGES]
        : z.strictObject(mapSecrets(channel, ({ description }) => secretChangeSchema.describe(description))),
    ),
  ),
  "tool-server": changeOf(z.strictObject({})),
};
export type ChannelChange = z.infer<(typeof CHANNEL_CHANGES)[keyof typeof CHANNEL_CHANGES]>;

/** Shown settings of the channels that have more settings than secrets. */
const SHOWN_CONFIGS = {
  api: z.object({
    bindHost: z.enum(["127.0.0.1", "0.0.0.0"]),
    timeoutMs: z.int(),
    webhookSecret: maskedSchema,
    previousWebhookSecretUntil: z.iso
      .datetime()
      .nullable()
      .describe("Until when the previous secret also signs. Null if it no longer does."),
    bufferDays: z.int(),
  }),
  widget: z.object({
    apiKey: z.string().nullable(),
    allowedOrigins: z.array(z.string()),
    project: z
      .string()
      .nullable()
      .describe("Null, and without key and origins, if the widget belongs to a project that this key cannot access."),
    theme: widgetThemeSchema,
    color: z.string(),
    position: widgetPositionSchema,
    locale: z.string(),
    title: z.string(),
    greeting: z.string(),
    strings: widgetStringsSchema,
    questions: z.array(z.string()),
    languages: widgetLanguagesSchema,
    logo: z.string(),
    launcher: widgetLauncherSchema,
    features: z.object({
      upload: z.boolean(),
      rating: z.boolean(),
      person: z.boolean(),
      sound: z.boolean(),
      tables: z.boolean(),
      prechat: z.array(prechatFieldSchema),
    }),
    identitySecret: maskedSchema,
    requireIdentity: z.boolean(),
    messagesPerMinute: z.int(),
    configReadsPerMinute: z.int(),
    filesPerMinute: z.int(),
    socketsPerMinute: z.int(),
  }),
};

type ShownSchema<Id extends ChannelId> = Id extends keyof typeof SHOWN_CONFIGS
  ? (typeof SHOWN_CONFIGS)[Id]
  : z.ZodObject<Record<SecretsOf<Id>, typeof maskedSchema>, z.core.$strict>;

/**
 * Settings of a channel as shown to administrators. Secrets are masked. Strict if there are only secrets, or none: in a
 * union, an object without fields would otherwise match the settings of any channel and drop them.
 */
export const CHANNEL_CONFIGS = {
  ...mapChannels<{ [Id in ChannelId]: ShownSchema<Id> }>((id, channel) =>
    id in SHOWN_CONFIGS
      ? SHOWN_CONFIGS[id as keyof typeof SHOWN_CONFIGS]
      : z.strictObject(mapSecrets(channel, () => maskedSchema)),
  ),
  "tool-server": z.strictObject({}),
};
export type ChannelConfigs = { [Id in keyof typeof CHANNEL_CONFIGS]: z.infer<(typeof CHANNEL_CONFIGS)[Id]> };

export const channelStateSchema = z.enum(["running", "stopped", "failing"]);

/** A channel as shown to administrators. */
export const channelItemSchema = z.object({
  id: integrationIdSchema,
  kind: z
    .enum(["channel", "integration"])
    .describe(
      "`channel`: receives messages and sends replies. `integration`: the tool server, which other programs call.",
    ),
  enabled: z.boolean(),
  state: channelStateSchema.describe(
    "If enabled: `failing` if any process that runs it fails, `running` if all of them run, otherwise `stopped`. If disabled: `stopped` when all processes have stopped it.",
  ),
  since: z.iso.datetime().nullable().describe("Start of this state. Null if no process runs it."),
  error: z.string().nullable().describe("Reason of the failure."),
  replicas: z
    .array(z.object({ state: channelStateSchema, since: z.iso.datetime(), error: z.string().nullable() }))
    .describe("State in each process that runs the channel."),
  config: z.union(Object.values(CHANNEL_CONFIGS)),
  version: z.int().describe("Version of all channel settings together."),
});
export type ChannelItem = z.infer<typeof channelItemSchema>;

/** Body of `POST /api/v1/admin/channels/:id/test`. Unknown fields are rejected. */
export const channelTestSchema = z.strictObject({
  chatId: textUpTo(LIMITS.chatIdMaxChars)
    .min(1, { error: "must have at least 1 character" })
    .optional()
    .describe("Chat ID in Telegram. Defaults to the most recently active chat."),
});

/** Result of a test message. */
export const channelTestResultSchema = z.object({
  chatId: z.string(),
  ticketId: z.string(),
  state: z
    .enum(["delivered", "waiting", "failed"])
    .describe("`waiting`: delivery is still being retried; the channel's state may contain the reason."),
  failure: z.string().nullable().describe("Why it was not delivered."),
});
export type ChannelTestResult = z.infer<typeof channelTestResultSchema>;

const route = routesAt("Channels", "/api/v1/admin/channels");

/** Channels: settings, enabled state and health. */
export const channelEndpoints = {
  listChannels: {
    ...route("GET", "channels:read", "List channels and the tool server with their settings and state"),
    description: "Secrets are masked.",
    answers: [listAnswer(channelItemSchema)],
  },
  getChannel: {
    ...route("GET /{id}", "channels:read", "Get a channel"),
    answers: [itemAnswer(channelItemSchema)],
  },
  updateChannel: {
    ...route("PUT /{id}", "admin:*", "Update, enable or disable a channel"),
    description:
      "Omitted fields stay unchanged, and so do secrets that are sent back masked. Every replica applies the change within two seconds. The tool server has no settings; it can only be enabled and disabled.",
    body: {
      schema: z.union(Object.values(CHANNEL_CHANGES)),
    },
    ifMatch: true,
    answers: [itemAnswer(channelItemSchema)],
    example: { body: { enabled: true, config: { timeoutMs: 20_000 } } },
  },
  testChannel: {
    ...route("POST /{id}/test", "admin:*", "Send a test message to a chat of the Telegram bot"),
    description:
      "The chat must have written to the bot before. The message is delivered like any reply and stored in the chat's ticket, but answers no message and does not change the ticket. The request waits at most ten seconds for the delivery.",
    body: { schema: channelTestSchema, isOptional: true },
    answers: [itemAnswer(channelTestResultSchema)],
    errors: ["not_found"],
    example: { body: { chatId: "123456789" } },
  },
} as const satisfies Record<string, Endpoint>;
