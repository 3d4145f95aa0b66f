import { ServiceError } from "@svc/contracts";
import { createKnownHosts, isLoopbackBound } from "@svc/http";
import type { RequestHandler, Request } from "express";

/** Bind address and host names of the console. */
export interface ConsoleAddresses {
  bindHost: string;
  publicUrls: readonly string[];
  trustProxy: readonly string[];
}

/** Returns the error of a request with an unknown host name. */
export const unknownHost = () =>
  new ServiceError(
    "origin_not_allowed",
    "The console does not accept this host name. Open it at its own URL, or ask an administrator to add this URL to SVC_PUBLIC_URLS.",
  );

/**
 * Accepts only requests with a known host name, if the names are known: with public URLs, or if only programs on this
 * machine can reach the port and no proxy is configured. Otherwise, for example in a local network without public URLs,
 * any name is accepted. Throws origin_not_allowed.
 */
export function checkHost({ bindHost, publicUrls, trustProxy }: ConsoleAddresses): RequestHandler {
  const hosts = createKnownHosts({ bindHost, publicUrls });
  const isChecked = publicUrls.length > 0 || (isLoopbackBound(bindHost) && trustProxy.length === 0);
  return (request, _response, next) => {
    if (isChecked && !hosts.isKnown(request.headers.host)) throw unknownHost();
    next();
  };
}

/** Methods without side effects. */
const SAFE = new Set(["GET", "HEAD"]);

/** The pull of a model can also be started with GET (service specification, section 4.4). */
const BEGINS_PULL = /^\/api\/v1\/admin\/models\/[^/]+\/pull\/?$/i;

/** Returns true for a call that may change something. */
export const isChange = ({ method, originalUrl }: Pick<Request, "method" | "originalUrl">): boolean =>
  !SAFE.has(method) || BEGINS_PULL.test(originalUrl.split("?", 1)[0] ?? "");

const fromElsewhere = () =>
  new ServiceError("csrf_refused", "The request comes from another website. Open the console directly and reload it.");

/** Returns the host of an origin, in lower case; null if it has none, such as `null`. */
const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host.toLowerCase() : null);

/**
 * Accepts only calls from pages of the console itself, according to the browser (`Sec-Fetch-Site`, `Origin`). Other
 * programs do not send these headers, and cannot be made to call by another site. `publicUrls` are the URLs under which
 * the console is reached through a proxy with another host name.
 */
export function checkPage(publicUrls: readonly string[]): RequestHandler {
  const known = new Set(publicUrls.map((url) => new URL(url).host.toLowerCase()));
  return (request, _response, next) => {
    const site = request.headers["sec-fetch-site"];
    // `none`: typed into the address bar, or opened from a bookmark.
    const isOwn = site === undefined || site === "same-origin" || (site === "none" && !isChange(request));
    if (!isOwn) throw fromElsewhere();
    const { origin } = request.headers;
    if (origin !== undefined) {
      const host = hostOf(origin);
      const own = request.headers.host?.toLowerCase();
      if (host === null || (host !== own && host !== request.host?.toLowerCase() && !known.has(host))) {
        throw fromElsewhere();
      }
    }
    next();
  };
}
