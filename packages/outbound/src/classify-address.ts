import ipaddr from "ipaddr.js";

/**
 * What an address is to the guard:
 * - `public`: global unicast, reachable by anybody.
 * - `loopback`: 127.0.0.0/8 and ::1.
 * - `internal`: private, link-local (cloud metadata), carrier-grade NAT, documentation, transition and other special
 *   ranges; configuration may allow parts of them.
 * - `never`: no configuration allows it, since it is another address in disguise (IPv4-mapped and IPv4-compatible
 *   IPv6, and 0.0.0.0/8, which Linux takes for loopback) or no single host (multicast, broadcast).
 */
export type AddressClass = "public" | "loopback" | "internal" | "never";

/** The only block of IPv6 that IANA gives out for global unicast (RFC 4291, section 2.4). */
const GLOBAL_UNICAST_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** IPv4-compatible addresses (RFC 4291, section 2.5.5.1), `::` among them; ::1 is asked for before. */
const COMPATIBLE_IPV6 = ipaddr.IPv6.parseCIDR("::/96");

const NEVER_RANGES: ReadonlySet<string> = new Set(["unspecified", "broadcast", "multicast", "ipv4Mapped", "rfc6145"]);

/**
 * Classifies an IPv4 or IPv6 address in its usual text form, by the IANA special-purpose registries that ipaddr.js
 * holds (RFC 6890). An IPv6 address counts as public only within 2000::/3, so that a range that is not yet in the
 * library is refused and not let through.
 * @throws Error when the text is not an address.
 */
export function classifyAddress(address: string): AddressClass {
  const parsed = ipaddr.parse(address);
  const range: string = parsed.range();
  if (range === "loopback") return "loopback";
  if (NEVER_RANGES.has(range)) return "never";
  if (parsed instanceof ipaddr.IPv6) {
    if (parsed.match(COMPATIBLE_IPV6)) return "never";
    return range === "unicast" && parsed.match(GLOBAL_UNICAST_IPV6) ? "public" : "internal";
  }
  return range === "unicast" ? "public" : "internal";
}

/** The one spelling of an address by which two are compared. A zone (`%eth0`) is kept. @throws Error when it is none. */
export function normalizeAddress(address: string): string {
  return ipaddr.parse(address).toNormalizedString();
}
