import type { FieldError, HttpMethod } from "@svc/contracts";
import { MESSAGES_PATH, ServiceError, isRecord, sendable } from "./connection.ts";
import type { Connection } from "./connection.ts";

/** Query parameters. Undefined ones are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Additional parts of a request, besides method and path. */
export interface RequestOptions {
  query?: Query | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** A form with files, instead of `body`. */
  form?: FormData | undefined;
  /** Expected version of the object. The request fails with `version_conflict` if there is a newer one. */
  ifMatch?: number | string | undefined;
  /** Deduplicates repeated POST requests for messages. */
  idempotencyKey?: string | undefined;
  /** Duration for which the service was asked to wait before it responds, in milliseconds. Defaults to 0. */
  waitMs?: number | undefined;
  /** Aborts the request, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** A request. */
export interface CallRequest extends RequestOptions {
  method: HttpMethod | "HEAD";
  /** Path after the base URL, starting with a slash, percent-encoded. */
  path: string;
  /** Accepted media types. Defaults to any. */
  accept?: string;
  /** ID of the last event of an interrupted stream, to resume after it. */
  lastEventId?: string;
}

/** A complete response with a 2xx status. */
export interface CallAnswer {
  status: number;
  headers: Headers;
  /** JSON body of the response. Null if there is no body. */
  body: unknown;
}

function urlOf({ baseUrl }: Connection, { path, query = {} }: CallRequest): string {
  if (!path.startsWith("/")) throw new ServiceError("invalid_options", "A path must start with a slash.");
  const parameters = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(parameters).toString();
  return baseUrl + path + (search === "" ? "" : `?${search}`);
}

function headersOf(
  { headers }: Connection,
  { body, ifMatch, idempotencyKey, accept, lastEventId }: CallRequest,
): Record<string, string> {
  const version = typeof ifMatch === "number" ? `"${ifMatch}"` : ifMatch;
  return {
    ...headers,
    ...(accept === undefined ? {} : { Accept: accept }),
    ...(lastEventId === undefined ? {} : { "Last-Event-ID": sendable(lastEventId, "The last event") }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...(version === undefined ? {} : { "If-Match": sendable(version, "ifMatch") }),
    ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": sendable(idempotencyKey, "idempotencyKey") }),
  };
}

/** Returns the seconds until the time in a Retry-After header, in either of its formats (RFC 9110, section 10.2.3). */
function retryAfterOf(headers: Headers): number | null {
  const text = headers.get("retry-after");
  if (text === null) return null;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, Math.ceil(seconds));
}

/** Returns the parsed JSON, or `undefined` if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports from whom it expected JSON.
    return undefined;
  }
}

function isFieldError(value: unknown): value is FieldError {
  return isRecord(value) && typeof value["pointer"] === "string" && typeof value["detail"] === "string";
}

/** Returns the error for a problem body of a response whose status is not 2xx. */
export function errorOf(status: number, body: unknown, headers = new Headers()): ServiceError {
  const retryAfterSeconds = retryAfterOf(headers);
  const requestId = headers.get("x-request-id");
  if (!isRecord(body) || typeof body["code"] !== "string" || typeof body["detail"] !== "string") {
    return unexpected(status, { retryAfterSeconds, requestId });
  }
  const errors = Array.isArray(body["errors"]) ? body["errors"].filter(isFieldError) : [];
  const named = typeof body["requestId"] === "string" ? body["requestId"] : requestId;
  return new ServiceError(body["code"], body["detail"], { status, errors, requestId: named, retryAfterSeconds });
}

/** Returns the error for a response that does not come from this service. */
export function unexpected(
  status: number,
  facts: { retryAfterSeconds?: number | null; requestId?: string | null } = {},
): ServiceError {
  const detail = `The response (status ${status}) is not from this service, or comes from a proxy in front of it. Check the URL.`;
  return new ServiceError("unexpected_answer", detail, { status, ...facts });
}

/** Waits for a read, until the connection's deadline. */
export type Wait = <Read>(reading: Promise<Read>) => Promise<Read>;

/** Timeouts and cancellation of a request's connection. */
export interface RequestControl {
  signal: AbortSignal;
  /** Fails if the response is not complete after this time. */
  wait(ms: number): void;
  /** Waits at most this long for each chunk of the response. Time spent by the reader does not count. */
  within(ms: number): Wait;
  /**
   * Returns the error to throw after an interrupted wait: the caller's reason if it aborted, otherwise a ServiceError.
   */
  explain(cause: unknown): unknown;
  /** Aborts the request, unless it is complete. */
  close(): void;
}

/** Opens a connection, which the caller must close. Throws the reason of a signal that is already aborted. */
export function openRequestControl(signal: AbortSignal | undefined): RequestControl {
  signal?.throwIfAborted();
  const aborting = new AbortController();
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => aborting.abort();
  const wait = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isLate = true;
      stop();
    }, ms);
  };
  signal?.addEventListener("abort", stop, { once: true });
  return {
    signal: aborting.signal,
    wait,
    within: (ms) => async (reading) => {
      wait(ms);
      const read = await reading;
      clearTimeout(timer);
      return read;
    },
    explain(cause) {
      if (signal?.aborted === true) return signal.reason;
      if (cause instanceof ServiceError) return cause;
      return isLate
        ? new ServiceError("timeout", "The service accepted the request but did not respond in time. Retry later.", {
            cause,
          })
        : new ServiceError("unreachable", "The service is unreachable, or the connection dropped.", { cause });
    },
    close() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      stop();
    },
  };
}

/** Sends a request; the response body is not read yet. Rejects like `fetch`. */
export function request(connection: Connection, call: CallRequest, control: RequestControl): Promise<Response> {
  const { method, body, form, waitMs = 0 } = call;
  const url = urlOf(connection, call);
  const headers = headersOf(connection, call);
  control.wait(waitMs + connection.timeoutMs);
  return connection.fetch(url, {
    method,
    headers,
    ...(form === undefined ? {} : { body: form }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    // A key must not be sent to any other URL.
    redirect: "error",
    credentials: "omit",
    signal: control.signal,
  });
}

/** Reads a complete response. Throws ServiceError unless it is a 2xx with JSON or without a body. */
export async function readAnswer(response: Response): Promise<CallAnswer> {
  const { ok, status, headers } = response;
  const text = await response.text();
  const json = text === "" ? null : parseJson(text);
  if (!ok) throw errorOf(status, json, headers);
  if (json === undefined) throw unexpected(status);
  return { status, headers, body: json };
}

/** Sends a request once. Throws ServiceError for all statuses but 2xx, and the reason of an aborted signal. */
async function tryCall(connection: Connection, call: CallRequest): Promise<CallAnswer> {
  const control = openRequestControl(call.signal);
  try {
    return await readAnswer(await request(connection, call, control));
  } catch (cause) {
    throw control.explain(cause);
  } finally {
    control.close();
  }
}

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 15_000;
/** Maximum delay before a retry; if the service asks for a longer delay, the error is thrown instead. */
const MAX_RETRY_AFTER_SECONDS = 120;
/** Random addition to `Retry-After`, so that clients that were throttled together do not retry together. */
const RETRY_AFTER_JITTER_MS = 500;

const PASSING_CODES = new Set(["unreachable", "timeout", "idempotency_in_progress"]);
/** Statuses that mean that the service, or a proxy, is temporarily unavailable. */
const PASSING_STATUSES = new Set([502, 503, 504]);

/** Returns true if the same request may succeed later. */
export function isTransient({ code, status }: ServiceError): boolean {
  return status === 429 || PASSING_CODES.has(code) || (status !== null && PASSING_STATUSES.has(status));
}

/** Error codes of Node.js for a connection that was not established: the service has not received the request. */
const NO_CONNECTION = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/**
 * Returns true if the service has not received the request, or has rejected it with 429. Browsers do not reveal why
 * there is no response.
 */
function hasDoneNothing({ status, cause }: ServiceError): boolean {
  const why = isRecord(cause) ? cause["cause"] : undefined;
  const code = isRecord(why) ? why["code"] : undefined;
  return status === 429 || (typeof code === "string" && NO_CONNECTION.has(code));
}

/** Returns true if the request removes replies from the buffer: if its response is lost, so are they. */
function removesReplies({ method, path, query = {} }: CallRequest): boolean {
  const [address = "", search] = path.split("?");
  const inPath = new URLSearchParams(search);
  const valueOf = (name: string) => String(query[name] ?? inPath.get(name) ?? "");
  const isDrain = method === "GET" && address.startsWith(`${MESSAGES_PATH}/`);
  return isDrain && valueOf("after") === "" && valueOf("peek") !== "1";
}

/** Returns true if the request can be retried without side effects. */
function mayRepeat(request: CallRequest, error: ServiceError): boolean {
  const { method, idempotencyKey } = request;
  const isRead = (method === "GET" || method === "HEAD") && !removesReplies(request);
  return isRead || idempotencyKey !== undefined || hasDoneNothing(error);
}

/** Returns the delay after this many consecutive failures: `Retry-After`, or exponential backoff. */
export function delayAfter({ retryAfterSeconds }: { retryAfterSeconds: number | null }, failures: number): number {
  if (retryAfterSeconds !== null) return retryAfterSeconds * 1000 + Math.random() * RETRY_AFTER_JITTER_MS;
  const longestMs = Math.min(FIRST_DELAY_MS * 2 ** failures, MAX_DELAY_MS);
  return longestMs * (0.5 + Math.random() / 2);
}

/** Sends a request, and retries it after temporary failures if that is safe. Throws like `tryCall`. */
export async function callWithRetries(connection: Connection, request: CallRequest): Promise<CallAnswer> {
  for (let failures = 0; ; failures++) {
    try {
      return await tryCall(connection, request);
    } catch (error) {
      const isOver = failures >= connection.maxRetries || !(error instanceof ServiceError);
      if (isOver || !isTransient(error) || !mayRepeat(request, error)) throw error;
      if ((error.retryAfterSeconds ?? 0) > MAX_RETRY_AFTER_SECONDS) throw error;
      const delayMs = delayAfter(error, failures);
      connection.onRetry(error, delayMs);
      await pause(delayMs, request.signal);
    }
  }
}

/** Resolves after the given time. Rejects with the signal's reason as soon as it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      // The signal's reason is thrown, as with fetch.
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
