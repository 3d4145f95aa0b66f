import type { IncomingHttpHeaders } from "node:http";

/**
 * The guard blocked an address: before the request, while connecting, or at a redirect. `reason` is a sentence that may
 * be shown to the person who entered the URL: it never contains resolved addresses. Retries fail until the URL or the
 * configuration changes.
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

/** The whole exchange, from the DNS look-up to the last byte of the body, took longer than `timeoutMs`. */
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
 * The body exceeded `maxResponseBytes` and was discarded. `status` and `headers` are available, since a webhook with a
 * 2xx status was delivered, whatever the size of the body.
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

/**
 * The server redirected more often than `maxRedirects` allows (at least one). With 0 the redirect itself is returned.
 */
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
 * The connection failed, or dropped before the response was complete. `errorCode` is that of Node (`ENOTFOUND`,
 * `ECONNREFUSED`, `CERT_HAS_EXPIRED` …); the message contains the host of the URL. The resolved addresses are only in
 * `cause`, which is for the log and not for users.
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

/** Characters of a response that are searched for an error message. */
const SEARCHED_CHARS = 10_000;

/** Matches texts that look like a key or token. */
const KEYS = /\b(?:sk|pk|rk|xox[a-z]|gh[a-z]|glpat|AKIA)[-_][\w-]{8,}|\bBearer\s+[\w.~+/-]{8,}=*/gi;

/**
 * Returns an excerpt of a server's error, for operators: one line of at most `maxChars`, without the secret of the
 * call, which some servers repeat, or anything that looks like a key. It is the `message` of a JSON response, otherwise
 * the response itself; empty for an empty one.
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
