import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import type { Express, Request } from "express";

/** Number of groups of an IPv6 address that form a customer's network, a /64. */
const NETWORK_GROUPS = 4;
/** The groups before the IPv4 address in an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2). */
const MAPPED = "0:0:0:0:0:ffff";
/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/;

/** Returns the eight groups of an IPv6 address, each a hexadecimal number without leading zeros. */
function groupsOf(address: string): string[] {
  // The URL parser normalizes all notations: lower case, no leading zeros, an IPv4 part as two groups.
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  return [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
}

/** Returns the name under which requests of an address are counted; null if it is not an address. */
function nameOf(text: string): string | null {
  const [, six, four] = WITH_PORT.exec(text) ?? [];
  // A zone (RFC 4007) names an interface of this machine and is not part of the address.
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
 * Returns the client address that a request is counted for: an IPv4 address as it is, an IPv4-mapped IPv6 address as
 * that IPv4 address, an IPv6 address by its /64, the least that a customer has. `X-Forwarded-For` counts only as far as
 * the app's trusted proxies wrote it; if a trusted proxy passes on something that is not an address, the proxy itself
 * counts.
 */
export function clientAddress(request: Request): string {
  return nameOf(request.ip ?? "") ?? nameOf(request.socket.remoteAddress ?? "") ?? "unknown";
}

/** Returns `clientAddress` of an upgrade request, which never reaches the app's routes. */
export function upgradeAddress(app: Express, request: IncomingMessage): string {
  // Express adds its request functions by the prototype, which has the app and its trusted proxies.
  return clientAddress(Object.setPrototypeOf(request, app.request) as Request);
}

/** Groups of an IPv6 address that are kept: a site has at most a /48, a customer a /64. */
const KEPT_GROUPS = 3;

/**
 * Returns the network of a request, for data that is stored longer than a minute: the /24 of an IPv4 address, the /48
 * of an IPv6 address, which do not identify a person. Null if unknown. As trustworthy as `clientAddress`.
 */
export function clientNetwork(request: Request): string | null {
  const address = clientAddress(request);
  if (isIP(address) === 4) return address.replace(/\d+$/, "0/24");
  return address.includes(":") ? `${address.split(":").slice(0, KEPT_GROUPS).join(":")}::/48` : null;
}
