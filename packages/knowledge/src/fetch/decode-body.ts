import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";
import type { ZlibOptions } from "node:zlib";
import { ServiceError } from "@svc/contracts";
import { errorCode } from "@svc/primitives";

type Undo = (bytes: Uint8Array, options: ZlibOptions) => Promise<Buffer>;

const undoGzip: Undo = promisify<Uint8Array, ZlibOptions, Buffer>(gunzip);
const undoZlib: Undo = promisify<Uint8Array, ZlibOptions, Buffer>(inflate);
const undoRaw: Undo = promisify<Uint8Array, ZlibOptions, Buffer>(inflateRaw);
const undoBrotli: Undo = (bytes, { maxOutputLength }) =>
  promisify(brotliDecompress)(bytes, maxOutputLength === undefined ? {} : { maxOutputLength });

/** Content codings of RFC 9110, section 8.4.1, and Brotli of RFC 7932. */
const UNDO: Readonly<Record<string, Undo>> = {
  gzip: undoGzip,
  "x-gzip": undoGzip,
  // "deflate" is the zlib format; some servers send the raw stream without its header (compression method 8).
  deflate: (bytes, options) => (((bytes[0] ?? 0) & 0x0f) === 8 ? undoZlib : undoRaw)(bytes, options),
  br: undoBrotli,
};

/** Encodings that a request may accept, because `decodeBody` supports them. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br";

/** More than one is rare, and many are an attack: each may inflate to the limit. */
const MAX_ENCODINGS = 2;

const tooLarge = (maxBytes: number) =>
  new ServiceError(
    "payload_too_large",
    `The response has more than ${Math.round(maxBytes / 1024 / 1024)} MB when decompressed, which is the maximum.`,
  );

async function undo(bytes: Uint8Array, coding: string, maxBytes: number): Promise<Uint8Array> {
  const decode = UNDO[coding];
  if (decode === undefined) {
    throw new ServiceError("invalid_request", `The response has an unsupported encoding, "${coding.slice(0, 40)}".`);
  }
  try {
    return await decode(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if (errorCode(error) === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes);
    throw new ServiceError("invalid_request", `The response is not valid ${coding} data, or is truncated. Retry.`, {
      cause: error,
    });
  }
}

/**
 * Decodes a body by its Content-Encoding, to at most `maxBytes`. Throws ServiceError `payload_too_large`, or
 * `invalid_request` for an unknown encoding or damaged data.
 */
export async function decodeBody(
  body: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  const codings = (encoding ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");
  if (codings.length > MAX_ENCODINGS) {
    throw new ServiceError(
      "invalid_request",
      `The response is encoded ${codings.length} times, which is not supported.`,
    );
  }
  let bytes = body;
  // The last listed encoding was applied last.
  for (const coding of codings.toReversed()) {
    if (bytes.length > 0) bytes = await undo(bytes, coding, maxBytes);
  }
  return bytes;
}

/** Returns the content of a gzip file; any other bytes unchanged. Throws like `decodeBody`. */
export function unpackGzipFile(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return isPacked ? undo(bytes, "gzip", maxBytes) : Promise.resolve(bytes);
}
