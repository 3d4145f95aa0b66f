import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createAddressGuard, verifyWebhook } from "@svc/outbound";
import { asProjectId, newId, openStore } from "@svc/store";
import type { AttemptResult, DeliveryRequest } from "@svc/store";
import { freePort, holdResource, startWebhookReceiver, testLog } from "@svc/testing";
import type { ReceiverAnswer, WebhookReceiver } from "@svc/testing";
import {
  attemptDelivery,
  failedAttempt,
  findSigningSecrets,
  readRetryAfterMs,
  RETRY_DELAYS_MS,
  retryDelayMs,
} from "./attempt-delivery.ts";
import { callbackBody } from "./create-callbacks.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const LATER = "2026-11-21T12:00:01.000Z";
const EARLIER = "2026-11-21T11:59:59.000Z";

/** Returns the sealer of a store that never connects. */
const sealerOf = (secretKey: string) =>
  openStore({ url: "postgres://127.0.0.1:1/none", secretKey, log: testLog() }).sealer;
const secretSealer = sealerOf("a".repeat(48));
const stranger = sealerOf("b".repeat(48));

const unset = { webhookSecret: null, previousWebhookSecret: null };
const byKey = (key: string) => ({ sealedSecret: secretSealer.seal(key), isKeyRevoked: false });
const find = (settings: Parameters<typeof findSigningSecrets>[0], delivery: Parameters<typeof findSigningSecrets>[1]) =>
  findSigningSecrets(settings, delivery, secretSealer, NOW);

describe("if a webhook secret is set", () => {
  const set = { webhookSecret: secretSealer.seal("the secret"), previousWebhookSecret: null };

  test("it signs instead of the sender's key", () => {
    expect(find(set, byKey("the key"))).toEqual({ secrets: ["the secret"] });
  });

  test("it also signs for a sender whose key is revoked or was never stored", () => {
    expect(find(set, { sealedSecret: null, isKeyRevoked: true })).toEqual({ secrets: ["the secret"] });
  });

  test("the previous one also signs, in second place, until it expires", () => {
    const previous = secretSealer.seal("the one before");
    const live = { ...set, previousWebhookSecret: { ...previous, until: LATER } };
    expect(find(live, byKey("the key"))).toEqual({ secrets: ["the secret", "the one before"] });
    const over = { ...set, previousWebhookSecret: { ...previous, until: EARLIER } };
    expect(find(over, byKey("the key"))).toEqual({ secrets: ["the secret"] });
  });

  test("and cannot be decrypted or used, nothing else signs, and the operator gets the reason", () => {
    for (const webhookSecret of [
      stranger.seal("the secret"),
      secretSealer.seal("whsec_no base64"),
      secretSealer.seal(""),
    ]) {
      expect(find({ ...set, webhookSecret }, byKey("the key"))).toEqual({
        problem: expect.stringMatching(/set a new secret/),
      });
    }
  });

  test("a previous one that cannot be decrypted or used does not prevent the current one from signing", () => {
    for (const previous of [stranger.seal("the one before"), secretSealer.seal("whsec_no base64")]) {
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
    const previousWebhookSecret = { ...secretSealer.seal("the one before"), until: LATER };
    expect(find({ webhookSecret: null, previousWebhookSecret }, byKey("the key"))).toEqual({ secrets: ["the key"] });
  });

  test("a revoked key signs nothing", () => {
    expect(find(unset, { ...byKey("the key"), isKeyRevoked: true })).toEqual({
      problem: expect.stringMatching(/revoked/),
    });
  });

  test("a key that is deleted, or cannot be decrypted or used, signs nothing, and the operator gets the reason", () => {
    for (const sealedSecret of [null, stranger.seal("the key"), secretSealer.seal("whsec_no base64")]) {
      expect(find(unset, { sealedSecret, isKeyRevoked: false })).toEqual({
        problem: expect.stringMatching(/svc webhook secret --project NAME --generate/),
      });
    }
  });
});

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Just below 1, the maximum of Math.random. */
const MAX_RANDOM = 1 - Number.EPSILON;

describe("the schedule", () => {
  test("is 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h, 48 h, and ends after the ninth failed attempt", () => {
    const planned = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR, 48 * HOUR];
    expect(planned.map((_, index) => retryDelayMs(index + 1, null, 0))).toEqual(planned);
    expect(RETRY_DELAYS_MS).toEqual(planned);
    expect(retryDelayMs(9, null, 0)).toBeNull();
    // Attempts without a known result, since their process crashed, count too.
    expect(retryDelayMs(12, null, 0)).toBeNull();
  });

  test("has a jitter that only increases a delay, by less than a tenth", () => {
    for (const [index, planned] of RETRY_DELAYS_MS.entries()) {
      expect(retryDelayMs(index + 1, null, 0)).toBe(planned);
      const longest = retryDelayMs(index + 1, null, MAX_RANDOM) ?? 0;
      expect(longest).toBeGreaterThan(planned);
      expect(longest).toBeLessThanOrEqual(planned * 1.1);
    }
  });

  test("respects the delay that a receiver requests, at least the planned one and at most 48 hours", () => {
    expect(retryDelayMs(1, MINUTE, 0)).toBe(MINUTE);
    expect(retryDelayMs(1, 0, 0)).toBe(5 * SECOND);
    expect(retryDelayMs(6, MINUTE, 0)).toBe(6 * HOUR);
    expect(retryDelayMs(1, 1_000 * HOUR, 0)).toBe(48 * HOUR);
  });

  test("ends after the ninth attempt, whatever the receiver requests", () => {
    expect(retryDelayMs(9, MINUTE, 0)).toBeNull();
  });
});

describe("Retry-After", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");

  test.each([
    ["120", 120 * SECOND],
    [" 7 ", 7 * SECOND],
    ["0", 0],
    ["Sat, 21 Nov 2026 12:02:00 GMT", 120 * SECOND],
    ["Saturday, 21-Nov-26 12:02:00 GMT", 120 * SECOND],
    ["Sat Nov 21 12:02:00 2026 GMT", 120 * SECOND],
    ["Sat, 21 Nov 2026 11:00:00 GMT", 0],
  ])("%j asks for %i ms", (value, expected) => expect(readRetryAfterMs(value, now)).toBe(expected));

  test.each([undefined, "", "soon", "12e", "99999999999", "NaN", "\u0660"])("%j is ignored", (value) =>
    expect(readRetryAfterMs(value, now)).toBeNull(),
  );
});

const { sealer } = openStore({ url: "postgres://127.0.0.1:1/none", secretKey: "a".repeat(48), log: testLog() });
const guard = createAddressGuard({ allow: [], allowLoopback: true, ownPorts: [] });
const secrets = { webhookSecret: null, previousWebhookSecret: null };
const KEY = "the key of the sender";
const NEVER = new AbortController().signal;
const UNKNOWN_OR_PRIVATE = expect.stringMatching(/^the host name does not resolve to a public address;[^0-9]*$/);

describe("an attempt of a delivery", () => {
  let receiver: WebhookReceiver;
  beforeEach(async () => {
    receiver = await startWebhookReceiver();
  });
  afterEach(() => receiver.close());

  const deliveryTo = (url: string, change: Partial<DeliveryRequest> = {}): DeliveryRequest => ({
    project: asProjectId(newId()),
    id: newId(),
    leaseId: newId(),
    ticketId: newId(),
    messageId: newId(),
    type: "message.completed",
    url,
    createdAt: new Date("2026-11-21T12:00:00.123Z"),
    replyIds: [],
    failures: 0,
    lapses: 0,
    attempt: 1,
    chatId: "chat",
    meta: {},
    replies: [],
    sealedSecret: sealer.seal(KEY),
    coveredBy: null,
    isKeyRevoked: false,
    trace: null,
    event: null,
    webhook: null,
    ...change,
  });

  const tryIt = (
    delivery: DeliveryRequest,
    signal = NEVER,
    tools: Partial<Parameters<typeof attemptDelivery>[1]> = {},
  ) => attemptDelivery(delivery, { guard, sealer, secrets, body: callbackBody(delivery), ...tools }, signal);

  const delayOf = ({ next }: AttemptResult) => (typeof next === "string" ? null : next.delayMs);

  test("an attempt is a POST of the body, with headers for its type, ids and signature", async () => {
    const delivery = deliveryTo(receiver.url("/hook?a=b#c"), { attempt: 3, failures: 1 });
    expect(await tryIt(delivery)).toEqual({
      durationMs: expect.any(Number),
      status: 204,
      error: null,
      next: "delivered",
    });
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: "POST", path: "/hook?a=b" });
    expect(request?.body.toString()).toBe(callbackBody(delivery));
    expect(request?.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "user-agent": expect.stringMatching(/^svc-webhooks\/\d+\.\d+\.\d+/),
      "x-svc-delivery": delivery.id,
      "x-svc-attempt": "3",
      "webhook-id": delivery.id,
      "x-svc-signature": `sha256=${createHmac("sha256", KEY)
        .update(request?.body ?? "")
        .digest("hex")}`,
    });
    const webhook = { body: request?.body ?? "", headers: request?.headers ?? {}, secrets: [KEY], now: new Date() };
    expect(verifyWebhook(webhook)).toEqual({ ok: true });
  });

  describe("an attempt is successful", () => {
    test.each([200, 201, 202, 204, 206, 299])("at status %i", async (status) => {
      receiver.answerWith({ status });
      expect(await tryIt(deliveryTo(receiver.url()))).toMatchObject({ status, error: null, next: "delivered" });
    });

    test.each<[string, (response: ServerResponse) => void]>([
      [
        "is endless",
        (response) => {
          const part = "0123456789abcdef".repeat(1_024);
          const pour = () => {
            while (response.write(part));
          };
          response.on("drain", pour);
          pour();
        },
      ],
      ["is cut", (response) => void response.write("half", () => response.destroy())],
      ["never comes", (response) => response.flushHeaders()],
    ])("at a 2xx whose body %s", async (_, answer) => {
      const server = createServer((_request, response) => {
        response.writeHead(200, { "Content-Length": 1e12 });
        answer(response);
      });
      const close = async () => {
        server.closeAllConnections();
        if (server.listening) await new Promise((resolve) => server.close(resolve));
      };
      const release = holdResource("a server with a bad body", close);
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      const result = await tryIt(deliveryTo(`http://127.0.0.1:${port}/`));
      expect(result).toMatchObject({ status: 200, error: null, next: "delivered" });
      await close();
      release();
    });
  });

  describe("an attempt fails and is retried by the schedule", () => {
    test.each<[ReceiverAnswer, Partial<AttemptResult>]>([
      [{ status: 500 }, { status: 500, error: "the receiver responded with 500" }],
      [{ status: 404 }, { status: 404, error: "the receiver responded with 404" }],
      [{ status: 400 }, { status: 400, error: "the receiver responded with 400" }],
      [{ status: 304 }, { status: 304, error: "redirects are not followed" }],
      ["cut", { status: null, error: "connection failed (ECONNRESET)" }],
    ])("at %j", async (answer, expected) => {
      receiver.answerWith(answer);
      const result = await tryIt(deliveryTo(receiver.url(), { failures: 1 }));
      expect(result).toMatchObject(expected);
      expect(delayOf(result)).toBeGreaterThanOrEqual(RETRY_DELAYS_MS[1] ?? 0);
      expect(receiver.requests).toHaveLength(1);
    });

    test.each([301, 302, 303, 307, 308])("at a redirect with status %i, which is not followed", async (status) => {
      const other = await startWebhookReceiver();
      receiver.answerWith({ status, headers: { Location: other.url() } });
      const result = await tryIt(deliveryTo(receiver.url()));
      expect(result).toMatchObject({ status, error: "redirects are not followed" });
      expect(delayOf(result)).toBeGreaterThanOrEqual(RETRY_DELAYS_MS[0] ?? 0);
      expect(other.requests).toEqual([]);
      await other.close();
    });

    test("if nothing listens", async () => {
      const result = await tryIt(deliveryTo(`http://127.0.0.1:${await freePort()}/`));
      expect(result).toMatchObject({
        status: null,
        error: "connection failed (ECONNREFUSED)",
        next: { delayMs: expect.any(Number) },
      });
    });

    test("if the receiver speaks neither HTTP nor TLS", async () => {
      const result = await tryIt(deliveryTo(receiver.url().replace("http:", "https:")));
      expect(result).toMatchObject({ status: null, error: expect.stringMatching(/^connection failed \(E\w+\)$/) });
      expect(receiver.requests).toEqual([]);
    });

    test("if its address is forbidden by now, without a connection and without revealing it", async () => {
      const strict = createAddressGuard({ allow: [], allowLoopback: false, ownPorts: [] });
      const result = await tryIt(deliveryTo(receiver.url()), NEVER, { guard: strict });
      expect(result).toMatchObject({ status: null, error: UNKNOWN_OR_PRIVATE, next: { delayMs: expect.any(Number) } });
      expect(receiver.requests).toEqual([]);
    });

    test("if its name resolves to a forbidden address, without a connection and without revealing it", async () => {
      const rebinding = createAddressGuard(
        { allow: [], allowLoopback: false, ownPorts: [] },
        { lookup: (_name, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]) },
      );
      const url = `http://hooks.example.com:${receiver.port}/`;
      expect(rebinding.checkUrl(url)).toEqual({ ok: true });
      const result = await tryIt(deliveryTo(url), NEVER, { guard: rebinding });
      expect(result).toMatchObject({ status: null, error: UNKNOWN_OR_PRIVATE, next: { delayMs: expect.any(Number) } });
      expect(receiver.requests).toEqual([]);
    });

    test.each(["ENOTFOUND", "EAI_AGAIN"])(
      "if its name cannot be resolved (%s), without revealing which names exist in a private network",
      async (code) => {
        const lookup: LookupFunction = (_name, _options, callback) =>
          callback(Object.assign(new Error(code), { code }), []);
        const blind = createAddressGuard({ allow: [], allowLoopback: false, ownPorts: [] }, { lookup });
        const result = await tryIt(deliveryTo("http://hooks.example.com/"), NEVER, { guard: blind });
        expect(result).toMatchObject({
          status: null,
          error: UNKNOWN_OR_PRIVATE,
          next: { delayMs: expect.any(Number) },
        });
      },
    );

    test("after the delay that the receiver requests, in seconds or by a date", async () => {
      receiver.answerWith({ status: 503, headers: { "Retry-After": "3600" } });
      expect(delayOf(await tryIt(deliveryTo(receiver.url())))).toBeGreaterThanOrEqual(3_600_000);
      const inTwoHours = new Date(Date.now() + 7_200_000).toUTCString();
      receiver.answerWith({ status: 429, headers: { "Retry-After": inTwoHours } });
      expect(delayOf(await tryIt(deliveryTo(receiver.url())))).toBeGreaterThan(3_600_000);
    });
  });

  describe("a callback is dead", () => {
    test("at 410 immediately, whatever else the receiver responds", async () => {
      receiver.answerWith({ status: 410, headers: { "Retry-After": "60" } });
      expect(await tryIt(deliveryTo(receiver.url()))).toMatchObject({ status: 410, next: "dead" });
    });

    test("after the ninth failed attempt, and not before", async () => {
      receiver.answerWith({ status: 500 });
      expect(delayOf(await tryIt(deliveryTo(receiver.url(), { failures: 7 })))).toBeGreaterThanOrEqual(
        RETRY_DELAYS_MS[7] ?? 0,
      );
      expect(await tryIt(deliveryTo(receiver.url(), { failures: 8 }))).toMatchObject({ status: 500, next: "dead" });
    });

    test("if nothing can sign it, without a request", async () => {
      for (const change of [{ isKeyRevoked: true }, { sealedSecret: null }]) {
        expect(await tryIt(deliveryTo(receiver.url(), change))).toEqual({
          durationMs: 0,
          status: null,
          error: expect.stringMatching(/key/),
          next: "dead",
        });
      }
      expect(receiver.requests).toEqual([]);
    });

    test("after the ninth attempt, also if the service itself failed", () => {
      const facts = { durationMs: 0, status: null, error: "the service failed" };
      expect(failedAttempt({ failures: 8 }, facts)).toEqual({ ...facts, next: "dead" });
      expect(failedAttempt({ failures: 0 }, facts)).toEqual({ ...facts, next: { delayMs: expect.any(Number) } });
    });
  });

  test("two valid secrets give two values in webhook-signature; X-Svc-Signature is that of the current one", async () => {
    const [current, previous] = ["whsec_Y3VycmVudA==", "the one before"];
    const rotated = {
      webhookSecret: sealer.seal(current),
      previousWebhookSecret: { ...sealer.seal(previous), until: new Date(Date.now() + 60_000).toISOString() },
    };
    await tryIt(deliveryTo(receiver.url()), NEVER, { secrets: rotated });
    const { body, headers } = await receiver.next();
    expect(headers["webhook-signature"]?.split(" ")).toHaveLength(2);
    for (const secret of [current, previous]) {
      expect(verifyWebhook({ body, headers, secrets: [secret], now: new Date() })).toEqual({ ok: true });
    }
    expect(verifyWebhook({ body, headers, secrets: [KEY], now: new Date() }).ok).toBe(false);
    expect(headers["x-svc-signature"]).toBe(`sha256=${createHmac("sha256", current).update(body).digest("hex")}`);
  });

  test("a shutdown aborts an attempt that hangs, without a result for the callback", async () => {
    receiver.answerWith("hang");
    const stopping = new AbortController();
    const trying = tryIt(deliveryTo(receiver.url()), stopping.signal);
    await receiver.next();
    stopping.abort(new Error("the process is shutting down"));
    await expect(trying).rejects.toThrow("the process is shutting down");
  });
});
