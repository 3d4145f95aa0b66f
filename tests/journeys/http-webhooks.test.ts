import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { localAdministrator } from "@svc/auth";
import { retryDeadLetter } from "@svc/operations";
import { QueueDownError } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { ticketIdOf } from "@svc/store";
import type { Project } from "@svc/store";
import { startWebhookReceiver, testLog, waitFor, queryDatabase } from "@svc/testing";
import type { ReceivedRequest, WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import { callbackView } from "./support/callback-view.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { callbackOf, expectSigned } from "./support/expect-signed.ts";
import { holdChat } from "./support/hold-chat.ts";
import { plantPoison } from "./support/plant-poison.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is **always** the answer.";
const HANDOFF = "A person will look at it.";
const TABLE = "| Item | Price |\n| --- | --- |\n| Pen | 2 |\n| Book | 12 |";
const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

let product: Product;
let api: ApiClient;
let receiver: WebhookReceiver;
let fixed: Project;
let review: Project;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  fixed = await addProject(product.store, "fixed", { fixedReply: FIXED });
  review = await addProject(
    product.store,
    "review",
    { fixedReply: FIXED, reviewPolicy: "review" },
    { handoffText: HANDOFF },
  );
  await addProject(product.store, "table", { fixedReply: TABLE });
});

afterAll(() => product?.stop());

beforeEach(async () => {
  receiver = await startWebhookReceiver();
});

afterEach(() => receiver.close());

const deliveryIdOf = ({ body }: ApiAnswer) => (body as { deliveryId: string }).deliveryId;
const typeIs = (type: string) => (request: ReceivedRequest) => callbackOf(request).type === type;

describe("the response to a webhook message", () => {
  test("is 202 with exactly the documented body, and the drain URL", async () => {
    const answer = await api.send("fixed", { text: "hello", chatId: "chat 1/2", webhookUrl: receiver.url() });
    expect(answer.status).toBe(202);
    expect(answer.headers.get("location")).toBe("/api/v1/messages/chat%201%2F2");
    expect(answer.body).toEqual({
      ok: true,
      mode: "webhook",
      status: "queued",
      chatId: "chat 1/2",
      ticketId: ticketIdOf(fixed.id, "api", "chat 1/2"),
      messageId: expect.stringMatching(UUID),
      deliveryId: expect.stringMatching(UUID),
      drainUrl: "/api/v1/messages/chat%201%2F2",
    });
    const { messageId } = callbackOf(await receiver.next());
    expect(answer.body).toMatchObject({ messageId });
  });

  test("has the id of the new chat if the request has none", async () => {
    const answer = await api.send("fixed", { text: "hello", webhookUrl: receiver.url() });
    expect(answer.body.ticketId).toBe(ticketIdOf(fixed.id, "api", answer.body.chatId ?? ""));
    expect(callbackOf(await receiver.next())).toMatchObject({ chatId: answer.body.chatId });
  });

  test.each([undefined, "sync", "async", "webhook"])(
    "is that of mode webhook if there is a webhookUrl, even with mode %s",
    async (mode) => {
      const answer = await api.send("fixed", { text: "hello", mode, webhookUrl: receiver.url(), timeoutMs: 60_000 });
      expect(answer).toMatchObject({ status: 202, body: { mode: "webhook", status: "queued" } });
      expect(callbackOf(await receiver.next())).toMatchObject({ deliveryId: deliveryIdOf(answer) });
    },
  );
});

describe("the callback of an answered message", () => {
  test("is one POST to its URL with exactly the documented body, instead of a reply in the drain", async () => {
    const chatId = randomUUID();
    const answer = await api.send("fixed", {
      text: "hello",
      chatId,
      userId: "u-1",
      meta: { order: 7, nested: { list: ["ä", null] } },
      webhookUrl: receiver.url("/hook?x=1&y=%20"),
    });
    const request = await receiver.next();
    expect(request).toMatchObject({ method: "POST", path: "/hook?x=1&y=%20" });
    const { messageId } = callbackOf(request);
    expect(request.json).toEqual({
      ok: true,
      mode: "webhook",
      type: "message.completed",
      deliveryId: deliveryIdOf(answer),
      timestamp: expect.stringMatching(RFC_3339),
      chatId,
      ticketId: answer.body.ticketId,
      messageId: expect.stringMatching(UUID),
      replies: [
        {
          type: "message",
          id: expect.stringMatching(UUID),
          seq: 2,
          createdAt: expect.stringMatching(RFC_3339),
          inReplyTo: messageId,
          author: "agent",
          text: FIXED,
          markdown: expect.any(Boolean),
          sources: [],
        },
      ],
      meta: { order: 7, nested: { list: ["ä", null] }, userId: "u-1" },
    });
    await callbackView(product, fixed.id).untilIn(deliveryIdOf(answer), "delivered");
    expect((await api.drain("fixed", chatId, "?peek=1")).replies).toEqual([]);
    expect((await api.drain("fixed", chatId)).replies).toEqual([]);
    expect(receiver.requests).toHaveLength(1);
  });

  test("has headers with its id, attempt and sender, and both signatures", async () => {
    const answer = await api.send("fixed", { text: "hello", webhookUrl: receiver.url() });
    const request = await receiver.next();
    const { body: health } = await callApi(`${api.baseUrl()}/api/v1/health`);
    expect(request.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "content-length": String(request.body.length),
      "user-agent": `svc-webhooks/${health.version ?? ""}`,
      "x-svc-delivery": deliveryIdOf(answer),
      "x-svc-attempt": "1",
      "webhook-id": deliveryIdOf(answer),
      "webhook-timestamp": expect.stringMatching(/^\d{10}$/),
      "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      "x-svc-signature": expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
    });
    expectSigned(request, product.adminKey);
  });

  test("has an empty meta if the request has none", async () => {
    await api.send("fixed", { text: "hello", webhookUrl: receiver.url() });
    expect(callbackOf(await receiver.next()).meta).toEqual({});
  });

  test("contains the attachments: a table of the answer is also sent as XLSX", async () => {
    await api.send("table", { text: "prices?", webhookUrl: receiver.url() });
    const request = await receiver.next();
    const { replies } = callbackOf(request);
    expect(replies).toMatchObject([
      { type: "message", text: expect.stringContaining("Pen") },
      { type: "attachment", filename: expect.stringMatching(/\.xlsx$/), mime: XLSX },
    ]);
    const [, attachment] = replies;
    const content = Buffer.from(attachment?.type === "attachment" ? attachment.base64 : "", "base64");
    // The signature of a ZIP file, which XLSX files are.
    expect(content.subarray(0, 4)).toEqual(Buffer.from("PK\u0003\u0004"));
    expectSigned(request, product.adminKey);
  });
});

describe("a message that is held for review", () => {
  test("has a callback with the handoff text, with another id than the final one, and nothing in the drain", async () => {
    const chatId = randomUUID();
    const answer = await api.send("review", { text: "hello", chatId, webhookUrl: receiver.url() });
    const request = await receiver.next();
    const { deliveryId, ...body } = callbackOf(request);
    expect(body).toMatchObject({
      ok: true,
      mode: "webhook",
      type: "message.in_review",
      chatId,
      replies: [{ type: "message", text: HANDOFF, author: "system" }],
    });
    expect(deliveryId).toMatch(UUID);
    expect(deliveryId).not.toBe(deliveryIdOf(answer));
    expect(request.headers).toMatchObject({ "x-svc-delivery": deliveryId, "webhook-id": deliveryId });
    expectSigned(request, product.adminKey);
    await callbackView(product, review.id).untilIn(deliveryId, "delivered");
    expect((await api.drain("review", chatId)).replies).toEqual([]);
  });
});

describe("a message that is not answered in time", () => {
  test("has a timeout callback after timeoutMs, and the final one when it is answered", async () => {
    const chatId = randomUUID();
    const release = await holdChat(product.store, fixed, chatId);
    const answer = await api.send("fixed", { text: "hello", chatId, webhookUrl: receiver.url(), timeoutMs: 300 });
    const late = callbackOf(await receiver.next());
    expect(late).toMatchObject({ ok: true, mode: "webhook", type: "message.timeout", chatId, replies: [] });
    expect(late.deliveryId).not.toBe(deliveryIdOf(answer));
    await release();
    const final = callbackOf(await receiver.next());
    expect(final).toMatchObject({
      type: "message.completed",
      deliveryId: deliveryIdOf(answer),
      messageId: late.messageId,
      replies: [{ text: FIXED }],
    });
    expect(receiver.requests).toHaveLength(2);
  });

  test("has no timeout callback if it is answered in time", async () => {
    const chatId = randomUUID();
    const answer = await api.send("fixed", { text: "hello", chatId, webhookUrl: receiver.url(), timeoutMs: 120_000 });
    await callbackView(product, fixed.id).untilIn(deliveryIdOf(answer), "delivered");
    const rows = await queryDatabase(
      product.databaseUrl,
      "SELECT 1 FROM callbacks WHERE timeout_at IS NOT NULL AND ticket_id = $1",
      [answer.body.ticketId],
    );
    expect(rows).toEqual([]);
    expect(receiver.requests.map((request) => callbackOf(request).type)).toEqual(["message.completed"]);
  });
});

describe("a message that cannot be processed", () => {
  test("has a callback once it is a dead letter, and the final one after a retry", async () => {
    const text = "poisoned by the test";
    const poison = await plantPoison(product.databaseUrl, text);
    const answer = await api.send("fixed", { text, webhookUrl: receiver.url(), timeoutMs: 120_000 });
    // Its five attempts are seconds apart.
    const hurry = () =>
      queryDatabase(
        product.databaseUrl,
        "UPDATE messages SET not_before = now(), due_at = now() WHERE text = $1 AND not_before > now()",
        [text],
      );
    const failed = await waitFor(
      async () => {
        await hurry();
        return receiver.requests.find(typeIs("message.failed"));
      },
      { what: "the callback of a dead letter", timeoutMs: 40_000 },
    );
    expect(callbackOf(failed)).toMatchObject({ ok: true, mode: "webhook", replies: [] });
    expect(callbackOf(failed).deliveryId).not.toBe(deliveryIdOf(answer));
    const tries = await queryDatabase(product.databaseUrl, "SELECT attempts FROM messages WHERE text = $1", [text]);
    expect(tries).toEqual([{ attempts: 5 }]);
    await poison.cure();
    // As on a machine whose queue is unavailable: the sweeper announces the message.
    const queues = { publish: () => Promise.reject(new QueueDownError()) } as unknown as Queues;
    const deps = { store: product.store, queues, log: testLog() };
    await retryDeadLetter(deps, localAdministrator(fixed), callbackOf(failed).messageId);
    const final = await receiver.next(typeIs("message.completed"));
    expect(callbackOf(final)).toMatchObject({ deliveryId: deliveryIdOf(answer), replies: [{ text: FIXED }] });
    expect(receiver.requests).toHaveLength(2);
  });
});
