import { Bot, Braces, MessagesSquare } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { CHANNELS, CHANNEL_IDS } from "@svc/contracts";
import type { ChannelId as TicketChannelId } from "@svc/contracts";
import type { ChannelId } from "../api/channels.ts";
import type { PlaceId } from "../api/places.ts";
import type { TextKey } from "../i18n/text-table.ts";
import { CHANNEL_ICONS } from "../ui/channel-icons.ts";

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

/** The integrations that the service itself serves at an address. */
const OWN = {
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
  "tool-server": {
    id: "tool-server",
    title: "integrations.tools",
    text: "integrations.toolsText",
    icon: Bot,
    place: "tool-server",
    path: "/mcp",
  },
} as const satisfies Partial<Record<IntegrationId, Integration>>;

/** A channel that customers reach on another company's servers: it has no address of its own. */
const remoteChannel = (id: Exclude<TicketChannelId, keyof typeof OWN>): Integration => ({
  id,
  title: `integrations.${id}`,
  text: `integrations.${id}Text`,
  icon: CHANNEL_ICONS[CHANNELS[id].icon],
  place: null,
  path: "",
});

const isOwn = (id: IntegrationId): id is keyof typeof OWN => id in OWN;

/** All integrations, in the order of their cards. */
export const INTEGRATIONS: readonly Integration[] = [
  OWN.api,
  OWN.widget,
  ...CHANNEL_IDS.flatMap((id) => (isOwn(id) ? [] : remoteChannel(id))),
  OWN["tool-server"],
];

/** The integration of an address; null where there is none. */
export const findIntegration = (id: string): Integration | null => INTEGRATIONS.find((one) => one.id === id) ?? null;
