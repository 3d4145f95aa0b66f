import { createHmac } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import type { HookAuth } from "@svc/contracts";
import { isProven } from "./receive-hook.ts";
import type { HookCall } from "./receive-hook.ts";

const SECRET = "a-secret-of-the-platform";
const OLDER = "the-secret-before-that-one";
const STANDARD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = Buffer.from('{"text":"Grüße 😀"}');
const NOW = new Date("2026-11-21T12:00:00Z");
const SECONDS = Math.floor(NOW.getTime() / 1_000);

type Algorithm = "sha256" | "sha1" | "sha512";

const hmac = (
  key: string | Buffer,
  text: string | Buffer,
  encoding: "hex" | "base64",
  algorithm: Algorithm = "sha256",
) => createHmac(algorithm, key).update(text).digest(encoding);
const stamped = (before: string) => Buffer.concat([Buffer.from(before), BODY]);
const callWith = (headers: Record<string, string | string[]>, more: Partial<HookCall> = {}): HookCall => ({
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()])),
  body: BODY,
  pathSecret: null,
  now: NOW,
  ...more,
});
const stripeOf = (seconds: number, secret: string) =>
  `t=${seconds},v0=${hmac(secret, BODY, "hex")},v1=${hmac(secret, stamped(`${seconds}.`), "hex")}`;
const standardOf = (seconds: number, secret: string, id = "msg_1") => ({
  "webhook-id": id,
  "webhook-timestamp": String(seconds),
  "webhook-signature": `v1,${hmac(Buffer.from(secret.slice(6), "base64"), stamped(`${id}.${seconds}.`), "base64")}`,
});

interface Scheme {
  auth: HookAuth;
  secret: string;
  /** The headers of a call that this secret signs. */
  sign: (secret: string) => Record<string, string>;
}

const SCHEMES: Record<string, Scheme> = {
  github: {
    auth: { type: "github" },
    secret: SECRET,
    sign: (secret) => ({ "x-hub-signature-256": `sha256=${hmac(secret, BODY, "hex")}` }),
  },
  stripe: {
    auth: { type: "stripe" },
    secret: SECRET,
    sign: (secret) => ({ "stripe-signature": stripeOf(SECONDS, secret) }),
  },
  "standard-webhooks": {
    auth: { type: "standard-webhooks" },
    secret: STANDARD,
    sign: (secret) => standardOf(SECONDS, secret.startsWith("whsec_") ? secret : `whsec_${btoa(secret)}`),
  },
  shopify: {
    auth: { type: "shopify" },
    secret: SECRET,
    sign: (secret) => ({ "x-shopify-hmac-sha256": hmac(secret, BODY, "base64") }),
  },
  typeform: {
    auth: { type: "typeform" },
    secret: SECRET,
    sign: (secret) => ({ "typeform-signature": `sha256=${hmac(secret, BODY, "base64")}` }),
  },
  "hmac, sha1 and hex with a prefix": {
    auth: { type: "hmac", header: "x-signature", algorithm: "sha1", encoding: "hex", prefix: "sha1=" },
    secret: SECRET,
    sign: (secret) => ({ "x-signature": `sha1=${hmac(secret, BODY, "hex", "sha1")}` }),
  },
  "hmac, sha512 and base64": {
    auth: { type: "hmac", header: "x-signature", algorithm: "sha512", encoding: "base64", prefix: "" },
    secret: SECRET,
    sign: (secret) => ({ "x-signature": hmac(secret, BODY, "base64", "sha512") }),
  },
};

describe.each(Object.entries(SCHEMES))("%s", (_name, { auth, secret, sign }) => {
  const hook = { auth, secrets: [secret] };

  test("accepts a body that was signed with the current or the previous secret", () => {
    expect(isProven(hook, callWith(sign(secret)))).toBe(true);
    const rotated = auth.type === "standard-webhooks" ? "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" : OLDER;
    expect(isProven({ auth, secrets: [rotated, secret] }, callWith(sign(secret)))).toBe(true);
    expect(isProven({ auth, secrets: [rotated, secret] }, callWith(sign(rotated)))).toBe(true);
  });

  test("another secret, a changed body, or a missing, duplicate or truncated header is rejected", () => {
    expect(isProven(hook, callWith(sign("another-secret-of-this-length")))).toBe(false);
    expect(isProven(hook, callWith(sign(secret), { body: Buffer.concat([BODY, Buffer.from(" ")]) }))).toBe(false);
    for (const [name, value] of Object.entries(sign(secret))) {
      const { [name]: _missing, ...rest } = sign(secret);
      expect(isProven(hook, callWith(rest))).toBe(false);
      expect(isProven(hook, callWith({ ...rest, [name]: [value, value] }))).toBe(false);
      expect(isProven(hook, callWith({ ...rest, [name]: value.slice(0, -1) }))).toBe(false);
      expect(isProven(hook, callWith({ ...rest, [name]: "" }))).toBe(false);
    }
  });

  test("an unknown hook, or a secret in the path of a hook with a header, is rejected", () => {
    expect(isProven(null, callWith(sign(secret)))).toBe(false);
    expect(isProven(hook, callWith(sign(secret), { pathSecret: secret }))).toBe(false);
  });
});

describe("times of signatures", () => {
  test.each([-301, 301])("%d s from now is rejected, five minutes are accepted", (offset) => {
    const near = SECONDS + Math.sign(offset) * 300;
    const stripe = { auth: { type: "stripe" }, secrets: [SECRET] } as const;
    expect(isProven(stripe, callWith({ "stripe-signature": stripeOf(SECONDS + offset, SECRET) }))).toBe(false);
    expect(isProven(stripe, callWith({ "stripe-signature": stripeOf(near, SECRET) }))).toBe(true);
    const standard = { auth: { type: "standard-webhooks" }, secrets: [STANDARD] } as const;
    expect(isProven(standard, callWith(standardOf(SECONDS + offset, STANDARD)))).toBe(false);
    expect(isProven(standard, callWith(standardOf(near, STANDARD)))).toBe(true);
  });

  test("the time is signed too, and must be unique", () => {
    const signature = hmac(SECRET, stamped(`${SECONDS - 1_000}.`), "hex");
    const hook = { auth: { type: "stripe" }, secrets: [SECRET] } as const;
    for (const value of [`t=${SECONDS},v1=${signature}`, `t=${SECONDS - 1_000},t=${SECONDS},v1=${signature}`]) {
      expect(isProven(hook, callWith({ "stripe-signature": value }))).toBe(false);
    }
  });
});

test("one valid signature of several is enough, one of a weaker version is not", () => {
  const hook = { auth: { type: "stripe" }, secrets: [SECRET] } as const;
  const right = hmac(SECRET, stamped(`${SECONDS}.`), "hex");
  const several = `t=${SECONDS},v1=${"0".repeat(64)},v1=${right}`;
  expect(isProven(hook, callWith({ "stripe-signature": several }))).toBe(true);
  expect(isProven(hook, callWith({ "stripe-signature": `t=${SECONDS},v0=${right}` }))).toBe(false);
  const standard = { auth: { type: "standard-webhooks" }, secrets: [STANDARD] } as const;
  const headers = standardOf(SECONDS, STANDARD);
  const both = { ...headers, "webhook-signature": `v1,bm8= v1a,x ${headers["webhook-signature"]}` };
  expect(isProven(standard, callWith(both))).toBe(true);
});

test("a secret in the path is compared as a whole with every valid secret", () => {
  const hook = { auth: { type: "path" }, secrets: [SECRET, OLDER] } as const;
  for (const pathSecret of [SECRET, OLDER]) expect(isProven(hook, callWith({}, { pathSecret }))).toBe(true);
  for (const pathSecret of ["", SECRET.slice(1), `${SECRET}x`, SECRET.toUpperCase()]) {
    expect(isProven(hook, callWith({}, { pathSecret }))).toBe(false);
  }
  expect(isProven(hook, callWith({}))).toBe(false);
  expect(isProven(null, callWith({}, { pathSecret: SECRET }))).toBe(false);
});
