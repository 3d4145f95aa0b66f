import { z } from "zod";
import { integrationIdSchema } from "./incoming-message.ts";
import { LIMITS } from "./limits.ts";
import { parseUrl } from "./parse-url.ts";
import { projectNameSchema } from "./project.ts";
import { MASKED_SECRET, SECRET_LIMITS, maskedSchema, overlapSecondsSchema, secretSchema } from "./secret.ts";
import { textUpTo } from "./well-formed.ts";
import {
  prechatFieldSchema,
  widgetColorSchema,
  widgetPositionSchema,
  widgetStringsSchema,
  widgetThemeSchema,
} from "./widget.ts";

/** Bounds of channel settings. */
export const CHANNEL_LIMITS = {
  ...SECRET_LIMITS,
  bufferMaxDays: 365,
  widgetKeyMinChars: 16,
  widgetKeyMaxChars: 128,
  originsMaxCount: 100,
  widgetTitleMaxChars: 100,
  widgetGreetingMaxChars: 1_000,
  widgetStringsMaxCount: 200,
  /** Of each limit a minute of the widget. */
  widgetRateMax: 100_000,
} as const;

/** A language tag in its usual parts: language, script, region, variants (BCP 47). */
const LANGUAGE_TAG = /^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8}){0,4}$/;

const ORIGIN_WILDCARD = /^(https?):\/\/\*\.(.+)$/;

/** `https://example.com` or `https://*.example.com`: a scheme and a host, with a port where it is not the usual one. */
function isOrigin(text: string): boolean {
  const url = parseUrl(text.replace(ORIGIN_WILDCARD, "$1://$2"));
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.origin === text.replace("://*.", "://");
}

const wholeNumber = (max: number) => {
  const error = `a whole number from 1 to ${max}`;
  return z.int({ error }).min(1, { error }).max(max, { error });
};

/** What can be changed of the HTTP API. What is left out stays as it is. */
export const apiConfigChangeSchema = z.strictObject({
  bindHost: z
    .enum(["127.0.0.1", "0.0.0.0"], { error: "127.0.0.1 or 0.0.0.0" })
    .optional()
    .describe(
      "127.0.0.1: local processes only; 0.0.0.0: reachable from the network. Applies within two seconds, unless SVC_BIND_HOST is set.",
    ),
  timeoutMs: wholeNumber(LIMITS.timeoutMaxMs).optional().describe("Default of a message's `timeoutMs`."),
  webhookSecret: secretSchema
    .optional()
    .describe(
      "Signs the callbacks of the request's project. Null: the key that sent the message signs. Shown as ******** while one is set.",
    ),
  overlapSeconds: overlapSecondsSchema,
  bufferDays: wholeNumber(CHANNEL_LIMITS.bufferMaxDays).optional().describe("Days that a reply waits in the buffer."),
});

/** What can be changed of the widget. What is left out stays as it is. */
export const widgetConfigChangeSchema = z.strictObject({
  apiKey: z
    .string()
    .regex(/^[A-Za-z0-9_-]{16,128}$/, { error: "16 to 128 characters of A-Z, a-z, 0-9, - and _" })
    .nullable()
    .optional()
    .describe("The key in the page's script element. It is no secret."),
  allowedOrigins: z
    .array(
      z
        .string()
        .refine(isOrigin, {
          error: "an origin such as https://example.com or https://*.example.com",
          params: { code: "invalid_origin" },
        })
        .meta({ pattern: "^https?://" }),
    )
    .max(CHANNEL_LIMITS.originsMaxCount, { error: `at most ${CHANNEL_LIMITS.originsMaxCount} origins` })
    .transform((origins) => [...new Set(origins)])
    .optional()
    .describe("Sites that may load the widget; any where empty."),
  project: projectNameSchema.optional().describe("Name of the project that its messages belong to."),
  theme: widgetThemeSchema.optional().describe("Colors of the panel; auto follows the visitor's system."),
  color: widgetColorSchema.optional().describe("Color of launcher and send button; `data-accent` wins over it."),
  position: widgetPositionSchema.optional().describe("Corner of the page; `data-position` wins over it."),
  locale: z
    .string()
    .regex(LANGUAGE_TAG, { error: "a language tag such as de or pt-BR" })
    .optional()
    .describe("Language where the page's own is not one of the widget's (BCP 47)."),
  title: textUpTo(CHANNEL_LIMITS.widgetTitleMaxChars)
    .optional()
    .describe("Head of the panel; the widget's own if empty."),
  greeting: textUpTo(CHANNEL_LIMITS.widgetGreetingMaxChars)
    .optional()
    .describe("What stands in a panel without messages; the widget's own if empty."),
  strings: widgetStringsSchema
    .refine((strings) => Object.keys(strings).length <= CHANNEL_LIMITS.widgetStringsMaxCount, {
      error: `at most ${CHANNEL_LIMITS.widgetStringsMaxCount} texts`,
      params: { code: "too_many" },
    })
    .optional()
    .describe("Texts of the widget that the site replaces, by name; all of them at once."),
  features: z
    .strictObject({
      upload: z.boolean().optional().describe("Visitors may send files."),
      rating: z.boolean().optional().describe("Visitors may rate a conversation."),
      person: z.boolean().optional().describe("Visitors may ask for a person."),
      sound: z.boolean().optional().describe("Visitors may switch a sound on."),
      prechat: z
        .array(prechatFieldSchema)
        .max(prechatFieldSchema.options.length)
        .transform((fields) => [...new Set(fields)])
        .optional()
        .describe("What is asked before the first message; nothing where empty."),
    })
    .optional()
    .describe("What is left out of it stays as it is."),
  identitySecret: secretSchema
    .refine((secret) => secret === null || secret === MASKED_SECRET || secret.length >= CHANNEL_LIMITS.secretMinBytes, {
      error: `at least ${CHANNEL_LIMITS.secretMinBytes} characters`,
      params: { code: "too_short" },
    })
    .optional()
    .describe("Signs the ids of signed-in users (HMAC-SHA256). Shown as ******** while one is set."),
  requireIdentity: z
    .boolean()
    .optional()
    .describe("True: only visitors with a signed user id may write. Needs an `identitySecret`."),
  messagesPerMinute: wholeNumber(CHANNEL_LIMITS.widgetRateMax)
    .optional()
    .describe("Messages a minute of one address; 30 unless changed."),
  configReadsPerMinute: wholeNumber(CHANNEL_LIMITS.widgetRateMax)
    .optional()
    .describe("Reads of the settings a minute of one address; 60 unless changed."),
  filesPerMinute: wholeNumber(CHANNEL_LIMITS.widgetRateMax)
    .optional()
    .describe("Files a minute of one address, sent and fetched; 30 unless changed."),
  socketsPerMinute: wholeNumber(CHANNEL_LIMITS.widgetRateMax)
    .optional()
    .describe("Sockets opened a minute of one address; 10 unless changed."),
});

/** What can be changed of the messenger: the bot token is its only setting. */
export const messengerConfigChangeSchema = z.strictObject({
  botToken: secretSchema.optional().describe("Token of the bot. Shown as ******** while one is set."),
});

/** Body of `PUT /api/v1/admin/channels/:id`, by channel. Unknown fields are faults. */
export const CHANNEL_CHANGES = {
  api: z.strictObject({ enabled: z.boolean().optional(), config: apiConfigChangeSchema.optional() }),
  widget: z.strictObject({ enabled: z.boolean().optional(), config: widgetConfigChangeSchema.optional() }),
  messenger: z.strictObject({ enabled: z.boolean().optional(), config: messengerConfigChangeSchema.optional() }),
  "tool-server": z.strictObject({ enabled: z.boolean().optional(), config: z.strictObject({}).optional() }),
} as const;
export type ChannelChange = z.infer<(typeof CHANNEL_CHANGES)[keyof typeof CHANNEL_CHANGES]>;

/** The settings of a channel as they are shown: secrets are masked. */
export const CHANNEL_CONFIGS = {
  api: z.object({
    bindHost: z.enum(["127.0.0.1", "0.0.0.0"]),
    timeoutMs: z.int(),
    webhookSecret: maskedSchema,
    previousWebhookSecretUntil: z.iso
      .datetime()
      .nullable()
      .describe("Until when the secret before signs as well; null when none does."),
    bufferDays: z.int(),
  }),
  widget: z.object({
    apiKey: z.string().nullable(),
    allowedOrigins: z.array(z.string()),
    project: z
      .string()
      .nullable()
      .describe("Null, with no key and no origins, where it is another one than that of a key without admin:*."),
    theme: widgetThemeSchema,
    color: z.string(),
    position: widgetPositionSchema,
    locale: z.string(),
    title: z.string(),
    greeting: z.string(),
    strings: widgetStringsSchema,
    features: z.object({
      upload: z.boolean(),
      rating: z.boolean(),
      person: z.boolean(),
      sound: z.boolean(),
      prechat: z.array(prechatFieldSchema),
    }),
    identitySecret: maskedSchema,
    requireIdentity: z.boolean(),
    messagesPerMinute: z.int(),
    configReadsPerMinute: z.int(),
    filesPerMinute: z.int(),
    socketsPerMinute: z.int(),
  }),
  messenger: z.object({ botToken: maskedSchema }),
  "tool-server": z.object({}),
} as const;
export type ChannelConfigs = { [Id in keyof typeof CHANNEL_CONFIGS]: z.infer<(typeof CHANNEL_CONFIGS)[Id]> };

export const channelStateSchema = z.enum(["running", "stopped", "failing"]);

/** A channel as the administration shows it. */
export const channelItemSchema = z.object({
  id: integrationIdSchema,
  kind: z
    .enum(["channel", "integration"])
    .describe(
      "`channel`: messages come in by it and replies go out; `integration`: the tool server, which others call.",
    ),
  enabled: z.boolean(),
  state: channelStateSchema.describe(
    "Of an enabled one: `failing` when any process that holds it is, `running` when all do, else `stopped`. Of one that is switched off: `stopped` when all are.",
  ),
  since: z.iso.datetime().nullable().describe("Since when; null while no process holds it."),
  error: z.string().nullable().describe("Why it is failing, in words."),
  replicas: z
    .array(z.object({ state: channelStateSchema, since: z.iso.datetime(), error: z.string().nullable() }))
    .describe("How each process that holds it is doing."),
  config: z.union([
    CHANNEL_CONFIGS.api,
    CHANNEL_CONFIGS.widget,
    CHANNEL_CONFIGS.messenger,
    CHANNEL_CONFIGS["tool-server"],
  ]),
  version: z.int().describe("Of all channel settings together."),
});
export type ChannelItem = z.infer<typeof channelItemSchema>;
