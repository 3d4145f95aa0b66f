import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { erasureReceiptSchema, privacyExportSchema, visitorChatId } from "@svc/contracts";
import type { CustomerItem, ErasureReceipt, PrivacyExport } from "@svc/contracts";
import { TICKET_ROWS } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { countRedisKeysWith, createTestDatabase, createTestQueueBackend, waitFor, queryDatabase } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import type { ApiRequest } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { createReviewClient } from "./support/create-review-client.ts";
import { expectHealthy } from "./support/expect-healthy.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { findInDatabase } from "./support/find-in-database.ts";
import { holdChat } from "./support/hold-chat.ts";
import { plantCanary } from "./support/plant-canary.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const VISITOR = "6f1c3b1e-6a53-4c0e-9a55-0d8f5b8a7c11";

let product: Product;
let api: ApiClient;
let countInRedis: (text: string) => Promise<number>;

beforeAll(async () => {
  const database = await createTestDatabase();
  const queues = await createTestQueueBackend();
  const { redisUrl } = queues;
  countInRedis = async (text) => (redisUrl === undefined ? 0 : countRedisKeysWith(redisUrl, queues.prefix, text));
  product = await startProduct({
    ground: {
      databaseUrl: database.url,
      ...(redisUrl === undefined ? {} : { redisUrl }),
      prefix: queues.prefix,
      async remove() {
        await queues.stop();
        await database.drop();
      },
    },
  });
  api = createApiClient(product);
});

afterAll(() => product.stop());

type Action = "export" | "erase";

/** Calls `POST /api/v1/admin/privacy/<action>`, as an administrator unless another key is given. */
const ask = (action: Action, json: unknown, request: ApiRequest = {}): Promise<ApiAnswer> =>
  callApi(`${api.baseUrl()}/api/v1/admin/privacy/${action}`, { key: product.adminKey, json, ...request });

async function exportOf(project: string, subject: object): Promise<PrivacyExport> {
  const answer = await ask("export", subject, { project });
  expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
  return privacyExportSchema.strict().parse((answer.body as unknown as { item: unknown }).item);
}

async function erase(project: string, subject: object, request: ApiRequest = {}): Promise<ErasureReceipt> {
  const answer = await ask("erase", subject, { project, ...request });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return erasureReceiptSchema.strict().parse((answer.body as unknown as { item: unknown }).item);
}

/** Returns every location of a text: in any table of the database, and in the keys of Redis. */
async function findEverywhere(text: string): Promise<string[]> {
  const inRedis = await countInRedis(text);
  return [...(await findInDatabase(product.databaseUrl, text)), ...(inRedis === 0 ? [] : [`redis: ${inRedis} keys`])];
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((total, count) => total + count, 0);
const readTicket = (project: string, ticketId: string) =>
  callApi(`${api.baseUrl()}/api/v1/admin/tickets/${ticketId}`, { key: product.adminKey, project });

test("a customer is found, changed, merged, exported and erased with every conversation", async () => {
  await addProject(product.store, "customers", { fixedReply: "Hello." });
  const call = (path: string, request: ApiRequest = {}) =>
    callApi(`${api.baseUrl()}/api/v1/admin${path}`, { key: product.adminKey, project: "customers", ...request });
  const itemsOf = async (path: string) => ((await call(path)).body as unknown as { items: CustomerItem[] }).items;
  for (const [userId, name] of [
    ["u-1", "=HYPERLINK(1)"],
    ["u-2", "Mei Lin"],
  ]) {
    await api.send("customers", { text: "hi", userId, meta: { customer: { name } } });
  }
  const isComplete = async () => (await itemsOf("/customers?q=u-")).length === 2;
  await waitFor(isComplete, { what: "two customers" });
  const [first] = await itemsOf("/customers?q=HYPERLINK");
  const [second] = await itemsOf("/customers?q=mei%20lin");
  const path = `/customers/${first?.id}`;
  const shown = await call(path);
  expect([shown.status, shown.headers.get("etag")]).toEqual([200, `"${first?.version}"`]);

  const change = (json: unknown, etag = "*") => call(path, { method: "PATCH", json, headers: { "If-Match": etag } });
  const wrong = await change({ email: "x", timeZone: "Mars/Base", attributes: { "a:b": [] }, blocked: true });
  expectProblem(wrong, "invalid_request");
  const { errors = [] } = wrong.body;
  expect(errors.map(({ pointer }) => pointer)).toEqual(expect.arrayContaining(["/email", "/timeZone"]));
  expectProblem(await change({ name: "Ada" }, `"${(first?.version ?? 0) + 1}"`), "version_conflict");
  const changed = await change({ name: "Ada", attributes: { plan: "pro" } }, `"${first?.version}"`);
  expect(changed).toMatchObject({ status: 200, body: { item: { name: "Ada", attributes: { plan: "pro" } } } });

  const merge = (customerId: unknown) => call(`${path}/merge`, { json: { customerId } });
  expectProblem(await merge(first?.id), "invalid_request");
  const merged = await merge(second?.id);
  expect(merged).toMatchObject({ status: 200, body: { item: { id: first?.id, name: "Ada" } } });
  expect((await call(`/customers/${second?.id}`)).body).toMatchObject({ item: { id: first?.id } });
  expect(await itemsOf(`/tickets?customerId=${first?.id}`)).toHaveLength(2);

  const noted = await call(`${path}/notes`, { json: { text: "<script>alert(1)</script> Pays late." } });
  expect(noted).toMatchObject({
    status: 200,
    body: { item: { notes: [{ text: expect.stringContaining("Pays late") }] } },
  });
  expectProblem(await call(`${path}/notes`, { json: { text: " " } }), "invalid_request");
  const held = await exportOf("customers", { customerId: first?.id });
  const records = { customers: [{ name: "Ada", notes: [{ text: expect.stringContaining("Pays late") }] }] };
  expect(held).toMatchObject({ counts: { tickets: 2, customers: 1 }, records });
  // A ticket that is being indexed may get another customer before it is erased, which is erased with it.
  const { counts } = await erase("customers", { customerId: second?.id });
  expect(counts).toMatchObject({ tickets: 2, customers: expect.any(Number) });
  expectProblem(await call(path), "not_found");
  expect(await itemsOf("/customers")).toEqual([]);
});

describe("the data of a user", () => {
  test("is exported from every store, and is in none after the erasure", async () => {
    const canary = await plantCanary(product, "erasure");
    const before = await findEverywhere(canary.name);
    const bodyIds = await queryDatabase<{ id: string; hook_id: string }>(
      product.databaseUrl,
      "SELECT id, hook_id FROM hook_bodies WHERE project_id = $1",
      [canary.project],
    );
    expect(before).toEqual(expect.arrayContaining(["public.ticket_list.user_id", "public.gap_terms.term"]));

    const held = await exportOf("erasure", { userId: canary.userId });
    expect(held.tickets.map(({ ticketId }) => ticketId).toSorted()).toEqual(canary.ticketIds.toSorted());
    expect(held).toMatchObject({ project: "erasure", subject: expect.stringMatching(/^user:[0-9a-f]{16}$/) });
    // The canary must be in every kind of row, otherwise this test would prove nothing.
    expect(held.records["hookBodies"]).toMatchObject([{ outcome: "failed" }, { outcome: "failed" }]);
    for (const { kind } of TICKET_ROWS) {
      const records = [held, ...held.tickets].flatMap(({ records: byKind }) => byKind[kind] ?? []);
      expect([kind, records.length]).toEqual([kind, held.counts[kind]]);
      expect([kind, records.length]).not.toEqual([kind, 0]);
    }
    const [file] = held.tickets.flatMap(({ records }) => records["attachments"] ?? []);
    expect(Buffer.from(String(file?.["content"]), "base64").toString()).toBe(canary.name);
    // Without the secrets that sign callbacks.
    expect(JSON.stringify(held)).not.toMatch(/sealed/i);

    const receipt = await erase("erasure", { userId: canary.userId });
    expect(receipt).toMatchObject({ project: "erasure", subject: held.subject });
    // A callback or an event may have been retried meanwhile.
    const attempts = { deliveryAttempts: 0, eventAttempts: 0 };
    expect({ ...receipt.counts, ...attempts }).toEqual({ ...held.counts, ...attempts });
    await waitFor(async () => (await findEverywhere(canary.name)).length === 0, {
      what: "the canary to be nowhere, also not in what was on its way",
    });

    expect(sum((await erase("erasure", { userId: canary.userId })).counts)).toBe(0);
    expect(await exportOf("erasure", { userId: canary.userId })).toMatchObject({ tickets: [] });
    for (const ticketId of canary.ticketIds) expectProblem(await readTicket("erasure", ticketId), "not_found");
    expect(bodyIds).toHaveLength(3);
    for (const { id, hook_id: hookId } of bodyIds) {
      const retry = `${api.baseUrl()}/api/v1/admin/hooks/${hookId}/bodies/${id}/retry`;
      const retried = await callApi(retry, { method: "POST", key: product.adminKey, project: "erasure", json: {} });
      expectProblem(retried, "not_found");
    }
    const trail = await queryDatabase<{ action: string; object: string }>(
      product.databaseUrl,
      "SELECT action, object FROM audit_events WHERE action LIKE 'privacy.%' AND object = $1 ORDER BY id",
      [receipt.subject],
    );
    expect(trail.map(({ action }) => action)).toEqual([
      "privacy.export",
      "privacy.erase",
      "privacy.erase",
      "privacy.export",
    ]);
  });

  test("is found by every form of the user id, in whole chats, and only in this project", async () => {
    for (const name of ["users", "others"]) await addProject(product.store, name, { fixedReply: "Hello." });
    const send = (project: string, json: object) => api.send(project, { text: "hi", ...json });
    await send("users", { chatId: "a", userId: "ann" });
    await send("users", { chatId: "a", userId: "ben" });
    await send("users", { chatId: "b", meta: { userId: "ann" } });
    await send("users", { chatId: "c", userId: "Ann" });
    await send("others", { chatId: "a", userId: "ann" });
    const held = await exportOf("users", { userId: "ann" });
    expect([held.tickets.length, held.counts]).toMatchObject([2, { messages: 3, replies: 3, tickets: 2 }]);
    expect((await erase("users", { userId: "ann" })).counts).toMatchObject({ messages: 3, replies: 3, tickets: 2 });
    expect((await exportOf("users", { userId: "Ann" })).counts).toMatchObject({ messages: 1 });
    expect((await exportOf("others", { userId: "ann" })).counts).toMatchObject({ messages: 1 });
  });
});

describe("the data of a widget visitor, and of a chat", () => {
  async function accept(project: ProjectId, channelId: "api" | "widget", chatId: string) {
    const message = { chatId, channelId, userId: null, text: "hi", timestampMs: Date.now(), attachments: null };
    const way = { channelMeta: {}, mode: null, callInstance: null, callback: null };
    const { ticketId } = await product.store.messages.accept(project, { ...message, ...way });
    return ticketId;
  }

  test("is erased by the visitor's id, which is not stored, with all conversations; other chats stay", async () => {
    const { id } = await addProject(product.store, "visitors", { fixedReply: "Hello." });
    const chatId = visitorChatId(VISITOR);
    expect(chatId).toMatch(/^v_[A-Za-z0-9_-]{43}$/);
    const ticketId = await accept(id, "widget", chatId);
    const other = await accept(id, "widget", visitorChatId(VISITOR, 50));
    await accept(id, "api", chatId);
    const held = await exportOf("visitors", { visitorId: VISITOR });
    expect(held.tickets.map((ticket) => ticket.ticketId).toSorted()).toEqual([ticketId, other].toSorted());
    const receipt = await erase("visitors", { visitorId: VISITOR.toUpperCase() });
    expect(receipt).toMatchObject({ subject: held.subject, counts: { messages: 2 } });
    expect(await findEverywhere(VISITOR)).toEqual([]);
    expect((await exportOf("visitors", { chatId })).counts).toMatchObject({ messages: 1 });
  });

  test("is erased on every channel, unless one is given", async () => {
    const { id } = await addProject(product.store, "channels", { fixedReply: "Hello." });
    for (const channelId of ["api", "widget"] as const) await accept(id, channelId, "same");
    expect((await erase("channels", { chatId: "same", channelId: "widget" })).counts["messages"]).toBe(1);
    expect((await exportOf("channels", { chatId: "same" })).counts["messages"]).toBe(1);
    expect((await erase("channels", { chatId: "same" })).counts["messages"]).toBe(1);
    expect(sum((await erase("channels", { chatId: "same" })).counts)).toBe(0);
  });
});

describe("an erased chat", () => {
  test("starts again with the next message, and continues its sequence numbers", async () => {
    await addProject(product.store, "anew", { fixedReply: "Hello." });
    const first = await api.send("anew", { text: "one", chatId: "chat" });
    const before = first.replies[0]?.seq ?? 0;
    await erase("anew", { chatId: "chat" });
    expect((await api.drain("anew", "chat", "?after=0")).replies).toEqual([]);
    const second = await api.send("anew", { text: "two", chatId: "chat" }, { replica: 1 });
    expect([second.status, second.texts, second.body.ticketId]).toEqual([200, ["Hello."], first.body.ticketId]);
    expect(second.replies[0]?.seq).toBeGreaterThan(before);
    expect((await exportOf("anew", { chatId: "chat" })).counts).toMatchObject({ messages: 1, replies: 1 });
  });

  test("ends its waiting call in time, and its worker loses the lease", async () => {
    const project = await addProject(product.store, "waiting", { fixedReply: "Hello." });
    const release = await holdChat(product.store, project, "chat");
    const waiting = api.send("waiting", { text: "Is anybody there?", chatId: "chat", timeoutMs: 2_500 });
    await waitFor(async () => (await exportOf("waiting", { chatId: "chat" })).counts["messages"] === 2, {
      what: "the message to be accepted",
    });
    await erase("waiting", { chatId: "chat" });
    const answer = await waiting;
    expect([answer.status, answer.body.status, answer.body.timedOut]).toEqual([202, "pending", true]);
    await expect(release()).rejects.toThrow(/was lost/);
    expect((await api.drain("waiting", "chat")).replies).toEqual([]);
    expect(sum((await erase("waiting", { chatId: "chat" })).counts)).toBe(0);
  });

  test("has no draft that could be sent", async () => {
    await addProject(product.store, "decided", { reviewPolicy: "review", fixedReply: "Hello." });
    const review = createReviewClient(product, "decided");
    const sent = await api.send("decided", { text: "hi", chatId: "chat", mode: "async" });
    const { version } = await review.untilIn(sent.body.ticketId ?? "", "review");
    await erase("decided", { chatId: "chat" });
    for (const action of ["approve", "takeover", "resolve"] as const) {
      expectProblem(await review.decide(sent.body.ticketId ?? "", action, { ifMatch: version }), "not_found");
    }
    // A version read before the erasure does not match the new conversation, whose draft is still undecided.
    await api.send("decided", { text: "hi again", chatId: "chat", mode: "async" });
    const again = await review.untilIn(sent.body.ticketId ?? "", "review");
    for (let read = 1; read <= version; read++) {
      const approved = await review.decide(sent.body.ticketId ?? "", "approve", { ifMatch: read });
      expectProblem(approved, "version_conflict");
    }
    const approved = await review.decide(sent.body.ticketId ?? "", "approve", { ifMatch: again.version });
    expect(approved.status).toBe(200);
  });

  test("leaves nothing behind and loses no later message during concurrent messages on every replica", async () => {
    await addProject(product.store, "busy", { fixedReply: "Hello." });
    const writing = Array.from({ length: 30 }, (_, index) =>
      api.send("busy", { text: `message ${index}`, chatId: "chat", mode: "async" }, { replica: index % 2 }),
    );
    const erasing = Array.from({ length: 5 }, () => erase("busy", { chatId: "chat" }));
    const [sent] = await Promise.all([Promise.all(writing), Promise.all(erasing)]);
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([202]));
    await erase("busy", { chatId: "chat" });
    expect(sum((await exportOf("busy", { chatId: "chat" })).counts)).toBe(0);
    expect((await api.send("busy", { text: "once more", chatId: "chat" })).texts).toEqual(["Hello."]);
  });
});

describe("data older than a project's retention period", () => {
  /** Two sweeps, in case the one that is woken up had already started. */
  const SWEPT_WITHIN_MS = 90_000;

  /** A deletion wakes up the sweeps, which run every 30 seconds otherwise. */
  async function wakeSweeps(): Promise<void> {
    const { project } = await product.store.projects.ensure("unused");
    const deleted = await callApi(`${api.baseUrl()}/api/v1/projects/${project.id}`, {
      method: "DELETE",
      key: product.adminKey,
      json: { confirm: project.name },
    });
    expect(deleted.status).toBe(200);
  }

  test("is soon deleted from every store; tickets that wait for a person stay until they are decided", async () => {
    const canary = await plantCanary(product, "retention");
    const [failed = "", called = "", inReview = ""] = canary.ticketIds;
    for (const [table, column] of [
      ["messages", "created_at"],
      ["replies", "created_at"],
      ["hook_bodies", "received_at"],
      ["messenger_updates", "received_at"],
    ]) {
      await queryDatabase(
        product.databaseUrl,
        `UPDATE ${table} SET ${column} = now() - interval '40 days' WHERE project_id = $1`,
        [canary.project],
      );
    }
    const age = () =>
      queryDatabase(
        product.databaseUrl,
        "UPDATE tickets SET updated_at = now() - interval '40 days' WHERE home_project_id = $1",
        [canary.project],
      );
    const keepFor = (retentionDays: number | null) =>
      callApi(`${api.baseUrl()}/api/v1/projects/${canary.project}`, {
        method: "PATCH",
        key: product.adminKey,
        json: { retentionDays },
      });
    await age();
    expect((await keepFor(60)).status).toBe(200);
    const held = async () => (await exportOf("retention", { userId: canary.userId })).tickets;
    expect((await held()).length).toBe(canary.ticketIds.length);
    expect((await keepFor(30)).status).toBe(200);
    await wakeSweeps();
    await waitFor(async () => (await held()).length === 3, {
      what: "what does not wait to be purged",
      timeoutMs: SWEPT_WITHIN_MS,
    });
    expect((await held()).map(({ ticketId }) => ticketId).toSorted()).toEqual([failed, called, inReview].toSorted());

    for (const ticketId of [failed, inReview]) {
      const resolved = await createReviewClient(product, "retention").decide(ticketId, "resolve", { json: {} });
      expect(resolved.status).toBe(200);
    }
    await queryDatabase(product.databaseUrl, "UPDATE deliveries SET state = 'dead' WHERE ticket_id = $1", [called]);
    await age();
    await keepFor(29);
    await wakeSweeps();
    await waitFor(async () => (await findEverywhere(canary.name)).length === 0, {
      what: "the canary to be nowhere",
      timeoutMs: SWEPT_WITHIN_MS,
    });
    const purges = () =>
      queryDatabase<{ project: string; result: string; count: number }>(
        product.databaseUrl,
        "SELECT project, result, count FROM audit_events WHERE actor = 'retention' AND action = 'privacy.purge' ORDER BY id",
      );
    const ofThis = async () => (await purges()).filter(({ project }) => project === "retention");
    const count = async () => (await ofThis()).reduce((total, purge) => total + purge.count, 0);
    await waitFor(async () => (await count()) === canary.ticketIds.length, { what: "each purge to have left its row" });
    expect((await ofThis()).every(({ result }) => result === "ok")).toBe(true);
  });
});

describe("the identity of data", () => {
  const ERRORS: [what: string, json: unknown, pointers: string[]][] = [
    ["nobody's", {}, [""]],
    ["two people's", { userId: "a", chatId: "b" }, [""]],
    ["a channel's", { channelId: "api" }, ["", "/channelId"]],
    ["a user's on a channel", { userId: "a", channelId: "api" }, ["/channelId"]],
    ["an empty user's", { userId: "" }, ["/userId"]],
    ["a number's", { userId: 5 }, ["/userId"]],
    ["a list's", { chatId: ["a"] }, ["/chatId"]],
    ["a chat's with NUL", { chatId: "a\u0000" }, ["/chatId"]],
    ["an endless chat's", { chatId: "c".repeat(201) }, ["/chatId"]],
    ["a weak visitor's", { visitorId: "12345" }, ["/visitorId"]],
    ["that of a chat on no channel", { chatId: "a", channelId: "fax" }, ["/channelId"]],
    ["somebody's, and more", { chatId: "a", project: "default", __proto__x: 1 }, ["/project", "/__proto__x"]],
    ["no object", [], [""]],
  ];

  test.each(ERRORS)("must be valid: %s is a clear 400", async (_, json, pointers) => {
    for (const action of ["export", "erase"] as const) {
      expectProblem(await ask(action, json), "invalid_request", pointers);
    }
  });

  test("is matched exactly: other ids find and erase nothing", async () => {
    await addProject(product.store, "hostile", { fixedReply: "Hello." });
    await api.send("hostile", { text: "hi", chatId: "chat", userId: "u" });
    for (const id of ["%", "_", "'; DELETE FROM messages; --", '{"$ne":null}', "💥".repeat(100), "../u", "u\t"]) {
      expect(sum((await erase("hostile", { userId: id })).counts)).toBe(0);
    }
    for (const id of ["%", "issue:1", ".", "' OR 1=1", "💥".repeat(200)]) {
      expect(sum((await erase("hostile", { chatId: id })).counts)).toBe(0);
    }
    expect((await exportOf("hostile", { userId: "u" })).counts).toMatchObject({ messages: 1 });
  });

  test("requires the scopes to read and to erase, only in the project of the key", async () => {
    const { id } = await addProject(product.store, "scoped", { fixedReply: "Hello." });
    await api.send("scoped", { text: "hi", chatId: "chat", userId: "u" });
    const keyWith = async (scope: "privacy:read" | "privacy:write" | "tickets:*", project: ProjectId) => {
      const wanted = { name: scope, scopes: [scope], project, createdBy: "test", rateLimit: null };
      return (await issueKey(product.store, wanted)).key;
    };
    const [reader, eraser, operator] = [
      await keyWith("privacy:read", id),
      await keyWith("privacy:write", id),
      await keyWith("tickets:*", id),
    ];
    const subject = { userId: "u" };
    for (const [action, key] of [
      ["erase", reader],
      ["export", eraser],
      ["export", operator],
      ["erase", operator],
    ] as const) {
      expectProblem(await ask(action, subject, { key }), "insufficient_scope");
    }
    expectProblem(await ask("export", subject, { key: reader, project: "default" }), "project_mismatch");
    expect((await ask("export", subject, { key: reader })).text).toContain('"messages":1');
    const stranger = await keyWith("privacy:write", (await product.store.projects.ensure("strange")).project.id);
    expect(sum((await erase("strange", subject, { key: stranger })).counts)).toBe(0);
    expect((await erase("scoped", subject, { key: eraser })).counts).toMatchObject({ messages: 1 });
  });
});

test("every process is healthy after the erasures", async () => {
  await expectHealthy(product);
});
