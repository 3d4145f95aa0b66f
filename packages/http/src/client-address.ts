import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
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

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

const PRIVATE = new BlockList();
PRIVATE.addSubnet("10.0.0.0", 8, "ipv4");
PRIVATE.addSubnet("172.16.0.0", 12, "ipv4");
PRIVATE.addSubnet("192.168.0.0", 16, "ipv4");
PRIVATE.addSubnet("fc00::", 7, "ipv6");

/** Headers that proxies add, and direct clients do not send. */
const FORWARDING = ["forwarded", "via", "x-real-ip", "x-original-host", "cf-connecting-ip", "true-client-ip"];
const isForwarding = (name: string) => FORWARDING.includes(name) || name.startsWith("x-forwarded");

/** BlockList matches IPv4-mapped IPv6 addresses as IPv4. */
function isIn(networks: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && networks.check(address, version === 4 ? "ipv4" : "ipv6");
}

const isLoopback = (address: string) => isIn(LOOPBACK, address);

/** Returns true for an address of this machine or of a private network, which is not that of an internet client. */
export const isPrivateAddress = (address: string) => isLoopback(address) || isIn(PRIVATE, address);

/** Returns the name in a `Host` header, without its port and the brackets of an IPv6 address. */
const hostNameOf = (host: string) => host.replace(/:\d{1,5}$/, "").replace(/^\[(.*)\]$/, "$1");

/**
 * Returns true for a request from this machine to this machine: its connection and its `Host` are loopback, so that no
 * page can send it through a browser under another name (DNS rebinding), and no proxy has forwarded it.
 */
export function isLocalRequest(request: IncomingMessage): boolean {
  const name = hostNameOf(request.headers.host ?? "").toLowerCase();
  return (
    isLoopback(request.socket.remoteAddress ?? "") &&
    (name === "localhost" || isLoopback(name)) &&
    !Object.keys(request.headers).some(isForwarding)
  );
}
