import { ServiceError } from "@svc/contracts";
import { createKnownHosts } from "@svc/http";
import type { RequestHandler } from "express";

/** What tells by which names a server may be called, and from which web sites. */
export interface KnownAddresses {
  /** The address that the port is bound to. */
  bindHost: string;
  /** Where the product is reached from outside. */
  publicUrls: readonly string[];
  /** Web sites whose pages may call, as origins; `*` for all. */
  corsOrigins: readonly string[];
}

/**
 * Lets only requests on that name a host by which this server is known, and, where a web page makes them, come from an
 * allowed site: else a page could make a browser call a server on its machine, by its own name (DNS rebinding) or from
 * afar. Throws origin_not_allowed.
 */
export function checkAddresses({ bindHost, publicUrls, corsOrigins }: KnownAddresses): RequestHandler {
  const hosts = createKnownHosts({ bindHost, publicUrls });
  const isAllowedOrigin = (origin: string) =>
    corsOrigins.includes("*") || corsOrigins.includes(origin) || hosts.isOwnOrigin(origin);

  return (request, _response, next) => {
    if (!hosts.isKnown(request.headers.host)) {
      throw new ServiceError(
        "origin_not_allowed",
        "This server does not accept the host name in the request. Use its own address, or ask its administrator to add the host to SVC_PUBLIC_URLS.",
      );
    }
    const origins = request.headersDistinct["origin"] ?? [];
    if (!origins.every(isAllowedOrigin)) {
      throw new ServiceError(
        "origin_not_allowed",
        "Pages on this website are not allowed to call this server. Its administrator can allow the site with SVC_CORS_ORIGINS.",
      );
    }
    next();
  };
}
