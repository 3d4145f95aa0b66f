import { z } from "zod";

/** A secret setting of a channel. */
export interface SecretSetting {
  /** Name in messages of the CLI. */
  label: string;
  /** Text for the API reference. */
  description: string;
  /** Advice on how to get it, for administrators. The channel cannot run without it. */
  advice: string;
  /** Example value, for the help of the CLI. */
  example: string;
}

/**
 * Everything that the rest of the product knows about a channel: console, CLI, store, queue, statistics and API read it.
 * Plain data, so that browsers can load it.
 */
export interface ChannelDescriptor {
  /** Name in messages of the CLI and the API. */
  label: string;
  /** Icon in the console, by its name in Lucide. */
  icon: "globe" | "message-circle" | "send" | "mail" | "phone";
  /** If true, the channel's app sends replies to the customer. Otherwise the receiver collects them. */
  pushes: boolean;
  /** Name of the port on which the channel's app listens, or null if it listens on none. */
  port: "api" | "widget" | null;
  /** Path in `channelMeta` of the customer's language (BCP 47). */
  localePath: readonly string[];
  /** Column of `channels_config` with the channel's settings, or null if they are in the common column. */
  settingsColumn: string | null;
  /** Secret settings, by name, if the channel has no other settings. */
  secrets: Readonly<Record<string, SecretSetting>>;
}

/** The channels (service document, section 2.3). To add a channel, see CONTRIBUTING.md. */
export const CHANNELS = {
  messenger: {
    label: "Messenger",
    icon: "send",
    pushes: true,
    port: null,
    // Written by the messenger only, from the user's Telegram profile.
    localePath: ["telegram", "from", "languageCode"],
    settingsColumn: "messenger",
    secrets: {
      botToken: {
        label: "bot token",
        description: "Token of the Telegram bot. Shown as ******** if set.",
        advice: "Get a token from @BotFather",
        example: "123456:ABC-DEF",
      },
    },
  },
  widget: {
    label: "Widget",
    icon: "message-circle",
    pushes: false,
    port: "widget",
    localePath: ["locale"],
    settingsColumn: "widget",
    secrets: {},
  },
  api: {
    label: "API",
    icon: "globe",
    pushes: false,
    port: "api",
    localePath: ["locale"],
    settingsColumn: "api",
    secrets: {},
  },
} as const satisfies Record<string, ChannelDescriptor>;
export type ChannelId = keyof typeof CHANNELS;

/** The channel whose platform sends updates, which are stored in full before they are processed. */
export const UPDATES_CHANNEL: ChannelId = "messenger";

/** IDs of all channels. */
export const CHANNEL_IDS = Object.keys(CHANNELS) as [ChannelId, ...ChannelId[]];

/** Returns an object with a value for each channel. The caller states the type of each value, which is not checked. */
export function mapChannels<Values extends Record<ChannelId, unknown>>(
  valueOf: (id: keyof Values & ChannelId, descriptor: ChannelDescriptor) => unknown,
): Values {
  return Object.fromEntries(CHANNEL_IDS.map((id) => [id, valueOf(id, CHANNELS[id])])) as Values;
}

/** Returns an object with a value for each of a channel's secret settings. */
export const mapSecrets = <Value>(
  { secrets }: ChannelDescriptor,
  valueOf: (secret: SecretSetting) => Value,
): Record<string, Value> =>
  Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, valueOf(secret)]));

/** The channels (service document, section 2.3). */
export const channelIdSchema = z.enum(CHANNEL_IDS);

/** Everything that Integrations lists and that can be enabled or disabled: the channels and the tool server. */
export const integrationIdSchema = z.enum([...channelIdSchema.options, "tool-server"]);
export type IntegrationId = z.infer<typeof integrationIdSchema>;
export const INTEGRATION_IDS = integrationIdSchema.options;

/** A file attached to a message (service document, section 2.3). */
export const attachmentRefSchema = z.object({
  type: z.string(),
  url: z.string().optional(),
  name: z.string().optional(),
  expired: z.boolean().optional().describe("True if the file has expired; it then has no `url`."),
});
export type AttachmentRef = z.infer<typeof attachmentRefSchema>;

/** An incoming message as a channel passes it on (service document, section 2.3). */
export const incomingMessageSchema = z.object({
  channelId: channelIdSchema,
  chatId: z.string(),
  userId: z.string().optional(),
  text: z.string(),
  /** Epoch milliseconds. */
  timestamp: z.number(),
  attachments: z.array(attachmentRefSchema).optional(),
  // Kept as it is: a record of zod would leave out a key `__proto__`, which is data like any other.
  channelMeta: z.custom<Record<string, unknown>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    { error: "must be an object" },
  ),
});
export type IncomingMessage = z.infer<typeof incomingMessageSchema>;
