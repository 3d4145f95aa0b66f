import { createAddressGuard } from "@svc/outbound";
import type { Config } from "./load-config.ts";

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "postgres:": 5432,
  "postgresql:": 5432,
  "redis:": 6379,
  "rediss:": 6379,
};

/** The port that a connection URL means; none when it names no single one. */
function portsOf(url: string | undefined): number[] {
  if (url === undefined) return [];
  const { protocol, port } = new URL(url);
  const meant = port === "" ? DEFAULT_PORTS[protocol] : Number(port);
  return meant === undefined ? [] : [meant];
}

const WEB_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Knows what is plainly no public host by its text. */
const publicOnly = createAddressGuard({ allow: [], allowLoopback: false, ownPorts: [] });

/**
 * The port of a web server that this product calls. One that is not written counts only where the host is plainly not
 * public, as in http://ollama/: with https://api.example.com no server on port 443 of one's own network is meant.
 */
function webPortsOf(url: string | undefined): number[] {
  if (url === undefined) return [];
  const { protocol, port } = new URL(url);
  if (port !== "") return [Number(port)];
  const implied = WEB_PORTS[protocol];
  return implied === undefined || publicOnly.checkUrl(url).ok ? [] : [implied];
}

/**
 * Ports of this product, its Postgres, its Redis and its servers of embeddings and language models: requests on behalf
 * of others never go there on an address that is not public, whatever is allowed ("Which addresses can be called" in docs/webhooks.md).
 */
export function ownPortsOf(
  config: Pick<Config, "databaseUrl" | "redisUrl" | "ports" | "embeddings" | "models">,
): number[] {
  const { api, widget, tools, console, metrics } = config.ports;
  return [
    api,
    widget,
    tools,
    console,
    ...(metrics === undefined ? [] : [metrics]),
    ...portsOf(config.databaseUrl),
    ...portsOf(config.redisUrl),
    ...(config.embeddings !== undefined && "baseUrl" in config.embeddings ? webPortsOf(config.embeddings.baseUrl) : []),
    ...(config.models?.providers ?? []).flatMap(({ baseUrl }) => webPortsOf(baseUrl)),
  ];
}
