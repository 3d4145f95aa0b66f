import type { CallbackBody } from "@svc/contracts";
import { isRecord } from "./is-record.ts";

/**
 * Which proof is asked for. `standard` (Standard Webhooks) covers id, time and body, so that an old callback cannot be
 * sent again; `body` is `X-Svc-Signature`, which covers the body alone.
 */
export type WebhookScheme = "standard" | "body";

/** Headers as `fetch`, Node or a framework has them; the case of names does not matter. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A callback that was received. */
export interface ReceivedWebhook {
  /** The raw body as it came; JSON that was parsed and written again is another text. */
  body: string | Uint8Array;
  headers: WebhookHeaders;
  /** The secret of the callbacks; while it is being changed the new and the old one. */
  secret: string | readonly string[];
  /** `standard` where absent. The receiver chooses: a sender must not be able to pick the weaker one. */
  scheme?: WebhookScheme | undefined;
  /** How far the time of signing may lie from now, in either direction; 300 where absent. */
  toleranceSeconds?: number | undefined;
  /** The present; the clock of this machine where absent. */
  now?: Date | undefined;
}

/** Why a callback was refused. */
export type WebhookFaultCode = "missing_header" | "bad_timestamp" | "bad_signature" | "bad_body";

const DETAILS: Record<WebhookFaultCode, string> = {
  missing_header: "The callback has no signature, or has it twice.",
  bad_timestamp: "The callback was signed too long ago, or in the future. Check the clock of this machine.",
  bad_signature:
    "The signature is not that of this body with this secret. Verify the raw bytes, with the right secret.",
  bad_body: "The callback is signed, and its body is not that of a callback of this service.",
};

/** A callback that must not be believed: answer it with 401. */
export class WebhookFault extends Error {
  readonly code: WebhookFaultCode;

  constructor(code: WebhookFaultCode) {
    super(DETAILS[code]);
    this.name = "WebhookFault";
    this.code = code;
  }
}

const DEFAULT_TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(new TextEncoder().encode(text));

/** The key bytes of a secret: what base64 decodes to after `whsec_`, else its UTF-8 bytes. */
function standardKeyOf(secret: string): Uint8Array<ArrayBuffer> {
  if (!secret.startsWith(PREFIX)) return bytesOf(secret);
  const base64 = secret.slice(PREFIX.length);
  if (base64 === "" || !BASE64.test(base64)) throw new TypeError("What follows whsec_ in the secret is not base64.");
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

/** Whether two texts are equal, in a time that does not tell where they differ. */
function isEqual(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}

/** The value of a header that was sent exactly once. */
function headerOf(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === "function") {
    const value: unknown = headers.get(name);
    if (typeof value === "string") return value;
    throw new WebhookFault("missing_header");
  }
  const values = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []));
  const [value, ...others] = values.flat();
  if (typeof value === "string" && others.length === 0) return value;
  throw new WebhookFault("missing_header");
}

/** What a scheme asks for: the values that were given, and the right one for a secret. */
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
    if (!isTimely) throw new WebhookFault("bad_timestamp");
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
    // A text that is no JSON is no callback, like any other JSON.
  }
  if (isCallbackBody(body)) return body;
  throw new WebhookFault("bad_body");
}

/**
 * Verifies a callback (docs/webhooks.md) with WebCrypto, comparing in constant time, and returns its body. Throws
 * WebhookFault for one that must not be believed, and TypeError when a secret is unusable: an empty one would let
 * anybody sign. The same callback may come more than once: do your work once for each `deliveryId`.
 */
export async function verifyWebhook(webhook: ReceivedWebhook): Promise<CallbackBody> {
  const { headers, secret, scheme = "standard", now = new Date() } = webhook;
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = webhook;
  const secrets = typeof secret === "string" ? [secret] : secret;
  if (secrets.length === 0 || secrets.includes(""))
    throw new TypeError("A secret is needed, and an empty one is none.");
  const body = typeof webhook.body === "string" ? bytesOf(webhook.body) : webhook.body;
  if (!ArrayBuffer.isView(body))
    throw new TypeError("Pass the raw body: a text or bytes, and nothing that was parsed.");
  const proof = PROOFS[scheme](body, headers, { now, toleranceSeconds });
  const expected = await Promise.all(secrets.map((one) => proof.expect(one)));
  // All are looked at, so that the time does not tell which secret is the right one.
  const isGenuine = expected
    .map((right) => proof.given.map((value) => isEqual(value, right)).includes(true))
    .includes(true);
  if (!isGenuine) throw new WebhookFault("bad_signature");
  return parseBody(body);
}
