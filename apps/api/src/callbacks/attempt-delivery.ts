import { VERSION } from "@svc/contracts";
import type { WebhookSecrets } from "@svc/contracts";
import {
  BlockedAddressError,
  guardedRequest,
  isWebhookSecret,
  OutboundConnectionError,
  OutboundTimeoutError,
  signWebhook,
} from "@svc/outbound";
import type { AddressGuard } from "@svc/outbound";
import type { AttemptResult, ClaimedDelivery, DeliveryRequest, Sealer } from "@svc/store";
import { inSpan } from "@svc/telemetry";
import type { SpanOptions } from "@svc/telemetry";

/** The secrets that sign a callback, the current one first, or the reason for operators why there is none. */
type SigningSecrets = { secrets: string[] } | { problem: string };

const NO_KEY =
  "the API key of the sender is no longer stored; set a project secret with: svc webhook secret --project NAME --generate, then replay this delivery";

/**
 * Returns the secrets that sign a callback: the webhook secret of its project, and the previous one until it expires;
 * if none is set, the API key that sent the message (service document, section 6). A revoked key signs nothing.
 */
export function findSigningSecrets(
  { webhookSecret, previousWebhookSecret: previous }: WebhookSecrets,
  delivery: Pick<DeliveryRequest, "sealedSecret" | "isKeyRevoked">,
  sealer: Sealer,
  now: number,
): SigningSecrets {
  if (webhookSecret !== null) {
    const current = sealer.open(webhookSecret);
    if (current === null)
      return { problem: "cannot decrypt the webhook secret with this SVC_SECRET_KEY; set a new secret" };
    if (!isWebhookSecret(current)) return { problem: "the webhook secret is not usable; set a new secret" };
    const older = previous !== null && Date.parse(previous.until) > now ? sealer.open(previous) : null;
    return { secrets: older === null || !isWebhookSecret(older) ? [current] : [current, older] };
  }
  if (delivery.isKeyRevoked)
    return { problem: "the API key that sent the message is revoked and cannot sign callbacks" };
  const key = delivery.sealedSecret === null ? null : sealer.open(delivery.sealedSecret);
  if (key === null || !isWebhookSecret(key)) return { problem: NO_KEY };
  return { secrets: [key] };
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Delays between the attempts of a callback; after the last one it is dead. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  HOUR,
  6 * HOUR,
  24 * HOUR,
  48 * HOUR,
];

/**
 * Maximum share that is added to each delay, so that receivers that recover together are not called at the same time.
 */
const JITTER = 0.1;
/** Maximum delay that a receiver can request. */
const RETRY_AFTER_MAX_MS = 48 * HOUR;

/**
 * Returns the delay in milliseconds after this number of failed attempts; null after the last one. A receiver can
 * request a longer one (`Retry-After`), at most 48 hours. `random` is at least 0 and below 1.
 */
export function retryDelayMs(failures: number, retryAfterMs: number | null, random: number): number | null {
  const planned = RETRY_DELAYS_MS[failures - 1];
  if (planned === undefined) return null;
  const wanted = Math.max(planned, Math.min(retryAfterMs ?? 0, RETRY_AFTER_MAX_MS));
  return wanted * (1 + JITTER * random);
}

/**
 * Returns the delay requested by `Retry-After` (RFC 9110, section 10.2.3: seconds or a date); null if it is invalid.
 */
export function readRetryAfterMs(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,10}$/.test(value.trim())) return Number(value) * SECOND;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** Dependencies of an attempt. */
interface DeliveryTools {
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
