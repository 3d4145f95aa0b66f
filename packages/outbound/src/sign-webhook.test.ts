import { createHmac } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { isWebhookSecret, signWebhook, verifyWebhook } from "./sign-webhook.ts";
import type { WebhookToVerify } from "./sign-webhook.ts";

const BODY = JSON.stringify({ ok: true, mode: "webhook", text: "Grüße 👋" });
const PLAIN = "an API key or any other text";
const ENCODED = `whsec_${Buffer.from("a secret of twenty-four bytes").toString("base64")}`;
const NOW = new Date();

function sign(secrets: string[], body: string | Uint8Array = BODY) {
  return signWebhook({ body, secrets, deliveryId: "0193", timestamp: NOW });
}

function received(secrets: string[], more: Partial<WebhookToVerify> = {}): WebhookToVerify {
  const entries = Object.entries(sign(secrets)).map(([name, value]) => [name.toLowerCase(), value]);
  return { body: BODY, headers: Object.fromEntries(entries), secrets, now: NOW, ...more };
}

describe("signWebhook", () => {
  test("X-Svc-Signature is the hex HMAC-SHA256 of the raw body, keyed with the secret's UTF-8 bytes", () => {
    for (const secret of [PLAIN, ENCODED, "schlüssel"]) {
      const expected = createHmac("sha256", Buffer.from(secret, "utf8"))
        .update(Buffer.from(BODY, "utf8"))
        .digest("hex");
      expect(sign([secret])["X-Svc-Signature"]).toBe(`sha256=${expected}`);
    }
  });

  test("the reference verifier of Standard Webhooks accepts a whsec_ secret and a plain one", () => {
    expect(new Webhook(ENCODED).verify(BODY, { ...sign([ENCODED]) })).toEqual(JSON.parse(BODY));
    expect(new Webhook(PLAIN, { format: "raw" }).verify(BODY, { ...sign([PLAIN]) })).toEqual(JSON.parse(BODY));
  });

  test("the reference verifier refuses a changed body and another secret", () => {
    const headers = { ...sign([ENCODED]) };
    expect(() => new Webhook(ENCODED).verify(`${BODY} `, headers)).toThrow();
    expect(() => new Webhook(PLAIN, { format: "raw" }).verify(BODY, headers)).toThrow();
  });

  test("while a secret is rotated, receivers with the old and with the new one both accept", () => {
    const headers = { ...sign([PLAIN, ENCODED]) };
    expect(headers["webhook-signature"].split(" ")).toHaveLength(2);
    expect(headers["X-Svc-Signature"]).toBe(sign([PLAIN])["X-Svc-Signature"]);
    new Webhook(ENCODED).verify(BODY, headers);
    new Webhook(PLAIN, { format: "raw" }).verify(BODY, headers);
  });

  test("text and its UTF-8 bytes have the same signature", () => {
    expect(sign([PLAIN], Buffer.from(BODY, "utf8"))).toEqual(sign([PLAIN]));
  });

  test("the timestamp is in whole seconds", () => {
    const headers = signWebhook({ body: "", secrets: [PLAIN], deliveryId: "1", timestamp: new Date(1_999) });
    expect(headers["webhook-timestamp"]).toBe("1");
  });

  test.each([[[]], [[""]], [["whsec_"]], [["whsec_no base64"]], [[PLAIN, "whsec_a"]]])(
    "with the secrets %j nothing is signed, and the error does not tell them",
    (secrets) => {
      expect(() => sign(secrets)).toThrow(TypeError);
      expect(() => sign(secrets)).not.toThrow(/no base64|whsec_a/);
    },
  );
});

describe("verifyWebhook", () => {
  test("accepts what signWebhook signs, in either scheme, whatever the body and the secrets", () => {
    const secret = fc.oneof(
      fc.string({ minLength: 1 }).filter(isWebhookSecret),
      fc.uint8Array({ minLength: 1 }).map((bytes) => `whsec_${Buffer.from(bytes).toString("base64")}`),
    );
    fc.assert(
      fc.property(fc.uint8Array(), fc.array(secret, { minLength: 1, maxLength: 3 }), (body, secrets) => {
        const signed = Object.entries(sign(secrets, body)).map(([name, value]) => [name.toLowerCase(), value]);
        const headers = Object.fromEntries(signed);
        for (const scheme of ["standard", "body"] as const) {
          expect(verifyWebhook({ body, headers, secrets: secrets.slice(0, 1), scheme, now: NOW })).toEqual({
            ok: true,
          });
        }
      }),
    );
  });

  test.each(["standard", "body"] as const)("%s refuses a changed body, another secret and no secret", (scheme) => {
    const refusal = { ok: false, reason: "bad_signature" };
    expect(verifyWebhook(received([PLAIN], { scheme, body: `${BODY} ` }))).toEqual(refusal);
    expect(verifyWebhook(received([PLAIN], { scheme, secrets: [ENCODED] }))).toEqual(refusal);
    expect(verifyWebhook(received([PLAIN], { scheme, secrets: [] }))).toEqual(refusal);
  });

  test.each(["standard", "body"] as const)("%s refuses a callback without its headers", (scheme) => {
    expect(verifyWebhook(received([PLAIN], { scheme, headers: {} }))).toEqual({ ok: false, reason: "missing_header" });
  });

  test("standard refuses a callback that is only signed by body, so that it cannot be replayed", () => {
    const { headers } = received([PLAIN]);
    const only = { "x-svc-signature": headers["x-svc-signature"] };
    expect(verifyWebhook(received([PLAIN], { headers: only }))).toEqual({ ok: false, reason: "missing_header" });
  });

  test.each([-300_999, 300_999])("standard refuses a timestamp %i ms away", (awayMs) => {
    const now = new Date(NOW.getTime() + awayMs + Math.sign(awayMs) * 1_000);
    expect(verifyWebhook(received([PLAIN], { now }))).toEqual({ ok: false, reason: "bad_timestamp" });
  });

  test.each(["", "soon", "1e9", "-1", "0x10", "9".repeat(400)])("standard refuses the timestamp %j", (timestamp) => {
    const { headers } = received([PLAIN]);
    const webhook = received([PLAIN], { headers: { ...headers, "webhook-timestamp": timestamp } });
    expect(verifyWebhook(webhook)).toEqual({ ok: false, reason: "bad_timestamp" });
  });

  test("standard refuses another id, since the id is signed too", () => {
    const { headers } = received([PLAIN]);
    const webhook = received([PLAIN], { headers: { ...headers, "webhook-id": "other" } });
    expect(verifyWebhook(webhook)).toEqual({ ok: false, reason: "bad_signature" });
  });
});
