import { Bot, Braces, MessagesSquare } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { CHANNELS, CHANNEL_IDS } from "@svc/contracts";
import type { ChannelItem, ChannelId as TicketChannelId } from "@svc/contracts";
import { channelOf, isBotChannel } from "../api/administration.ts";
import type { ChannelId, ServiceAddressId } from "../api/administration.ts";
import type { TextKey, Texts } from "../i18n/texts.ts";
import { CHANNEL_ICONS } from "../ui/badge.tsx";

/** Returns the most important settings of a channel for its card. */
export function describeFacts(channel: ChannelItem, { t, number }: Texts): { label: string; value: string }[] {
  const api = channelOf([channel], "api");
  if (api !== undefined) {
    const { bindHost, webhookSecret } = api.config;
    return [
      { label: t("api.reach"), value: t(bindHost === "127.0.0.1" ? "api.reachLocal" : "api.reachNetwork") },
      { label: t("api.callbacks"), value: t(webhookSecret === null ? "api.signedByKey" : "api.signedBySecret") },
    ];
  }
  const widget = channelOf([channel], "widget");
  if (widget !== undefined) {
    const { allowedOrigins, project } = widget.config;
    const [first = ""] = allowedOrigins;
    const sites =
      allowedOrigins.length === 0
        ? t("widget.anySite")
        : allowedOrigins.length === 1
          ? first
          : t("widget.sites", { first, count: number(allowedOrigins.length - 1) });
    return project === null
      ? [{ label: t("widget.project"), value: t("widget.otherProject") }]
      : [
          { label: t("widget.originsShort"), value: sites },
          { label: t("widget.project"), value: project },
        ];
  }
  if (!isBotChannel(channel)) return [];
  const value = t(channel.config.botToken === null ? "bot.noToken" : "bot.hasToken");
  return [{ label: t("bot.token"), value }];
}

/** Ids of all integrations, as in their URLs. */
export type IntegrationId = ChannelId;

/** An integration, as shown on its card and its page. */
export interface Integration {
  id: IntegrationId;
  title: TextKey;
  text: TextKey;
  icon: LucideIcon;
  /** The part of the service with a public URL; null for an integration that only makes outgoing calls. */
  address: ServiceAddressId | null;
  /** Path that is appended to the URL on its page. */
  path: string;
}

/** Icon and path of the channels with a URL of the service itself. */
const OWN: Partial<Record<TicketChannelId, Pick<Integration, "icon" | "path">>> = {
  api: { icon: Braces, path: "/api/v1" },
  widget: { icon: MessagesSquare, path: "/widget.js" },
};

const channelIntegration = (id: TicketChannelId): Integration => ({
  id,
  title: `integration.${id}`,
  text: `description.${id}`,
  icon: CHANNEL_ICONS[CHANNELS[id].icon],
  address: CHANNELS[id].port,
  path: "",
  ...OWN[id],
});

/** All integrations, in the order of their cards. */
export const INTEGRATIONS: readonly Integration[] = [
  ...CHANNEL_IDS.map(channelIntegration),
  {
    id: "tool-server",
    title: "integrations.tools",
    text: "integrations.toolsText",
    icon: Bot,
    address: "tool-server",
    path: "/mcp",
  },
];

/** Returns the integration with an id from a URL; null if there is none. */
export const findIntegration = (id: string): Integration | null => INTEGRATIONS.find((one) => one.id === id) ?? null;
