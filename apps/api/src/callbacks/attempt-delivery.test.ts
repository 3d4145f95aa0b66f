import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createAddressGuard, verifyWebhook } from "@svc/outbound";
import { asProjectId, newId, openStore } from "@svc/store";
import type { DeliveryRequest, AttemptResult } from "@svc/store";
import { freePort, holdResource, startWebhookReceiver, testLog } from "@svc/testing";
import type { ReceiverAnswer, WebhookReceiver } from "@svc/testing";
import { callbackBody } from "./callback-body.ts";
import { RETRY_DELAYS_MS } from "./retry-schedule.ts";
import { failedAttempt, attemptDelivery } from "./attempt-delivery.ts";

const { sealer } = openStore({ url: "postgres://127.0.0.1:1/none", secretKey: "a".repeat(48), log: testLog() });
const guard = createAddressGuard({ allow: [], allowLoopback: true, ownPorts: [] });
const secrets = { webhookSecret: null, previousWebhookSecret: null };
const KEY = "the key of the sender";
const NEVER = new AbortController().signal;
const UNKNOWN_OR_PRIVATE = expect.stringMatching(/^the host name does not resolve to a public address;[^0-9]*$/);

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

const tryIt = (delivery: DeliveryRequest, signal = NEVER, tools: Partial<Parameters<typeof attemptDelivery>[1]> = {}) =>
  attemptDelivery(delivery, { guard, sealer, secrets, body: callbackBody(delivery), ...tools }, signal);

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
      expect(result).toMatchObject({ status: null, error: UNKNOWN_OR_PRIVATE, next: { delayMs: expect.any(Number) } });
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
