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

/** Texts of a channel in the console, in one language. */
export interface ChannelTexts {
  /** Name in lists and filters. */
  channel: string;
  /** Name and description on the pages of integrations. */
  integration: string;
  description: string;
  /** Source of the customer's name and email address. */
  stated: string;
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
  /** Texts of the console, in each of its languages. */
  texts: Readonly<Record<"en" | "de", ChannelTexts>>;
}

/** The channels (service document, section 2.3), in the order in which lists show them. To add one, see CONTRIBUTING.md. */
export const CHANNELS = {
  api: {
    label: "API",
    icon: "globe",
    pushes: false,
    port: "api",
    localePath: ["locale"],
    settingsColumn: "api",
    secrets: {},
    texts: {
      en: {
        channel: "HTTP API",
        integration: "HTTP API",
        description: "Your apps send messages and receive replies.",
        stated: "Provided by the app that sent the message.",
      },
      de: {
        channel: "HTTP-API",
        integration: "HTTP-API",
        description: "Ihre Apps senden Nachrichten und empfangen Antworten.",
        stated: "Von der App angegeben, die die Nachricht gesendet hat.",
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
    texts: {
      en: {
        channel: "Widget",
        integration: "Web widget",
        description: "A chat on your website.",
        stated: "Entered by the visitor, not verified.",
      },
      de: {
        channel: "Widget",
        integration: "Web-Widget",
        description: "Ein Chat auf Ihrer Website.",
        stated: "Vom Besucher angegeben, nicht verifiziert.",
      },
    },
  },
  messenger: {
    label: "Messenger",
    icon: "send",
    pushes: true,
    port: null,
    // Written only by the messenger, from the user's Telegram profile.
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
    texts: {
      en: {
        channel: "Telegram",
        integration: "Telegram",
        description: "A bot that answers in private chats and groups.",
        stated: "From the Telegram profile, not verified.",
      },
      de: {
        channel: "Telegram",
        integration: "Telegram",
        description: "Ein Bot, der in privaten Chats und Gruppen antwortet.",
        stated: "Aus dem Telegram-Profil, nicht verifiziert.",
      },
    },
  },
} as const satisfies Record<string, ChannelDescriptor>;
export type ChannelId = keyof typeof CHANNELS;

/** The channel whose platform sends updates, which are stored in full before they are processed. */
export const UPDATES_CHANNEL: ChannelId = "messenger";

/** IDs of all channels. */
export const CHANNEL_IDS = Object.keys(CHANNELS) as [ChannelId, ...ChannelId[]];

/** Names of the apps: each channel has one with its ID, and the others are part of no channel. */
export const APP_NAMES = [...CHANNEL_IDS, "pipeline", "tool-server", "console"] as const;
export type AppName = (typeof APP_NAMES)[number];

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
