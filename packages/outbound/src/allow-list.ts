import { domainToASCII } from "node:url";
import ipaddr from "ipaddr.js";

/** The hosts and networks that configuration allows although they are not public. */
export type AllowList = {
  /** Whether this host name is an entry. The name has no trailing dot and is in lower case, as `URL` gives it. */
  readonly hasName: (name: string) => boolean;
  /** Whether this address lies in one of the networks. IPv4 networks hold no IPv6 address, nor the reverse. */
  readonly hasAddress: (address: string) => boolean;
};

type Network = ReturnType<typeof ipaddr.parseCIDR>;

/**
 * Reads the entries of an allow list: host names, addresses, or networks as `address/bits`.
 * @throws TypeError naming the first entry that is none of these, so that a typing error stops the start.
 */
export function parseAllowList(entries: readonly string[]): AllowList {
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
