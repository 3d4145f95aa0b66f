import { timingSafeEqual } from "node:crypto";
import { bodySignature, standardSignature } from "./sign-webhook.ts";

/**
 * Which proof is asked for. `standard` (Standard Webhooks) covers id and time, so that old callbacks cannot be
 * replayed; `body` is X-Svc-Signature alone, which covers only the body.
 */
export type WebhookScheme = "standard" | "body";

/** A received callback. */
export type WebhookToVerify = {
  /** The bytes as received, before any parsing. */
  readonly body: string | Uint8Array;
  /** As Node gives them: names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Every secret that may have signed it. */
  readonly secrets: readonly string[];
  /** `standard` by default. The receiver chooses: a sender must not be able to pick the weaker one. */
  readonly scheme?: WebhookScheme;
  /** The present, by the receiver's clock. */
  readonly now: Date;
  /** How far the timestamp may lie from now, in either direction. Five minutes by default, as in the reference. */
  readonly toleranceMs?: number;
};

/** The result of a verification. */
export type WebhookVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: "missing_header" | "bad_timestamp" | "bad_signature" };

type SchemeVerifier = (webhook: WebhookToVerify) => WebhookVerdict;

const FIVE_MINUTES_MS = 300_000;

/**
 * Verifies what `signWebhook` signs, comparing in constant time.
 * @throws TypeError when a secret is unusable; a bad callback is no error but a verdict.
 */
export function verifyWebhook(webhook: WebhookToVerify): WebhookVerdict {
  return VERIFIERS[webhook.scheme ?? "standard"](webhook);
}

const VERIFIERS = {
  standard({ body, headers, secrets, now, toleranceMs = FIVE_MINUTES_MS }) {
    const id = single(headers["webhook-id"]);
    const timestamp = single(headers["webhook-timestamp"]);
    const signatures = single(headers["webhook-signature"]);
    if (id === undefined || timestamp === undefined || signatures === undefined) return refused("missing_header");
    const isTimely = /^\d{1,12}$/.test(timestamp) && Math.abs(now.getTime() - Number(timestamp) * 1000) <= toleranceMs;
    if (!isTimely) return refused("bad_timestamp");
    const expected = secrets.map((secret) => standardSignature(body, id, timestamp, secret));
    return anyEqual(signatures.split(" "), expected) ? { ok: true } : refused("bad_signature");
  },

  body({ body, headers, secrets }) {
    const signature = single(headers["x-svc-signature"]);
    if (signature === undefined) return refused("missing_header");
    const expected = secrets.map((secret) => bodySignature(body, secret));
    return anyEqual([signature], expected) ? { ok: true } : refused("bad_signature");
  },
} satisfies Record<WebhookScheme, SchemeVerifier>;

function refused(reason: "missing_header" | "bad_timestamp" | "bad_signature"): WebhookVerdict {
  return { ok: false, reason };
}

/** The value of a header that was sent exactly once. */
function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function anyEqual(given: readonly string[], expected: readonly string[]): boolean {
  return expected.some((right) => given.some((left) => isEqual(Buffer.from(left), Buffer.from(right))));
}

function isEqual(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
