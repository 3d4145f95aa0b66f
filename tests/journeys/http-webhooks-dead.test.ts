import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { DeliveryItem, Scope } from "@svc/contracts";
import type { Project } from "@svc/store";
import { startWebhookReceiver, waitFor } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import { callbackView } from "./support/callback-view.ts";
import type { CallbackView } from "./support/callback-view.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { callbackOf, expectSigned } from "./support/expect-signed.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is always the answer.";
const PATH = "/api/v1/admin/deliveries";

let product: Product;
let api: ApiClient;
let receiver: WebhookReceiver;
let project: Project;
let stranger: Project;
let callbacks: CallbackView;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  project = await addProject(product.store, "dead", { fixedReply: FIXED });
  stranger = await addProject(product.store, "stranger", { fixedReply: FIXED });
  callbacks = callbackView(product, project.id);
});

afterAll(() => product?.stop());

beforeEach(async () => {
  receiver = await startWebhookReceiver();
});

afterEach(() => receiver.close());

interface Sent {
  chatId: string;
  ticketId: string;
  id: string;
}

async function send(chatId: string = randomUUID(), projectName = "dead"): Promise<Sent> {
  const answer = await api.send(projectName, { text: "hello", chatId, webhookUrl: receiver.url() });
  expect(answer.status).toBe(202);
  const { ticketId = "", deliveryId } = answer.body as { ticketId?: string; deliveryId: string };
  return { chatId, ticketId, id: deliveryId };
}

/** Sends a message whose callback is dead immediately. */
async function sendToNobody(chatId?: string): Promise<Sent> {
  receiver.answerWith({ status: 410 });
  const sent = await send(chatId);
  await callbacks.untilIn(sent.id, "dead");
  return sent;
}

const drain = (chatId: string, query = "", replica = 0) => api.drain("dead", chatId, query, { replica });

/** Calls the administration API, as the administrator in the project unless another key is given. */
const admin = (path: string, options: { key?: string; project?: string; method?: string; replica?: number } = {}) => {
  const { replica, key = product.adminKey, ...request } = options;
  const asAdmin = options.key === undefined && options.project === undefined ? { project: "dead" } : {};
  return callApi(`${api.baseUrl(replica)}${PATH}${path}`, { key, ...asAdmin, ...request });
};
const replay = (id: string, options: { key?: string; project?: string } = {}) =>
  admin(`/${id}/replay`, { method: "POST", ...options });
const itemOf = (answer: ApiAnswer) => (answer.body as { item: DeliveryItem }).item;
const listOf = (answer: ApiAnswer) => answer.body as unknown as { items: DeliveryItem[]; nextCursor: string | null };
const idsOf = (answer: ApiAnswer) => listOf(answer).items.map(({ id }) => id);

/** Returns the request with this index, in the order of arrival. */
const callbackAt = (index: number) => {
  const request = receiver.requests[index];
  if (request === undefined) throw new Error(`there was no callback ${index}`);
  return callbackOf(request);
};

const makeKey = async (scopes: Scope[], { id }: Project = project) =>
  (await issueKey(product.store, { name: "operator", scopes, project: id, createdBy: "test" })).key;

describe("the replies of a dead callback are in the drain", () => {
  test("for a plain reader, once", async () => {
    const { chatId } = await sendToNobody();
    expect((await drain(chatId)).texts).toEqual([FIXED]);
    expect((await drain(chatId)).replies).toEqual([]);
  });

  test("for a reader with peek, repeatedly, on any replica", async () => {
    const { chatId } = await sendToNobody();
    expect((await drain(chatId, "?peek=1")).texts).toEqual([FIXED]);
    expect((await drain(chatId, "?peek=1", 1)).texts).toEqual([FIXED]);
    expect((await drain(chatId)).texts).toEqual([FIXED]);
  });

  test("for a reader by cursor, until they are acknowledged", async () => {
    const { chatId } = await sendToNobody();
    const first = await drain(chatId, "?after=0");
    expect(first.texts).toEqual([FIXED]);
    expect((await drain(chatId, "?after=0", 1)).texts).toEqual([FIXED]);
    expect((await drain(chatId, `?after=${first.body.cursor ?? ""}`)).replies).toEqual([]);
    expect((await drain(chatId)).replies).toEqual([]);
  });

  test("for a reader whose cursor is past their old sequence number", async () => {
    receiver.answerWith({ status: 500 });
    const { chatId, id } = await send();
    await callbacks.untilTried(id, 1);
    // Two async messages are answered meanwhile, and read.
    for (const text of ["one", "two"]) await api.send("dead", { text, chatId, mode: "async" });
    let cursor = "0";
    const read: string[] = [];
    await waitFor(
      async () => {
        const page = await drain(chatId, `?after=${cursor}&wait=1000`);
        read.push(...page.replies.map(({ id: replyId }) => replyId));
        cursor = page.body.cursor ?? cursor;
        return read.length === 2;
      },
      { what: "both async replies" },
    );
    receiver.answerWith({ status: 410 });
    await callbacks.hurry(id);
    await callbacks.untilIn(id, "dead");
    const page = await drain(chatId, `?after=${cursor}`);
    expect(page.replies).toMatchObject([{ inReplyTo: callbackAt(0).messageId }]);
    expect(page.replies[0]?.seq).toBeGreaterThan(Number(cursor));
    expect((await drain(chatId, `?after=${page.body.cursor ?? ""}`)).replies).toEqual([]);
  });

  test("for one of the waiting plain readers, on any replica", async () => {
    receiver.answerWith({ status: 500 });
    const { chatId, id } = await send();
    await callbacks.untilTried(id, 1);
    const polls = [drain(chatId, "?wait=30000", 0), drain(chatId, "?wait=30000", 1)];
    receiver.answerWith({ status: 410 });
    await callbacks.hurry(id);
    expect((await Promise.race(polls)).texts).toEqual([FIXED]);
    // The other one keeps waiting, for the next reply.
    await api.send("dead", { text: "next", chatId, mode: "async" });
    expect((await Promise.all(polls)).map(({ texts }) => texts)).toEqual([[FIXED], [FIXED]]);
  });

  test.each(["?after=0&wait=30000", "?peek=1&wait=30000"])(
    "for every waiting reader with %s, on any replica",
    async (query) => {
      receiver.answerWith({ status: 500 });
      const { chatId, id } = await send();
      await callbacks.untilTried(id, 1);
      const polls = [drain(chatId, query, 0), drain(chatId, query, 1)];
      receiver.answerWith({ status: 410 });
      await callbacks.hurry(id);
      expect((await Promise.all(polls)).map(({ texts }) => texts)).toEqual([[FIXED], [FIXED]]);
    },
  );

  test("and never before: neither during its attempts nor after its delivery", async () => {
    receiver.answerWith({ status: 500 });
    const { chatId, id } = await send();
    const check = async () => {
      const answers = [await drain(chatId), await drain(chatId, "?peek=1"), await drain(chatId, "?after=0", 1)];
      const head = await api.drain("dead", chatId, "", { method: "HEAD" });
      expect(head).toMatchObject({ status: 200, text: "" });
      return answers.flatMap(({ replies }) => replies);
    };
    expect(await check()).toEqual([]);
    for (const tries of [1, 2, 3]) {
      await callbacks.untilTried(id, tries);
      expect(await check()).toEqual([]);
      if (tries === 3) receiver.answerWith({ status: 204 });
      await callbacks.hurry(id);
    }
    await callbacks.untilIn(id, "delivered");
    expect(await check()).toEqual([]);
  });
});

describe("the list of deliveries", () => {
  test("shows each with the result of every attempt, newest first", async () => {
    receiver.answerWith((_, index) => ({ status: index === 0 ? 503 : 410 }));
    const sent = await send();
    await callbacks.untilTried(sent.id, 1);
    const pending = listOf(await admin("")).items[0];
    expect(pending).toEqual({
      id: sent.id,
      type: "message.completed",
      ticketId: sent.ticketId,
      chatId: sent.chatId,
      messageId: callbackAt(0).messageId,
      url: receiver.url(),
      state: "pending",
      attempts: [
        { at: expect.any(String), status: 503, ms: expect.any(Number), error: "the receiver responded with 503" },
      ],
      nextAt: expect.any(String),
      createdAt: expect.any(String),
      webhookId: null,
      eventId: null,
    });
    await callbacks.hurry(sent.id);
    await callbacks.untilIn(sent.id, "dead");
    expect(listOf(await admin("", { replica: 1 })).items[0]).toMatchObject({
      id: sent.id,
      state: "dead",
      attempts: [{ status: 503 }, { status: 410 }],
      nextAt: null,
    });
  });

  test("is filtered by state, and paged without gaps", async () => {
    const dead = [await sendToNobody(), await sendToNobody(), await sendToNobody()].map(({ id }) => id).toReversed();
    receiver.answerWith({ status: 204 });
    const received = await send();
    await callbacks.untilIn(received.id, "delivered");
    expect(idsOf(await admin("?state=dead")).slice(0, 3)).toEqual(dead);
    expect(idsOf(await admin("?state=delivered"))[0]).toBe(received.id);
    expect(idsOf(await admin("?state=pending"))).not.toContain(received.id);
    expect(idsOf(await admin("?state="))).toEqual(idsOf(await admin("")));

    const all = idsOf(await admin("?limit=200"));
    const paged: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: ApiAnswer = await admin(`?limit=2&cursor=${encodeURIComponent(cursor)}`);
      expect(page).toMatchObject({ status: 200, body: { ok: true } });
      expect(listOf(page).items.length).toBeLessThanOrEqual(2);
      paged.push(...idsOf(page));
      cursor = listOf(page).nextCursor;
    }
    expect(paged).toEqual(all);
    expect(paged.slice(0, 4)).toEqual([received.id, ...dead]);
  });

  test.each(["?state=gone", "?state=dead&state=pending", "?limit=0", "?limit=201", "?limit=x", "?cursor=x"])(
    "rejects the query %s",
    async (query) => {
      expectProblem(await admin(query), "invalid_request", [`/${/\?(\w+)/.exec(query)?.[1] ?? ""}`]);
    },
  );

  test("is separate per project: keys of another one see nothing of it", async () => {
    const { id } = await sendToNobody();
    expect(idsOf(await admin("?limit=200", { project: "stranger" }))).not.toContain(id);
    const key = await makeKey(["webhooks:read"], stranger);
    expect(idsOf(await admin("?limit=200", { key }))).not.toContain(id);
    expectProblem(await admin("", { key, project: "dead" }), "project_mismatch");
    expectProblem(await admin("", { project: "no-such-project" }), "not_found");
  });
});

describe("one delivery", () => {
  test("is found by the id that its sender got, with the result of every attempt", async () => {
    const sent = await sendToNobody();
    const answer = await admin(`/${sent.id}`, { replica: 1 });
    expect(answer.status).toBe(200);
    expect(itemOf(answer)).toMatchObject({ ...sent, state: "dead", attempts: [{ status: 410 }] });
    expect([itemOf(answer)]).toEqual(listOf(await admin("?limit=1")).items);
  });

  test("is not found if it is missing or of another project", async () => {
    const { id } = await sendToNobody();
    for (const unknown of [randomUUID(), "nonsense", "%00"]) expectProblem(await admin(`/${unknown}`), "not_found");
    expectProblem(await admin(`/${id}`, { project: "stranger" }), "not_found");
    expectProblem(await admin(`/${id}`, { key: await makeKey(["webhooks:read"], stranger) }), "not_found");
  });
});

describe("a replay", () => {
  test("sends a dead callback again, with its id: its replies are removed from the drain, and delivered", async () => {
    const { chatId, id } = await sendToNobody();
    expect((await drain(chatId, "?peek=1")).texts).toEqual([FIXED]);
    receiver.answerWith({ status: 204 });
    const answer = await replay(id);
    expect(answer.status).toBe(200);
    expect(itemOf(answer)).toMatchObject({ id, state: expect.stringMatching(/pending|delivered/) });
    const delivered = await callbacks.untilIn(id, "delivered");
    expect(delivered.attempts.map(({ status }) => status)).toEqual([410, 204]);
    expect((await drain(chatId, "?peek=1")).replies).toEqual([]);
    const [, second] = receiver.requests;
    expect(second?.headers).toMatchObject({ "webhook-id": id, "x-svc-delivery": id, "x-svc-attempt": "2" });
    const { timestamp } = callbackAt(0);
    expect(callbackAt(1)).toMatchObject({ deliveryId: id, timestamp, replies: [{ text: FIXED }] });
    for (const request of receiver.requests) expectSigned(request, product.adminKey);
  });

  test("keeps the replies out of the drain during its attempts, and returns them when it dies again", async () => {
    const { chatId, id } = await sendToNobody();
    receiver.answerWith({ status: 500 });
    await replay(id);
    await callbacks.untilTried(id, 2);
    expect((await drain(chatId, "?peek=1")).replies).toEqual([]);
    receiver.answerWith({ status: 410 });
    await callbacks.hurry(id);
    await callbacks.untilIn(id, "dead");
    expect((await drain(chatId)).texts).toEqual([FIXED]);
  });

  test("has nine new attempts", async () => {
    const { id } = await sendToNobody();
    receiver.answerWith({ status: 500 });
    await replay(id);
    for (let tries = 2; tries <= 9; tries++) {
      expect((await callbacks.untilTried(id, tries)).state).toBe("pending");
      await callbacks.hurry(id);
    }
    const dead = await callbacks.untilTried(id, 10);
    expect(dead.state).toBe("dead");
  });

  test("also sends replies that were collected meanwhile, but does not return them to the drain", async () => {
    const { chatId, id } = await sendToNobody();
    expect((await drain(chatId)).texts).toEqual([FIXED]);
    await replay(id);
    await callbacks.untilTried(id, 2);
    expect(callbackAt(1).replies).toMatchObject([{ text: FIXED }]);
    expect((await drain(chatId)).replies).toEqual([]);
  });

  test("blocks the later callbacks of its chat, like any other during its attempts", async () => {
    const { chatId, id } = await sendToNobody();
    receiver.answerWith({ status: 500 });
    await replay(id);
    await callbacks.untilTried(id, 2);
    const later = await send(chatId);
    await waitFor(async () => (await callbacks.listIn(later.ticketId)).length === 2, { what: "the later callback" });
    receiver.answerWith({ status: 204 });
    await callbacks.hurry(id);
    await callbacks.untilIn(later.id, "delivered");
    expect(receiver.requests.map(({ headers }) => headers["x-svc-delivery"])).toEqual([id, id, id, later.id]);
  });

  test("of a callback that waits for its next attempt makes that attempt now, and keeps counting", async () => {
    receiver.answerWith({ status: 500 });
    const { chatId, id } = await send();
    for (let tries = 1; tries < 9; tries++) {
      expect((await callbacks.untilTried(id, tries)).state).toBe("pending");
      expect((await replay(id)).status).toBe(200);
    }
    expect((await callbacks.untilTried(id, 9)).state).toBe("dead");
    expect(receiver.requests).toHaveLength(9);
    expect((await drain(chatId)).texts).toEqual([FIXED]);
  });

  test("finds no missing delivery, and none of another project", async () => {
    const { id } = await sendToNobody();
    for (const unknown of [randomUUID(), "nonsense", "%00", `${id}x`])
      expectProblem(await replay(unknown), "not_found");
    expectProblem(await replay(id, { project: "stranger" }), "not_found");
    expectProblem(await replay(id, { key: await makeKey(["webhooks:*"], stranger) }), "not_found");
    expect(receiver.requests).toHaveLength(1);
  });
});

describe("scopes", () => {
  test("reading needs webhooks:read, replaying webhooks:write, and neither implies the other", async () => {
    const { id } = await sendToNobody();
    const [reader, writer, both, sender] = [
      await makeKey(["webhooks:read"]),
      await makeKey(["webhooks:write"]),
      await makeKey(["webhooks:*"]),
      await makeKey(["messages:*"]),
    ];
    for (const path of ["", `/${id}`]) {
      for (const key of [reader, both]) expect((await admin(path, { key })).status).toBe(200);
      for (const key of [writer, sender]) {
        const refused = await admin(path, { key });
        expectProblem(refused, "insufficient_scope");
        expect(refused.headers.get("www-authenticate")).toContain('scope="webhooks:read"');
      }
    }
    for (const key of [reader, sender]) {
      const refused = await replay(id, { key });
      expectProblem(refused, "insufficient_scope");
      expect(refused.headers.get("www-authenticate")).toContain('scope="webhooks:write"');
    }
    receiver.answerWith({ status: 410 });
    for (const key of [writer, both]) {
      expect((await replay(id, { key })).status).toBe(200);
      await callbacks.untilIn(id, "dead");
    }
  });

  test("other methods are rejected", async () => {
    const list = await admin("", { method: "DELETE" });
    expectProblem(list, "method_not_allowed");
    expect(list.headers.get("allow")).toMatch(/GET/);
    const one = await admin(`/${randomUUID()}/replay`, { method: "GET" });
    expectProblem(one, "method_not_allowed");
    expect(one.headers.get("allow")).toBe("POST");
  });
});
