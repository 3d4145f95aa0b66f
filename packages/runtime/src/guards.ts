import { createAddressGuard, createReceiverLookup } from "@svc/outbound";
import type { AddressGuard } from "@svc/outbound";
import { parseRedisUrl } from "@svc/queue";
import type { Config } from "./load-config.ts";

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "postgres:": 5432,
  "postgresql:": 5432,
};

/** Returns the ports of a connection URL; none if it does not name a single one. */
function portsOf(url: string | undefined): number[] {
  if (url === undefined) return [];
  const { protocol, port } = new URL(url);
  const meant = port === "" ? DEFAULT_PORTS[protocol] : Number(port);
  return meant === undefined ? [] : [meant];
}

const WEB_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** Rejects URLs whose host is not public by its text. */
const publicOnly = createAddressGuard({ allow: [], allowLoopback: false, ownPorts: [] });

/**
 * Returns the port of a web server that this product calls. A default port counts only if the host is not public, as in
 * http://ollama/: https://api.example.com does not protect port 443 of the own network.
 */
function webPortsOf(url: string | undefined): number[] {
  if (url === undefined) return [];
  const { protocol, port } = new URL(url);
  if (port !== "") return [Number(port)];
  const implied = WEB_PORTS[protocol];
  return implied === undefined || publicOnly.checkUrl(url).ok ? [] : [implied];
}

/**
 * Returns the ports of this product and of its Postgres, Redis, embedding and model servers. Requests on behalf of
 * others never reach them on an address that is not public, whatever is allowed ("Which addresses can be called" in
 * docs/webhooks.md).
 */
function ownPortsOf(
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
 * Creates the guard of requests that fetch content on behalf of others, such as pages of a knowledge base: public
 * addresses and those in `SVC_FETCH_ALLOW`. Loopback must be listed, and the product's own ports and servers are never
 * allowed: unlike a callback, which a developer may receive on the same machine, a fetched page is shown to the caller.
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
 * Creates the guard of callbacks: public addresses and those in `SVC_WEBHOOK_ALLOW`. Loopback is allowed only while the
 * product serves this machine alone: every port is bound to loopback and there is no proxy. The product's own ports and
 * servers are never allowed. `findHost` returns where the HTTP API listens now; the other ports listen there too or on
 * loopback.
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
