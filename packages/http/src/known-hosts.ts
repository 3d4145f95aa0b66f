import { isIP } from "node:net";
import { parseUrl } from "@svc/contracts";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const EVERYWHERE = ["0.0.0.0", "::"];

/** Host names of a server. */
export interface KnownHosts {
  /** Returns true for a `Host` header that names this server, with any port. */
  isKnown(host: string | undefined): boolean;
  /** Returns true for the origin of this server's own pages. */
  isOwnOrigin(origin: string): boolean;
}

const hostNameOf = (url: string) => parseUrl(url)?.hostname ?? null;
const inBrackets = (address: string) => (address.includes(":") ? `[${address}]` : address);

/** IP addresses are safe: only a name can be pointed at another machine. */
const isAddress = (name: string) => isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;

/** Characters of a URL that cannot be in its host and port. */
const NO_HOST = /[/?#@\\\s]/;

/** Returns true for a port that only programs on this machine can reach. */
export const isLoopbackBound = (bindHost: string): boolean =>
  bindHost === "localhost" || bindHost === "::1" || bindHost.startsWith("127.");

/**
 * Creates the list of a server's names: those of loopback, its bind address (any IP address if it binds to all), and
 * the hosts of its public URLs. A page under another name that resolves to this machine (DNS rebinding) has none of
 * them.
 */
export function createKnownHosts({
  bindHost,
  publicUrls,
}: {
  bindHost: string;
  publicUrls: readonly string[];
}): KnownHosts {
  const isBoundEverywhere = EVERYWHERE.includes(bindHost);
  const publicNames = publicUrls.flatMap((url) => hostNameOf(url) ?? []);
  const names = new Set([...LOOPBACK_NAMES, ...(isBoundEverywhere ? [] : [inBrackets(bindHost)]), ...publicNames]);
  return {
    isKnown(host) {
      const name = host === undefined || NO_HOST.test(host) ? null : hostNameOf(`http://${host}`);
      return name !== null && (names.has(name) || (isBoundEverywhere && isAddress(name)));
    },
    isOwnOrigin(origin) {
      const name = /^https?:\/\//i.test(origin) ? hostNameOf(origin) : null;
      return name !== null && names.has(name);
    },
  };
}
