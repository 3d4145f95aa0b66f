import { createAddressGuard, createReceiverLookup } from "@svc/outbound";
import type { AddressGuard } from "@svc/outbound";
import type { Config } from "./load-config.ts";
import { ownPortsOf } from "./own-ports.ts";

/**
 * The guard of everything that is fetched on behalf of others, as the pages of a knowledge base: public addresses, and
 * what `SVC_FETCH_ALLOW` names. Loopback only where it is named, and never the product's own ports and servers: unlike
 * a callback, which a developer may well receive on the same machine, a page there would be read out to whoever asks.
 */
export function createFetchGuard(
  config: Pick<Config, "databaseUrl" | "redisUrl" | "ports" | "embeddings" | "models" | "fetchAllow">,
): AddressGuard {
  const policy = {
    allow: config.fetchAllow,
    allowSetting: "SVC_FETCH_ALLOW",
    allowLoopback: false,
    ownPorts: ownPortsOf(config),
  };
  return createAddressGuard(policy, { lookup: createReceiverLookup(config.fetchAllow) });
}
