import type { CallbackBody } from "@svc/contracts";
import { isRecord } from "./connection.ts";

/**
 * Signature scheme. `standard` (Standard Webhooks) signs ID, time and body, which prevents replay attacks. `body` is
 * `X-Svc-Signature`, which signs only the body.
 */
export type WebhookScheme = "standard" | "body";

/** Headers as provided by `fetch`, Node or a framework. Names are case-insensitive. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A received callback. */
export interface ReceivedWebhook {
  /** The raw body. JSON that was parsed and serialized again does not match the signature. */
  body: string | Uint8Array;
  headers: WebhookHeaders;
  /** The secret of the callbacks; during a rotation, the new and the old secret. */
  secret: string | readonly string[];
  /** Defaults to `standard`. The receiver chooses, so that a sender cannot select the weaker scheme. */
  scheme?: WebhookScheme | undefined;
  /** Maximum difference between the time of signing and now, in seconds. Defaults to 300. */
  toleranceSeconds?: number | undefined;
  /** The current time. Defaults to the clock of this machine. */
  now?: Date | undefined;
}

/** Reason why a callback was rejected. */
export type WebhookErrorCode = "missing_header" | "bad_timestamp" | "bad_signature" | "bad_body";

const DETAILS: Record<WebhookErrorCode, string> = {
  missing_header: "The signature header of the callback is missing or repeated.",
  bad_timestamp: "The timestamp of the callback is too old or in the future. Check the clock of this machine.",
  bad_signature: "The signature does not match this body and secret. Verify the raw bytes, with the right secret.",
  bad_body: "The signature is valid, but the body is not a callback of this service.",
};

/** A callback that is not authentic. Respond with 401. */
export class WebhookError extends Error {
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode) {
    super(DETAILS[code]);
    this.name = "WebhookError";
    this.code = code;
  }
}

const DEFAULT_TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(new TextEncoder().encode(text));

/** Returns the key bytes of a secret: the decoded base64 after `whsec_`, otherwise its UTF-8 bytes. */
function standardKeyOf(secret: string): Uint8Array<ArrayBuffer> {
  if (!secret.startsWith(PREFIX)) return bytesOf(secret);
  const base64 = secret.slice(PREFIX.length);
  if (base64 === "" || !BASE64.test(base64))
    throw new TypeError("The part of the secret after whsec_ is not valid base64.");
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

async function hmac(keyBytes: Uint8Array<ArrayBuffer>, data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey("raw", keyBytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, data));
}

function joined(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}

/** Returns true if two texts are equal, in constant time. */
function isEqual(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}

/** Returns the value of a header that was sent exactly once. */
function headerOf(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === "function") {
    const value: unknown = headers.get(name);
    if (typeof value === "string") return value;
    throw new WebhookError("missing_header");
  }
  const values = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));
  const [value, ...others] = values.flat();
  if (typeof value === "string" && others.length === 0) return value;
  throw new WebhookError("missing_header");
}

/** Returns the signatures in the headers, and the expected signature for a secret. */
interface Proof {
  given: readonly string[];
  expect(secret: string): Promise<string>;
}

type ProofReader = (body: Uint8Array, headers: WebhookHeaders, clock: { now: Date; toleranceSeconds: number }) => Proof;

const PROOFS = {
  standard(body, headers, { now, toleranceSeconds }) {
    const id = headerOf(headers, "webhook-id");
    const timestamp = headerOf(headers, "webhook-timestamp");
    const given = headerOf(headers, "webhook-signature").split(" ");
    const isTimely =
      /^\d{1,12}$/.test(timestamp) && Math.abs(now.getTime() / 1000 - Number(timestamp)) <= toleranceSeconds;
    if (!isTimely) throw new WebhookError("bad_timestamp");
    const signed = joined(bytesOf(`${id}.${timestamp}.`), body);
    return {
      given,
      async expect(secret) {
        const signature = await hmac(standardKeyOf(secret), signed);
        return `v1,${btoa(String.fromCharCode(...signature))}`;
      },
    };
  },

  body(body, headers) {
    return {
      given: [headerOf(headers, "x-svc-signature")],
      async expect(secret) {
        const signature = await hmac(bytesOf(secret), joined(body));
        return `sha256=${Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
      },
    };
  },
} satisfies Record<WebhookScheme, ProofReader>;

function isCallbackBody(body: unknown): body is CallbackBody {
  return isRecord(body) && typeof body["type"] === "string" && Array.isArray(body["replies"]);
}

function parseBody(bytes: Uint8Array): CallbackBody {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Handled below, like JSON that is not a callback.
  }
  if (isCallbackBody(body)) return body;
  throw new WebhookError("bad_body");
}

/**
 * Verifies a callback (docs/webhooks.md) with WebCrypto and returns its body. Compares in constant time. Throws
 * WebhookError if the callback is not authentic, and TypeError if a secret is invalid: with an empty secret, anyone
 * could sign. The same callback can arrive more than once: process each `deliveryId` only once.
 */
export async function verifyWebhook(webhook: ReceivedWebhook): Promise<CallbackBody> {
  const { headers, secret, scheme = "standard", now = new Date() } = webhook;
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = webhook;
  const secrets = typeof secret === "string" ? [secret] : secret;
  if (secrets.length === 0 || secrets.includes("")) throw new TypeError("A secret is required and must not be empty.");
  const body = typeof webhook.body === "string" ? bytesOf(webhook.body) : webhook.body;
  if (!ArrayBuffer.isView(body)) throw new TypeError("Pass the raw body: a string or bytes, not a parsed object.");
  const proof = PROOFS[scheme](body, headers, { now, toleranceSeconds });
  const expected = await Promise.all(secrets.map((one) => proof.expect(one)));
  // All are compared, so that the time does not reveal which secret matches.
  const isGenuine = expected
    .map((right) => proof.given.map((value) => isEqual(value, right)).includes(true))
    .includes(true);
  if (!isGenuine) throw new WebhookError("bad_signature");
  return parseBody(body);
}
