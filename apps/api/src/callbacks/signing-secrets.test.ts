import { describe, expect, test } from "@jest/globals";
import { openStore } from "@svc/store";
import { testLog } from "@svc/testing";
import { findSigningSecrets } from "./signing-secrets.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const LATER = "2026-11-21T12:00:01.000Z";
const EARLIER = "2026-11-21T11:59:59.000Z";

/** Returns the sealer of a store that never connects. */
const sealerOf = (secretKey: string) =>
  openStore({ url: "postgres://127.0.0.1:1/none", secretKey, log: testLog() }).sealer;
const sealer = sealerOf("a".repeat(48));
const stranger = sealerOf("b".repeat(48));

const unset = { webhookSecret: null, previousWebhookSecret: null };
const byKey = (key: string) => ({ sealedSecret: sealer.seal(key), isKeyRevoked: false });
const find = (settings: Parameters<typeof findSigningSecrets>[0], delivery: Parameters<typeof findSigningSecrets>[1]) =>
  findSigningSecrets(settings, delivery, sealer, NOW);

describe("if a webhook secret is set", () => {
  const set = { webhookSecret: sealer.seal("the secret"), previousWebhookSecret: null };

  test("it signs instead of the sender's key", () => {
    expect(find(set, byKey("the key"))).toEqual({ secrets: ["the secret"] });
  });

  test("it also signs for a sender whose key is revoked or was never stored", () => {
    expect(find(set, { sealedSecret: null, isKeyRevoked: true })).toEqual({ secrets: ["the secret"] });
  });

  test("the previous one also signs, in second place, until it expires", () => {
    const previous = sealer.seal("the one before");
    const live = { ...set, previousWebhookSecret: { ...previous, until: LATER } };
    expect(find(live, byKey("the key"))).toEqual({ secrets: ["the secret", "the one before"] });
    const over = { ...set, previousWebhookSecret: { ...previous, until: EARLIER } };
    expect(find(over, byKey("the key"))).toEqual({ secrets: ["the secret"] });
  });

  test("and cannot be decrypted or used, nothing else signs, and the operator gets the reason", () => {
    for (const webhookSecret of [stranger.seal("the secret"), sealer.seal("whsec_no base64"), sealer.seal("")]) {
      expect(find({ ...set, webhookSecret }, byKey("the key"))).toEqual({
        problem: expect.stringMatching(/set a new secret/),
      });
    }
  });

  test("a previous one that cannot be decrypted or used does not prevent the current one from signing", () => {
    for (const previous of [stranger.seal("the one before"), sealer.seal("whsec_no base64")]) {
      const live = { ...set, previousWebhookSecret: { ...previous, until: LATER } };
      expect(find(live, byKey("the key"))).toEqual({ secrets: ["the secret"] });
    }
  });
});

describe("if none is set", () => {
  test("the API key that sent the message signs", () => {
    expect(find(unset, byKey("svc_the-key"))).toEqual({ secrets: ["svc_the-key"] });
  });

  test("an earlier secret signs nothing", () => {
    const previousWebhookSecret = { ...sealer.seal("the one before"), until: LATER };
    expect(find({ webhookSecret: null, previousWebhookSecret }, byKey("the key"))).toEqual({ secrets: ["the key"] });
  });

  test("a revoked key signs nothing", () => {
    expect(find(unset, { ...byKey("the key"), isKeyRevoked: true })).toEqual({
      problem: expect.stringMatching(/revoked/),
    });
  });

  test("a key that is deleted, or cannot be decrypted or used, signs nothing, and the operator gets the reason", () => {
    for (const sealedSecret of [null, stranger.seal("the key"), sealer.seal("whsec_no base64")]) {
      expect(find(unset, { sealedSecret, isKeyRevoked: false })).toEqual({
        problem: expect.stringMatching(/svc webhook secret --project NAME --generate/),
      });
    }
  });
});
