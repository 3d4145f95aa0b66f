import { createAddressGuard } from "@svc/outbound";
import type { AddressGuard } from "@svc/outbound";
import type { Config } from "@svc/runtime";
import { createReceiverLookup } from "./receiver-lookup.ts";

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

const isLoopback = (host: string) => host === "localhost" || host === "::1" || host.startsWith("127.");

/**
 * The guard of callbacks: public addresses, and what `SVC_WEBHOOK_ALLOW` names. Loopback too, but only while the
 * product is for this machine alone: every port bound to loopback and no proxy before it. Never the product's own ports
 * and servers. `host` is where the HTTP API listens; the other ports listen there too or on loopback.
 */
export function createWebhookGuard(
  config: Pick<Config, "databaseUrl" | "redisUrl" | "ports" | "trustProxy" | "webhookAllow">,
  host: string,
): AddressGuard {
  const { api, widget, tools, console, metrics } = config.ports;
  const policy = {
    allow: config.webhookAllow,
    allowLoopback: isLoopback(host) && config.trustProxy.length === 0,
    ownPorts: [
      api,
      widget,
      tools,
      console,
      ...(metrics === undefined ? [] : [metrics]),
      ...portsOf(config.databaseUrl),
      ...portsOf(config.redisUrl),
    ],
  };
  return createAddressGuard(policy, { lookup: createReceiverLookup(config.webhookAllow) });
}
