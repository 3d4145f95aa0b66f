import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { HOOK_LIMITS } from "@svc/contracts";
import type { HookAuth } from "@svc/contracts";
import { webhookKeyOf } from "@svc/outbound";

/** What a call says of itself. */
export interface HookCall {
  /** Every value of each header, names in lower case. */
  headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** The bytes as they came. */
  body: Buffer;
  /** The secret in the path; null where there is none. */
  pathSecret: string | null;
  now: Date;
}

type Algorithm = "sha256" | "sha1" | "sha512";

/** A signature that a call claims to be right. */
interface Claim {
  algorithm: Algorithm;
  encoding: "hex" | "base64";
  /** What is signed, in its order. */
  signed: readonly (string | Buffer)[];
  /** Signatures of which one has to be right, without what stands before them. */
  given: readonly string[];
  keyOf: (secret: string) => Buffer;
}

type HeaderScheme = Exclude<HookAuth["type"], "path">;

/** A secret that nobody has: a call without a hook is checked against it, so that it takes as long as one with a hook. */
const NOBODYS_SECRET = randomBytes(32).toString("base64url");

const bytesOf = (secret: string) => Buffer.from(secret, "utf8");

/** The value of a header that was sent once; a header that was sent twice proves nothing, as readers may differ. */
function single({ headers }: HookCall, name: string): string | null {
  const values = headers[name];
  return values?.length === 1 ? (values[0] ?? null) : null;
}

/** The value of a header after what has to stand before it. */
function afterPrefix(call: HookCall, name: string, prefix: string): string[] | null {
  const value = single(call, name);
  return value?.startsWith(prefix) ? [value.slice(prefix.length)] : null;
}

/** Whether seconds since 1970 are near enough to now, before or after. */
function isTimely(seconds: string | undefined, { now }: HookCall): seconds is string {
  if (seconds === undefined || !/^\d{1,12}$/.test(seconds)) return false;
  return Math.abs(now.getTime() - Number(seconds) * 1_000) <= HOOK_LIMITS.toleranceSeconds * 1_000;
}

/** An HMAC of the body alone, in one header. */
function ofBody(
  call: HookCall,
  { header, prefix, ...how }: { header: string; prefix: string; algorithm: Algorithm; encoding: "hex" | "base64" },
): Claim | null {
  const given = afterPrefix(call, header, prefix);
  return given === null ? null : { ...how, given, signed: [call.body], keyOf: bytesOf };
}

/** What each scheme claims; null for a call that claims nothing, or something too old. */
const CLAIMS: Record<Exclude<HeaderScheme, "hmac">, (call: HookCall) => Claim | null> = {
  github: (call) =>
    ofBody(call, { header: "x-hub-signature-256", prefix: "sha256=", algorithm: "sha256", encoding: "hex" }),
  shopify: (call) =>
    ofBody(call, { header: "x-shopify-hmac-sha256", prefix: "", algorithm: "sha256", encoding: "base64" }),
  typeform: (call) =>
    ofBody(call, { header: "typeform-signature", prefix: "sha256=", algorithm: "sha256", encoding: "base64" }),
  // `t=<seconds>,v1=<hex>,v1=<hex>`: two while Stripe rolls the secret. Other versions are weaker and do not count.
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

/** The claim of a call by the scheme of its hook. */
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
  // Some write hexadecimal digits in capitals.
  return given.some((value) => isEqual(encoding === "hex" ? value.toLowerCase() : value, expected));
}

const digestOf = (secret: string) => createHash("sha256").update(secret).digest();

/**
 * Whether a call proves that it comes from the hook's sender: by the secret in its path, or by an HMAC over the raw body
 * in a header, with one of the live secrets (at most two). Without a hook the answer is false, after the same work. All
 * comparisons take the same time wherever the difference is.
 */
export function isProven(hook: { auth: HookAuth; secrets: readonly string[] } | null, call: HookCall): boolean {
  const [current = NOBODYS_SECRET, previous = NOBODYS_SECRET] = hook?.secrets ?? [];
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
  // Of the same secrets every one is tried, so that the time does not tell which of them was right.
  const usable = claim === null ? [NOBODYS_SECRET, NOBODYS_SECRET] : [current, previous];
  const isMatch = usable.map((secret) => isSigned(checked, secret)).includes(true);
  return isMatch && claim !== null;
}
