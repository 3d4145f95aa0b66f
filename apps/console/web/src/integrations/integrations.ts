import { useQuery } from "@tanstack/react-query";
import { Bot, Braces, MessagesSquare } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useState } from "react";
import { CHANNEL_IDS, CHANNELS } from "@svc/contracts";
import type { ChannelId as TicketChannelId, ChannelItem } from "@svc/contracts";
import { channelOf, isBotChannel, portsQuery } from "../api/administration.ts";
import type { ChannelId, ServiceAddressId } from "../api/administration.ts";
import type { TextKey, Texts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
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
type IntegrationId = ChannelId;

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

/** The integrations with a URL of the service itself. */
const OWN = {
  api: {
    id: "api",
    title: "integrations.api",
    text: "integrations.apiText",
    icon: Braces,
    address: "api",
    path: "/api/v1",
  },
  widget: {
    id: "widget",
    title: "integrations.widget",
    text: "integrations.widgetText",
    icon: MessagesSquare,
    address: "widget",
    path: "/widget.js",
  },
  "tool-server": {
    id: "tool-server",
    title: "integrations.tools",
    text: "integrations.toolsText",
    icon: Bot,
    address: "tool-server",
    path: "/mcp",
  },
} as const satisfies Partial<Record<IntegrationId, Integration>>;

/** Returns a channel on another company's servers, which has no URL of its own. */
const remoteChannel = (id: Exclude<TicketChannelId, keyof typeof OWN>): Integration => ({
  id,
  title: `integrations.${id}`,
  text: `integrations.${id}Text`,
  icon: CHANNEL_ICONS[CHANNELS[id].icon],
  address: null,
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

/** Returns the integration with an id from a URL; null if there is none. */
export const findIntegration = (id: string): Integration | null => INTEGRATIONS.find((one) => one.id === id) ?? null;

/** URLs without special characters of shells, HTML or JSON, because they are inserted into snippets. */
const ADDRESS = /^https?:\/\/[\w.:[\]-]+(?:\/[\w./~%-]*)?$/i;

/** Parses a URL to which paths can be appended: http or https, without a trailing slash. Null for anything else. */
export function readAddress(text: string): string | null {
  const trimmed = text.trim().replace(/\/+$/, "");
  return ADDRESS.test(trimmed) && URL.canParse(trimmed) ? trimmed : null;
}

/** The parts of the service with their ports, polled. */
export function useServiceAddresses() {
  const { connection } = useServices();
  return useQuery(portsQuery(connection));
}

const nameOf = (id: ServiceAddressId) => `console.address.${id}`;

/**
 * The URL of a part for other systems: the one entered in this browser, otherwise its port on the host of the console.
 * Only the administrator of a proxy knows the public URL.
 */
export function useAddress(id: ServiceAddressId) {
  const { storage } = useServices();
  const { data: addresses } = useServiceAddresses();
  const [said, setSaid] = useState(() => storage.getItem(nameOf(id)) ?? "");
  const port = addresses?.find((address) => address.id === id)?.port;
  const usual = port === undefined ? "" : `http://${location.hostname}:${port}`;
  return {
    url: readAddress(said) ?? usual,
    usual,
    said,
    isWrong: said.trim() !== "" && readAddress(said) === null,
    say: (text: string) => {
      setSaid(text);
      if (readAddress(text) !== null) storage.setItem(nameOf(id), text);
      else if (text.trim() === "") storage.removeItem(nameOf(id));
    },
  };
}

/** Placeholder for a key that is not known here. */
export const KEY_PLACEHOLDER = "svc_…";

/** Escapes a text for a double-quoted HTML attribute. */
const attribute = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Returns the tag that adds the widget to a page. */
export const widgetTag = (url: string, apiKey: string): string =>
  `<script async src="${attribute(url)}/widget.js" data-svc-widget data-api-key="${attribute(apiKey)}"></script>`;

/** Quotes a text for a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns a curl command that sends a message. */
export const curlCall = (url: string, key: string, text: string): string =>
  [
    `curl -sS ${url}/api/v1/messages \\`,
    `  -H ${quoted(`X-Api-Key: ${key}`)} -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(JSON.stringify({ text }))}`,
  ].join("\n");

/** Returns the same call with the client library, for Node.js and browsers. */
export const clientCall = (url: string, key: string, text: string): string =>
  [
    'import { createClient } from "@svc/client";',
    "",
    `const client = createClient({ url: ${JSON.stringify(url)}, key: ${JSON.stringify(key)} });`,
    `const answer = await client.send({ text: ${JSON.stringify(text)} });`,
  ].join("\n");

/** Programs that can use the tool server. */
export const TOOL_CLIENTS = ["claude-code", "claude-desktop", "vscode", "cursor", "zed", "obsidian", "n8n"] as const;
export type ToolClient = (typeof TOOL_CLIENTS)[number];

const json = (value: unknown) => JSON.stringify(value, null, 2);

/** Returns the configuration with which a program finds the tool server. */
export function toolSnippet(client: ToolClient, url: string, key: string): string {
  const address = `${url}/mcp`;
  const headers = { "X-Api-Key": key };
  const bridge = {
    command: "npx",
    args: ["-y", "mcp-remote", address, "--transport", "http-only", "--header", "X-Api-Key:${SVC_KEY}"],
    env: { SVC_KEY: key },
  };
  const snippets: Record<ToolClient, string> = {
    "claude-code": `claude mcp add --transport http svc ${address} --header ${quoted(`X-Api-Key: ${key}`)}`,
    "claude-desktop": json({ mcpServers: { svc: bridge } }),
    vscode: json({
      inputs: [{ type: "promptString", id: "svc-key", description: "Key of the message service", password: true }],
      servers: { svc: { type: "http", url: address, headers: { "X-Api-Key": "${input:svc-key}" } } },
    }),
    cursor: json({ mcpServers: { svc: { url: address, headers } } }),
    zed: json({ context_servers: { svc: { url: address, headers } } }),
    obsidian: json(bridge),
    n8n: [`Endpoint          ${address}`, "Server Transport  HTTP Streamable", `X-Api-Key         ${key}`].join("\n"),
  };
  return snippets[client];
}
