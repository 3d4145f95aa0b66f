import { createAddressGuard, createReceiverLookup } from "@svc/outbound";
import type { AddressGuard } from "@svc/outbound";
import type { Config } from "./load-config.ts";
import { ownPortsOf } from "./own-ports.ts";

const isLoopback = (host: string) => host === "localhost" || host === "::1" || host.startsWith("127.");

/**
 * The guard of callbacks: public addresses, and what `SVC_WEBHOOK_ALLOW` names. Loopback too, but only while the
 * product is for this machine alone: every port bound to loopback and no proxy before it. Never the product's own ports
 * and servers. `findHost` returns where the HTTP API listens now; the other ports listen there too or on loopback.
 */
export function createWebhookGuard(
  config: Pick<Config, "databaseUrl" | "redisUrl" | "ports" | "embeddings" | "models" | "trustProxy" | "webhookAllow">,
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
