import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { webhookEventSchema, webhookItemSchema } from "@svc/contracts";
import type { DeliveryItem, EventType, Scope, WebhookEvent, WebhookSecretItem } from "@svc/contracts";
import type { Project } from "@svc/store";
import { startWebhookReceiver, waitFor } from "@svc/testing";
import type { ReceivedRequest, WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { callbackView } from "./support/callback-view.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import type { ReviewClient } from "./support/create-review-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { expectSigned, isAccepted } from "./support/expect-signed.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const DRAFT = "Your parcel is on its way.";

let product: Product;
let api: ApiClient;
let reviews: ReviewClient;
let held: Project;
let auto: Project;
let receiver: WebhookReceiver;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  reviews = createReviewClient(product, "held");
  held = await addProject(product.store, "held", { fixedReply: DRAFT, reviewPolicy: "review" }, { handoffText: "" });
  auto = await addProject(product.store, "auto", { fixedReply: DRAFT }, { handoffText: "" });
});

afterAll(() => product?.stop());

beforeEach(async () => {
  receiver = await startWebhookReceiver();
});

afterEach(() => receiver.close());

const admin = (path: string, { project = "held", key = product.adminKey, ...request }: ApiRequest = {}) =>
  callApi(`${product.composition.apiUrls[0] ?? ""}/api/v1/admin/${path}`, { key, project, ...request });
const itemOf = ({ body }: ApiAnswer) => (body as unknown as { item: WebhookSecretItem }).item;
const eventOf = ({ json }: ReceivedRequest) => webhookEventSchema.strict().parse(json);

const keyWith = (...scopes: Scope[]) =>
  issueKey(product.store, { name: randomUUID(), scopes, project: held.id, createdBy: "test" });

async function addWebhook(events: EventType[], more: object = {}, project = "held"): Promise<WebhookSecretItem> {
  const made = await admin("webhooks", { project, json: { url: receiver.url(), events, ...more } });
  expect(made.status).toBe(201);
  return itemOf(made);
}

/** Waits for the next event of a type about a ticket. */
async function nextEvent(type: EventType, ticketId: string): Promise<WebhookEvent> {
  const isIt = ({ json }: ReceivedRequest) => {
    const event = json as WebhookEvent;
    return event.type === type && event.ticket?.id === ticketId;
  };
  return eventOf(await receiver.next(isIt, { what: type }));
}

/** Deletes the webhooks of a test, so that those of the next one receive only their own events. */
afterEach(async () => {
  for (const project of ["held", "auto"]) {
    const { items } = (await admin("webhooks", { project })).body as unknown as { items: WebhookSecretItem[] };
    for (const { id } of items) await admin(`webhooks/${id}`, { project, method: "DELETE" });
  }
});

describe("events of a conversation", () => {
  test("reach a webhook signed, once each, with the ticket and with the changes", async () => {
    const { secret } = await addWebhook([
      "ticket.created",
      "ticket.needs_review",
      "ticket.assigned",
      "ticket.replied",
      "ticket.snoozed",
      "ticket.resolved",
      "ticket.reopened",
    ]);
    const { chatId, ticketId } = await reviews.heldChat();
    const created = await nextEvent("ticket.created", ticketId);
    expect(created).toMatchObject({
      projectId: held.id,
      project: "held",
      actor: "pipeline",
      isTruncated: false,
      change: { message: { text: "Where is my parcel?", isTruncated: false } },
      ticket: { id: ticketId, chatId, project: "held", channelId: "api", subject: "Where is my parcel?" },
    });
    const review = await nextEvent("ticket.needs_review", ticketId);
    expect(review.change.reason).toEqual(expect.any(String));
    expect(review.ticket).toMatchObject({ stage: "review" });

    await reviews.decide(ticketId, "snooze", { json: { until: null } });
    expect((await nextEvent("ticket.snoozed", ticketId)).change).toEqual({ until: null });
    await reviews.decide(ticketId, "reply", { json: { text: "It arrives <b>today</b>.", resolves: true } });
    const assigned = await nextEvent("ticket.assigned", ticketId);
    expect(assigned.change.assignee).toMatch(/^key:/);
    const replied = await nextEvent("ticket.replied", ticketId);
    expect(replied.change.replies).toEqual([
      {
        id: expect.any(String),
        author: "operator",
        text: "It arrives <b>today</b>.",
        markdown: false,
        filename: null,
        isTruncated: false,
      },
    ]);
    const resolved = await nextEvent("ticket.resolved", ticketId);
    expect(resolved.ticket).toMatchObject({ status: "resolved" });

    await api.send("held", { text: "It did not arrive.", chatId, mode: "async" });
    expect((await nextEvent("ticket.reopened", ticketId)).change.message?.text).toBe("It did not arrive.");
    await nextEvent("ticket.needs_review", ticketId);
    await reviews.decide(ticketId, "resolve");
    await nextEvent("ticket.resolved", ticketId);
    await reviews.decide(ticketId, "reopen");
    await nextEvent("ticket.reopened", ticketId);
    for (const request of receiver.requests) expectSigned(request, secret);
    // In the order in which they happened, each with its own id.
    const types = receiver.requests.map((request) => eventOf(request).type);
    expect(types.slice(0, 6)).toEqual([
      "ticket.created",
      "ticket.needs_review",
      "ticket.snoozed",
      "ticket.assigned",
      "ticket.replied",
      "ticket.resolved",
    ]);
    expect(types.filter((type) => type === "ticket.created")).toHaveLength(1);
    expect(new Set(receiver.requests.map((request) => eventOf(request).id)).size).toBe(types.length);
    // The body contains what a key with tickets:read can read of the ticket.
    const [read] = [await reviews.read(ticketId)];
    expect(Object.keys(read)).toEqual(expect.arrayContaining(Object.keys(created.ticket ?? {})));
  });

  test("are sent only if the filters of a webhook select them", async () => {
    const [agent] = await product.store.agents.list(auto.id);
    await addWebhook(["ticket.replied"], { channels: ["widget"], url: receiver.url("/widget") }, "auto");
    await addWebhook(["ticket.replied"], { priorities: ["urgent"], url: receiver.url("/urgent") }, "auto");
    await addWebhook(["ticket.replied"], { isActive: false, url: receiver.url("/off") }, "auto");
    await addWebhook(["ticket.created"], { url: receiver.url("/held") }, "held");
    await addWebhook(
      ["ticket.replied"],
      { channels: ["api"], agentIds: [agent?.id], url: receiver.url("/hit") },
      "auto",
    );
    await api.send("auto", { text: "hello" });
    const request = await receiver.next();
    expect([request.path, eventOf(request).change.replies?.[0]]).toEqual([
      "/hit",
      expect.objectContaining({ author: "agent", text: DRAFT }),
    ]);
    // Deliveries for the other webhooks would have been created in the same transaction.
    const made = (await admin("deliveries", { project: "auto" })).body as unknown as { items: DeliveryItem[] };
    expect(made.items.filter(({ type }) => type === "ticket.replied").map(({ url }) => new URL(url).pathname)).toEqual([
      "/hit",
    ]);
  });

  test("of customers and of unanswered questions are sent too", async () => {
    await addWebhook(["customer.updated", "gap.found"], {}, "held");
    const gapsOnly = await product.store.gaps.record(held.id, {
      messageId: (await api.send("held", { text: "x", mode: "async" })).body.messageId ?? "",
      ticketId: randomUUID(),
      text: "Do you ship to the moon?",
      question: "Do you ship to the moon?",
      terms: ["ship", "moon"],
      language: "en",
      agentId: null,
    });
    const found = eventOf(await receiver.next(({ json }) => (json as WebhookEvent).type === "gap.found"));
    expect(found.gap).toMatchObject({ id: gapsOnly, question: "Do you ship to the moon?" });
    await api.send("held", { text: "hi", userId: "ada@example.com", mode: "async" });
    const updated = eventOf(await receiver.next(({ json }) => (json as WebhookEvent).type === "customer.updated"));
    expect(updated.customer).toMatchObject({ email: "ada@example.com", version: expect.any(Number) });
  });
});

describe("a delivery of an event", () => {
  test("is repeated with the same ids until it is received, and can be replayed", async () => {
    receiver.answerWith((_, index) => ({ status: index === 0 ? 500 : 204 }));
    const { id, secret } = await addWebhook(["ticket.created"], {}, "auto");
    const view = callbackView(product, auto.id);
    await api.send("auto", { text: "hello" });
    const first = await receiver.next();
    const deliveryId = first.headers["x-svc-delivery"] ?? "";
    await view.untilTried(deliveryId, 1);
    await view.hurry(deliveryId);
    const second = await receiver.next();
    await view.untilIn(deliveryId, "delivered");
    expect((await admin(`deliveries/${deliveryId}/replay`, { project: "auto", method: "POST" })).status).toBe(200);
    const third = await receiver.next();
    for (const request of [second, third]) {
      expectSigned(request, secret);
      expect(eventOf(request).id).toBe(eventOf(first).id);
      expect(request.headers["webhook-id"]).toBe(deliveryId);
    }
    const listed = await admin(`deliveries?webhookId=${id}`, { project: "auto" });
    const { items } = listed.body as unknown as { items: DeliveryItem[] };
    expect(items).toMatchObject([
      { id: deliveryId, type: "ticket.created", webhookId: id, messageId: null, eventId: eventOf(first).id },
    ]);
    expect(items[0]?.ticketId).toBe(eventOf(first).ticket?.id);
  });

  test("goes to the new URL of its webhook, and not to an inactive webhook", async () => {
    receiver.answerWith({ status: 503 });
    const { id } = await addWebhook(["ticket.created"], { url: receiver.url("/old") }, "auto");
    const view = callbackView(product, auto.id);
    await api.send("auto", { text: "hello" });
    const deliveryId = (await receiver.next()).headers["x-svc-delivery"] ?? "";
    await view.untilTried(deliveryId, 1);
    const patch = (json: object) => admin(`webhooks/${id}`, { project: "auto", method: "PATCH", json });
    expect((await patch({ url: receiver.url("/new") })).status).toBe(200);
    await view.hurry(deliveryId);
    expect((await receiver.next()).path).toBe("/new");
    await view.untilTried(deliveryId, 2);
    await patch({ isActive: false });
    await view.hurry(deliveryId);
    const dead = await view.untilIn(deliveryId, "dead");
    expect(dead.attempts.at(-1)?.error).toMatch(/the webhook is not active/);
  });

  test("is deleted when its ticket is erased", async () => {
    receiver.answerWith({ status: 503 });
    await addWebhook(["ticket.created"], {}, "auto");
    const view = callbackView(product, auto.id);
    const { body } = await api.send("auto", { text: "my secret" });
    const deliveryId = (await receiver.next()).headers["x-svc-delivery"] ?? "";
    await view.untilTried(deliveryId, 1);
    const erased = await admin("privacy/erase", { project: "auto", json: { channelId: "api", chatId: body.chatId } });
    expect(erased.status).toBeLessThan(300);
    await waitFor(async () => (await product.store.deliveries.find(auto.id, deliveryId)) === null, {
      what: "the delivery to be erased",
    });
  });
});

describe("a webhook", () => {
  test("201, 200, 412, 404: is created, read, listed, updated by its version and deleted", async () => {
    const made = await admin("webhooks", {
      json: { url: "https://example.com/a?token=t", events: ["ticket.created", "ticket.created"], description: "CRM" },
    });
    const { secret, ...item } = itemOf(made);
    expect([made.status, made.headers.get("etag")]).toEqual([201, '"1"']);
    expect(made.headers.get("location")).toBe(`/api/v1/admin/webhooks/${item.id}`);
    expect(secret).toMatch(/^whsec_/);
    expect(webhookItemSchema.strict().parse(item)).toMatchObject({ events: ["ticket.created"], isActive: true });
    expect(itemOf(await admin(`webhooks/${item.id}`))).toEqual(item);
    const listed = (await admin("webhooks?q=crm")).body as unknown as { items: WebhookSecretItem[] };
    expect(listed.items).toEqual([item]);
    const change = (version: number) =>
      admin(`webhooks/${item.id}`, {
        method: "PATCH",
        json: { priorities: ["high"] },
        headers: { "If-Match": `"${version}"` },
      });
    expect(itemOf(await change(1))).toMatchObject({ priorities: ["high"], description: "CRM", version: 2 });
    expectProblem(await change(1), "version_conflict");
    const reader = await keyWith("webhooks:read");
    expect(itemOf(await admin(`webhooks/${item.id}`, { key: reader.key }))).toMatchObject({
      url: "https://example.com/a?token=***",
    });
    expect((await admin(`webhooks/${item.id}`, { method: "DELETE" })).status).toBe(200);
    expectProblem(await admin(`webhooks/${item.id}`), "not_found");
  });

  test("403: can only be created by a principal who may read tickets", async () => {
    const key = await keyWith("webhooks:write");
    const json = { url: "https://example.com/", events: ["ticket.created"] };
    expectProblem(await admin("webhooks", { key: key.key, json }), "insufficient_scope");
  });

  test("400: is not created for a forbidden URL, an unknown type or an unknown field", async () => {
    const post = (json: object) => admin("webhooks", { json });
    const events = ["ticket.created"];
    const url = "https://example.com/";
    expectProblem(await post({ url: "http://169.254.169.254/", events }), "invalid_request", ["/url"]);
    expectProblem(await post({ url: "ftp://example.com/", events }), "invalid_request", ["/url"]);
    expectProblem(await post({ url, events: ["ticket.exploded"] }), "invalid_request", ["/events/0"]);
    expectProblem(await post({ url, events: [] }), "invalid_request", ["/events"]);
    expectProblem(await post({ url, events, secret: "x" }), "invalid_request", ["/secret"]);
    expectProblem(await post({ url, events, agentIds: [randomUUID()] }), "invalid_request", ["/agentIds/0"]);
  });

  test("sends a test event, even while inactive, signed with the old and the new secret during an overlap", async () => {
    const { id, secret } = await addWebhook(["gap.found"], { isActive: false });
    const rotated = itemOf(await admin(`webhooks/${id}/rotate`, { json: { overlapSeconds: 600 } }));
    expect(rotated.secret).not.toBe(secret);
    expect(rotated.previousSecretUntil).not.toBeNull();
    const tested = await admin(`webhooks/${id}/test`, { method: "POST" });
    const sent = (tested.body as unknown as { item: DeliveryItem }).item;
    expect(sent).toMatchObject({ type: "webhook.test", state: "pending", webhookId: id, ticketId: null });
    const request = await receiver.next();
    expect(eventOf(request)).toMatchObject({ type: "webhook.test", id: sent.eventId, change: {} });
    expect([isAccepted(request, secret), isAccepted(request, rotated.secret)]).toEqual([true, true]);
    await admin(`webhooks/${id}/rotate`, { json: { overlapSeconds: 0 } });
    await admin(`webhooks/${id}/test`, { method: "POST" });
    expect(isAccepted(await receiver.next(), rotated.secret)).toBe(false);
  });
});
