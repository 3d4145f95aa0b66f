import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Request, Response } from "express";

/** A response body that is the same for every request, in each encoding. All responses share these buffers. */
export interface FixedResponse {
  /** Without quotes, of the unencoded body. */
  etag: string;
  plain: Buffer;
  /** Null if compression does not make it smaller. */
  gzip: Buffer | null;
  br: Buffer | null;
}

const compressGzip = promisify(gzip);
const compressBrotli = promisify(brotliCompress);
/** Level 11 takes over a second for a megabyte, and saves a few percent more. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/**
 * Creates a fixed response. Compresses the body once, outside the event loop; `encoded` contains earlier results, and
 * null for unwanted encodings.
 */
export async function makeFixedResponse(
  plain: Buffer,
  encoded: { gzip?: Buffer | null; br?: Buffer | null } = {},
): Promise<FixedResponse> {
  return {
    etag: createHash("sha256").update(plain).digest("base64url").slice(0, 22),
    plain,
    gzip: encoded.gzip === undefined ? await compressGzip(plain, { level: 9 }) : encoded.gzip,
    br: encoded.br === undefined ? await compressBrotli(plain, BROTLI) : encoded.br,
  };
}

/**
 * Returns true if the client has the version of this `ETag` (RFC 9110, section 13.1.2), even with `no-cache`, which
 * `fetch` adds to a custom `If-None-Match`.
 */
export function hasEtag(request: Request, etag: string): boolean {
  const given = request.headers["if-none-match"]?.split(",").map((value) => value.trim().replace(/^W\//, ""));
  return given !== undefined && (given.includes(etag) || given.includes("*"));
}

/**
 * Responds with the body in the best encoding that the client accepts, or with 304 if the client has it already. The
 * status is 200 unless the response has been given another one, such as 404, which is never replaced by 304.
 */
export function sendFixedResponse(
  request: Request,
  response: Response,
  answer: FixedResponse,
  headers: Readonly<Record<string, string>>,
): void {
  const coding = request.acceptsEncodings(["br", "gzip", "identity"]);
  const encoded = coding === "br" || coding === "gzip" ? answer[coding] : null;
  const etag = encoded === null ? `"${answer.etag}"` : `"${answer.etag}-${String(coding)}"`;
  response.set(headers).set("ETag", etag);
  if (encoded !== null) response.set("Content-Encoding", String(coding));
  response.vary("Accept-Encoding");
  if (response.statusCode === 200 && hasEtag(request, etag)) response.status(304).end();
  else response.send(encoded ?? answer.plain);
}
