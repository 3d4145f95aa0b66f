import { isOriginAllowed, ServiceError } from "@svc/contracts";
import type { WidgetSettings } from "@svc/contracts";
import { createHash, timingSafeEqual } from "node:crypto";
import type { RequestHandler } from "express";
import type { SiteReader } from "./widget-context.ts";

const CHALLENGE = 'Bearer realm="svc"';

const hash = (text: string) => createHash("sha256").update(text).digest();

/** Returns true if this is the widget's key. If the settings have no key, no key is valid. */
export function isWidgetKey({ apiKey }: WidgetSettings, key: string): boolean {
  return apiKey !== null && timingSafeEqual(hash(apiKey), hash(key));
}

/** Throws missing_key or invalid_key. */
export function checkKey(settings: WidgetSettings, key: string | undefined): asserts key is string {
  if (key === undefined || key === "") {
    throw new ServiceError("missing_key", "Send the widget's key in the X-Api-Key header, or as apiKey of a socket.", {
      headers: { "WWW-Authenticate": CHALLENGE },
    });
  }
  if (isWidgetKey(settings, key)) return;
  throw new ServiceError(
    "invalid_key",
    "Invalid widget key. Use the key from the widget's settings in the page's tag.",
    {
      headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` },
    },
  );
}

/** Throws origin_not_allowed for a page of a site that is not in the list. */
export function checkOrigin({ allowedOrigins }: WidgetSettings, origin: string | undefined): void {
  if (isOriginAllowed(origin, allowedOrigins)) return;
  throw new ServiceError(
    "origin_not_allowed",
    "This website is not allowed to use the widget. An administrator can add its origin to allowedOrigins.",
  );
}

const METHODS = "GET, HEAD, POST";
const REQUEST_HEADERS = "Content-Type, X-Api-Key, X-Visitor-Id, X-Conversation, X-User-Id, X-User-Hash";
const SHOWN_HEADERS = "Content-Disposition, ETag, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id";
/** Cache duration of a preflight response. */
const REMEMBERED_SECONDS = 600;

/** Path whose rejections every page may read: the first call of a widget. */
const CONFIG_PATH = "/config/";

/**
 * Allows pages of the allowed sites to call the widget's endpoints (the Fetch standard's CORS protocol), and responds
 * to preflight requests. Others get 403 `origin_not_allowed`, which they may read only for the settings. Keys and ids
 * are sent in headers and never in cookies, so no credentials are allowed.
 */
export function crossOrigin(readSite: SiteReader): RequestHandler {
  return async (request, response, next) => {
    const { settings } = await readSite();
    const { origin } = request.headers;
    // A response for one site must not be cached for another one, whether it is allowed or not.
    response.vary("Origin");
    // A rejection contains no secret, and the site's owner must be able to see why the widget does not load.
    if (request.path.startsWith(CONFIG_PATH)) response.setHeader("Access-Control-Allow-Origin", "*");
    checkOrigin(settings, origin);
    if (origin !== undefined) {
      response.setHeader("Access-Control-Allow-Origin", settings.allowedOrigins.length === 0 ? "*" : origin);
      response.setHeader("Access-Control-Expose-Headers", SHOWN_HEADERS);
    }
    response.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
    if (request.method !== "OPTIONS") {
      next();
      return;
    }
    response
      .status(204)
      .set({
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": REQUEST_HEADERS,
        "Access-Control-Max-Age": String(REMEMBERED_SECONDS),
      })
      .end();
  };
}
