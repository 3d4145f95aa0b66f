import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { REVIEW_ACTIONS, ticketItemSchema } from "@svc/contracts";
import type { CallbackType, OperatorFile, ReviewAction, TicketDetail } from "@svc/contracts";
import { newId, ticketIdOf } from "@svc/store";
import type { Project } from "@svc/store";
import { startWebhookReceiver, waitFor, queryDatabase } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createKbClient, documentOf } from "./support/create-kb-client.ts";
import { createReviewClient, deliveryIdOf, messageIdOf, ticketOf } from "./support/create-review-client.ts";
import type { HeldChat, ReviewClient } from "./support/create-review-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { callbackOf, expectSigned } from "./support/expect-signed.ts";
import { holdChat } from "./support/hold-chat.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const DRAFT = "This is **always** the draft.";
const HANDOFF = "A person will look at it.";
/** Reply to a further message of the sender. */
const ADDED = expect.stringMatching(/added this to your request/);
const AUTOMATIC = "An answer of the agent alone.";
const SECRET = "a-secret-of-the-receiver";
/** Time after which every process of a channel uses changed settings. */
const IN_USE_WITHIN_MS = 2_000;

let product: Product;
let api: ApiClient;
/** Clients of the projects `held` and `auto`. */
let reviews: ReviewClient;
let autos: ReviewClient;
let receiver: WebhookReceiver;
/** Holds every answer, and has a handoff text. */
let held: Project;
/** Answers without review, and has no handoff text. */
let auto: Project;
/** Holds every answer, and has no handoff text. */
let silent: Project;
/** Holds every answer of its two agents, and has a handoff text. */
let desk: Project;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  reviews = createReviewClient(product, "held");
  autos = createReviewClient(product, "auto");
  const { store } = product;
  held = await addProject(store, "held", { fixedReply: DRAFT, reviewPolicy: "review" }, { handoffText: HANDOFF });
  auto = await addProject(store, "auto", { fixedReply: AUTOMATIC }, { handoffText: "" });
  silent = await addProject(store, "silent", { fixedReply: DRAFT, reviewPolicy: "review" }, { handoffText: "" });
  // Without a secret, the sender's key signs callbacks and is deleted after the final one: later replies go to the
  // drain.
  const webhookSecret = store.sealer.seal(SECRET);
  for (const { id } of [held, auto, silent]) await store.projects.update(id, { webhookSecret });
  const changedAt = performance.now();
  desk = (await store.projects.ensure("desk")).project;
  await store.projects.update(desk.id, { handoffText: HANDOFF, webhookSecret });
  for (const name of ["first", "second"]) {
    await store.agents.insert(desk.id, { name, fixedReply: `The draft of ${name}.`, reviewPolicy: "review" });
  }
  await waitFor(() => performance.now() > changedAt + IN_USE_WITHIN_MS, { what: "the secret to be in use" });
});

afterAll(() => product?.stop());

beforeEach(async () => {
  receiver = await startWebhookReceiver();
});

afterEach(() => receiver?.close());

/** Returns the id of the ticket of a chat in one of the projects. */
const ticketIn = ({ id }: Project, chatId: string) => ticketIdOf(id, "api", chatId);

/** Starts a chat of the project `held` whose one message waits for review. */
const heldChat: ReviewClient["heldChat"] = (...more) => reviews.heldChat(...more);

/** Creates a project whose agent answers from its own knowledge base, always with review. */
async function openShop(name: string) {
  const { store } = product;
  await store.projects.ensure(name);
  const kbs = createKbClient(product, name);
  const kb = await kbs.makeKb();
  await addProject(store, name, { kbIds: [kb.id], reviewPolicy: "review" });
  return {
    client: createReviewClient(product, name),
    /** Adds a text to the knowledge base, and waits until it is indexed. */
    teach: async (text: string) => kbs.settled(kb.id, documentOf(await kbs.add(kb.id, { text })).id),
  };
}

describe("an approved draft", () => {
  test("is in the drain after its sync call has ended, as the agent's reply, and resolves the ticket", async () => {
    const { chatId, ticketId, sent, ticket } = await heldChat({ mode: "sync" });
    expect([sent.status, sent.texts]).toEqual([202, [HANDOFF]]);
    expect(ticket).toMatchObject({ status: "open", stage: "review", draft: { text: DRAFT, isStale: false } });

    const answer = await reviews.decide(ticketId, "approve", { ifMatch: ticket.version, replica: 1 });
    expect(answer.status).toBe(200);
    expect(ticketItemSchema.strict().parse(ticketOf(answer))).toMatchObject({ id: ticketId });
    expect(answer.headers.get("etag")).toBe(`"${ticketOf(answer).version}"`);
    expect(ticketOf(answer).version).toBeGreaterThan(ticket.version);

    expect((await reviews.drained(chatId)).replies).toEqual([
      expect.objectContaining({ text: DRAFT, author: "agent", inReplyTo: messageIdOf(sent), sources: [] }),
    ]);
    const done = await reviews.untilIn(ticketId, "done");
    expect(done).toMatchObject({ status: "pending", draft: null, messages: [{ state: "answered" }] });
    expect(done.firstReplyAt).not.toBeNull();
    const moves = done.events.flatMap((event) => event.moves);
    expect(moves.slice(-2)).toEqual([
      expect.objectContaining({
        from: "review",
        to: "delivering",
        why: "approved",
        actor: expect.stringMatching(/key/),
      }),
      expect.objectContaining({ from: "delivering", to: "done", actor: "pipeline" }),
    ]);
    expect(done.events.map(({ data }) => data["decision"]).filter(Boolean)).toEqual(["approve"]);
  });

  test("answers every waiting message, delivered by the newest one; the others end without replies and refer to it", async () => {
    const headers = { "Idempotency-Key": randomUUID() };
    const { chatId, ticketId, sent: first } = await heldChat({ mode: "sync" }, headers);
    const second = await api.send("held", { text: "Hello?", chatId, webhookUrl: receiver.url() });
    const third = await api.send("held", { text: "Anybody?", chatId, mode: "async" });
    const { version, draft } = await reviews.untilHeld(ticketId, 3);
    expect(draft?.covers).toEqual([first, second, third].map(messageIdOf));
    expect((await reviews.decide(ticketId, "approve", { ifMatch: version })).status).toBe(200);

    const covered = { replies: [], coveredBy: messageIdOf(third) };
    const completed = await receiver.next((request) => callbackOf(request).type === "message.completed");
    expect(callbackOf(completed)).toMatchObject({ ...covered, deliveryId: deliveryIdOf(second) });
    const buffered = await reviews.drained(chatId);
    expect(buffered.replies.map(({ author, inReplyTo }) => [author, inReplyTo])).toEqual([
      ["system", messageIdOf(third)],
      ["agent", messageIdOf(third)],
    ]);
    const repeat = await api.send("held", { text: "Where is my parcel?", chatId, mode: "sync" }, { headers });
    expect(repeat.status).toBe(200);
    expect(repeat.body).toEqual({
      ...covered,
      ok: true,
      mode: "sync",
      chatId,
      ticketId,
      messageId: messageIdOf(first),
    });
  });

  test("is approved by only one of two concurrent operators, and sent once", async () => {
    const { chatId, ticketId, ticket } = await heldChat();
    const answers = await Promise.all(
      [0, 1, 0, 1].map((replica) => reviews.decide(ticketId, "approve", { ifMatch: ticket.version, replica })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412, 412, 412]);
    await reviews.untilIn(ticketId, "done");
    expect((await reviews.drained(chatId)).texts).toEqual([HANDOFF, DRAFT]);
  });
});

type Replied = { author: "agent" | "operator"; text: string } | null;

/**
 * Ways to send a held message, with what its sender gets by the end: the handoff text, and the one reply, or null if
 * the message ends without one.
 */
const SENDERS: Record<
  "sync" | "async" | "webhook",
  {
    send(client: ReviewClient): Promise<HeldChat>;
    check(project: string, chat: HeldChat, reply: Replied): Promise<void>;
  }
> = {
  sync: {
    send: (client) => client.heldChat({ mode: "sync" }, { "Idempotency-Key": randomUUID() }),
    async check(project, { chatId, sent, repeat }, reply) {
      expect([sent.status, sent.body.status, sent.texts]).toEqual([202, "in_review", [HANDOFF]]);
      const replies = reply === null ? [] : [expect.objectContaining({ ...reply, inReplyTo: messageIdOf(sent) })];
      // The call has ended: the reply is in the drain, and a retry of the call gets it too.
      expect((await api.drain(project, chatId, "?peek=1")).replies).toEqual(replies);
      const again = await repeat();
      expect([again.status, again.replies]).toEqual([200, replies]);
      expect([messageIdOf(again), again.body.status]).toEqual([
        messageIdOf(sent),
        reply === null ? "rejected" : undefined,
      ]);
    },
  },
  async: {
    send: (client) => client.heldChat({ mode: "async" }),
    async check(project, { chatId, sent }, reply) {
      expect([sent.status, sent.replies]).toEqual([202, []]);
      const { replies } = await api.drain(project, chatId);
      expect(replies).toEqual(
        [{ author: "system", text: HANDOFF }, ...(reply === null ? [] : [reply])].map((one) =>
          expect.objectContaining({ ...one, inReplyTo: messageIdOf(sent) }),
        ),
      );
    },
  },
  webhook: {
    async send(client) {
      const chat = await client.heldChat({ webhookUrl: receiver.url() });
      // A callback reports the current state: a decision before it would leave only the final one.
      await receiver.next((request) => callbackOf(request).type === "message.in_review");
      return chat;
    },
    async check(project, { chatId, sent }, reply) {
      const type: CallbackType = reply === null ? "message.rejected" : "message.completed";
      const final = await receiver.next((request) => callbackOf(request).type === type);
      expect(receiver.requests.map((request) => callbackOf(request).type)).toEqual(["message.in_review", type]);
      for (const request of receiver.requests) expectSigned(request, SECRET);
      const messageId = messageIdOf(sent);
      const [callback] = receiver.requests.map((request) => callbackOf(request));
      expect(callback).toMatchObject({ messageId, replies: [{ author: "system", text: HANDOFF }] });
      expect(callbackOf(final)).toMatchObject({ messageId, deliveryId: deliveryIdOf(sent) });
      expect(callbackOf(final).replies).toEqual(reply === null ? [] : [expect.objectContaining(reply)]);
      expect(callbackOf(final)).not.toHaveProperty("coveredBy");
      expect((await api.drain(project, chatId)).replies).toEqual([]);
    },
  },
};
const MODES = ["sync", "async", "webhook"] as const;

/** The decisions that answer waiting messages, with the reply that each sends. */
const DECISIONS: [action: ReviewAction, json: object, reply: Replied][] = [
  ["approve", {}, { author: "agent", text: DRAFT }],
  ["edit", { text: "An edited draft." }, { author: "operator", text: "An edited draft." }],
  ["reply", { text: "A person's words." }, { author: "operator", text: "A person's words." }],
  ["reject", {}, null],
  ["resolve", {}, null],
];

describe.each(MODES)("the sender of a message in mode %s that is held", (mode) => {
  test.each(DECISIONS)("gets the result of %s, once", async (action, json, reply) => {
    const chat = await SENDERS[mode].send(reviews);
    const { ticketId, ticket } = chat;
    const answer = await reviews.decide(ticketId, action, { json, ifMatch: ticket.version, replica: 1 });
    expect(answer.status).toBe(200);
    const done = await reviews.untilIn(ticketId, "done");
    expect(done).toMatchObject({
      status: action === "resolve" ? "resolved" : "pending",
      draft: null,
      messages: [{ state: reply === null ? "rejected" : "answered" }],
    });
    expect(done.replies).toHaveLength(reply === null ? 1 : 2);
    await SENDERS[mode].check("held", chat, reply);
  });

  test("gets only its one reply, regardless of other decisions before and after it", async () => {
    const client = createReviewClient(product, "desk");
    const [first, second] = await product.store.agents.list(desk.id);
    const chat = await SENDERS[mode].send(client);
    const { ticketId } = chat;
    const decide = async (action: ReviewAction, json: object = {}) => {
      const answer = await client.decide(ticketId, action, { json });
      expect([action, answer.status]).toEqual([action, 200]);
      return ticketOf(answer).version;
    };
    await decide("takeover");
    await decide("assign", { assignee: "Ada" });
    await decide("note", { text: "She knows the customer." });
    await decide("unassign");
    await client.untilRedrafted(ticketId, await decide("reroute", { agentId: first?.id }));
    await client.untilRedrafted(ticketId, await decide("reroute", { agentId: second?.id }));
    const { version, draft } = await client.untilRedrafted(ticketId, await decide("regenerate"));
    expect(draft?.text).toBe("The draft of second.");
    expect((await client.decide(ticketId, "approve", { ifMatch: version })).status).toBe(200);
    await client.untilIn(ticketId, "done");
    await decide("resolve");
    await decide("reopen");
    await SENDERS[mode].check("desk", chat, { author: "agent", text: "The draft of second." });
  });
});

describe("a regenerated draft", () => {
  test("is the agent's current answer, covers the same messages, and is the only one that can be approved", async () => {
    const { store } = product;
    const project = await addProject(store, "redraft", { fixedReply: "Old words.", reviewPolicy: "review" });
    const client = createReviewClient(product, "redraft");
    const { chatId, ticketId, sent, ticket } = await client.heldChat();
    expect(ticket.draft?.text).toBe("Old words.");
    const [agent] = await store.agents.list(project.id);
    await store.agents.update(project.id, { id: agent?.id ?? "" }, { fixedReply: "New words." });
    const answer = await client.decide(ticketId, "regenerate", { ifMatch: ticket.version });
    expect([answer.status, ticketOf(answer).stage]).toEqual([200, "received"]);
    const redrafted = await client.untilRedrafted(ticketId, ticketOf(answer).version);
    expect(redrafted.draft).toMatchObject({ text: "New words.", covers: [messageIdOf(sent)] });
    expectProblem(await client.decide(ticketId, "approve", { ifMatch: ticket.version }), "version_conflict");
    expect((await client.decide(ticketId, "approve", { ifMatch: redrafted.version })).status).toBe(200);
    expect((await client.drained(chatId)).texts.at(-1)).toBe("New words.");
  });

  test("answers from the current knowledge base", async () => {
    const { client, teach } = await openShop("learning");
    const question = { text: "What does a parcel to Iceland cost?", mode: "async" };
    const { ticketId, ticket } = await client.heldChat(question);
    expect(ticket.draft?.text).not.toMatch(/forty/);
    await teach("# Prices\n\nA parcel to Iceland costs forty crowns.");
    const answer = await client.decide(ticketId, "regenerate");
    expect(answer.status).toBe(200);
    const { draft } = await client.untilRedrafted(ticketId, ticketOf(answer).version);
    expect(draft?.text).toMatch(/forty crowns/);
  });
});

test("a draft for several waiting messages answers each of their questions", async () => {
  const { client, teach } = await openShop("shop");
  await teach("# Opening hours\n\nThe shop opens at nine in the morning.");
  await teach("# Prices\n\nA parcel to Iceland costs forty crowns.");
  const question = { text: "When does the shop open in the morning?", mode: "async" };
  const { chatId, ticketId, sent, ticket } = await client.heldChat(question);
  const first = ticket.draft?.text ?? "";
  expect(first).toMatch(/nine/);
  const second = await api.send("shop", { text: "What does a parcel to Iceland cost?", chatId, mode: "async" });
  const { draft: joined } = await client.untilHeld(ticketId, 2);
  expect(joined?.covers).toEqual([sent, second].map(messageIdOf));
  expect(joined?.text.startsWith(`${first}\n\n`)).toBe(true);
  expect(joined?.text.slice(first.length)).toMatch(/forty crowns/);
  expect(joined?.sources.map(({ quote }) => quote).join(" ")).toMatch(/nine.*forty crowns/s);

  // So does the draft after regenerating it again.
  const answer = await client.decide(ticketId, "regenerate");
  expect(answer.status).toBe(200);
  const { version, draft } = await client.untilRedrafted(ticketId, ticketOf(answer).version);
  expect(draft).toMatchObject({ text: joined?.text, covers: joined?.covers });
  expect((await client.decide(ticketId, "approve", { ifMatch: version })).status).toBe(200);
  await client.untilIn(ticketId, "done");
  const { replies } = await client.drained(chatId);
  expect(replies.filter(({ author }) => author === "agent")).toEqual([
    expect.objectContaining({ text: draft?.text, inReplyTo: messageIdOf(second) }),
  ]);
});

describe("a draft that does not cover a newer message of the customer", () => {
  test("412: is not sent with an older version, and a new one covers both", async () => {
    const { chatId, ticketId, ticket } = await heldChat();
    await api.send("held", { text: "It is urgent!", chatId, mode: "async" });
    // Whether or not the pipeline has processed the message by now.
    const stale = await reviews.decide(ticketId, "approve", { ifMatch: ticket.version });
    expectProblem(stale, "version_conflict");
    const { version } = await reviews.untilHeld(ticketId, 2);
    expect(version).toBeGreaterThan(ticket.version);
    expect((await api.drain("held", chatId, "?peek=1")).texts).toEqual([HANDOFF, ADDED]);
    expect((await reviews.decide(ticketId, "approve", { ifMatch: version })).status).toBe(200);
    await reviews.untilIn(ticketId, "done");
  });

  test.each<[ReviewAction, object]>([
    ["approve", {}],
    ["edit", { text: "Mine." }],
    ["reject", {}],
    ["regenerate", {}],
    ["resolve", {}],
    // Without a version the decision applies to all waiting messages.
    ["reply", { text: "Mine." }],
  ])("412: %s skips no message that the pipeline has not processed yet", async (action, json) => {
    const { chatId, ticketId } = await heldChat();
    const letGo = await holdChat(product.store, held, chatId);
    try {
      const { version } = await reviews.read(ticketId);
      const answer = await reviews.decide(ticketId, action, { json, ifMatch: version });
      expectProblem(answer, "version_conflict");
      expect(answer.headers.get("etag")).toBe(`"${version}"`);
      expect(answer.body.detail).toMatch(/customer has (?:written|sent)/);
    } finally {
      await letGo();
    }
    expect((await api.drain("held", chatId, "?peek=1")).texts).toEqual([HANDOFF]);
  });

  test("412: has the current version in the ETag", async () => {
    const { ticketId, ticket } = await heldChat();
    const { version } = ticketOf(await reviews.decide(ticketId, "note", { json: { text: "Mine." } }));
    const stale = await reviews.decide(ticketId, "reply", { json: { text: "Late." }, ifMatch: ticket.version });
    expectProblem(stale, "version_conflict");
    expect(stale.headers.get("etag")).toBe(`"${version}"`);
    expect((await reviews.decide(ticketId, "edit", { json: { text: "New." }, ifMatch: version })).status).toBe(200);
  });
});

describe("a draft that is approved with a macro", () => {
  const actions = { addTags: ["refund"], priority: "high" } as const;
  const approve = (ticketId: string, ifMatch: number, more: object = {}) =>
    reviews.decide(ticketId, "edit", { json: { text: DRAFT, resolves: true, actions, ...more }, ifMatch });

  test("is sent once, and the actions apply in the same decision", async () => {
    const { chatId, ticketId, ticket } = await heldChat();
    const answers = await Promise.all([approve(ticketId, ticket.version), approve(ticketId, ticket.version)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
    const decided = answers.find(({ status }) => status === 200);
    expect(decided === undefined ? null : ticketOf(decided)).toMatchObject({
      tags: ["refund"],
      priority: "high",
      version: ticket.version + 1,
    });
    const done = await reviews.untilIn(ticketId, "done");
    expect(done.status).toBe("resolved");
    expect((await reviews.drained(chatId)).texts).toEqual([HANDOFF, DRAFT]);
    const decisions = done.events.filter(({ data }) => data["decision"] === "edit");
    expect(decisions.map(({ data }) => data)).toMatchObject([{ actions, draft: DRAFT, sent: DRAFT }]);
  });

  test("is not sent if an action is invalid, and no action applies", async () => {
    const { ticketId, ticket } = await heldChat();
    const wrong = { ...actions, addTags: Array.from({ length: 21 }, (_, number) => `tag ${number}`) };
    expectProblem(await approve(ticketId, ticket.version, { actions: wrong }), "invalid_request", ["/actions/addTags"]);
    const snoozed = { ...actions, snooze: { until: "2020-01-01T00:00:00Z" } };
    const late = await approve(ticketId, ticket.version, { resolves: false, actions: snoozed });
    expectProblem(late, "invalid_request", ["/actions/snooze/until"]);
    const after = await reviews.read(ticketId);
    expect(after).toMatchObject({ stage: "review", tags: [], priority: ticket.priority, version: ticket.version });
    expect(after.draft?.text).toBe(DRAFT);
  });
});

describe("an operator's own text", () => {
  test("is sent instead of the draft, and the ticket's event has both", async () => {
    const { chatId, ticketId, ticket } = await heldChat();
    const json = { text: "| a | b |\n| - | - |\n| 1 | 2 |", markdown: true };
    await reviews.decide(ticketId, "edit", { json, ifMatch: ticket.version });
    const done = await reviews.untilIn(ticketId, "done");
    const { replies } = await reviews.drained(chatId);
    expect(replies.map(({ author, type }) => [author, type])).toEqual([
      ["system", "message"],
      ["operator", "message"],
      ["operator", "attachment"],
    ]);
    expect(done.events.find(({ data }) => data["decision"] === "edit")?.data).toEqual({
      assignee: expect.stringMatching(/^key:/),
      decision: "edit",
      draft: DRAFT,
      sent: json.text,
    });
  });

  test("answers waiting messages, and is otherwise delivered by the newest one", async () => {
    const { ticketId } = await heldChat({ webhookUrl: receiver.url() });
    await reviews.decide(ticketId, "reply", { json: { text: "First." } });
    await reviews.untilIn(ticketId, "done");
    await reviews.decide(ticketId, "reply", { json: { text: "Second." } });
    const done = await reviews.until(
      ticketId,
      ({ replies, stage }) => replies.length === 3 && stage === "done",
      "have three replies",
    );
    expect(done.draft).toBeNull();
    const texts = async () => {
      const request = await receiver.next((found) => callbackOf(found).type === "message.completed");
      return callbackOf(request).replies.map((reply) => (reply.type === "message" ? reply.text : reply.filename));
    };
    expect([await texts(), await texts()]).toEqual([["First."], ["Second."]]);
  });

  test("is sent with files, which are uploaded before, sanitized and typed by their content", async () => {
    const { ticketId } = await heldChat({ webhookUrl: receiver.url() });
    const path = `${api.baseUrl(0)}/api/v1/admin/tickets/${ticketId}/files`;
    const call = (init: RequestInit, project = "held") =>
      fetch(path, {
        method: "POST",
        ...init,
        headers: [["X-Api-Key", product.adminKey], ["X-Svc-Project", project], ...new Headers(init.headers)],
      });
    const json = (body: object) => ({ body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
    const form = new FormData();
    form.append("file", new Blob(["%PDF-1.7 label"], { type: "text/html" }), "../label\u202e.pdf");
    const content = Buffer.from("<script>alert(1)</script>").toString("base64");
    const answers = [await call({ body: form }), await call(json({ filename: "page.html", content }))];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const files = await Promise.all(
      answers.map(async (answer) => ((await answer.json()) as { item: OperatorFile }).item),
    );
    expect(files).toMatchObject([
      { filename: "label.pdf", mime: "application/pdf", sizeBytes: 14 },
      { filename: "page.html", sizeBytes: 25 },
    ]);
    const attachments = files.map(({ fileId }) => ({ fileId }));
    // Files of another ticket, duplicates, too many, or missing ones: nothing is decided.
    const { ticketId: other } = await heldChat();
    for (const wrong of [
      { ticketId: other, attachments },
      { ticketId, attachments: [...attachments, ...attachments] },
      { ticketId, attachments: [{ fileId: newId() }] },
      { ticketId, attachments: Array.from({ length: 11 }, () => ({ fileId: newId() })) },
    ]) {
      const answer = await reviews.decide(wrong.ticketId, "reply", {
        json: { text: "x", attachments: wrong.attachments },
      });
      expectProblem(answer, "invalid_request", ["/attachments"]);
    }
    await reviews.decide(ticketId, "reply", { json: { text: "Your label.", attachments } });
    await reviews.untilIn(ticketId, "done");
    const request = await receiver.next((found) => callbackOf(found).type === "message.completed");
    expect(callbackOf(request).replies).toMatchObject([
      { type: "message", text: "Your label." },
      { type: "attachment", filename: "label.pdf", mime: "application/pdf" },
      { type: "attachment", filename: "page.html" },
    ]);
    expect(await queryDatabase(product.databaseUrl, "SELECT id FROM operator_files")).toEqual([]);
    // Without a file, an empty one, a large one, one of another project's ticket.
    const large = Buffer.alloc(10 * 1024 * 1024 + 1).toString("base64");
    const refused = [
      await call({ body: new FormData() }),
      await call(json({ filename: "empty.txt", content: "" })),
      await call(json({ filename: "large.bin", content: large })),
      await call(json({ filename: "a.txt", content: "aGk=" }), "auto"),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 413, 404]);
  });

  test("may be files without a text: then they alone are sent, and nothing is sent without both", async () => {
    const { chatId, ticketId } = await heldChat();
    const file = { filename: "label.txt", content: Buffer.from("Return label").toString("base64") };
    const uploaded = await callApi(`${api.baseUrl(0)}/api/v1/admin/tickets/${ticketId}/files`, {
      key: product.adminKey,
      project: "held",
      json: file,
    });
    const { fileId } = (uploaded.body as unknown as { item: OperatorFile }).item;
    for (const json of [{}, { text: " " }, { text: "\u200b" }, { text: "", attachments: [] }]) {
      expectProblem(await reviews.decide(ticketId, "reply", { json }), "invalid_request", ["/text"]);
    }
    expect((await reviews.decide(ticketId, "reply", { json: { attachments: [{ fileId }] } })).status).toBe(200);
    const done = await reviews.untilIn(ticketId, "done");
    expect(done.replies.slice(1)).toMatchObject([{ type: "attachment", author: "operator", filename: "label.txt" }]);
    const { replies } = await api.drain("held", chatId);
    expect(replies.slice(1)).toMatchObject([{ type: "attachment", filename: "label.txt", base64: file.content }]);
  });

  test("may immediately follow another one, and each is sent in order", async () => {
    const { chatId, ticketId } = await heldChat();
    const texts = ["One.", "Two.", "Three."];
    for (const text of texts) {
      expect((await reviews.decide(ticketId, "reply", { json: { text } })).status).toBe(200);
    }
    await waitFor(async () => (await api.drain("held", chatId, "?peek=1")).texts.length === 4, {
      what: () => "all three replies",
    });
    expect((await api.drain("held", chatId, "?peek=1")).texts).toEqual([HANDOFF, ...texts]);
  });

  test("may follow an automatic answer", async () => {
    const chatId = randomUUID();
    await api.send("auto", { text: "hello", chatId, mode: "async" });
    await autos.drained(chatId);
    const answer = await reviews.decide(ticketIn(auto, chatId), "reply", { json: { text: "More." }, project: "auto" });
    expect(answer.status).toBe(200);
    await waitFor(async () => (await api.drain("auto", chatId, "?peek=1")).texts.join() === `${AUTOMATIC},More.`, {
      what: () => "both replies",
    });
  });
});

describe("a ticket without an answer", () => {
  test("is rejected: nothing is sent, and webhook senders and retried sync calls are notified", async () => {
    const headers = { "Idempotency-Key": randomUUID() };
    const { chatId, ticketId } = await heldChat({ mode: "sync" }, headers);
    const hooked = await api.send("held", { text: "Buy this!", chatId, webhookUrl: receiver.url() });
    const { version } = await reviews.untilHeld(ticketId, 2);
    const json = { reason: "advertising" };
    const answer = await reviews.decide(ticketId, "reject", { json, ifMatch: version });
    expect(ticketOf(answer)).toMatchObject({ stage: "done", status: "pending" });
    const rejected = await receiver.next((request) => callbackOf(request).type === "message.rejected");
    expect(callbackOf(rejected)).toMatchObject({ replies: [], deliveryId: deliveryIdOf(hooked) });
    const repeat = await api.send("held", { text: "Where is my parcel?", chatId, mode: "sync" }, { headers });
    expect([repeat.status, repeat.body]).toEqual([200, expect.objectContaining({ status: "rejected", replies: [] })]);
    const ticket = await reviews.read(ticketId);
    expect(ticket.draft).toBeNull();
    expect(ticket.messages.map(({ state }) => state)).toEqual(["rejected", "rejected"]);
    expect(ticket.events.at(-1)?.data).toEqual({ decision: "reject", reason: "advertising" });
  });

  test("is resolved, also as spam, and reopened by hand or by the customer's next message", async () => {
    const { chatId, ticketId } = await heldChat();
    const resolved = ticketOf(await reviews.decide(ticketId, "resolve"));
    expect(resolved).toMatchObject({ status: "resolved", stage: "done", assignee: null });
    expect(resolved.resolvedAt).not.toBeNull();
    expectProblem(await reviews.decide(ticketId, "resolve", { json: { status: "resolved" } }), "invalid_request");
    expect(ticketOf(await reviews.decide(ticketId, "reopen"))).toMatchObject({ status: "open", resolvedAt: null });
    expectProblem(await reviews.decide(ticketId, "reopen"), "invalid_request");
    expect(ticketOf(await reviews.decide(ticketId, "resolve", { json: { status: "spam" } })).status).toBe("spam");
    await reviews.decide(ticketId, "resolve");
    await api.send("held", { text: "Again.", chatId, mode: "async" });
    const again = await reviews.untilIn(ticketId, "review");
    expect(again).toMatchObject({ status: "open", resolvedAt: null });
    expect(again.messages.map(({ state }) => state)).toEqual(["rejected", "held"]);
  });
});

test("a message to a ticket marked as spam ends without an answer or review", async () => {
  const chatId = randomUUID();
  const ticketId = ticketIn(auto, chatId);
  await api.send("auto", { text: "Buy this!", chatId, mode: "async" });
  await autos.drained(chatId);
  await reviews.decide(ticketId, "resolve", { json: { status: "spam" }, project: "auto" });
  const again = await api.send("auto", { text: "Buy that!", chatId, mode: "sync", timeoutMs: 20_000 });
  expect([again.status, again.body]).toEqual([200, expect.objectContaining({ status: "rejected", replies: [] })]);
  expect(await reviews.read(ticketId, "auto")).toMatchObject({ status: "spam", stage: "done", draft: null });
  expect(ticketOf(await reviews.decide(ticketId, "reopen", { project: "auto" })).status).toBe("open");
});

test("a blocked customer gets no reply: open tickets and later messages become spam, until the block ends", async () => {
  const userId = `blocked-${newId()}`;
  const ask = async (chatId: string) => {
    const answer = await api.send("held", { text: "Are you there?", mode: "async", chatId, userId });
    expect(answer.status).toBe(202);
    return ticketIn(held, chatId);
  };
  const ticketId = await ask(newId());
  await reviews.untilIn(ticketId, "review");
  const stored = async () => (await reviews.read(ticketId)).customer?.id;
  const customerId = await waitFor(stored, { what: "the customer of the ticket" });
  const decide = (action: string) => {
    const request = { method: "POST", key: product.adminKey, project: "held" };
    return callApi(`${api.baseUrl()}/api/v1/admin/customers/${customerId}/${action}`, request);
  };
  expect(await decide("block")).toMatchObject({ status: 200, body: { item: { isBlocked: true } } });
  expect(await reviews.read(ticketId)).toMatchObject({ status: "spam", stage: "done", draft: null });

  const chatId = newId();
  const later = await ask(chatId);
  const ended = await reviews.untilIn(later, "done");
  expect(ended).toMatchObject({ status: "spam", agentId: null, draft: null, replies: [] });
  expect(ended.messages.map(({ state }) => state)).toEqual(["rejected"]);

  expect(await decide("unblock")).toMatchObject({ status: 200, body: { item: { isBlocked: false } } });
  await ask(chatId);
  expect(await reviews.untilIn(later, "review")).toMatchObject({ status: "open", resolvedAt: null });
});

describe("an assigned ticket", () => {
  test("holds messages silently until it is unassigned and the agent answers them", async () => {
    const chatId = randomUUID();
    const ticketId = ticketIn(auto, chatId);
    const options = { project: "auto" };
    await api.send("auto", { text: "hello", chatId, mode: "async" });
    await autos.drained(chatId);
    const assigned = await reviews.decide(ticketId, "assign", { json: { assignee: "Ada" }, ...options });
    expect(ticketOf(assigned)).toMatchObject({ assignee: "Ada", stage: "done" });
    const sent = await api.send("auto", { text: "and now?", chatId, mode: "sync", timeoutMs: 20_000 });
    expect([sent.status, sent.body.status, sent.replies]).toEqual([202, "in_review", []]);
    expect((await api.drain("auto", chatId, "?peek=1")).texts).toEqual([AUTOMATIC]);

    const given = ticketOf(await reviews.decide(ticketId, "unassign", options));
    expect(given.assignee).toBeNull();
    await waitFor(async () => (await api.drain("auto", chatId, "?peek=1")).texts.length === 2, {
      what: () => "the agent's answer",
    });
    expectProblem(await reviews.decide(ticketId, "unassign", options), "invalid_request");
  });

  test("belongs to the operator who replied: no handoff text and no agent's answer until it is unassigned", async () => {
    const { chatId, ticketId } = await heldChat();
    expect(ticketOf(await reviews.decide(ticketId, "reply", { json: { text: "Your number?" } })).assignee).toMatch(
      /^key:/,
    );
    await reviews.untilIn(ticketId, "done");
    const sent = await api.send("held", { text: "It is 17.", chatId, mode: "sync", timeoutMs: 20_000 });
    expect([sent.status, sent.body.status, sent.replies]).toEqual([202, "in_review", []]);
    expect((await api.drain("held", chatId, "?peek=1")).texts).toEqual([HANDOFF, "Your number?"]);
    expect(await reviews.read(ticketId)).toMatchObject({ stage: "review", draft: { text: DRAFT } });
    // It keeps who has answered it, but the agent answers again.
    expect(ticketOf(await reviews.decide(ticketId, "resolve")).assignee).toMatch(/^key:/);
    await api.send("held", { text: "Something else.", chatId, mode: "async" });
    await waitFor(async () => (await api.drain("held", chatId, "?peek=1")).texts.length === 3, {
      what: () => "the hand-off text of the next question",
    });
  });

  test("stays in review if it is unassigned after the customer got the handoff text", async () => {
    const { ticketId } = await heldChat();
    const taken = ticketOf(await reviews.decide(ticketId, "takeover"));
    expect(taken).toMatchObject({ stage: "review", assignee: expect.stringMatching(/\S/) });
    expect(ticketOf(await reviews.decide(ticketId, "unassign"))).toMatchObject({ stage: "review", assignee: null });
    expect(await reviews.read(ticketId)).toMatchObject({ draft: { text: DRAFT }, messages: [{ state: "held" }] });
  });

  test("is processed again if it is assigned while an answer is being made", async () => {
    const chatId = randomUUID();
    const letGo = await holdChat(product.store, auto, chatId);
    const ticketId = ticketIn(auto, chatId);
    await reviews.decide(ticketId, "takeover", { project: "auto" });
    await expect(letGo()).rejects.toThrow("was lost");
    await waitFor(async () => (await reviews.read(ticketId, "auto")).stage === "review", { what: () => "the review" });
    expect(await reviews.read(ticketId, "auto")).toMatchObject({ replies: [], messages: [{ state: "held" }] });
  });
});

describe("a ticket for another agent", () => {
  test("gets a new draft by that agent, and triage learns from it", async () => {
    const { store } = product;
    const other = await store.agents.insert(silent.id, {
      name: "other",
      fixedReply: "The other draft.",
      reviewPolicy: "review",
    });
    const chatId = randomUUID();
    const ticketId = ticketIn(silent, chatId);
    await api.send("silent", { text: "A question about invoices", chatId, mode: "async" });
    const client = createReviewClient(product, "silent");
    await client.untilIn(ticketId, "review");
    const answer = await client.decide(ticketId, "reroute", { json: { agentId: other.id } });
    expect([answer.status, ticketOf(answer).agentId]).toEqual([200, other.id]);
    const isRedrafted = ({ stage, draft }: TicketDetail) => stage === "review" && draft?.text === "The other draft.";
    expect(await client.until(ticketId, isRedrafted, "have a new draft")).toMatchObject({ agentId: other.id });
    expect(await store.triageMessages.list(silent.id)).toContainEqual({
      agentId: other.id,
      text: "A question about invoices",
    });
    // The ticket can also be left without an agent.
    expect(ticketOf(await client.decide(ticketId, "reroute", { json: { agentId: null } }))).toMatchObject({
      agentId: null,
      stage: "review",
    });
    expect((await client.read(ticketId)).draft).toBeNull();
  });

  test("of another project belongs to that project: its agent answers, its operators decide, and the chat stays in the first one", async () => {
    const { store } = product;
    const target = await addProject(
      store,
      "target",
      { fixedReply: DRAFT, reviewPolicy: "review" },
      { handoffText: "" },
    );
    const [agent] = await store.agents.list(target.id);
    const agentId = agent?.id ?? null;
    const chatId = randomUUID();
    const ticketId = ticketIn(auto, chatId);
    await api.send("auto", { text: "hello", chatId, mode: "async" });
    await autos.drained(chatId);
    const json = { agentId, project: "target" };
    const scoped = await issueKey(store, {
      name: "reviewer",
      scopes: ["tickets:*"],
      project: auto.id,
      createdBy: "test",
    });
    expectProblem(
      await reviews.decide(ticketId, "reroute", { json, key: scoped.key, project: "auto" }),
      "project_mismatch",
    );
    const answer = await reviews.decide(ticketId, "reroute", { json, project: "auto" });
    expect(ticketOf(answer)).toMatchObject({ project: "target", homeProject: "auto" });
    expectProblem(await reviews.decide(ticketId, "note", { json: { text: "x" }, project: "auto" }), "not_found");

    await api.send("auto", { text: "and then?", chatId, mode: "async" });
    const client = createReviewClient(product, "target");
    const ticket = await client.untilIn(ticketId, "review");
    expect(ticket).toMatchObject({ agentId, draft: { text: DRAFT } });
    await client.decide(ticketId, "approve", { ifMatch: ticket.version });
    await waitFor(async () => (await api.drain("auto", chatId, "?peek=1")).texts.join() === `${AUTOMATIC},${DRAFT}`, {
      what: () => "the other project's answer",
    });
  });
});

describe("invalid input", () => {
  test.each(["approve", "edit", "reject"] as const)(
    "400: %s without the version that was read explains how to provide it, also for `*`",
    async (action) => {
      const { ticketId } = await heldChat();
      const json = action === "edit" ? { text: "Mine." } : {};
      for (const options of [{ json }, { json, ifMatch: "*" }]) {
        const answer = await reviews.decide(ticketId, action, options);
        expectProblem(answer, "invalid_request");
        expect(answer.body.detail).toMatch(/ETag.*If-Match/);
      }
    },
  );

  test.each<[ReviewAction, object, string]>([
    ["approve", { text: "no" }, "/text"],
    ["edit", {}, "/text"],
    ["edit", { text: " \n" }, "/text"],
    ["edit", { text: "a".repeat(50_001) }, "/text"],
    ["reply", { text: "a\u0000b" }, "/text"],
    ["reply", { text: "x", markdown: "yes" }, "/markdown"],
    ["reject", { reason: "r".repeat(2_001) }, "/reason"],
    ["assign", {}, "/assignee"],
    ["assign", { assignee: "a\nb" }, "/assignee"],
    ["assign", { assignee: "a".repeat(321) }, "/assignee"],
    ["note", { text: "" }, "/text"],
    ["reroute", {}, "/agentId"],
    ["reroute", { agentId: "none" }, "/agentId"],
    ["reroute", { agentId: newId() }, "/agentId"],
    ["reroute", { agentId: null, project: "../etc" }, "/project"],
    ["reroute", { agentId: null, project: "unknown" }, "/project"],
    ["resolve", { status: "closed" }, "/status"],
    ["takeover", { assignee: "me" }, "/assignee"],
    ["retry", { all: true }, "/all"],
    ["snooze", {}, "/until"],
    ["snooze", { until: "tomorrow" }, "/until"],
    ["reply", { text: "Hi", resolves: "yes" }, "/resolves"],
  ])("400: %s with an invalid body", async (action, json, pointer) => {
    const answer = await reviews.decide(newId(), action, { json, ifMatch: 1 });
    expectProblem(answer, "invalid_request", [pointer]);
  });

  test("404: every action on a ticket that is missing, of another project, or has an invalid id", async () => {
    const { ticketId } = await heldChat();
    const bodies: Partial<Record<ReviewAction, object>> = {
      edit: { text: "x" },
      reply: { text: "x" },
      note: { text: "x" },
      assign: { assignee: "x" },
      reroute: { agentId: null },
      snooze: { until: null },
    };
    for (const action of REVIEW_ACTIONS) {
      const json = bodies[action] ?? {};
      for (const id of [newId(), "1", "'%20OR%201=1"]) {
        expectProblem(await reviews.decide(id, action, { json, ifMatch: 1 }), "not_found");
      }
      const other = await reviews.decide(ticketId, action, { json, ifMatch: 1, project: "auto" });
      expectProblem(other, "not_found");
    }
    expect(await reviews.read(ticketId)).toMatchObject({ stage: "review", assignee: null });
  });

  test("400: a disallowed action lists the allowed ones", async () => {
    const { ticketId, ticket } = await heldChat();
    await reviews.decide(ticketId, "edit", { json: { text: "Done." }, ifMatch: ticket.version });
    const { version } = await reviews.untilIn(ticketId, "done");
    for (const [action, json] of [
      ["approve", {}],
      ["edit", { text: "More." }],
      ["reject", {}],
      ["regenerate", {}],
    ] as const) {
      const answer = await reviews.decide(ticketId, action, { json, ifMatch: version });
      expectProblem(answer, "invalid_request");
      expect(answer.body.detail).toMatch(/no draft|waiting for an answer/);
    }
    expect((await reviews.read(ticketId)).version).toBe(version);
  });
});

test("a note is stored with the ticket, and every decision adds a row to the audit log", async () => {
  const { ticketId } = await heldChat();
  await reviews.decide(ticketId, "note", { json: { text: "Call back on Friday." } });
  expect((await reviews.read(ticketId)).events.at(-1)?.data).toEqual({
    decision: "note",
    note: "Call back on Friday.",
  });
  await reviews.decide(ticketId, "approve");
  const rows = await queryDatabase<{ action: string; result: string }>(
    product.databaseUrl,
    "SELECT action, result FROM audit_events WHERE object = $1 ORDER BY number",
    [ticketId],
  );
  expect(rows).toEqual([
    { action: "tickets.note", result: "ok" },
    { action: "tickets.approve", result: "invalid_request" },
  ]);
});
