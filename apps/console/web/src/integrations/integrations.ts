import { Bot, Braces, MessagesSquare, Send } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import type { ChannelId } from "../api/channels.ts";
import type { PlaceId } from "../api/places.ts";
import type { TextKey } from "../i18n/text-table.ts";

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
