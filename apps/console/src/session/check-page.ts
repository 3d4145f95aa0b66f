import { ServiceError } from "@svc/contracts";
import { createKnownHosts, isLoopbackBound } from "@svc/http";
import type { RequestHandler, Request } from "express";

/** Where the console listens, and by which names it is reached. */
export interface ConsoleAddresses {
  bindHost: string;
  publicUrls: readonly string[];
  trustProxy: readonly string[];
}

/** The error of a request that names a host by which the console is not known. */
export const unknownHost = () =>
  new ServiceError(
    "origin_not_allowed",
    "The console does not accept this host name. Open it at its own URL, or ask an administrator to add this URL to SVC_PUBLIC_URLS.",
  );

/**
 * Lets only requests on that name a host by which the console is known, where that can be said: with public URLs, and
 * where only programs on this machine reach the port and no proxy is named. Elsewhere, as in a local network without
 * public URLs, any name is served. Throws origin_not_allowed.
 */
export function checkHost({ bindHost, publicUrls, trustProxy }: ConsoleAddresses): RequestHandler {
  const hosts = createKnownHosts({ bindHost, publicUrls });
  const isChecked = publicUrls.length > 0 || (isLoopbackBound(bindHost) && trustProxy.length === 0);
  return (request, _response, next) => {
    if (isChecked && !hosts.isKnown(request.headers.host)) throw unknownHost();
    next();
  };
}

/** Methods that change nothing by themselves. */
const SAFE = new Set(["GET", "HEAD"]);

/** The pull of a model is begun by GET too (service document, section 4.4). */
const BEGINS_PULL = /^\/api\/v1\/admin\/models\/[^/]+\/pull\/?$/i;

/** True for a call that may change something. */
export const isChange = ({ method, originalUrl }: Pick<Request, "method" | "originalUrl">): boolean =>
  !SAFE.has(method) || BEGINS_PULL.test(originalUrl.split("?", 1)[0] ?? "");

const fromElsewhere = () =>
  new ServiceError("csrf_refused", "The request comes from another website. Open the console directly and reload it.");

/** The host of an origin, in lower case; null for what has none, as `null`. */
const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host.toLowerCase() : null);

/**
 * Lets only calls on that come from a page of the console itself, as far as the browser says (`Sec-Fetch-Site`,
 * `Origin`). Programs that are no browser say nothing of that, and nobody can make them call. `publicUrls` are the
 * addresses under which the console is reached through a proxy that names another host.
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
