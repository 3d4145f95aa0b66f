import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { DeliveryItem } from "@svc/contracts";
import type { Project } from "@svc/store";
import { freePort, holdResource, startWebhookReceiver } from "@svc/testing";
import type { ReceiverAnswer, WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callbackView } from "./support/callback-view.ts";
import type { CallbackView } from "./support/callback-view.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { callbackOf, expectSigned } from "./support/expect-signed.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const SCHEDULE = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR, 48 * HOUR];

let product: Product;
let api: ApiClient;
let receiver: WebhookReceiver;
let project: Project;
let callbacks: CallbackView;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  project = await addProject(product.store, "tries", { fixedReply: FIXED });
  callbacks = callbackView(product, project.id);
});

afterAll(() => product?.stop());

beforeEach(async () => {
  receiver = await startWebhookReceiver();
});

afterEach(() => receiver.close());

/** Sends a message with callbacks to a URL; returns its chat and the id of its final callback. */
async function send(webhookUrl: string): Promise<{ chatId: string; id: string }> {
  const chatId = randomUUID();
  const answer = await api.send("tries", { text: "hello", chatId, webhookUrl });
  expect(answer.status).toBe(202);
  return { chatId, id: (answer.body as { deliveryId: string }).deliveryId };
}

/** Returns the outcome of each attempt: the status, otherwise the error. */
const outcomesOf = ({ attempts }: DeliveryItem) => attempts.map(({ status, error }) => status ?? error);

const header = (name: string) => receiver.requests.map(({ headers }) => headers[name]);

/** Returns the delay between the last attempt of a pending callback and the next one. */
function pauseOf({ attempts, nextAt }: DeliveryItem): number {
  const last = attempts.at(-1);
  return Date.parse(nextAt ?? "") - Date.parse(last?.at ?? "") - (last?.ms ?? 0);
}

describe("a failed callback is retried until it is received, exactly once,", () => {
  test("first after 5 seconds, with one id, new signatures and the same bytes", async () => {
    receiver.answerWith((_, index) => ({ status: index === 0 ? 500 : 200 }));
    const { chatId, id } = await send(receiver.url());
    const failed = await callbacks.untilTried(id, 1);
    expect(pauseOf(failed)).toBeGreaterThanOrEqual(5 * SECOND);
    const delivered = await callbacks.untilIn(id, "delivered");
    expect(delivered.attempts).toEqual([
      { at: expect.any(String), status: 500, ms: expect.any(Number), error: "the receiver responded with 500" },
      { at: expect.any(String), status: 200, ms: expect.any(Number), error: null },
    ]);
    expect(header("x-svc-attempt")).toEqual(["1", "2"]);
    expect(header("x-svc-delivery")).toEqual([id, id]);
    expect(header("webhook-id")).toEqual([id, id]);
    const [first, second] = receiver.requests;
    expect(second?.body).toEqual(first?.body);
    expect(header("webhook-timestamp")[0]).not.toBe(header("webhook-timestamp")[1]);
    for (const request of receiver.requests) expectSigned(request, product.adminKey);
    expect((await api.drain("tries", chatId)).replies).toEqual([]);
  });

  test.each<[string, ReceiverAnswer, number | string]>([
    ["500", { status: 500 }, 500],
    ["404", { status: 404 }, 404],
    ["a connection that is cut", "cut", "connection failed (ECONNRESET)"],
  ])("after %s", async (_, answer, outcome) => {
    receiver.answerWith((_request, index) => (index < 2 ? answer : { status: 201 }));
    const { id } = await send(receiver.url());
    await callbacks.untilTried(id, 1);
    await callbacks.hurry(id);
    await callbacks.untilTried(id, 2);
    await callbacks.hurry(id);
    expect(outcomesOf(await callbacks.untilIn(id, "delivered"))).toEqual([outcome, outcome, 201]);
    expect(header("x-svc-attempt")).toEqual(["1", "2", "3"]);
    expect(new Set(header("x-svc-delivery"))).toEqual(new Set([id]));
  });

  test.each([301, 302, 303, 307, 308])("after a redirect with %i, which is not followed", async (status) => {
    const other = await startWebhookReceiver();
    receiver.answerWith((_, index) => (index === 0 ? { status, headers: { Location: other.url() } } : { status: 200 }));
    const { id } = await send(receiver.url());
    const failed = await callbacks.untilTried(id, 1);
    expect(failed.attempts).toMatchObject([{ status, error: "redirects are not followed" }]);
    await callbacks.hurry(id);
    expect(outcomesOf(await callbacks.untilIn(id, "delivered"))).toEqual([status, 200]);
    expect(other.requests).toEqual([]);
    await other.close();
  });

  test("after refused connections, when the receiver comes up", async () => {
    const port = await freePort();
    const { id } = await send(`http://127.0.0.1:${port}/hook`);
    await callbacks.untilTried(id, 1);
    const late = await startWebhookReceiver({ port });
    await callbacks.hurry(id);
    expect(outcomesOf(await callbacks.untilIn(id, "delivered"))).toEqual(["connection failed (ECONNREFUSED)", 204]);
    expect(late.requests).toHaveLength(1);
    await late.close();
  });

  test("after an attempt that hangs, which is aborted after 15 seconds", async () => {
    receiver.answerWith((_, index) => (index === 0 ? "hang" : { status: 200 }));
    const { id } = await send(receiver.url());
    const failed = await callbacks.untilTried(id, 1, { timeoutMs: 40_000 });
    expect(failed.attempts).toMatchObject([{ status: null, error: "no response within 15 s" }]);
    expect(failed.attempts[0]?.ms).toBeGreaterThanOrEqual(15 * SECOND);
    await callbacks.hurry(id);
    expect(outcomesOf(await callbacks.untilIn(id, "delivered"))).toEqual(["no response within 15 s", 200]);
    expect(header("x-svc-attempt")).toEqual(["1", "2"]);
  });
});

describe("a callback counts as received", () => {
  test.each([200, 201, 202, 204, 299])("at status %i, and is not sent again", async (status) => {
    receiver.answerWith({ status });
    const { id } = await send(receiver.url());
    expect(outcomesOf(await callbacks.untilIn(id, "delivered"))).toEqual([status]);
    expect(receiver.requests).toHaveLength(1);
  });

  test("at a 2xx whose body never ends", async () => {
    const part = "0123456789abcdef".repeat(1_024);
    let calls = 0;
    const server = createServer((_, response) => {
      calls++;
      const pour = () => {
        while (response.write(part));
      };
      response.on("drain", pour);
      pour();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const close = async () => {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    };
    const release = holdResource("a server with an endless body", close);
    const { id } = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect(outcomesOf(await callbacks.untilIn(id, "delivered"))).toEqual([200]);
    expect(calls).toBe(1);
    await close();
    release();
  });
});

describe("a receiver can request a delay", () => {
  test("in seconds", async () => {
    receiver.answerWith({ status: 503, headers: { "Retry-After": "3600" } });
    const { id } = await send(receiver.url());
    const failed = await callbacks.untilTried(id, 1);
    expect(failed.state).toBe("pending");
    expect(pauseOf(failed)).toBeGreaterThanOrEqual(HOUR);
    expect(pauseOf(failed)).toBeLessThan(2 * HOUR);
    expect(receiver.requests).toHaveLength(1);
  });

  test("by a date", async () => {
    const at = new Date(Date.now() + 3 * HOUR);
    receiver.answerWith({ status: 429, headers: { "Retry-After": at.toUTCString() } });
    const { id } = await send(receiver.url());
    const failed = await callbacks.untilTried(id, 1);
    // The date has no fractions of a second.
    expect(Date.parse(failed.nextAt ?? "")).toBeGreaterThanOrEqual(at.getTime() - SECOND);
    expect(Date.parse(failed.nextAt ?? "")).toBeLessThan(at.getTime() + HOUR);
  });

  test("but not a shorter one than planned", async () => {
    receiver.answerWith({ status: 503, headers: { "Retry-After": "0" } });
    const { id } = await send(receiver.url());
    expect(pauseOf(await callbacks.untilTried(id, 1))).toBeGreaterThanOrEqual(5 * SECOND);
  });
});

describe("a callback is dead", () => {
  test("at 410 immediately: its replies are in the drain", async () => {
    receiver.answerWith({ status: 410 });
    const { chatId, id } = await send(receiver.url());
    const dead = await callbacks.untilIn(id, "dead");
    expect(outcomesOf(dead)).toEqual([410]);
    expect(dead.nextAt).toBeNull();
    expect((await api.drain("tries", chatId)).texts).toEqual([FIXED]);
    expect(receiver.requests).toHaveLength(1);
  });

  test("after the ninth failed attempt, and not before; the delays are those of the schedule", async () => {
    receiver.answerWith({ status: 500 });
    const { chatId, id } = await send(receiver.url());
    for (const [index, planned] of SCHEDULE.entries()) {
      const failed = await callbacks.untilTried(id, index + 1);
      expect(failed.state).toBe("pending");
      expect(pauseOf(failed)).toBeGreaterThanOrEqual(planned);
      // The jitter is a tenth, so that delays of different steps cannot overlap.
      expect(pauseOf(failed)).toBeLessThan(planned * 1.1 + 20 * SECOND);
      expect((await api.drain("tries", chatId, "?peek=1")).replies).toEqual([]);
      await callbacks.hurry(id);
    }
    const dead = await callbacks.untilIn(id, "dead");
    expect(outcomesOf(dead)).toEqual(Array(9).fill(500));
    expect(header("x-svc-attempt")).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    expect(new Set(header("webhook-id"))).toEqual(new Set([id]));
    expect(new Set(receiver.requests.map((request) => callbackOf(request).deliveryId))).toEqual(new Set([id]));
    expect((await api.drain("tries", chatId)).texts).toEqual([FIXED]);
  });
});
