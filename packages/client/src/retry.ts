import { isRecord } from "./is-record.ts";
import { MESSAGES_PATH } from "./fill-path.ts";
import { ServiceError } from "./service-error.ts";
import { tryCall } from "./try-call.ts";
import type { CallAnswer, CallRequest } from "./try-call.ts";
import type { Connection } from "./connection.ts";

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
