import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

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
const nameOf = (host: string) => host.replace(/:\d{1,5}$/, "").replace(/^\[(.*)\]$/, "$1");

/**
 * Returns true for a request from this machine to this machine: its connection and its `Host` are loopback, so that no
 * page can send it through a browser under another name (DNS rebinding), and no proxy has forwarded it.
 */
export function isLocalRequest(request: IncomingMessage): boolean {
  const name = nameOf(request.headers.host ?? "").toLowerCase();
  return (
    isLoopback(request.socket.remoteAddress ?? "") &&
    (name === "localhost" || isLoopback(name)) &&
    !Object.keys(request.headers).some(isForwarding)
  );
}
