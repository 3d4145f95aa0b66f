import { VERSION } from "@svc/contracts";
import type { WebhookSecrets } from "@svc/contracts";
import {
  BlockedAddressError,
  OutboundConnectionError,
  OutboundTimeoutError,
  guardedRequest,
  signWebhook,
} from "@svc/outbound";
import type { AddressGuard } from "@svc/outbound";
import type { ClaimedDelivery, DeliveryRequest, Sealer, AttemptResult } from "@svc/store";
import { inSpan } from "@svc/telemetry";
import type { SpanOptions } from "@svc/telemetry";
import { readRetryAfterMs, retryDelayMs } from "./retry-schedule.ts";
import { findSigningSecrets } from "./signing-secrets.ts";

/** Dependencies of an attempt. */
export interface DeliveryTools {
  guard: AddressGuard;
  sealer: Sealer;
  secrets: WebhookSecrets;
  body: string;
}

const TRY_TIMEOUT_MS = 15_000;
const GONE = 410;
const UNKNOWN_OR_PRIVATE =
  "the host name does not resolve to a public address; to allow private addresses, see SVC_WEBHOOK_ALLOW";

interface Outcome {
  status: number | null;
  error: string | null;
  retryAfter?: string | undefined;
}

/** Returns the outcome of a receiver's response. Redirects are not followed: they are failures. */
function judge(status: number, retryAfter: string | undefined): Outcome {
  if (status >= 200 && status < 300) return { status, error: null };
  const error = status >= 300 && status < 400 ? "redirects are not followed" : `the receiver responded with ${status}`;
  return { status, error, retryAfter };
}

/** Returns the outcome of an error without a response, in words for an operator that contain no address. */
function judgeError(error: unknown): Outcome {
  // The same text for both: the reader must not learn which names exist in a private network.
  if (error instanceof BlockedAddressError) return { status: null, error: UNKNOWN_OR_PRIVATE };
  if (error instanceof OutboundTimeoutError)
    return { status: null, error: `no response within ${TRY_TIMEOUT_MS / 1000} s` };
  if (error instanceof OutboundConnectionError) {
    const isUnknown = error.errorCode === "ENOTFOUND" || error.errorCode === "EAI_AGAIN";
    return { status: null, error: isUnknown ? UNKNOWN_OR_PRIVATE : `connection failed (${error.errorCode})` };
  }
  throw error;
}

async function request(
  delivery: DeliveryRequest,
  secrets: string[],
  { guard, body }: Pick<DeliveryTools, "guard" | "body">,
  { signal, trace }: { signal: AbortSignal; trace: string | null },
): Promise<Outcome> {
  try {
    const { status, headers } = await guardedRequest(guard, {
      method: "POST",
      url: delivery.url,
      headers: {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": `svc-webhooks/${VERSION}`,
        "X-Svc-Delivery": delivery.id,
        "X-Svc-Attempt": String(delivery.attempt),
        ...(trace === null ? {} : { traceparent: trace }),
        ...signWebhook({ body, secrets, deliveryId: delivery.id, timestamp: new Date() }),
      },
      body,
      timeoutMs: TRY_TIMEOUT_MS,
      // Only the status and the headers of the response are used.
      maxResponseBytes: null,
      signal,
    });
    return judge(status, headers["retry-after"]);
  } catch (error) {
    if (signal.aborted) throw error;
    return judgeError(error);
  }
}

/**
 * Returns the result of a failed attempt. The next delay depends on the number of failures, including this one; after
 * the last one, and at 410, the callback is dead.
 */
export function failedAttempt(
  { failures }: Pick<ClaimedDelivery, "failures">,
  { retryAfter, ...facts }: Omit<AttemptResult, "next"> & { retryAfter?: string | undefined },
): AttemptResult {
  const delayMs =
    facts.status === GONE ? null : retryDelayMs(failures + 1, readRetryAfterMs(retryAfter, Date.now()), Math.random());
  return { ...facts, next: delayMs === null ? "dead" : { delayMs } };
}

/** The receiver's URL is private: the span only identifies the callback. */
const spanOf = ({ trace, id, messageId, ticketId, attempt, event }: ClaimedDelivery): SpanOptions => ({
  parent: trace,
  kind: "client",
  attributes: {
    "svc.way": event === null ? "callback" : "event",
    "svc.delivery_id": id,
    ...(event === null ? { "svc.message_id": messageId, "svc.ticket_id": ticketId } : { "svc.event_id": messageId }),
    "svc.attempt": attempt,
  },
});

/**
 * Makes one attempt of a callback and returns its result. Any 2xx is a success; 410, or a callback that nothing can
 * sign, is dead; everything else is retried until the schedule ends. Rejects if `signal` is aborted.
 */
export async function attemptDelivery(
  delivery: DeliveryRequest,
  { sealer, secrets, ...tools }: DeliveryTools,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const startedAt = performance.now();
  const signing = findSigningSecrets(secrets, delivery, sealer, Date.now());
  if ("problem" in signing) return { durationMs: 0, status: null, error: signing.problem, next: "dead" };
  const { status, error, retryAfter } = await inSpan("deliver callback", spanOf(delivery), async (span) => {
    const outcome = await request(delivery, signing.secrets, tools, { signal, trace: span.traceparent });
    if (outcome.status !== null) span.annotate({ "http.response.status_code": outcome.status });
    if (outcome.error !== null) span.fail(null);
    return outcome;
  });
  const durationMs = performance.now() - startedAt;
  if (error === null) return { durationMs, status, error, next: "delivered" };
  return failedAttempt(delivery, { durationMs, status, error, retryAfter });
}
