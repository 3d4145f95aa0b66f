import { isIP } from "node:net";
import { ServiceError, parseUrl } from "@svc/contracts";
import type { RequestHandler } from "express";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const EVERYWHERE = ["0.0.0.0", "::"];

/** What tells by which names a server may be called, and from which web sites. */
export interface KnownAddresses {
  /** The address that the port is bound to. */
  bindHost: string;
  /** Where the product is reached from outside. */
  publicUrls: readonly string[];
  /** Web sites whose pages may call, as origins; `*` for all. */
  corsOrigins: readonly string[];
}

const hostNameOf = (url: string) => parseUrl(url)?.hostname ?? null;
const inBrackets = (address: string) => (address.includes(":") ? `[${address}]` : address);

/** An address in numbers is what somebody typed: only a name can be pointed at another machine. */
const isAddress = (name: string) => isIP(name.replace(/^\[(.*)\]$/, "$1")) !== 0;

/**
 * Lets only requests on that name a host by which this server is known, and, where a web page makes them, come from an
 * allowed site: else a page could make a browser call a server on its machine, by its own name (DNS rebinding) or from
 * afar. Known are the names of loopback, the bound address (every address in numbers where that is all of them), and the
 * hosts of the public URLs. Throws origin_not_allowed.
 */
export function checkAddresses({ bindHost, publicUrls, corsOrigins }: KnownAddresses): RequestHandler {
  const isBoundEverywhere = EVERYWHERE.includes(bindHost);
  const publicNames = publicUrls.flatMap((url) => hostNameOf(url) ?? []);
  const names = new Set([...LOOPBACK_NAMES, ...(isBoundEverywhere ? [] : [inBrackets(bindHost)]), ...publicNames]);

  const isKnownHost = (host: string | undefined) => {
    const name = host === undefined ? null : hostNameOf(`http://${host}`);
    return name !== null && (names.has(name) || (isBoundEverywhere && isAddress(name)));
  };
  const isAllowedOrigin = (origin: string) => {
    if (corsOrigins.includes("*") || corsOrigins.includes(origin)) return true;
    const name = /^https?:\/\//i.test(origin) ? hostNameOf(origin) : null;
    return name !== null && names.has(name);
  };

  return (request, _response, next) => {
    if (!isKnownHost(request.headers.host)) {
      throw new ServiceError(
        "origin_not_allowed",
        "This server is not known by the host name that the request names. Call it by its own address, or have its administrator name that address in SVC_PUBLIC_URLS.",
      );
    }
    const origins = request.headersDistinct["origin"] ?? [];
    if (!origins.every(isAllowedOrigin)) {
      throw new ServiceError(
        "origin_not_allowed",
        "Pages of this web site may not call this server. Its administrator can allow the site with SVC_CORS_ORIGINS.",
      );
    }
    next();
  };
}
