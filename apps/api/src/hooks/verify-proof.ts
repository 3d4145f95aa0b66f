import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { HOOK_LIMITS } from "@svc/contracts";
import type { HookAuth } from "@svc/contracts";
import { webhookKeyOf } from "@svc/outbound";

/** A call with its claims. */
export interface HookCall {
  /** Every value of each header, names in lower case. */
  headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Raw bytes. */
  body: Buffer;
  /** Secret in the path; null without one. */
  pathSecret: string | null;
  now: Date;
}

type Algorithm = "sha256" | "sha1" | "sha512";

/** Signatures of a call, and how to verify them. */
interface Claim {
  algorithm: Algorithm;
  encoding: "hex" | "base64";
  /** The signed parts, in their order. */
  signed: readonly (string | Buffer)[];
  /** Signatures without their prefix; one of them has to be valid. */
  given: readonly string[];
  keyOf: (secret: string) => Buffer;
}

type HeaderScheme = Exclude<HookAuth["type"], "path">;

/** A call for an unknown hook is checked against this random secret, so that it takes as long as one for a known hook. */
const RANDOM_SECRET = randomBytes(32).toString("base64url");

const bytesOf = (secret: string) => Buffer.from(secret, "utf8");

/** Returns the value of a header that was sent once; readers may disagree on one that was sent twice. */
function single({ headers }: HookCall, name: string): string | null {
  const values = headers[name];
  return values?.length === 1 ? (values[0] ?? null) : null;
}

/** Returns the value of a header after the required prefix. */
function afterPrefix(call: HookCall, name: string, prefix: string): string[] | null {
  const value = single(call, name);
  return value?.startsWith(prefix) ? [value.slice(prefix.length)] : null;
}

/** Returns true if Unix seconds are close enough to now, before or after. */
function isTimely(seconds: string | undefined, { now }: HookCall): seconds is string {
  if (seconds === undefined || !/^\d{1,12}$/.test(seconds)) return false;
  return Math.abs(now.getTime() - Number(seconds) * 1_000) <= HOOK_LIMITS.toleranceSeconds * 1_000;
}

/** Returns the claim of an HMAC of the body alone, in one header. */
function ofBody(
  call: HookCall,
  { header, prefix, ...how }: { header: string; prefix: string; algorithm: Algorithm; encoding: "hex" | "base64" },
): Claim | null {
  const given = afterPrefix(call, header, prefix);
  return given === null ? null : { ...how, given, signed: [call.body], keyOf: bytesOf };
}

/** Returns the claim of a call by each scheme; null without a signature, or if it is too old. */
const CLAIMS: Record<Exclude<HeaderScheme, "hmac">, (call: HookCall) => Claim | null> = {
  github: (call) =>
    ofBody(call, { header: "x-hub-signature-256", prefix: "sha256=", algorithm: "sha256", encoding: "hex" }),
  shopify: (call) =>
    ofBody(call, { header: "x-shopify-hmac-sha256", prefix: "", algorithm: "sha256", encoding: "base64" }),
  typeform: (call) =>
    ofBody(call, { header: "typeform-signature", prefix: "sha256=", algorithm: "sha256", encoding: "base64" }),
  // `t=<seconds>,v1=<hex>,v1=<hex>`: two while Stripe rotates the secret. Other versions are weaker and ignored.
  stripe(call) {
    const items = (single(call, "stripe-signature") ?? "").split(",").map((item) => item.trim());
    const valuesOf = (name: string) =>
      items.filter((item) => item.startsWith(`${name}=`)).map((item) => item.slice(name.length + 1));
    const [seconds, another] = valuesOf("t");
    if (another !== undefined || !isTimely(seconds, call)) return null;
    const signed = [`${seconds}.`, call.body];
    return { algorithm: "sha256", encoding: "hex", signed, given: valuesOf("v1"), keyOf: bytesOf };
  },
  // `v1,<base64>` for each secret, separated by spaces (Standard Webhooks 1.0).
  "standard-webhooks"(call) {
    const id = single(call, "webhook-id");
    const seconds = single(call, "webhook-timestamp") ?? undefined;
    const signatures = single(call, "webhook-signature");
    if (id === null || signatures === null || !isTimely(seconds, call)) return null;
    const given = signatures.split(" ").flatMap((item) => (item.startsWith("v1,") ? [item.slice(3)] : []));
    const signed = [`${id}.${seconds}.`, call.body];
    return { algorithm: "sha256", encoding: "base64", signed, given, keyOf: webhookKeyOf };
  },
};

/** Returns the claim of a call by the scheme of its hook. */
function claimOf(call: HookCall, auth: HookAuth): Claim | null {
  if (auth.type === "path") return null;
  return auth.type === "hmac" ? ofBody(call, auth) : CLAIMS[auth.type](call);
}

function isEqual(left: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => Buffer.from(text, "utf8"));
  return a !== undefined && b !== undefined && a.length === b.length && timingSafeEqual(a, b);
}

function isSigned({ algorithm, encoding, signed, given, keyOf }: Claim, secret: string): boolean {
  const hmac = createHmac(algorithm, keyOf(secret));
  for (const part of signed) hmac.update(part);
  const expected = hmac.digest(encoding);
  // Some senders use upper-case hexadecimal digits.
  return given.some((value) => isEqual(encoding === "hex" ? value.toLowerCase() : value, expected));
}

const digestOf = (secret: string) => createHash("sha256").update(secret).digest();

/**
 * Returns true if a call comes from the hook's sender: it has the secret in its path, or an HMAC over the raw body in a
 * header, with one of the valid secrets (at most two). Without a hook it returns false, after the same work. All
 * comparisons take constant time.
 */
export function isProven(hook: { auth: HookAuth; secrets: readonly string[] } | null, call: HookCall): boolean {
  const [current = RANDOM_SECRET, previous = RANDOM_SECRET] = hook?.secrets ?? [];
  if (call.pathSecret !== null) {
    const given = digestOf(call.pathSecret);
    const isMatch = [current, previous].map((secret) => timingSafeEqual(given, digestOf(secret))).includes(true);
    return isMatch && hook?.auth.type === "path";
  }
  const claim = hook === null ? null : claimOf(call, hook.auth);
  const checked: Claim = claim ?? {
    algorithm: "sha256",
    encoding: "hex",
    signed: [call.body],
    given: [""],
    keyOf: bytesOf,
  };
  // Always checks both secrets, so that the time does not reveal which one is valid.
  const usable = claim === null ? [RANDOM_SECRET, RANDOM_SECRET] : [current, previous];
  const isMatch = usable.map((secret) => isSigned(checked, secret)).includes(true);
  return isMatch && claim !== null;
}
