import { request as httpRequest } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { FRAMING_HEADERS, parseUrl } from "@svc/contracts";
import { errorCode } from "@svc/primitives";
import { bareHost } from "./address-guard.ts";
import type { AddressGuard } from "./address-guard.ts";
import {
  BlockedAddressError,
  OutboundConnectionError,
  OutboundTimeoutError,
  ResponseTooLargeError,
  TooManyRedirectsError,
} from "./outbound-errors.ts";

/** Methods of guarded requests. CONNECT and TRACE are excluded on purpose. */
export type OutboundMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** A request on behalf of another party. */
export type OutboundRequest = {
  readonly method: OutboundMethod;
  readonly url: string | URL;
  /**
   * Names are case-insensitive. `Host` and the headers that frame a message (Connection, Content-Length,
   * Transfer-Encoding, TE, Trailer, Expect, Upgrade) are set automatically and dropped here.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as UTF-8. */
  readonly body?: string | Uint8Array;
  /** For the whole exchange: DNS, connection, every redirect, and the last byte of the body. */
  readonly timeoutMs: number;
  /** Maximum size of the encoded body. Null: the body is ignored, and the response is complete after its headers. */
  readonly maxResponseBytes: number | null;
  /** 0 by default: a redirect is then returned like any other response. */
  readonly maxRedirects?: number;
  /** Aborts the request; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
};

/** A complete response with any status. */
export type OutboundResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The received bytes. Compression is only requested if the caller's headers do so, and is not decoded. */
  readonly body: Buffer;
  /** The URL that responded: the last one after redirects. */
  readonly url: string;
};

/** One request in a chain of redirects. */
type Hop = {
  readonly method: OutboundMethod;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  /** True if a redirect led from https to http, which an attacker on the network can forge. */
  readonly isDowngraded: boolean;
};

/** Headers that another origin receives after a redirect: any other one may contain a secret for the first origin. */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "content-type",
  "user-agent",
]);

const BODY_HEADERS: ReadonlySet<string> = new Set(["content-type", "content-encoding", "content-language"]);

const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Makes a request through the guard and returns the complete response. Every hop is checked again, by its text and by
 * its resolved addresses, and has its own connection to a checked address: no pool, so that no connection from other
 * rules is reused, and no proxy from the environment. Redirects follow the Fetch standard (303, and POST on 301 and
 * 302, become GET); another origin receives only harmless headers. After a redirect from https to http, where an
 * attacker on the network can forge the next one, only public addresses are allowed, whatever the policy allows.
 * @throws BlockedAddressError, OutboundTimeoutError, ResponseTooLargeError, TooManyRedirectsError,
 * OutboundConnectionError, the reason of `signal`, or Node's TypeError for an invalid header. A status of 400 or more
 * is a response, not an error.
 */
export async function guardedRequest(guard: AddressGuard, request: OutboundRequest): Promise<OutboundResponse> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(new OutboundTimeoutError(request.timeoutMs)), request.timeoutMs);
  const onCallerAbort = (): void => ending.abort(request.signal?.reason);
  request.signal?.addEventListener("abort", onCallerAbort, { once: true });
  if (request.signal?.aborted === true) onCallerAbort();
  try {
    return await followHops(guard, request, ending.signal);
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener("abort", onCallerAbort);
  }
}

async function followHops(
  guard: AddressGuard,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const { maxRedirects = 0, maxResponseBytes } = request;
  let hop = firstHop(guard, request);
  for (let redirects = 0; ; redirects += 1) {
    try {
      const response = await exchange(guard, hop, signal);
      const location = maxRedirects > 0 ? redirectTarget(response) : undefined;
      if (location === undefined) {
        return maxResponseBytes === null
          ? withoutBody(response, hop.url)
          : await toOutboundResponse(response, hop.url, maxResponseBytes);
      }
      response.destroy();
      if (redirects >= maxRedirects) throw new TooManyRedirectsError(maxRedirects);
      hop = nextHop(hop, response.statusCode ?? 0, location);
      assertAllowed(guard, hop.url, hop.isDowngraded);
    } catch (error) {
      // Whatever error the abort caused, the caller gets its reason.
      throw signal.aborted ? signal.reason : error;
    }
  }
}

function firstHop(guard: AddressGuard, request: OutboundRequest): Hop {
  assertAllowed(guard, request.url, false);
  const headers: Record<string, string> = { "accept-encoding": "identity" };
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    if (!FRAMING_HEADERS.has(name.toLowerCase())) headers[name.toLowerCase()] = value;
  }
  return { method: request.method, url: new URL(request.url), headers, body: request.body, isDowngraded: false };
}

function assertAllowed(guard: AddressGuard, url: string | URL, publicOnly: boolean): void {
  const check = guard.checkUrl(url, { publicOnly });
  if (!check.ok) throw new BlockedAddressError(check.reason);
}

/** Sends one request and resolves with the response's headers; its body is not read yet. */
function exchange(guard: AddressGuard, hop: Hop, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const host = bareHost(hop.url);
    const send = hop.url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = send({
      protocol: hop.url.protocol,
      hostname: host,
      port: hop.url.port,
      path: `${hop.url.pathname}${hop.url.search}`,
      method: hop.method,
      headers: hop.headers,
      agent: false,
      lookup: guard.lookupFor(hop.url, { publicOnly: hop.isDowngraded }),
      signal,
      ...(isIP(host) === 0 ? { servername: host } : {}),
    });
    request.once("response", resolve);
    request.on("error", (error) => reject(toOutboundError(error, hop.url)));
    // A server that ends the connection in an unusual way (101 Switching Protocols) causes no error event.
    request.once("close", () => reject(new OutboundConnectionError(hop.url.host, "ECONNRESET")));
    request.end(hop.body);
  });
}

/** Time during which an ignored body is still read, so that the server can finish writing. */
const LEFT_OVER_MS = 1_000;

/** Returns a response without its body, which is read for a moment and discarded. */
function withoutBody(response: IncomingMessage, url: URL): OutboundResponse {
  const timer = setTimeout(() => response.destroy(), LEFT_OVER_MS);
  timer.unref();
  response.once("close", () => clearTimeout(timer));
  // The response is already complete, so an interrupted body does not matter.
  response.on("error", () => undefined);
  response.resume();
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.alloc(0), url: url.href };
}

async function toOutboundResponse(
  response: IncomingMessage,
  url: URL,
  maxResponseBytes: number,
): Promise<OutboundResponse> {
  const status = response.statusCode ?? 0;
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      // Leaving the loop destroys the response and with it the connection.
      if (sizeBytes > maxResponseBytes) throw new ResponseTooLargeError(maxResponseBytes, status, response.headers);
      chunks.push(chunk);
    }
  } catch (error) {
    throw toOutboundError(error, url);
  }
  if (!response.complete) throw new OutboundConnectionError(url.host, "ECONNRESET");
  return { status, headers: response.headers, body: Buffer.concat(chunks), url: url.href };
}

function redirectTarget(response: IncomingMessage): string | undefined {
  return REDIRECT_STATUSES.has(response.statusCode ?? 0) ? response.headers.location : undefined;
}

/**
 * Returns the request for a redirect. Exported for its test, which has no server with a certificate that Node trusts.
 */
export function nextHop(hop: Hop, status: number, location: string): Hop {
  const url = parseUrl(location, hop.url.href);
  if (url === null) throw new BlockedAddressError("The server redirected to an invalid URL.");
  const becomesGet = status === 303 ? hop.method !== "HEAD" : status <= 302 && hop.method === "POST";
  const entries = Object.entries(hop.headers).filter(
    ([name]) =>
      (url.origin === hop.url.origin || HARMLESS_HEADERS.has(name)) && !(becomesGet && BODY_HEADERS.has(name)),
  );
  const headers = Object.fromEntries(entries);
  const isDowngraded = hop.isDowngraded || (hop.url.protocol === "https:" && url.protocol === "http:");
  return becomesGet
    ? { method: "GET", url, headers, body: undefined, isDowngraded }
    : { ...hop, url, headers, isDowngraded };
}

/** Passes errors of the guard and the limits on; converts all network errors to one type. */
function toOutboundError(error: unknown, url: URL): Error {
  if (error instanceof BlockedAddressError || error instanceof ResponseTooLargeError) return error;
  return new OutboundConnectionError(url.host, errorCode(error) ?? "UNKNOWN", error);
}
