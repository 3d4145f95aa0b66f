import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import { parseUrl } from "@svc/contracts";
import { parseAllowList } from "./allow-list.ts";
import { classifyAddress, normalizeAddress } from "./classify-address.ts";
import { BlockedAddressError } from "./outbound-errors.ts";

/** What a guard lets through beyond public addresses. All of it comes from the operator's configuration. */
export type AddressPolicy = {
  /**
   * Host names, addresses and CIDR networks that need not be public: `hooks.internal`, `10.1.2.3`, `fd00:1::/64`.
   * A name is compared as a whole, without wildcards.
   */
  readonly allow: readonly string[];
  /** The setting that names them, for whoever may change it: as in `SVC_FETCH_ALLOW`. */
  readonly allowSetting?: string;
  /** Whether 127.0.0.0/8, ::1 and the names of this machine may be called. */
  readonly allowLoopback: boolean;
  /**
   * Ports of this product, its Postgres, Redis and model. Refused on every address that is not public and on every
   * address of this machine, whatever else is allowed; on other public addresses the number means nothing.
   */
  readonly ownPorts: readonly number[];
};

/** The answer of `checkUrl`. `reason` is a sentence for the person who gave the URL. */
export type UrlCheck = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** How strictly one URL is judged. */
export type UrlCheckOptions = {
  /** Whether nothing counts that the policy allows beyond public addresses. */
  readonly publicOnly?: boolean;
};

/** Decides which addresses this process calls on behalf of others: one a policy, shared by all requests. */
export type AddressGuard = {
  /**
   * Refuses what is plainly forbidden by the text of the URL alone: synchronous, no network, no look-up of names.
   * So an `ok` is no promise that the request will be let through.
   */
  readonly checkUrl: (url: string | URL, options?: UrlCheckOptions) => UrlCheck;
  /**
   * The look-up for a connection to this URL: it resolves the name once and hands on the addresses only when each of
   * them is allowed; else the connection fails with BlockedAddressError. Since the socket connects to what this
   * returned, a name that changes its address afterwards (DNS rebinding) gains nothing.
   * Node does not call it for a host that is an address: `checkUrl` must run before.
   */
  readonly lookupFor: (url: URL, options?: UrlCheckOptions) => LookupFunction;
};

/** What a guard needs of the machine. Tests put their own here. */
export type AddressGuardTools = {
  /** Resolves names; the system's resolver by default. */
  readonly lookup?: LookupFunction;
  /** The addresses of this machine's interfaces, asked for at each check since they change. */
  readonly ownAddresses?: () => readonly string[];
};

const NOT_A_URL = "The URL is not a valid absolute URL.";
const BAD_SCHEME = "Only http and https URLs are allowed.";
const HAS_USER_INFO = "URLs with a user name or password are not allowed.";
const OWN_PORT = "The host and port belong to this service itself.";

/**
 * Makes the guard that webhooks, knowledge base fetches and agent tools share ("Which addresses can be called" in docs/webhooks.md):
 * http and https only, no user info, every resolved address public or allowed by the policy, never the own ports.
 * @throws TypeError naming the entry when one of `policy.allow` is no host name, address or network.
 */
export function createAddressGuard(policy: AddressPolicy, tools: AddressGuardTools = {}): AddressGuard {
  const { lookup = systemLookup, ownAddresses = interfaceAddresses } = tools;
  const allowed = parseAllowList(policy.allow);
  const nothing = parseAllowList([]);
  const remedy = `Use a public host, or ask the administrator to allow this one${policy.allowSetting === undefined ? "" : ` (${policy.allowSetting})`}.`;
  const localName = `The host is a local network name. ${remedy}`;
  const notPublic = `The host does not have a public address. ${remedy}`;
  const ownPorts = new Set(policy.ownPorts);

  /** The reason against this address, or undefined when it may be called. */
  function refusalOf(address: string, port: number, isHostAllowed: boolean, publicOnly: boolean): string | undefined {
    const addressClass = classifyAddress(address);
    if (addressClass === "never") return notPublic;
    if (ownPorts.has(port) && (addressClass !== "public" || isOwn(address))) return OWN_PORT;
    if (addressClass === "public") return undefined;
    if (publicOnly) return notPublic;
    if (isHostAllowed || allowed.hasAddress(address)) return undefined;
    return addressClass === "loopback" && policy.allowLoopback ? undefined : notPublic;
  }

  function isOwn(address: string): boolean {
    const normalized = normalizeAddress(address);
    return ownAddresses().some((own) => normalizeAddress(own) === normalized);
  }

  /** The reason against this name as it is written, or undefined when only its addresses can tell. */
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

/** The host of a URL without the brackets of IPv6 and without trailing dots, which change no name. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function portOf(url: URL): number {
  return url.port === "" ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
}

/** The names under which machines know themselves: RFC 6761 section 6.3, and those of the usual hosts files. */
function isLoopbackName(name: string): boolean {
  return /^(?:(?:.+\.)?localhost|localhost\d?\.localdomain\d?|ip6-(?:localhost|loopback))$/.test(name);
}

/**
 * Names that the public DNS never serves: a single label, mDNS (RFC 6762), `home.arpa` (RFC 8375), ICANN's private
 * top-level domain `internal` (metadata services use it) and the customary `localdomain`.
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
