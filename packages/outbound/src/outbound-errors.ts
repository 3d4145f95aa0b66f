import type { IncomingHttpHeaders } from "node:http";

/**
 * The guard refused an address: before the request, at the connection, or at a redirect.
 * `reason` is a sentence that may be shown to the person who entered the URL: it never contains resolved addresses.
 * Trying again does not help until the URL or the configuration changes.
 */
export class BlockedAddressError extends Error {
  override readonly name = "BlockedAddressError";
  readonly code = "blocked_address";
  readonly reason: string;

  constructor(reason: string) {
    super(`The address is not allowed: ${reason}`);
    this.reason = reason;
  }
}

/** The whole exchange, from the look-up of the name to the last byte of the body, took longer than `timeoutMs`. */
export class OutboundTimeoutError extends Error {
  override readonly name = "OutboundTimeoutError";
  readonly code = "timeout";
  readonly timeoutMs: number;

  constructor(timeoutMs: number) {
    super(`No complete response within ${timeoutMs} ms. Retry later, or raise the timeout.`);
    this.timeoutMs = timeoutMs;
  }
}

/**
 * The body was longer than `maxResponseBytes`; what came is thrown away.
 * `status` and `headers` stay readable, since a webhook was delivered when its status is 2xx, however long the body.
 */
export class ResponseTooLargeError extends Error {
  override readonly name = "ResponseTooLargeError";
  readonly code = "response_too_large";
  readonly maxResponseBytes: number;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;

  constructor(maxResponseBytes: number, status: number, headers: IncomingHttpHeaders) {
    super(
      `The response (status ${status}) is larger than ${maxResponseBytes} bytes. Raise the limit or request less data.`,
    );
    this.maxResponseBytes = maxResponseBytes;
    this.status = status;
    this.headers = headers;
  }
}

/** The server redirected more often than `maxRedirects` (one or more) allows. With 0 the redirect itself is returned. */
export class TooManyRedirectsError extends Error {
  override readonly name = "TooManyRedirectsError";
  readonly code = "too_many_redirects";
  readonly maxRedirects: number;

  constructor(maxRedirects: number) {
    super(`The server redirected more than ${maxRedirects} times. Use the final URL.`);
    this.maxRedirects = maxRedirects;
  }
}

/**
 * No connection, or it broke before the answer was complete.
 * `errorCode` is that of Node (`ENOTFOUND`, `ECONNREFUSED`, `CERT_HAS_EXPIRED` …); the message holds the host as the
 * URL names it. The addresses that it resolved to are only in `cause`, which is for the log and not for users.
 */
export class OutboundConnectionError extends Error {
  override readonly name = "OutboundConnectionError";
  readonly code = "connection_failed";
  readonly errorCode: string;

  constructor(host: string, errorCode: string, cause?: unknown) {
    super(`The connection to ${host} failed (${errorCode}). Check the host, then retry.`, { cause });
    this.errorCode = errorCode;
  }
}
