import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Express, Request } from "express";

/** How many of the eight groups of an IPv6 address make the network of one customer, a /64. */
const NETWORK_GROUPS = 4;
/** The groups before the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2). */
const MAPPED = "0:0:0:0:0:ffff";
/** Some proxies name the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/;

/** The eight groups of an IPv6 address, each a hexadecimal number without leading zeros. */
function groupsOf(address: string): string[] {
  // The parser of URLs writes every form alike: lower case, no leading zeros, an IPv4 part as two groups.
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  return [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
}

/** The name under which the requests of an address are counted; null for what is no address. */
function nameOf(text: string): string | null {
  const [, six, four] = WITH_PORT.exec(text) ?? [];
  // A zone (RFC 4007) names an interface of this machine and is no part of the address.
  const [address = ""] = (six ?? four ?? text).split("%", 1);
  if (isIP(address) === 4) return address;
  if (isIP(address) === 0) return null;
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(":") === MAPPED) {
    const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
    return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  }
  return `${groups.slice(0, NETWORK_GROUPS).join(":")}::/64`;
}

/**
 * Who is counted for a request: an IPv4 address as it is, an IPv4-mapped IPv6 address as that IPv4 address, an IPv6
 * address by its /64, since a customer has at least that. It comes from `X-Forwarded-For` only as far as the app's
 * trusted proxies wrote it; what a trusted proxy passes on and is no address counts as the proxy itself.
 */
export function clientAddress(request: Request): string {
  return nameOf(request.ip ?? "") ?? nameOf(request.socket.remoteAddress ?? "") ?? "unknown";
}

/** `clientAddress` of a request that asks for an upgrade, which never reaches the app's routes. */
export function upgradeAddress(app: Express, request: IncomingMessage): string {
  // What express adds to a request is in its prototype, which knows the app and whom that trusts.
  return clientAddress(Object.setPrototypeOf(request, app.request) as Request);
}

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
