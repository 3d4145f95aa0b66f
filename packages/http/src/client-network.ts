import { isIP } from "node:net";
import type { Request } from "express";
import { clientAddress } from "./client-address.ts";

/** Groups of an IPv6 address that stay: a /48 is what a site gets at most, while a /64 is one customer. */
const KEPT_GROUPS = 3;

/**
 * The network that a request comes from, for what is kept longer than a minute: the /24 of an IPv4 address, the /48 of
 * an IPv6 address, which name no single person. Null where nothing is known. As trustworthy as `clientAddress`.
 */
export function clientNetwork(request: Request): string | null {
  const address = clientAddress(request);
  if (isIP(address) === 4) return address.replace(/\d+$/, "0/24");
  return address.includes(":") ? `${address.split(":").slice(0, KEPT_GROUPS).join(":")}::/48` : null;
}
