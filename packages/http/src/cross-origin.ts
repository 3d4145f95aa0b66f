import cors from "cors";
import type { RequestHandler } from "express";

/** How long a browser remembers what it may do. */
const REMEMBERED_SECONDS = 600;

/** What a page may read of an answer beside its body. */
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

/**
 * Lets pages of these web sites call the API from a browser (the Fetch standard's CORS protocol). Keys come in headers
 * and never in cookies, so no credentials are allowed. Without sites, browsers refuse such calls, as they do by default.
 */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  return cors({
    origin: origins.includes("*") ? "*" : [...origins],
    methods: ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"],
    exposedHeaders: SHOWN_HEADERS,
    maxAge: REMEMBERED_SECONDS,
  });
}
