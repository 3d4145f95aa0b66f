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

/** Characters of an answer that are looked through for what it says. */
const SEARCHED_CHARS = 10_000;

/** Text that looks like a key or token. */
const KEYS = /\b(?:sk|pk|rk|xox[a-z]|gh[a-z]|glpat|AKIA)[-_][\w-]{8,}|\bBearer\s+[\w.~+/-]{8,}=*/gi;

/**
 * The beginning of what a server says of an error, for operators: one line of at most `maxChars`, and without the secret
 * of the call, which some servers repeat, or anything that looks like a key. The `message` of a JSON answer, else the answer itself. Empty for an empty one.
 */
export function excerptOf(
  answer: string,
  { secret, maxChars }: { secret?: string | undefined; maxChars: number },
): string {
  const text = answer.slice(0, SEARCHED_CHARS);
  const message = /"message"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(text)?.[1] ?? text;
  const clean = secret === undefined || secret === "" ? message : message.replaceAll(secret, "[key]");
  return clean.replaceAll(KEYS, "[key]").replaceAll(/\s+/g, " ").replaceAll(/\p{C}/gu, "").trim().slice(0, maxChars);
}

/** The methods that guarded requests use. CONNECT and TRACE are not among them on purpose. */
export type OutboundMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

/** One request on behalf of somebody else. */
export type OutboundRequest = {
  readonly method: OutboundMethod;
  readonly url: string | URL;
  /**
   * Names in any case. `Host` and the headers that frame a message (Connection, Content-Length, Transfer-Encoding,
   * TE, Trailer, Expect, Upgrade) are set by the request itself and dropped here.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is; text as UTF-8. */
  readonly body?: string | Uint8Array;
  /** For the whole exchange: look-up, connection, every redirect, and the last byte of the body. */
  readonly timeoutMs: number;
  /** Of the body as it is on the wire. Null: the body says nothing, and the answer is complete with its head. */
  readonly maxResponseBytes: number | null;
  /** 0 by default: a redirect is then returned like any other answer. */
  readonly maxRedirects?: number;
  /** Ends the request early; the promise is then rejected with the signal's reason. */
  readonly signal?: AbortSignal;
};

/** The complete answer, whatever its status. */
export type OutboundResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The bytes as they came. No content encoding is asked for unless the caller's headers do so, and none is undone. */
  readonly body: Buffer;
  /** The URL that answered: the last one after redirects. */
  readonly url: string;
};

/** One request on the way through redirects. */
type Hop = {
  readonly method: OutboundMethod;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  /** True if a redirect led from https to http, which an attacker on the network can forge. */
  readonly isDowngraded: boolean;
};

/** All that another origin gets to see after a redirect: any other header may hold a secret meant for the first. */
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
 * Makes a request through the guard and returns the whole answer. Every hop is checked anew, by its text and by the
 * addresses it resolves to, and uses a connection of its own that goes to the address that was checked: no pool, so
 * that no connection opened under other rules is used again, and no proxy from the environment.
 * Redirects are followed as the Fetch standard says (303, and POST on 301 and 302, become GET); another origin gets
 * only harmless headers. Once a redirect has left https for http, where anybody on the line can write the next one, only
 * public addresses are called, whatever the policy allows.
 * @throws BlockedAddressError, OutboundTimeoutError, ResponseTooLargeError, TooManyRedirectsError,
 * OutboundConnectionError, the reason of `signal`, or Node's TypeError when a header cannot be sent. A status of 400 or
 * more is an answer, not an error.
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
      // However the abort showed itself, the caller gets the reason for it.
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

/** Sends one request and resolves with the answer's head; its body is not yet read. */
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

/** How long a body that says nothing is read on, so that a server that still writes is not cut off. */
const LEFT_OVER_MS = 1_000;

/** The answer as its head has it. What follows is read for a moment and thrown away. */
function withoutBody(response: IncomingMessage, url: URL): OutboundResponse {
  const timer = setTimeout(() => response.destroy(), LEFT_OVER_MS);
  timer.unref();
  response.once("close", () => clearTimeout(timer));
  // The answer is there already: that its body breaks off is of no consequence.
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
 * The request that a redirect asks for. Exported for its test, which can have no server with a certificate that Node
 * trusts.
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

/** What the guard and the limits say passes as it is; whatever the network did gets one type. */
function toOutboundError(error: unknown, url: URL): Error {
  if (error instanceof BlockedAddressError || error instanceof ResponseTooLargeError) return error;
  return new OutboundConnectionError(url.host, errorCode(error) ?? "UNKNOWN", error);
}
