import { readFileSync } from "node:fs";
import { STATUS_CODES } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw } from "node:zlib";
import type { ZlibOptions } from "node:zlib";
import { parseUrl, ServiceError } from "@svc/contracts";
import {
  BlockedAddressError,
  guardedRequest,
  OutboundConnectionError,
  OutboundTimeoutError,
  ResponseTooLargeError,
  TooManyRedirectsError,
} from "@svc/outbound";
import type { AddressGuard, OutboundResponse } from "@svc/outbound";
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
const ACCEPTED_ENCODINGS = "gzip, deflate, br";

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
async function decodeBody(body: Uint8Array, encoding: string | undefined, maxBytes: number): Promise<Uint8Array> {
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

type FetchErrorCode = "invalid_request" | "payload_too_large" | "unavailable";

/** Temporary statuses besides 5xx: RFC 9110 (408), RFC 8470 (425), RFC 6585 (429). */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

const ADVICE: Readonly<Record<number, string>> = {
  401: "The page requires signing in, so it cannot be read.",
  403: "Access to the page is restricted, so it cannot be read.",
  404: "The page does not exist. Check the URL.",
  410: "The page was removed. Check the URL.",
};

/** Returns whether a response has a page: a 2xx status with a body. */
const bringsPage = (status: number) => status >= 200 && status < 300 && status !== 204 && status !== 205;

/** Node's error codes for certificate and handshake errors that a retry does not resolve. */
const TLS_ERROR = /CERT|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO/;

/** Rate limit per host. */
interface HostPace {
  /** Resolves when this request may start. Rejects with the signal's reason. */
  takeTurn(host: string, signal: AbortSignal): Promise<void>;
}

/** Number of hosts above which expired entries are removed. */
const MAX_HOSTS = 1_000;

/** Content of a URL. */
interface FetchedPage {
  /** After redirects, without a fragment. */
  url: string;
  /** Content after decoding all content encodings. */
  bytes: Uint8Array;
  /** Content-Type as the server sent it, with its charset; null if there is none. */
  mime: string | null;
}

/** Fetches untrusted URLs. */
export interface PageFetcher {
  /**
   * Returns the content of this URL. Throws a ServiceError that says what to do and never reveals what a name resolved
   * to: `unavailable` for temporary errors (5xx, 429, no connection, timeout), `payload_too_large`, and
   * `invalid_request` for errors that a retry does not resolve. Rejects with the signal's reason.
   */
  fetch(url: string, signal?: AbortSignal): Promise<FetchedPage>;
  /** Aborts running fetches and waits for their end; later ones are rejected. */
  close(): Promise<void>;
}

/** Options of a fetcher. */
export interface PageFetcherOptions {
  /** Decides which addresses may be called; the caller who gave the URL sees its errors. */
  guard: AddressGuard;
  /**
   * Timeout of lookup, connection, redirects and the whole body together, so that a slow server cannot hold a fetch
   * forever.
   */
  timeoutMs?: number;
  /** Maximum size of a body, both as received and decoded. */
  maxBytes?: number;
  /** Minimum interval between two fetches from one host: 500 means two per second. */
  intervalMs?: number;
}

/** Product name for the logs and the robots.txt of sites. */
export const USER_AGENT_NAME = "svc-fetch";

/** Maximum size of a response, as received and decoded. */
export const FETCH_MAX_BYTES = 50 * 1024 * 1024;

const TIMEOUT_MS = 30_000;
const INTERVAL_MS = 500;
const MAX_REDIRECTS = 5;
const URL_MAX_CHARS = 2_000;

/** Supported types, best first; any other type is accepted too, and its content decides. */
const ACCEPT = [
  "text/html",
  "application/xhtml+xml",
  "text/markdown",
  "application/pdf;q=0.9",
  "application/xml;q=0.9",
  "text/plain;q=0.9",
  "*/*;q=0.5",
].join(", ");

function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Returns the URL without its fragment, which is never sent. */
function parsePageUrl(text: string): URL {
  const trimmed = text.trim();
  const url = trimmed.length <= URL_MAX_CHARS ? parseUrl(trimmed) : null;
  if (url !== null) url.hash = "";
  // Escaping makes non-ASCII text up to nine times as long.
  if (url !== null && url.href.length <= URL_MAX_CHARS) return url;
  const detail = `The URL must be like https://example.com/page, with at most ${URL_MAX_CHARS} characters, percent-encoded.`;
  throw new ServiceError("invalid_request", detail, { errors: [{ pointer: "/url", code: "invalid_url", detail }] });
}

/**
 * Creates a fetcher of pages and files for knowledge bases ("Which addresses can be called" in docs/webhooks.md): GET
 * only, every hop through the guard and to the address that it checked, at most 5 redirects, 50 MB and 30 seconds, two
 * requests per second and host. No cookies, no credentials, no scripts.
 */
export function createPageFetcher(options: PageFetcherOptions): PageFetcher {
  const { guard, timeoutMs = TIMEOUT_MS, maxBytes = FETCH_MAX_BYTES, intervalMs = INTERVAL_MS } = options;
  const headers = {
    "user-agent": `${USER_AGENT_NAME}/${readVersion()}`,
    accept: ACCEPT,
    "accept-encoding": ACCEPTED_ENCODINGS,
  };
  const pace = createHostPace(intervalMs);
  const closing = new AbortController();
  const underWay = new Set<Promise<FetchedPage>>();

  async function fetchPage(text: string, signal: AbortSignal): Promise<FetchedPage> {
    const url = parsePageUrl(text);
    // A forbidden URL is rejected immediately, without waiting.
    const check = guard.checkUrl(url);
    if (!check.ok) throw fetchErrorOf(new BlockedAddressError(check.reason));
    await pace.takeTurn(url.host, signal);
    try {
      const response = await guardedRequest(guard, {
        method: "GET",
        url,
        headers,
        timeoutMs,
        maxResponseBytes: maxBytes,
        maxRedirects: MAX_REDIRECTS,
        signal,
      });
      const error = statusErrorOf(response);
      if (error !== null) throw error;
      return {
        url: parsePageUrl(response.url).href,
        bytes: await decodeBody(response.body, response.headers["content-encoding"], maxBytes),
        mime: response.headers["content-type"] ?? null,
      };
    } catch (error) {
      throw fetchErrorOf(error);
    }
  }

  return {
    fetch(url, signal) {
      const ending = signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]);
      const page = fetchPage(url, ending).finally(() => underWay.delete(page));
      underWay.add(page);
      return page;
    },

    async close() {
      closing.abort(new ServiceError("unavailable", "The service is shutting down. Retry later."));
      await Promise.allSettled(underWay);
    },
  };
}

/** Creates the rate limit; hosts do not delay each other. */
function createHostPace(intervalMs: number): HostPace {
  const nextTurns = new Map<string, number>();

  function forgetIdle(now: number): void {
    for (const [host, at] of nextTurns) if (at <= now) nextTurns.delete(host);
  }

  return {
    async takeTurn(host, signal) {
      signal.throwIfAborted();
      const now = performance.now();
      if (nextTurns.size >= MAX_HOSTS) forgetIdle(now);
      const at = Math.max(now, nextTurns.get(host) ?? 0);
      nextTurns.set(host, at + intervalMs);
      if (at <= now) return;
      try {
        await sleep(at - now, undefined, { signal });
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      }
    },
  };
}

/** Statuses of a page that no longer exists. */
const GONE: ReadonlySet<number> = new Set([404, 410]);

/** Creates an error of a URL, with its position in the request. */
function problem(
  code: FetchErrorCode,
  detail: string,
  { reason = "not_fetched", ...more }: { reason?: string; cause?: unknown; headers?: Record<string, string> } = {},
) {
  return new ServiceError(code, detail, {
    ...more,
    ...(code === "unavailable" ? {} : { errors: [{ pointer: "/url", code: reason, detail }] }),
  });
}

/** Returns true if an error of the fetcher says that the site no longer has the page (404 or 410). */
export const isPageGone = (error: unknown): boolean =>
  error instanceof ServiceError && error.errors?.[0]?.code === "page_gone";

/**
 * Returns the error of a response without a page: `unavailable` for a temporary one, else `invalid_request`; null for a
 * page.
 */
function statusErrorOf({ status, headers }: OutboundResponse): ServiceError | null {
  if (bringsPage(status)) return null;
  const name = STATUS_CODES[status];
  const answered = `The server responded with ${status}${name === undefined ? "" : ` (${name})`}.`;
  if (status < 500 && !PASSING.has(status)) {
    const reason = GONE.has(status) ? "page_gone" : "not_fetched";
    return problem("invalid_request", `${answered} ${ADVICE[status] ?? "Check the URL."}`, { reason });
  }
  const retryAfter = headers["retry-after"];
  const hasSeconds = retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter);
  return problem(
    "unavailable",
    `${answered} Try again later.`,
    hasSeconds ? { headers: { "retry-after": retryAfter } } : {},
  );
}

function connectionErrorOf(error: OutboundConnectionError): ServiceError {
  const { errorCode } = error;
  if (errorCode === "ENOTFOUND") {
    return problem("invalid_request", "The host name does not exist. Check the URL.", { cause: error });
  }
  if (TLS_ERROR.test(errorCode)) {
    const detail = `The certificate of the server is not trusted (${errorCode}). Its administrator must fix it.`;
    return problem("invalid_request", detail, { cause: error });
  }
  if (errorCode.startsWith("HPE_")) {
    return problem("invalid_request", "The server at this host and port does not use HTTP. Check the URL.", {
      cause: error,
    });
  }
  return problem("unavailable", `The connection failed (${errorCode}). Check the host, or retry later.`, {
    cause: error,
  });
}

/**
 * Converts an error of a fetch to a ServiceError that says what to do, and never what a name resolved to: `unavailable`
 * for a temporary one. Any other value, such as the reason of a signal, is returned unchanged.
 */
function fetchErrorOf(error: unknown): unknown {
  if (error instanceof BlockedAddressError) {
    return problem("invalid_request", `This URL cannot be fetched. ${error.reason}`, { cause: error });
  }
  if (error instanceof TooManyRedirectsError) {
    const detail = `The server redirects in a loop, or more than ${error.maxRedirects} times. Use the final URL.`;
    return problem("invalid_request", detail, { cause: error });
  }
  if (error instanceof ResponseTooLargeError) {
    const megabytes = Math.round(error.maxResponseBytes / 1024 / 1024);
    return problem("payload_too_large", `The page has more than ${megabytes} MB, which is the maximum.`, {
      cause: error,
    });
  }
  if (error instanceof OutboundTimeoutError) {
    const seconds = Math.round(error.timeoutMs / 1_000);
    return problem("unavailable", `The page was not completely received within ${seconds} s. Retry later.`, {
      cause: error,
    });
  }
  return error instanceof OutboundConnectionError ? connectionErrorOf(error) : error;
}
