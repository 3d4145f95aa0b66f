import { createHmac } from "node:crypto";
import { webhookKeyOf } from "./webhook-secret.ts";

/** One try of one delivery that is to be signed. */
export type WebhookToSign = {
  /** Exactly the bytes that are sent; text is taken as UTF-8. */
  readonly body: string | Uint8Array;
  /** The live secrets, the current one first. During a rotation there are two. */
  readonly secrets: readonly string[];
  /** The same for all tries of a delivery: receivers recognise repeats by it. */
  readonly deliveryId: string;
  /** When this try is made. Receivers of Standard Webhooks refuse what is five minutes old, so sign each try anew. */
  readonly timestamp: Date;
};

/** The headers that prove where a callback comes from. */
export type WebhookSignatureHeaders = {
  readonly "X-Svc-Signature": string;
  readonly "webhook-id": string;
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
};

/**
 * Signs a callback in both forms that docs/webhooks.md describes:
 * - `X-Svc-Signature: sha256=<hex>`: HMAC-SHA256 of the raw body, keyed with the current secret as UTF-8 bytes
 *   (the service document, section 6).
 * - `webhook-id`, `webhook-timestamp` (seconds), `webhook-signature`: Standard Webhooks 1.0, one `v1,<base64>` for
 *   each live secret, separated by a space.
 * @throws TypeError when there is no secret or one of them is unusable.
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

/** The value of X-Svc-Signature. */
export function bodySignature(body: string | Uint8Array, secret: string): string {
  return `sha256=${createHmac("sha256", Buffer.from(secret, "utf8")).update(body).digest("hex")}`;
}

/** One value of webhook-signature: HMAC-SHA256 over `id.timestamp.body`. */
export function standardSignature(
  body: string | Uint8Array,
  id: string,
  timestampSeconds: string,
  secret: string,
): string {
  const hmac = createHmac("sha256", webhookKeyOf(secret)).update(`${id}.${timestampSeconds}.`).update(body);
  return `v1,${hmac.digest("base64")}`;
}
