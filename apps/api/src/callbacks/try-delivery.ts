import type { ApiSettings } from "@svc/contracts";
import {
  BlockedAddressError,
  OutboundConnectionError,
  OutboundTimeoutError,
  ResponseTooLargeError,
  guardedRequest,
  signWebhook,
} from "@svc/outbound";
import type { AddressGuard } from "@svc/outbound";
import type { ClaimedDelivery, Sealer, TryResult } from "@svc/store";
import { VERSION } from "../version.ts";
import { callbackBody } from "./callback-body.ts";
import { readRetryAfterMs, retryDelayMs } from "./retry-schedule.ts";
import { findSigningSecrets } from "./signing-secrets.ts";

/** What a try needs. */
export interface DeliveryTools {
  guard: AddressGuard;
  sealer: Sealer;
  settings: Pick<ApiSettings, "webhookSecret" | "previousWebhookSecret">;
}

const TRY_TIMEOUT_MS = 15_000;
/** Of the receiver's answer nothing but the status matters; this much of its body is read and thrown away. */
const MAX_ANSWER_BYTES = 64 * 1024;
const GONE = 410;

interface Outcome {
  status: number | null;
  error: string | null;
  retryAfter?: string | undefined;
}

/** What a receiver's answer means. Redirects are not followed: they are failures. */
function judge(status: number, retryAfter: string | undefined): Outcome {
  if (status >= 200 && status < 300) return { status, error: null };
  const error = status >= 300 && status < 400 ? "redirects are not followed" : `the receiver answered ${status}`;
  return { status, error, retryAfter };
}

/** What went wrong before there was an answer, in words for an operator that name no address. */
function judgeFault(error: unknown): Outcome {
  if (error instanceof ResponseTooLargeError) return judge(error.status, error.headers["retry-after"]);
  if (error instanceof BlockedAddressError) return { status: null, error: error.message };
  if (error instanceof OutboundTimeoutError)
    return { status: null, error: `no answer within ${TRY_TIMEOUT_MS / 1000} s` };
  if (error instanceof OutboundConnectionError) return { status: null, error: `no connection (${error.errorCode})` };
  throw error;
}

async function request(
  delivery: ClaimedDelivery,
  secrets: string[],
  guard: AddressGuard,
  signal: AbortSignal,
): Promise<Outcome> {
  const body = callbackBody(delivery);
  try {
    const { status, headers } = await guardedRequest(guard, {
      method: "POST",
      url: delivery.url,
      headers: {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": `svc-webhooks/${VERSION}`,
        "X-Svc-Delivery": delivery.id,
        "X-Svc-Attempt": String(delivery.attempt),
        ...signWebhook({ body, secrets, deliveryId: delivery.id, timestamp: new Date() }),
      },
      body,
      timeoutMs: TRY_TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
      signal,
    });
    return judge(status, headers["retry-after"]);
  } catch (error) {
    if (signal.aborted) throw error;
    return judgeFault(error);
  }
}

/**
 * Makes one try of a callback and says what became of it. Any 2xx is success; 410 and a callback that nothing can sign
 * are given up at once; everything else is tried again until the schedule ends. Rejects when `signal` ends it.
 */
export async function tryDelivery(
  delivery: ClaimedDelivery,
  { guard, sealer, settings }: DeliveryTools,
  signal: AbortSignal,
): Promise<TryResult> {
  const startedAt = performance.now();
  const signing = findSigningSecrets(settings, delivery, sealer, Date.now());
  if ("fault" in signing) return { durationMs: 0, status: null, error: signing.fault, next: "dead" };
  const { status, error, retryAfter } = await request(delivery, signing.secrets, guard, signal);
  const durationMs = performance.now() - startedAt;
  if (error === null) return { durationMs, status, error, next: "delivered" };
  const delayMs =
    status === GONE ? null : retryDelayMs(delivery.tries, readRetryAfterMs(retryAfter, Date.now()), Math.random());
  return { durationMs, status, error, next: delayMs === null ? "dead" : { delayMs } };
}
