import { createHmac } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { WebhookError, verifyWebhook } from "@svc/client";
import type { ReceivedWebhook } from "@svc/client";
import { signWebhook } from "@svc/outbound";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";

const SECRET = "whsec_c3ZjLWRvY3VtZW50YXRpb24tZXhhbXBsZS1rZXk=";
const RAW_SECRET = "größerer Schlüssel, ungefähr so";
const NOW = new Date("2026-11-21T17:00:00Z");
const BODY = JSON.stringify({ ok: true, type: "message.completed", chatId: "Größe 42", replies: [] });
const sign = (body: string, secrets: string[], timestamp = NOW) =>
  signWebhook({ body, secrets, deliveryId: "d-1", timestamp });

/** Returns a genuine callback with changes. */
const received = (change: Partial<ReceivedWebhook> = {}): ReceivedWebhook => ({
  body: BODY,
  headers: { ...sign(BODY, [SECRET]) },
  secret: SECRET,
  now: NOW,
  ...change,
});
const refusal = (code: string) => expect.objectContaining({ name: "WebhookError", code });

describe("a genuine callback is accepted", () => {
  test.each<[string, Partial<ReceivedWebhook>]>([
    ["as text", {}],
    ["as bytes", { body: new TextEncoder().encode(BODY) }],
    ["as a Buffer", { body: Buffer.from(BODY) }],
    ["with Headers", { headers: new Headers({ ...sign(BODY, [SECRET]) }) }],
    ["with a secret that is not base64", { headers: { ...sign(BODY, [RAW_SECRET]) }, secret: RAW_SECRET }],
    ["during a change, by who has the new secret", { headers: { ...sign(BODY, [SECRET, RAW_SECRET]) } }],
    ["during a change, by who has the old one", { headers: { ...sign(BODY, [RAW_SECRET, SECRET]) } }],
    ["by who accepts several secrets", { secret: ["whsec_b3RoZXI=", SECRET] }],
    [
      "by X-Svc-Signature alone",
      { scheme: "body", headers: { "x-svc-signature": sign(BODY, [SECRET])["X-Svc-Signature"] } },
    ],
    ["almost five minutes late", { now: new Date(NOW.getTime() + 300_000) }],
    ["by a clock that is slow", { now: new Date(NOW.getTime() - 300_000) }],
    ["later where that is allowed", { now: new Date(NOW.getTime() + 900_000), toleranceSeconds: 900 }],
  ])("%s", async (_how, change) => {
    expect(await verifyWebhook(received(change))).toEqual(JSON.parse(BODY));
  });

  test("and its parsed body is returned, as in the example of the documentation", async () => {
    const body = '{"ok":true,"type":"message.completed","chatId":"Größe 42"}';
    const headers = {
      "Webhook-Id": "01a1fe7b-4312-7362-b590-0b7f11541fa3",
      "Webhook-Timestamp": "1795270800",
      "Webhook-Signature": "v1,pGc3jpNm61Kl0dSaAlscVCC4bdorkciIbZvc6zGel4c=",
      "X-Svc-Signature": "sha256=5f15d43aa5299ffdffd611525fa58f798ec9bee1008689b095719e228290089a",
    };
    const now = new Date(1795270800_000);
    // Its signature is right, but the callback is incomplete.
    await expect(verifyWebhook({ body, headers, secret: SECRET, now })).rejects.toEqual(refusal("bad_body"));
    await expect(verifyWebhook({ body, headers, secret: SECRET, now, scheme: "body" })).rejects.toEqual(
      refusal("bad_body"),
    );
  });

  test("if the reference implementation of Standard Webhooks has signed it", async () => {
    const anyBody = fc.string({ unit: "binary" }).map((text) => JSON.stringify({ type: "x", replies: [], text }));
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 80 }), anyBody, async (key, body) => {
        const secret = `whsec_${Buffer.from(key).toString("base64")}`;
        const signature = new Webhook(secret).sign("m-1", NOW, body);
        const headers = {
          "webhook-id": "m-1",
          "webhook-timestamp": String(NOW.getTime() / 1000),
          "webhook-signature": signature,
        };
        expect(await verifyWebhook({ body, headers, secret, now: NOW })).toEqual(JSON.parse(body));
      }),
      { numRuns: 50 },
    );
  });
});

describe("a callback is rejected", () => {
  const headers = { ...sign(BODY, [SECRET]) };
  const without = (name: string) => Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
  test.each<[string, string, Partial<ReceivedWebhook>]>([
    ["whose body was changed", "bad_signature", { body: BODY.replace("42", "43") }],
    ["whose id was changed", "bad_signature", { headers: { ...headers, "webhook-id": "d-2" } }],
    ["whose time was changed", "bad_signature", { headers: { ...headers, "webhook-timestamp": "1795280399" } }],
    ["of another secret", "bad_signature", { secret: "whsec_b3RoZXI=" }],
    ["with the secret as bytes that is base64", "bad_signature", { secret: SECRET.slice(6) }],
    ["with an empty signature", "bad_signature", { headers: { ...headers, "webhook-signature": "" } }],
    [
      "of another version",
      "bad_signature",
      {
        headers: { ...headers, "webhook-signature": headers["webhook-signature"].replace("v1,", "v2,") },
      },
    ],
    ["that is too old", "bad_timestamp", { now: new Date(NOW.getTime() + 301_000) }],
    ["from the future", "bad_timestamp", { now: new Date(NOW.getTime() - 301_000) }],
    ["with a time that is none", "bad_timestamp", { headers: { ...headers, "webhook-timestamp": "1e9" } }],
    ["without an id", "missing_header", { headers: without("webhook-id") }],
    ["without a signature", "missing_header", { headers: without("webhook-signature") }],
    ["with two signatures", "missing_header", { headers: { ...headers, "Webhook-Signature": "v1,x" } }],
    [
      "whose sender would like the weaker proof",
      "missing_header",
      {
        headers: { "x-svc-signature": headers["X-Svc-Signature"] },
      },
    ],
    ["with a wrong X-Svc-Signature", "bad_signature", { scheme: "body", body: `${BODY} ` }],
    ["without X-Svc-Signature", "missing_header", { scheme: "body", headers: {} }],
  ])("%s", async (_what, code, change) => {
    await expect(verifyWebhook(received(change))).rejects.toEqual(refusal(code));
  });

  test("that is signed but not a callback", async () => {
    for (const body of ["not JSON", "[]", "{}", "null"]) {
      const signed = received({ body, headers: { ...sign(body, [SECRET]) } });
      await expect(verifyWebhook(signed)).rejects.toBeInstanceOf(WebhookError);
    }
  });

  test("by a receiver without a secret: an empty one would let anyone sign", async () => {
    const forged = createHmac("sha256", "")
      .update(`d-1.${NOW.getTime() / 1000}.${BODY}`)
      .digest("base64");
    const forgedHeaders = { ...headers, "webhook-signature": `v1,${forged}` };
    for (const secret of ["", [], [""], ["whsec_"], ["whsec_not base64"]]) {
      await expect(verifyWebhook(received({ secret, headers: forgedHeaders }))).rejects.toThrow(TypeError);
    }
  });

  test("and no error contains the secret", async () => {
    await expect(verifyWebhook(received({ secret: "whsec_geheim!" }))).rejects.not.toThrow("geheim");
    await expect(verifyWebhook(received({ secret: RAW_SECRET }))).rejects.not.toThrow(RAW_SECRET);
  });

  test("if a framework has already parsed the body, with an explanation", async () => {
    const parsed = JSON.parse(BODY) as string;
    await expect(verifyWebhook(received({ body: parsed }))).rejects.toThrow("Pass the raw body");
  });
});
