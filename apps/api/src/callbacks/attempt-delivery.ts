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
import type { ClaimedDelivery, DeliveryRequest, Sealer, TryResult } from "@svc/store";
import { inSpan } from "@svc/telemetry";
import type { SpanOptions } from "@svc/telemetry";
import { readRetryAfterMs, retryDelayMs } from "./retry-schedule.ts";
import { findSigningSecrets } from "./signing-secrets.ts";

/** What a try needs. */
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

/** What a receiver's answer means. Redirects are not followed: they are failures. */
function judge(status: number, retryAfter: string | undefined): Outcome {
  if (status >= 200 && status < 300) return { status, error: null };
  const error = status >= 300 && status < 400 ? "redirects are not followed" : `the receiver responded with ${status}`;
  return { status, error, retryAfter };
}

/** What went wrong before there was an answer, in words for an operator that name no address. */
function judgeError(error: unknown): Outcome {
  // One text for both: the reader must not learn which names exist in a private network.
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
      // Of the answer nothing but its head matters.
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
 * Result of a failed attempt. The wait before the next one is that of the schedule at the number of failures, this one
 * included; after the last one, and at 410, the callback is dead.
 */
export function failedTry(
  { failures }: Pick<ClaimedDelivery, "failures">,
  { retryAfter, ...facts }: Omit<TryResult, "next"> & { retryAfter?: string | undefined },
): TryResult {
  const delayMs =
    facts.status === GONE ? null : retryDelayMs(failures + 1, readRetryAfterMs(retryAfter, Date.now()), Math.random());
  return { ...facts, next: delayMs === null ? "dead" : { delayMs } };
}

/** Where a callback goes is its receiver's business: the span names the callback alone. */
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
 * Makes one try of a callback and says what became of it. Any 2xx is success; 410 and a callback that nothing can sign
 * are given up at once; everything else is tried again until the schedule ends. Rejects when `signal` ends it.
 */
export async function tryDelivery(
  delivery: DeliveryRequest,
  { sealer, secrets, ...tools }: DeliveryTools,
  signal: AbortSignal,
): Promise<TryResult> {
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
  return failedTry(delivery, { durationMs, status, error, retryAfter });
}
