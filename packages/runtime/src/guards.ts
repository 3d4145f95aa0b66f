import { createAddressGuard, createReceiverLookup } from "@svc/outbound";
import type { AddressGuard } from "@svc/outbound";
import { parseRedisUrl } from "@svc/queue";
import type { Config } from "./load-config.ts";

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "postgres:": 5432,
  "postgresql:": 5432,
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
  config: Pick<Config, "databaseUrl" | "directUrl" | "redisUrl" | "ports" | "embeddings" | "models">,
): number[] {
  const { api, widget, tools, console, metrics } = config.ports;
  return [
    api,
    widget,
    tools,
    console,
    ...(metrics === undefined ? [] : [metrics]),
    ...portsOf(config.databaseUrl),
    ...portsOf(config.directUrl),
    ...(config.redisUrl === undefined ? [] : parseRedisUrl(config.redisUrl).addresses.map(({ port }) => port)),
    ...(config.embeddings !== undefined && "baseUrl" in config.embeddings ? webPortsOf(config.embeddings.baseUrl) : []),
    ...(config.models?.providers ?? []).flatMap(({ baseUrl }) => webPortsOf(baseUrl)),
  ];
}

/**
 * The guard of everything that is fetched on behalf of others, as the pages of a knowledge base: public addresses, and
 * what `SVC_FETCH_ALLOW` names. Loopback only where it is named, and never the product's own ports and servers: unlike
 * a callback, which a developer may well receive on the same machine, a page there would be shown to any caller.
 */
export function createFetchGuard(
  config: Pick<Config, "databaseUrl" | "directUrl" | "redisUrl" | "ports" | "embeddings" | "models" | "fetchAllow">,
): AddressGuard {
  const policy = {
    allow: config.fetchAllow,
    allowSetting: "SVC_FETCH_ALLOW",
    allowLoopback: false,
    ownPorts: ownPortsOf(config),
  };
  return createAddressGuard(policy, { lookup: createReceiverLookup(config.fetchAllow) });
}

const isLoopback = (host: string) => host === "localhost" || host === "::1" || host.startsWith("127.");

/**
 * The guard of callbacks: public addresses, and what `SVC_WEBHOOK_ALLOW` names. Loopback too, but only while the
 * product is for this machine alone: every port bound to loopback and no proxy before it. Never the product's own ports
 * and servers. `findHost` returns where the HTTP API listens now; the other ports listen there too or on loopback.
 */
export function createWebhookGuard(
  config: Pick<
    Config,
    "databaseUrl" | "directUrl" | "redisUrl" | "ports" | "embeddings" | "models" | "trustProxy" | "webhookAllow"
  >,
  findHost: () => string,
): AddressGuard {
  const policy = {
    allow: config.webhookAllow,
    allowSetting: "SVC_WEBHOOK_ALLOW",
    get allowLoopback() {
      return isLoopback(findHost()) && config.trustProxy.length === 0;
    },
    ownPorts: ownPortsOf(config),
  };
  return createAddressGuard(policy, { lookup: createReceiverLookup(config.webhookAllow) });
}
