import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ticketIdOf } from "@svc/store";
import type { Project } from "@svc/store";
import { startWebhookReceiver, waitFor, queryDatabase } from "@svc/testing";
import type { ReceivedRequest, WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callbackView } from "./support/callback-view.ts";
import type { CallbackView } from "./support/callback-view.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { callbackOf } from "./support/expect-signed.ts";
import { holdChat } from "./support/hold-chat.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";

let product: Product;
let api: ApiClient;
let receiver: WebhookReceiver;
let project: Project;
let callbacks: CallbackView;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  project = await addProject(product.store, "order", { fixedReply: FIXED });
  callbacks = callbackView(product, project.id);
});

afterAll(() => product?.stop());

beforeEach(async () => {
  receiver = await startWebhookReceiver();
});

afterEach(() => receiver.close());

/** Sends a message with callbacks; returns the id of the final one. */
async function send(chatId: string, options: { to?: WebhookReceiver; number?: number; replica?: number } = {}) {
  const { to = receiver, number = 0, replica = 0 } = options;
  const json = { text: `message ${number}`, chatId, meta: { number }, webhookUrl: to.url(`/${chatId}`) };
  const answer = await api.send("order", json, { replica });
  expect(answer.status).toBe(202);
  return (answer.body as { deliveryId: string }).deliveryId;
}

const idOf = ({ headers }: ReceivedRequest) => headers["x-svc-delivery"];
const arrivedIn = (chatId: string) => receiver.requests.filter(({ path }) => path === `/${chatId}`);

describe("a callback that is being retried", () => {
  test("blocks the later ones of its chat, and no others", async () => {
    const [stuck, other] = [randomUUID(), randomUUID()];
    receiver.answerWith(({ path }) => ({ status: path === `/${stuck}` ? 500 : 204 }));
    const first = await send(stuck);
    await callbacks.untilTried(first, 1);
    const later = [await send(stuck), await send(stuck)];
    const others = [await send(other), await send(other), await send(randomUUID())];
    for (const id of others) await callbacks.untilIn(id, "delivered");
    // The later ones are due by now, and have not been attempted.
    const ticketId = ticketIdOf(project.id, "api", stuck);
    await waitFor(async () => (await callbacks.listIn(ticketId)).length === 3, { what: "the later callbacks" });
    const triesOfLater = async () => (await callbacks.listIn(ticketId)).slice(1).map(({ attempts }) => attempts.length);
    expect(await triesOfLater()).toEqual([0, 0]);
    await callbacks.hurry(first);
    await callbacks.untilTried(first, 2);
    expect(await triesOfLater()).toEqual([0, 0]);

    receiver.answerWith({ status: 204 });
    await callbacks.hurry(first);
    await callbacks.untilIn(later[1] ?? "", "delivered");
    // On a slow machine the first one is also retried when it is due.
    const attempts = arrivedIn(stuck).map(idOf);
    expect(attempts).toEqual([...attempts.slice(0, -2).map(() => first), ...later]);
    expect(attempts.length).toBeGreaterThanOrEqual(5);
  });

  test("no longer blocks them when it is dead", async () => {
    const chatId = randomUUID();
    receiver.answerWith((_, index) => ({ status: index === 0 ? 500 : index === 1 ? 410 : 204 }));
    const first = await send(chatId);
    await callbacks.untilTried(first, 1);
    const second = await send(chatId);
    await callbacks.hurry(first);
    await callbacks.untilIn(first, "dead");
    await callbacks.untilIn(second, "delivered");
    expect(arrivedIn(chatId).map(idOf)).toEqual([first, first, second]);
    expect((await api.drain("order", chatId)).replies).toMatchObject([{ text: FIXED }]);
  });
});

describe("many chats at once", () => {
  test("get each callback once and in the order of their messages, through every replica", async () => {
    const chats = Array.from({ length: 30 }, () => randomUUID());
    const numbers = [0, 1, 2, 3, 4];
    await Promise.all(
      chats.map(async (chatId) => {
        for (const number of numbers) await send(chatId, { number, replica: number });
      }),
    );
    await waitFor(() => receiver.requests.length >= chats.length * numbers.length, {
      what: () => `every callback; there were ${receiver.requests.length}`,
      timeoutMs: 40_000,
    });
    for (const chatId of chats) {
      const bodies = arrivedIn(chatId).map(callbackOf);
      expect(bodies.map(({ meta }) => meta["number"])).toEqual(numbers);
      expect(bodies.map(({ chatId: named }) => named)).toEqual(numbers.map(() => chatId));
      expect(bodies.map(({ type }) => type)).toEqual(numbers.map(() => "message.completed"));
    }
  });

  test("keep that order even if some attempts fail", async () => {
    const chats = Array.from({ length: 10 }, () => randomUUID());
    const numbers = [0, 1, 2];
    // The first attempt of each middle one fails.
    const failed = new Set<string>();
    receiver.answerWith((request) => {
      const { deliveryId, meta } = callbackOf(request);
      const fails = meta["number"] === 1 && !failed.has(deliveryId);
      if (fails) failed.add(deliveryId);
      return { status: fails ? 500 : 204 };
    });
    const ids = await Promise.all(
      chats.map(async (chatId) => {
        const own: string[] = [];
        for (const number of numbers) own.push(await send(chatId, { number, replica: number }));
        return own;
      }),
    );
    for (const [, middle = ""] of ids) {
      await callbacks.untilTried(middle, 1);
      await callbacks.hurry(middle);
    }
    for (const [, , last = ""] of ids) await callbacks.untilIn(last, "delivered");
    for (const [index, chatId] of chats.entries()) {
      const [first, middle, last] = ids[index] ?? [];
      expect(arrivedIn(chatId).map(idOf)).toEqual([first, middle, middle, last]);
    }
  });
});

describe("different modes in one chat", () => {
  test("deliver separately: by call, drain and callback", async () => {
    const chatId = randomUUID();
    const release = await holdChat(product.store, project, chatId);
    const call = api.send("order", { text: "sync", chatId, timeoutMs: 60_000 });
    const webhookIds = [await send(chatId, { number: 1 })];
    expect((await api.send("order", { text: "async", chatId, mode: "async" })).status).toBe(202);
    webhookIds.push(await send(chatId, { number: 2 }));
    await release();

    const answered = await call;
    expect(answered).toMatchObject({ status: 200, texts: [FIXED] });
    for (const id of webhookIds) await callbacks.untilIn(id, "delivered");
    expect(receiver.requests.map(idOf)).toEqual(webhookIds);
    const byCallback = receiver.requests.map(callbackOf);
    expect(byCallback.map(({ replies }) => replies.length)).toEqual([1, 1]);
    const drained = await api.drain("order", chatId, "?wait=5000");
    expect(drained.texts).toEqual([FIXED]);

    const everyId = [...answered.replies, ...byCallback.flatMap(({ replies }) => replies), ...drained.replies].map(
      ({ id }) => id,
    );
    expect(new Set(everyId).size).toBe(4);
    // A reader by cursor finds the async replies, and is not blocked by those sent by callback.
    expect((await api.drain("order", chatId, "?after=0")).replies).toEqual([]);
  });

  test("do not block each other: calls and drains do not wait for a failing callback", async () => {
    const chatId = randomUUID();
    receiver.answerWith({ status: 500 });
    const stuck = await send(chatId);
    await callbacks.untilTried(stuck, 1);
    expect(await api.send("order", { text: "sync", chatId, timeoutMs: 60_000 })).toMatchObject({ texts: [FIXED] });
    await api.send("order", { text: "async", chatId, mode: "async" });
    const page = await api.drain("order", chatId, "?after=0&wait=20000");
    expect(page.texts).toEqual([FIXED]);
    expect((await api.drain("order", chatId, `?after=${page.body.cursor ?? ""}`)).replies).toEqual([]);
    expect(await callbacks.listIn(ticketIdOf(project.id, "api", chatId))).toMatchObject([
      { id: stuck, state: "pending" },
    ]);
  });
});

describe("a receiver that hangs", () => {
  let slow: WebhookReceiver;
  beforeEach(async () => {
    slow = await startWebhookReceiver({ answer: "hang" });
  });
  afterEach(() => slow.close());

  test("with callbacks of 300 chats does not delay those of another receiver", async () => {
    const slowChats = Array.from({ length: 300 }, () => randomUUID());
    await Promise.all(slowChats.map((chatId, index) => send(chatId, { to: slow, replica: index })));
    await waitFor(() => slow.requests.length >= 100, { what: "the slow receiver to be busy", timeoutMs: 30_000 });

    const fastChats = Array.from({ length: 40 }, () => randomUUID());
    const ids = await Promise.all(fastChats.map((chatId, index) => send(chatId, { replica: index })));
    await waitFor(() => receiver.requests.length >= ids.length, {
      what: () => `the callbacks of the fast receiver; there were ${receiver.requests.length}`,
      timeoutMs: 30_000,
    });
    expect(receiver.requests.map(idOf).toSorted()).toEqual(ids.toSorted());
    // All this time the slow one has not responded.
    const received = await queryDatabase<{ url: string }>(
      product.databaseUrl,
      "SELECT url FROM deliveries WHERE state = 'delivered' AND starts_with(url, $1)",
      [slow.url()],
    );
    expect(received).toEqual([]);

    // After its restart it gets every callback; their delays are skipped here.
    await slow.close();
    slow = await startWebhookReceiver({ port: slow.port });
    const isEveryOneThere = async () => {
      await queryDatabase(
        product.databaseUrl,
        `UPDATE deliveries SET next_at = now(), due_at = now()
         WHERE state = 'pending' AND lease_id IS NULL AND next_at > now() + interval '1 second'`,
      );
      return new Set(slow.requests.map(({ path }) => path)).size === slowChats.length;
    };
    await waitFor(isEveryOneThere, {
      what: () => `every callback of the slow receiver; there were ${slow.requests.length}`,
      timeoutMs: 50_000,
    });
  });
});
