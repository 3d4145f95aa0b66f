import { isIP } from "node:net";
import { parseUrl } from "@svc/contracts";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const EVERYWHERE = ["0.0.0.0", "::"];

/** The host names by which a server is known. */
export interface KnownHosts {
  /** True for the value of a `Host` header that names this server, whatever port it has. */
  isKnown(host: string | undefined): boolean;
  /** True for an origin of a page that this server has on one of its names. */
  isOwnOrigin(origin: string): boolean;
}

const hostNameOf = (url: string) => parseUrl(url)?.hostname ?? null;
const inBrackets = (address: string) => (address.includes(":") ? `[${address}]` : address);

/** An address in numbers is what somebody typed: only a name can be pointed at another machine. */
const isAddress = (name: string) => isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;

/** Characters of a URL beside its host and port. */
const NO_HOST = /[/?#@\\\s]/;

/** True for a port that only programs on this machine reach. */
export const isLoopbackBound = (bindHost: string): boolean =>
  bindHost === "localhost" || bindHost === "::1" || bindHost.startsWith("127.");

/**
 * The names of a server: those of loopback, the address that it is bound to (every address in numbers where that is all
 * of them), and the hosts of its public URLs. A page of another name that a browser resolves to this machine (DNS
 * rebinding) has none of them.
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
