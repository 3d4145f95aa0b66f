import type { Connection } from "./connection.ts";
import { isRecord } from "./is-record.ts";
import { MESSAGES_PATH } from "./messages-path.ts";
import { pause } from "./pause.ts";
import { ServiceFault } from "./service-fault.ts";
import { tryCall } from "./try-call.ts";
import type { CallAnswer, CallRequest } from "./try-call.ts";

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 15_000;
/** A caller that has to wait longer is told so instead. */
const MAX_RETRY_AFTER_SECONDS = 120;
/** Of what `Retry-After` says, so that callers that were refused together do not come back together. */
const RETRY_AFTER_JITTER_MS = 500;

const PASSING_CODES = new Set(["unreachable", "timeout", "idempotency_in_progress"]);
/** The service, or a proxy in front of it, cannot do it now. */
const PASSING_STATUSES = new Set([502, 503, 504]);

/** Whether the same call may succeed a little later. */
export function isPassing({ code, status }: ServiceFault): boolean {
  return status === 429 || PASSING_CODES.has(code) || (status !== null && PASSING_STATUSES.has(status));
}

/** Faults of Node.js that say that there was no connection: the service has seen nothing of the call. */
const NO_CONNECTION = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/** Whether the service has not seen the call, or has refused it by 429. Browsers do not tell why there is no answer. */
function hasDoneNothing({ status, cause }: ServiceFault): boolean {
  const why = isRecord(cause) ? cause["cause"] : undefined;
  const code = isRecord(why) ? why["code"] : undefined;
  return status === 429 || (typeof code === "string" && NO_CONNECTION.has(code));
}

/** Whether it collects replies in the way that takes them: when its answer is lost, they are gone. */
function takesReplies({ method, path, query = {} }: CallRequest): boolean {
  const [address = "", search] = path.split("?");
  const inPath = new URLSearchParams(search);
  const valueOf = (name: string) => String(query[name] ?? inPath.get(name) ?? "");
  const isDrain = method === "GET" && address.startsWith(`${MESSAGES_PATH}/`);
  return isDrain && valueOf("after") === "" && valueOf("peek") !== "1";
}

/** Whether the call may be made again without doing a thing twice. */
function mayRepeat(request: CallRequest, fault: ServiceFault): boolean {
  const { method, idempotencyKey } = request;
  const isRead = (method === "GET" || method === "HEAD") && !takesReplies(request);
  return isRead || idempotencyKey !== undefined || hasDoneNothing(fault);
}

/** How long to wait after so many failures in a row before this one: what the service says, else longer and longer. */
export function delayAfter({ retryAfterSeconds }: { retryAfterSeconds: number | null }, failures: number): number {
  if (retryAfterSeconds !== null) return retryAfterSeconds * 1000 + Math.random() * RETRY_AFTER_JITTER_MS;
  const longestMs = Math.min(FIRST_DELAY_MS * 2 ** failures, MAX_DELAY_MS);
  return longestMs * (0.5 + Math.random() / 2);
}

/** Makes a call, and makes it again when it fails in passing and cannot do anything twice. Throws as `tryCall` does. */
export async function callWithRetries(connection: Connection, request: CallRequest): Promise<CallAnswer> {
  for (let failures = 0; ; failures++) {
    try {
      return await tryCall(connection, request);
    } catch (fault) {
      const isOver = failures >= connection.maxRetries || !(fault instanceof ServiceFault);
      if (isOver || !isPassing(fault) || !mayRepeat(request, fault)) throw fault;
      if ((fault.retryAfterSeconds ?? 0) > MAX_RETRY_AFTER_SECONDS) throw fault;
      const delayMs = delayAfter(fault, failures);
      connection.onRetry(fault, delayMs);
      await pause(delayMs, request.signal);
    }
  }
}
