import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { portsQuery } from "../api/administration.ts";
import type { ServiceAddressId } from "../api/administration.ts";
import { useServices } from "../session/services.ts";

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
