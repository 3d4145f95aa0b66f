import { createHmac, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, test } from "@jest/globals";
import { asProjectId } from "@svc/store";
import type { Project } from "@svc/store";
import { startWebhookReceiver, waitFor } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { Webhook } from "standardwebhooks";
import { addProject } from "./support/add-project.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is **always** the answer.";
const HANDOFF = "A person will look at it.";

let product: Product;
let api: ApiClient;
let receiver: WebhookReceiver;
const projects: Record<string, Project> = {};

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  projects["fixed"] = await addProject(product.store, "fixed", { fixedReply: FIXED });
  await addProject(product.store, "review", { fixedReply: FIXED, reviewPolicy: "review" }, { handoffText: HANDOFF });
});

afterAll(() => product?.stop());

beforeEach(async () => {
  receiver = await startWebhookReceiver();
});

afterEach(() => receiver.close());

describe("a message with a webhookUrl", () => {
  test("is answered 202 at once, and its reply is posted once, signed both ways with the sender's key", async () => {
    const chatId = randomUUID();
    const sent = await api.send("fixed", {
      text: "hello",
      chatId,
      mode: "sync",
      userId: "u-1",
      meta: { order: 7 },
      webhookUrl: receiver.url("/hook?x=1"),
    });
    expect(sent.status).toBe(202);
    expect(sent.body).toEqual({
      ok: true,
      mode: "webhook",
      status: "queued",
      chatId,
      ticketId: expect.any(String),
      deliveryId: expect.any(String),
      drainUrl: `/api/v1/messages/${chatId}`,
    });
    const call = await receiver.next();
    expect(call).toMatchObject({ method: "POST", path: "/hook?x=1" });
    expect(call.json).toMatchObject({
      ok: true,
      mode: "webhook",
      type: "message.completed",
      deliveryId: (sent.body as { deliveryId: string }).deliveryId,
      chatId,
      meta: { order: 7, userId: "u-1" },
      replies: [{ type: "message", text: FIXED, author: "agent" }],
    });
    const hex = createHmac("sha256", product.adminKey).update(call.body).digest("hex");
    expect(call.headers["x-svc-signature"]).toBe(`sha256=${hex}`);
    const verifier = new Webhook(product.adminKey, { format: "raw" });
    expect(verifier.verify(call.body.toString(), call.headers)).toEqual(call.json);

    const { deliveryId } = sent.body as { deliveryId: string };
    await waitFor(
      async () => (await product.store.deliveries.find(projects["fixed"]?.id ?? asProjectId(""), deliveryId))?.state === "delivered",
      { what: "the delivery to be noted" },
    );
    const drained = await api.drain("fixed", chatId);
    expect(drained.body).toMatchObject({ replies: [] });
    expect(receiver.requests).toHaveLength(1);
  });

  test("is told of a review, with the hand-off text", async () => {
    const sent = await api.send("review", { text: "hello", webhookUrl: receiver.url() });
    expect(sent.status).toBe(202);
    const call = await receiver.next();
    expect(call.json).toMatchObject({ type: "message.in_review", replies: [{ text: HANDOFF, author: "system" }] });
  });

  test("goes to the drain when the receiver is gone", async () => {
    receiver.answerWith({ status: 410 });
    const chatId = randomUUID();
    await api.send("fixed", { text: "hello", chatId, webhookUrl: receiver.url() });
    await receiver.next();
    const drained = await api.drain("fixed", chatId, "?wait=5000");
    expect(drained.body).toMatchObject({ replies: [{ text: FIXED }] });
  });
});
