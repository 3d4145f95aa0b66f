import type { FieldError } from "@svc/contracts";

/** Details of a failed request. */
export interface ErrorDetails {
  /** HTTP status. Null if there was no response. */
  status?: number | null;
  errors?: readonly FieldError[];
  requestId?: string | null;
  retryAfterSeconds?: number | null;
  cause?: unknown;
}

/**
 * A failed request. `code` is an error code of the service (docs/errors.md), or one of the client: `unreachable` (no
 * server responds, or the connection dropped), `timeout` (the service accepted the request but did not respond in
 * time), `unexpected_answer` (the response is not from this service), or `invalid_options` (invalid input; nothing was
 * sent). The error never contains the key.
 */
export class ServiceError extends Error {
  readonly code: string;
  /** Explanation for people; the same as `message`. */
  readonly detail: string;
  /** HTTP status. Null if there was no response. */
  readonly status: number | null;
  /** All validation errors, each with a JSON Pointer. Empty for other errors. */
  readonly errors: readonly FieldError[];
  /** Identifies the request in the service's log. Null if unknown. */
  readonly requestId: string | null;
  /** Delay before the request can be retried. Null if unknown. */
  readonly retryAfterSeconds: number | null;

  constructor(code: string, detail: string, details: ErrorDetails = {}) {
    super(detail, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "ServiceError";
    this.code = code;
    this.detail = detail;
    this.status = details.status ?? null;
    this.errors = details.errors ?? [];
    this.requestId = details.requestId ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}

/**
 * Path for sending messages, and prefix of the path for collecting the replies of a chat (service document, sections
 * 4.2 and 4.3).
 */
export const MESSAGES_PATH = "/api/v1/messages";

function encoded(name: string, value: string | undefined): string {
  // URLs drop these segments, which would call another endpoint.
  const isUsable = value !== undefined && value !== "" && value !== "." && value !== "..";
  try {
    if (isUsable) return encodeURIComponent(value);
  } catch {
    // A lone surrogate, which a URL cannot contain.
  }
  throw new ServiceError("invalid_options", `The path parameter ${name} is missing or not valid.`);
}

/** Returns a path with its `{names}` replaced, percent-encoded. Throws ServiceError `invalid_options`. */
export function fillPath(template: string, params: Readonly<Record<string, string | undefined>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encoded(name, params[name]));
}

/** The subset of `fetch` that the client uses. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Server, credentials and timeouts of a client. */
export interface ClientOptions {
  /** Base URL of the HTTP API, such as `https://chat.example.com`. It can include a path prefix added by a proxy. */
  url: string;
  /** API key. */
  key: string;
  /** Project for an administrator's key; defaults to `default`. Other keys are bound to one project. */
  project?: string | undefined;
  /** Replacement for the global `fetch`. */
  fetch?: Fetch | undefined;
  /**
   * Extra time for a response, in milliseconds, in addition to the time that the service was asked to wait. Defaults to
   * 10,000.
   */
  timeoutMs?: number | undefined;
  /** Maximum number of retries after temporary failures. Defaults to 5; 0 disables retries. */
  maxRetries?: number | undefined;
  /** Called for each failure that will be retried. */
  onRetry?: ((error: ServiceError, delayMs: number) => void) | undefined;
}

/** Validated options, with defaults. */
export interface Connection {
  /** Without a trailing slash. */
  baseUrl: string;
  headers: Readonly<Record<string, string>>;
  fetch: Fetch;
  timeoutMs: number;
  maxRetries: number;
  onRetry: (error: ServiceError, delayMs: number) => void;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_RETRIES = 5;

/** Header values are bytes (RFC 9110, section 5.5). */
const UNSENDABLE = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/** Returns true if a header can carry the value, such as a key: only bytes, and no whitespace at its ends. */
export function isValidHeaderValue(value: string): boolean {
  return value !== "" && value === value.trim() && !UNSENDABLE.test(value);
}

/** Returns the value if a header can carry it. `what` names it in the error, which does not contain the value. */
export function sendable(value: string, what: string): string {
  if (isValidHeaderValue(value)) return value;
  const why =
    value === "" ? "is empty" : "contains characters that are not allowed in a header, or whitespace at its ends";
  throw new ServiceError("invalid_options", `${what} ${why}. Check where it comes from.`);
}

function baseUrlOf(text: string): string {
  // The error does not quote the URL, which may contain a password.
  const refuse = (cause?: unknown) =>
    new ServiceError("invalid_options", "url must be an http or https URL without user name, query or fragment.", {
      cause,
    });
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refuse();
  }
  const { protocol, username, password, search, hash, origin, pathname } = url;
  const isPlain = username === "" && password === "" && search === "" && hash === "";
  if (!isPlain || (protocol !== "http:" && protocol !== "https:")) throw refuse();
  return origin + pathname.replace(/\/+$/, "");
}

/** Validates options. Throws ServiceError `invalid_options`, which does not contain the values. */
export function connectionOf(options: ClientOptions): Connection {
  const { project } = options;
  return {
    baseUrl: baseUrlOf(options.url),
    headers: {
      "X-Api-Key": sendable(options.key, "The key"),
      ...(project === undefined ? {} : { "x-svc-project": sendable(project, "The name of the project") }),
    },
    // Browsers reject a fetch that is called as a method of another object.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxRetries: options.maxRetries ?? DEFAULT_MAX_RETRIES,
    onRetry: options.onRetry ?? (() => undefined),
  };
}

/** Returns true if an untrusted value is an object and not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
