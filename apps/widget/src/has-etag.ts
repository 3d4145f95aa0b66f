import type { Request } from "express";

/**
 * True when a caller has the version of this `ETag` already (RFC 9110, section 13.1.2), also where it says `no-cache`, as
 * `fetch` does with an `If-None-Match` of its own: it wants to know whether what it has is right, and it is.
 */
export function hasEtag(request: Request, etag: string): boolean {
  const given = request.headers["if-none-match"]?.split(",").map((value) => value.trim().replace(/^W\//, ""));
  return given !== undefined && (given.includes(etag) || given.includes("*"));
}
