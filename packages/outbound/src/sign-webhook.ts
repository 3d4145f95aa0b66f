import { createHmac, timingSafeEqual } from "node:crypto";

const PREFIX = "whsec_";

/** RFC 4648 section 4, with padding. */
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Returns true if a text can be a webhook secret: not empty, and base64 after `whsec_` if it starts with that. For
 * validating settings, so that an invalid secret is rejected when it is set and not when it is used.
 */
export function isWebhookSecret(secret: string): boolean {
  return secret.startsWith(PREFIX) ? secret !== PREFIX && BASE64.test(secret.slice(PREFIX.length)) : secret !== "";
}

/**
 * Returns the key bytes of a secret for Standard Webhooks: base64-decoded after `whsec_`, else the UTF-8 bytes.
 * @throws TypeError if the text is not a webhook secret; the message does not contain the text.
 */
export function webhookKeyOf(secret: string): Buffer {
  if (!isWebhookSecret(secret)) {
    throw new TypeError("The webhook secret is not valid: it is empty, or the part after whsec_ is not base64.");
  }
  return secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), "base64") : Buffer.from(secret, "utf8");
}

/** One attempt of one delivery to sign. */
type WebhookToSign = {
  /** Exactly the bytes that are sent; text is encoded as UTF-8. */
  readonly body: string | Uint8Array;
  /** The valid secrets, the current one first. During a rotation there are two. */
  readonly secrets: readonly string[];
  /** The same for all attempts of a delivery: receivers recognize duplicates by it. */
  readonly deliveryId: string;
  /**
   * Time of this attempt. Receivers of Standard Webhooks reject signatures older than five minutes, so sign each
   * attempt again.
   */
  readonly timestamp: Date;
};

/** Headers that authenticate a callback. */
type WebhookSignatureHeaders = {
  readonly "X-Svc-Signature": string;
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
};

/**
 * Signs a callback in both forms that docs/webhooks.md describes:
 * - `X-Svc-Signature: sha256=<hex>`: HMAC-SHA256 of the raw body, keyed with the current secret as UTF-8 bytes (the
 *   service document, section 6).
 * - `webhook-id`, `webhook-timestamp` (seconds), `webhook-signature`: Standard Webhooks 1.0, one `v1,<base64>` for each
 *   valid secret, separated by a space.
 * @throws TypeError if there is no secret or one of them is invalid.
 */
export function signWebhook({ body, secrets, deliveryId, timestamp }: WebhookToSign): WebhookSignatureHeaders {
  const [current] = secrets;
  if (current === undefined) throw new TypeError("A webhook secret is required to sign.");
  const seconds = String(Math.floor(timestamp.getTime() / 1000));
  return {
    "X-Svc-Signature": bodySignature(body, current),
    "webhook-id": deliveryId,
    "webhook-timestamp": seconds,
    "webhook-signature": secrets.map((secret) => standardSignature(body, deliveryId, seconds, secret)).join(" "),
  };
}

/** Returns the value of X-Svc-Signature. */
function bodySignature(body: string | Uint8Array, secret: string): string {
  return `sha256=${createHmac("sha256", Buffer.from(secret, "utf8")).update(body).digest("hex")}`;
}

/** Returns a value of webhook-signature: HMAC-SHA256 over `id.timestamp.body`. */
function standardSignature(body: string | Uint8Array, id: string, timestampSeconds: string, secret: string): string {
  const hmac = createHmac("sha256", webhookKeyOf(secret)).update(`${id}.${timestampSeconds}.`).update(body);
  return `v1,${hmac.digest("base64")}`;
}

/**
 * Signature scheme. `standard` (Standard Webhooks) covers id and time, so that old callbacks cannot be replayed; `body`
 * is X-Svc-Signature, which covers only the body.
 */
export type WebhookScheme = "standard" | "body";

/** A received callback. */
export type WebhookToVerify = {
  /** The bytes as received, before any parsing. */
  readonly body: string | Uint8Array;
  /** As in Node.js: names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Every secret that may have signed it. */
  readonly secrets: readonly string[];
  /** `standard` by default. The receiver chooses: a sender must not be able to pick the weaker one. */
  readonly scheme?: WebhookScheme;
  /** Current time of the receiver's clock. */
  readonly now: Date;
  /**
   * Maximum difference between the timestamp and now, in either direction. Five minutes by default, as in the
   * reference.
   */
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
 * @throws TypeError if a secret is invalid; an invalid callback is a verdict, not an error.
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

/** Returns the value of a header that was sent exactly once. */
function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function anyEqual(given: readonly string[], expected: readonly string[]): boolean {
  return expected.some((right) => given.some((left) => isEqual(Buffer.from(left), Buffer.from(right))));
}

function isEqual(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
