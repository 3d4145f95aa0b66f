import { isIP } from "node:net";
import cors from "cors";
import type { Request, RequestHandler } from "express";
import { ServiceError, parseUrl } from "@svc/contracts";
import { sendProblem } from "./problem.ts";

/** Time for which a browser caches a preflight response. */
const REMEMBERED_SECONDS = 600;

/** Headers of a response that a page may read. */
const SHOWN_HEADERS = [
  "Location",
  "Retry-After",
  "ETag",
  "WWW-Authenticate",
  "RateLimit",
  "RateLimit-Policy",
  "Idempotent-Replayed",
  "X-Request-Id",
  "x-svc-project",
  "Mcp-Session-Id",
];

/** Names the setting to change, for developers who look at the response of a refused call in their browser. */
const HINT_HEADER = "X-Svc-Hint";

/** Returns an `Origin` that is safe to repeat in a response; null if it is not the origin of a web page. */
function readOrigin(header: string | undefined): string | null {
  const url = header === undefined ? null : parseUrl(header);
  return url !== null && ["http:", "https:"].includes(url.protocol) ? url.origin : null;
}

const isPreflight = (request: Request) =>
  request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined;

/**
 * Lets pages of these web sites call the API from a browser (the Fetch standard's CORS protocol). Keys come in headers
 * and never in cookies, so no credentials are allowed. Browsers refuse calls from other sites; the response to their
 * preflight states this in status text, header and body, and names the setting that allows the site.
 */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  const allowsAll = origins.includes("*");
  const allow = cors({
    origin: allowsAll ? "*" : [...origins],
    methods: ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"],
    exposedHeaders: SHOWN_HEADERS,
    maxAge: REMEMBERED_SECONDS,
  });
  return (request, response, next) => {
    const origin = readOrigin(request.headers.origin);
    const isOwn = origin !== null && new URL(origin).host === request.headers.host;
    if (origin === null || isOwn || allowsAll || origins.includes(origin)) {
      // If no site is allowed, only cross-site requests are handled by CORS, and not even OPTIONS of others.
      if (origins.length === 0) next();
      else allow(request, response, next);
      return;
    }
    response.vary("Origin");
    response.setHeader(HINT_HEADER, `Add ${origin} to SVC_CORS_ORIGINS`);
    if (!isPreflight(request)) {
      next();
      return;
    }
    response.statusMessage = "Origin not in SVC_CORS_ORIGINS";
    const detail = `Pages on ${origin} are not allowed to call this API from a browser. Add ${origin} to SVC_CORS_ORIGINS and restart the API, or call the API from your server.`;
    sendProblem(request, response, new ServiceError("origin_not_allowed", detail));
  };
}

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const EVERYWHERE = ["0.0.0.0", "::"];

/** Host names of a server. */
interface KnownHosts {
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
