import { lookup as systemLookup } from "node:dns";
import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import { domainToASCII } from "node:url";
import { parseUrl } from "@svc/contracts";
import ipaddr from "ipaddr.js";
import { BlockedAddressError } from "./outbound-errors.ts";

/** Hosts and networks that the configuration allows although they are not public. */
type AllowList = {
  /** Returns true if this host name is an entry. The name is in lower case without a trailing dot, as in `URL`. */
  readonly hasName: (name: string) => boolean;
  /**
   * Returns true if this address is in one of the networks. IPv4 networks contain no IPv6 addresses, and vice versa.
   */
  readonly hasAddress: (address: string) => boolean;
};

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/**
 * Reads the entries of an allow list: host names, addresses, or networks as `address/bits`.
 * @throws TypeError naming the first entry that is none of these, so that a typing error stops the start.
 */
function parseAllowList(entries: readonly string[]): AllowList {
  const names = new Set<string>();
  const networks: Network[] = [];
  for (const entry of entries.map((text) => text.trim())) {
    const network = parseNetwork(entry);
    if (network === undefined) names.add(parseName(entry));
    else networks.push(network);
  }
  return {
    hasName: (name) => names.has(name),
    hasAddress(address) {
      const parsed = ipaddr.parse(address);
      return networks.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match(base, bits));
    },
  };
}

function parseNetwork(entry: string): Network | undefined {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (ipaddr.IPv4.isValidFourPartDecimal(entry)) return ipaddr.parseCIDR(`${entry}/32`);
  return ipaddr.IPv6.isValid(entry) ? ipaddr.parseCIDR(`${entry}/128`) : undefined;
}

function parseName(entry: string): string {
  const name = /^[^\s/:@*[\]]+$/.test(entry) ? domainToASCII(entry).replace(/\.+$/, "") : "";
  if (name === "" || /^[\d.]+$/.test(name)) {
    throw new TypeError(
      `"${entry}" cannot be allowed: use a host name, an address or a network such as 10.0.0.0/8, without a port.`,
    );
  }
  return name;
}

/**
 * What an address is to the guard:
 * - `public`: global unicast, reachable by anybody.
 * - `loopback`: 127.0.0.0/8 and ::1.
 * - `internal`: private, link-local (cloud metadata), carrier-grade NAT, documentation, transition and other special
 *   ranges; configuration may allow parts of them.
 * - `never`: no configuration allows it, since it is another address in disguise (IPv4-mapped and IPv4-compatible
 *   IPv6, and 0.0.0.0/8, which Linux takes for loopback) or no single host (multicast, broadcast).
 */
type AddressClass = "public" | "loopback" | "internal" | "never";

/** The only IPv6 block that IANA assigns for global unicast (RFC 4291, section 2.4). */
const GLOBAL_UNICAST_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** IPv4-compatible addresses (RFC 4291, section 2.5.5.1), including `::`; ::1 is checked before. */
const COMPATIBLE_IPV6 = ipaddr.IPv6.parseCIDR("::/96");

const NEVER_RANGES: ReadonlySet<string> = new Set(["unspecified", "broadcast", "multicast", "ipv4Mapped", "rfc6145"]);

/**
 * Classifies an IPv4 or IPv6 address in its usual text form, by the IANA special-purpose registries that ipaddr.js
 * holds (RFC 6890). An IPv6 address counts as public only within 2000::/3, so that a range that is not in the library
 * yet is rejected.
 * @throws Error if the text is not an address.
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

/**
 * Returns the canonical form of an address, for comparisons. A zone (`%eth0`) is kept. @throws Error if it is not an
 * address.
 */
export function normalizeAddress(address: string): string {
  return ipaddr.parse(address).toNormalizedString();
}

/** Addresses that a guard allows besides public ones, from the configuration of the administrator. */
export type AddressPolicy = {
  /**
   * Host names, addresses and CIDR networks that need not be public: `hooks.internal`, `10.1.2.3`, `fd00:1::/64`.
   * A name is compared as a whole, without wildcards.
   */
  readonly allow: readonly string[];
  /** Name of the setting for allowed addresses, for error messages: `SVC_FETCH_ALLOW`. */
  readonly allowSetting?: string;
  /** Whether 127.0.0.0/8, ::1 and the names of this machine are allowed. */
  readonly allowLoopback: boolean;
  /**
   * Ports of this product, its Postgres, Redis and model servers. Blocked on every address that is not public and on
   * every address of this machine, whatever else is allowed; on other public addresses they have no meaning.
   */
  readonly ownPorts: readonly number[];
};

/** Result of `checkUrl`. `reason` is a sentence for the person who entered the URL. */
type UrlCheck = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Options of checking one URL. */
type UrlCheckOptions = {
  /** Whether to allow public addresses only, whatever the policy allows. */
  readonly publicOnly?: boolean;
};

/** Decides which addresses this process calls on behalf of others; one per policy, shared by all requests. */
export type AddressGuard = {
  /**
   * Rejects URLs by their text alone: synchronous, without network or DNS. So an `ok` does not guarantee that the
   * request will be allowed.
   */
  readonly checkUrl: (url: string | URL, options?: UrlCheckOptions) => UrlCheck;
  /**
   * Returns the DNS look-up for a connection to this URL: it resolves the name once and returns the addresses only if
   * all of them are allowed; otherwise the connection fails with BlockedAddressError. Since the socket connects to
   * these addresses, a name that changes its address later (DNS rebinding) has no effect. Node.js does not call it for
   * a host that is an address: call `checkUrl` first.
   */
  readonly lookupFor: (url: URL, options?: UrlCheckOptions) => LookupFunction;
};

/** Dependencies of a guard on the machine, which tests replace. */
type AddressGuardTools = {
  /** Resolves names; the system's resolver by default. */
  readonly lookup?: LookupFunction;
  /** Returns the addresses of this machine's interfaces, which may change; called for each check. */
  readonly ownAddresses?: () => readonly string[];
};

const NOT_A_URL = "The URL is not a valid absolute URL.";
const BAD_SCHEME = "Only http and https URLs are allowed.";
const HAS_USER_INFO = "URLs with a user name or password are not allowed.";
const OWN_PORT = "The host and port belong to this service itself.";

/**
 * Creates the guard that webhooks, knowledge base fetches and agent tools share ("Which addresses can be called" in
 * docs/webhooks.md): http and https only, no user info, every resolved address public or allowed by the policy, never
 * our own ports.
 * @throws TypeError that names the entry of `policy.allow` that is not a host name, address or network.
 */
export function createAddressGuard(policy: AddressPolicy, tools: AddressGuardTools = {}): AddressGuard {
  const { lookup = systemLookup, ownAddresses = interfaceAddresses } = tools;
  const allowed = parseAllowList(policy.allow);
  const nothing = parseAllowList([]);
  const remedy = remedyOf(policy);
  const localName = `The host is a local network name. ${remedy}`;
  const notPublic = `The host does not have a public address. ${remedy}`;
  const ownPorts = new Set(policy.ownPorts);

  /** Returns the reason to block this address, or undefined if it is allowed. */
  function refusalOf(address: string, port: number, isHostAllowed: boolean, publicOnly: boolean): string | undefined {
    const addressClass = classifyAddress(address);
    if (addressClass === "never") return notPublic;
    if (ownPorts.has(port) && (addressClass !== "public" || hasAddress(ownAddresses(), address))) return OWN_PORT;
    if (addressClass === "public") return undefined;
    if (publicOnly) return notPublic;
    if (isHostAllowed || allowed.hasAddress(address)) return undefined;
    return addressClass === "loopback" && policy.allowLoopback ? undefined : notPublic;
  }

  /** Returns the reason to block this name, or undefined if that depends on its addresses. */
  function refusalOfName(name: string, port: number, publicOnly: boolean): string | undefined {
    const names = publicOnly ? nothing : allowed;
    if (isLoopbackName(name)) {
      if (ownPorts.has(port)) return OWN_PORT;
      return (policy.allowLoopback && !publicOnly) || names.hasName(name) ? undefined : localName;
    }
    return isLocalName(name) && !names.hasName(name) ? localName : undefined;
  }

  function refusalOfUrl(url: URL, publicOnly: boolean): string | undefined {
    if (!(url.protocol in DEFAULT_PORTS)) return BAD_SCHEME;
    if (url.username !== "" || url.password !== "") return HAS_USER_INFO;
    const host = bareHost(url);
    return isIP(host) === 0
      ? refusalOfName(host, portOf(url), publicOnly)
      : refusalOf(host, portOf(url), false, publicOnly);
  }

  return {
    checkUrl(url, { publicOnly = false } = {}) {
      const parsed = typeof url === "string" ? parseUrl(url) : url;
      const reason = parsed === null ? NOT_A_URL : refusalOfUrl(parsed, publicOnly);
      return reason === undefined ? { ok: true } : { ok: false, reason };
    },

    lookupFor(url, { publicOnly = false } = {}) {
      const port = portOf(url);
      const isHostAllowed = allowed.hasName(bareHost(url));
      return (hostname, options, callback) => {
        lookup(hostname, { ...options, all: true }, (error, answer, family) => {
          if (error) return callback(error, []);
          const addresses = toAddressList(answer, family);
          for (const { address } of addresses) {
            const reason = refusalOf(address, port, isHostAllowed, publicOnly);
            if (reason !== undefined) return callback(new BlockedAddressError(reason), []);
          }
          const [first] = addresses;
          if (first === undefined) return callback(noAddressError(hostname), []);
          return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
        });
      };
    },
  };
}

/** Returns what can be done about an address that is not allowed, in a sentence or two. */
function remedyOf({ allowSetting }: AddressPolicy): string {
  if (allowSetting === undefined) return "Use a public host, or have this one allowed on the server.";
  return `Use a public host. To allow this one, add it to the setting ${allowSetting} on the server and restart the service.`;
}

/** Returns true if the list contains the address in any notation. */
function hasAddress(addresses: readonly string[], address: string): boolean {
  const normalized = normalizeAddress(address);
  return addresses.some((one) => normalizeAddress(one) === normalized);
}

/** Returns the host of a URL without the brackets of IPv6 and without trailing dots. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function portOf(url: URL): number {
  return url.port === "" ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
}

/** Returns true for names of the machine itself: RFC 6761 section 6.3, and those of common hosts files. */
function isLoopbackName(name: string): boolean {
  return /^(?:(?:.+\.)?localhost|localhost\d?\.localdomain\d?|ip6-(?:localhost|loopback))$/.test(name);
}

/**
 * Returns true for names that are never in the public DNS: a single label, mDNS (RFC 6762), `home.arpa` (RFC 8375),
 * ICANN's private top-level domain `internal` (metadata services use it) and the customary `localdomain`.
 */
function isLocalName(name: string): boolean {
  return !name.includes(".") || /\.(?:local|internal|localdomain|home\.arpa)$/.test(name);
}

function toAddressList(answer: string | LookupAddress[], family: number | undefined): LookupAddress[] {
  return typeof answer === "string" ? [{ address: answer, family: family ?? isIP(answer) }] : answer;
}

function noAddressError(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`The host name ${hostname} has no address.`), { code: "ENOTFOUND" });
}

function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));
}
