import type { ChannelItem } from "@svc/contracts";
import { Bot, Braces, MessagesSquare, Send } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { channelOf } from "../api/channels.ts";
import type { ChannelId, PlaceId } from "../api/channels.ts";
import type { Texts, TextKey } from "../i18n/texts.ts";

/** What a card says of a channel's settings: a few facts, the ones that matter for whoever looks in passing. */
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
  const messenger = channelOf([channel], "messenger");
  if (messenger === undefined) return [];
  const value = t(messenger.config.botToken === null ? "messenger.noToken" : "messenger.hasToken");
  return [{ label: t("messenger.token"), value }];
}

/** Ids of all integrations, as in their addresses. */
export type IntegrationId = ChannelId;

/** A way in and out, as its card and its page show it. */
export interface Integration {
  id: IntegrationId;
  title: TextKey;
  text: TextKey;
  icon: LucideIcon;
  /** The part of the service that others call; none for what calls others itself. */
  place: PlaceId | null;
  /** What of it a page takes: the path after its address. */
  path: string;
}

/** All integrations, in the order of their cards. */
export const INTEGRATIONS = {
  api: {
    id: "api",
    title: "integrations.api",
    text: "integrations.apiText",
    icon: Braces,
    place: "api",
    path: "/api/v1",
  },
  widget: {
    id: "widget",
    title: "integrations.widget",
    text: "integrations.widgetText",
    icon: MessagesSquare,
    place: "widget",
    path: "/widget.js",
  },
  messenger: {
    id: "messenger",
    title: "integrations.messenger",
    text: "integrations.messengerText",
    icon: Send,
    place: null,
    path: "",
  },
  "tool-server": {
    id: "tool-server",
    title: "integrations.tools",
    text: "integrations.toolsText",
    icon: Bot,
    place: "tool-server",
    path: "/mcp",
  },
} as const satisfies Record<IntegrationId, Integration>;

/** The integration of an address; null where there is none. */
export function findIntegration(id: string): Integration | null {
  return Object.hasOwn(INTEGRATIONS, id) ? INTEGRATIONS[id as IntegrationId] : null;
}
