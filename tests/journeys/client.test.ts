import { randomUUID, webcrypto } from "node:crypto";
import { readFile } from "node:fs/promises";
import { SourceTextModule, createContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ServiceError, createClient, verifyWebhook } from "@svc/client";
import type { Client, ClientOptions } from "@svc/client";
import type { CallbackBody, ReplyItem } from "@svc/contracts";
import { newId } from "@svc/store";
import type { Project } from "@svc/store";
import { randomFrom, repositoryPath, startCuttingProxy, startWebhookReceiver, queryDatabase } from "@svc/testing";
import type { CuttingProxy } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { holdChat } from "./support/hold-chat.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const SEED = Number(process.env["SVC_SEED"] ?? Math.floor(Math.random() * 1e9));
const CHATS = process.env["SVC_SOAK"] === "1" ? 200 : 20;
const MESSAGES_A_CHAT = 4;
const CUT_SHARE = 0.2;
/**
 * A reply of some kilobytes, so that a connection can drop in the headers of a response as well as in the first or a
 * later reply.
 */
const FIXED = `This is always the answer. ${"0123456789abcdef".repeat(128)}`;
const HANDOFF = "A person will look at it.";

let product: Product;
let fixed: Project;
let proxies: CuttingProxy[];

beforeAll(async () => {
  product = await startProduct();
  fixed = await addProject(product.store, "fixed", { fixedReply: FIXED });
  await addProject(product.store, "review", { fixedReply: FIXED, reviewPolicy: "review" }, { handoffText: HANDOFF });
  proxies = await Promise.all(product.composition.apiUrls.map(startCuttingProxy));
});

afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await product.stop();
});

/** Creates a client of a replica, or of the proxy in front of it. */
function connect(options: Partial<ClientOptions> & { replica?: number; isThroughProxy?: true } = {}): Client {
  const { replica = 0, isThroughProxy, ...rest } = options;
  const { apiUrls } = product.composition;
  const index = replica % apiUrls.length;
  const url = isThroughProxy === true ? proxies[index]?.url : apiUrls[index];
  return createClient({ url: url ?? "", key: product.adminKey, project: "fixed", ...rest });
}

const textsOf = (replies: readonly ReplyItem[]) =>
  replies.flatMap((reply) => (reply.type === "message" ? [reply.text] : []));

/** Returns the first replies of a stream. */
async function take(stream: AsyncIterable<ReplyItem>, count: number): Promise<ReplyItem[]> {
  const replies: ReplyItem[] = [];
  for await (const reply of stream) {
    replies.push(reply);
    if (replies.length === count) break;
  }
  return replies;
}

describe("a message that is sent with the client", () => {
  test("is answered, held for a person, or queued, and the result says which", async () => {
    const answered = await connect().send({ text: "hello", chatId: "answered" });
    expect(answered).toMatchObject({ ok: true, status: "answered", chatId: "answered" });
    expect(answered.status === "answered" && textsOf(answered.replies)).toEqual([FIXED]);
    const held = await connect({ project: "review" }).send({ text: "hello" });
    expect(held).toMatchObject({ status: "in_review", timedOut: false, replies: [{ text: HANDOFF }] });
    const queued = await connect().send({ text: "hello", chatId: "queued", mode: "async" });
    expect(queued).toMatchObject({ status: "queued", mode: "async", drainUrl: "/api/v1/messages/queued" });
    expect(textsOf((await connect().drain("queued", { waitMs: 20_000 })).replies)).toEqual([FIXED]);
  });

  test("that is not answered in time is pending, and its answer is in the drain", async () => {
    const client = connect();
    const chatId = randomUUID();
    const release = await holdChat(product.store, fixed, chatId);
    expect(await client.send({ text: "hello", chatId }, { waitMs: 1 })).toMatchObject({ status: "pending", chatId });
    await release();
    expect(textsOf((await client.drain(chatId, { waitMs: 20_000 })).replies)).toEqual([FIXED]);
  });

  test("is one message if the connection drops before the response arrives", async () => {
    const chatId = randomUUID();
    const errors: string[] = [];
    const [proxy] = proxies;
    proxy?.cutWhen(() => (errors.length < 2 ? 0 : null));
    const client = connect({ isThroughProxy: true, onRetry: ({ code }) => void errors.push(code) });
    const sent = await client.send({ text: "hello", chatId });
    proxy?.cutWhen(() => null);
    expect(errors).toEqual(["unreachable", "unreachable"]);
    const [row] = await queryDatabase<{ count: number }>(
      product.databaseUrl,
      "SELECT count(*)::integer AS count FROM messages m JOIN chats c USING (ticket_id) WHERE c.chat_id = $1",
      [chatId],
    );
    expect(row).toEqual({ count: 1 });
    const rest = (await client.drain(chatId, { waitMs: sent.status === "answered" ? 0 : 20_000 })).replies;
    expect(textsOf(sent.status === "answered" ? [...sent.replies, ...rest] : rest)).toEqual([FIXED]);
  });

  test("that is invalid is rejected with all errors", async () => {
    const refused = connect().send({ text: " ", chatId: "..", timeoutMs: 0 });
    await expect(refused).rejects.toMatchObject({
      name: "ServiceError",
      code: "invalid_request",
      status: 400,
      requestId: expect.stringMatching(/\S/),
      errors: ["/text", "/chatId", "/timeoutMs"].map((pointer) => expect.objectContaining({ pointer })),
    });
    await expect(connect({ key: "no-such-key" }).drain("x")).rejects.toMatchObject({ code: "invalid_key" });
  });
});

describe(`a stream (SVC_SEED=${SEED})`, () => {
  const random = randomFrom(SEED);

  test(`loses and duplicates nothing when ${CUT_SHARE * 100} % of the connections drop at random bytes`, async () => {
    const cutsBefore = proxies.reduce((sum, { cuts }) => sum + cuts, 0);
    for (const proxy of proxies) {
      proxy.cutWhen(() => (random() < CUT_SHARE ? Math.floor(random() * 2 * FIXED.length) : null));
    }
    const chats = Array.from({ length: CHATS }, async (_, chat) => {
      const client = connect({ replica: chat, isThroughProxy: true, maxRetries: 50 });
      const chatId = `stream-${chat}`;
      const received = take(client.stream(chatId), MESSAGES_A_CHAT);
      const sent: string[] = [];
      for (let number = 0; number < MESSAGES_A_CHAT; number++) {
        sent.push((await client.send({ text: `message ${number}`, chatId, mode: "async" })).messageId);
      }
      const replies = await received;
      expect(replies.map(({ inReplyTo }) => inReplyTo)).toEqual(sent);
      expect(textsOf(replies)).toEqual(sent.map(() => FIXED));
    });
    await Promise.all(chats);
    for (const proxy of proxies) proxy.cutWhen(() => null);
    expect(proxies.reduce((sum, { cuts }) => sum + cuts, 0)).toBeGreaterThan(cutsBefore);
    const [row] = await queryDatabase<{ messages: number; replies: number }>(
      product.databaseUrl,
      `SELECT (SELECT count(*) FROM messages m JOIN chats c USING (ticket_id) WHERE c.chat_id LIKE 'stream-%')::integer
                AS messages,
              (SELECT count(*) FROM replies r JOIN chats c USING (ticket_id) WHERE c.chat_id LIKE 'stream-%')::integer
                AS replies`,
    );
    expect(row).toEqual({ messages: CHATS * MESSAGES_A_CHAT, replies: CHATS * MESSAGES_A_CHAT });
  });

  test("continues from its cursor in another process, and leaves nothing in the drain once the cursor is acknowledged", async () => {
    const client = connect();
    const chatId = randomUUID();
    for (let number = 0; number < 3; number++) {
      await client.send({ text: `message ${number}`, chatId, mode: "async" });
    }
    const first = client.stream(chatId);
    const replies = await take(first, 2);
    const second = connect({ replica: 1 }).stream(chatId, { after: first.cursor });
    replies.push(...(await take(second, 1)));
    expect(new Set(replies.map(({ id }) => id)).size).toBe(3);
    expect((await client.drain(chatId, { after: second.cursor })).replies).toEqual([]);
    expect((await client.drain(chatId)).replies).toEqual([]);
  });

  test("survives a kill and restart of the product", async () => {
    const chatId = randomUUID();
    const client = connect({ maxRetries: 50 });
    const ending = new AbortController();
    const stream = client.stream(chatId, { signal: ending.signal })[Symbol.asyncIterator]();
    await client.send({ text: "before", chatId, mode: "async" });
    const before = await stream.next();
    const waiting = stream.next();
    const [api] = product.composition.processes;
    await api?.kill("SIGKILL");
    await api?.start();
    await client.send({ text: "after", chatId, mode: "async" });
    const after = await waiting;
    expect(textsOf([before, after].flatMap(({ value }) => (value === undefined ? [] : [value])))).toEqual([
      FIXED,
      FIXED,
    ]);
    ending.abort(new Error("enough"));
    await expect(stream.next()).rejects.toThrow("enough");
  });
});

describe("an operation called by its name", () => {
  test("takes the parameters of the endpoint and returns its response", async () => {
    const client = connect();
    const { item } = await client.call("createAgent", { body: { name: `agent ${newId()}` } });
    const params = { id: item.id };
    const changed = await client.call("updateAgent", { params, body: { enabled: false }, ifMatch: item.version });
    expect(changed.item).toEqual({ ...item, enabled: false, version: item.version + 1 });
    const stale = client.call("updateAgent", { params, body: { enabled: true }, ifMatch: item.version });
    await expect(stale).rejects.toMatchObject({ code: "version_conflict", status: 412 });
    const { items } = await client.call("listAgents", { query: { q: item.name, limit: 5 } });
    expect(items).toEqual([changed.item]);
    await client.call("deleteAgent", { params });
    await expect(client.call("getAgent", { params })).rejects.toBeInstanceOf(ServiceError);
  });

  test("or by method and path", async () => {
    const { status, headers, body } = await connect().request("GET", "/api/v1/admin/agents", { query: { limit: 1 } });
    expect([status, headers.get("x-svc-project")]).toEqual([200, "fixed"]);
    expect(body).toMatchObject({ ok: true, items: [{ name: "fixed-agent" }] });
    expect(await connect().request("HEAD", "/api/v1/messages/x")).toMatchObject({ status: 200, body: null });
  });
});

test("only a genuine callback is accepted", async () => {
  const receiver = await startWebhookReceiver();
  const sent = await connect().send({ text: "hello", meta: { order: 7 }, webhookUrl: receiver.url("/svc") });
  const { body, headers } = await receiver.next();
  await receiver.close();
  // Without a callback secret, callbacks are signed with the key that sent the message.
  const secret = product.adminKey;
  const callback: CallbackBody = await verifyWebhook({ body, headers, secret });
  expect(callback).toMatchObject({ type: "message.completed", messageId: sent.messageId, meta: { order: 7 } });
  expect(sent.mode === "webhook" && sent.deliveryId).toBe(callback.deliveryId);
  expect(textsOf(callback.replies)).toEqual([FIXED]);
  expect(await verifyWebhook({ body, headers, secret, scheme: "body" })).toEqual(callback);
  const forged = body.toString().replace(FIXED, "Send us your password.");
  for (const scheme of ["standard", "body"] as const) {
    await expect(verifyWebhook({ body: forged, headers, secret, scheme })).rejects.toMatchObject({
      code: "bad_signature",
    });
  }
  const late = new Date(Date.now() + 301_000);
  await expect(verifyWebhook({ body, headers, secret, now: late })).rejects.toMatchObject({ code: "bad_timestamp" });
});

/** Loads the built package in a context with only the given globals. */
async function loadAlone(globals: object): Promise<{ createClient(options: ClientOptions): Client }> {
  const context = createContext(globals);
  const modules = new Map<string, Promise<SourceTextModule>>();
  const load = (file: string): Promise<SourceTextModule> => {
    const known = modules.get(file) ?? readModule(file);
    modules.set(file, known);
    return known;
  };
  const readModule = async (file: string) =>
    new SourceTextModule(await readFile(repositoryPath(`packages/client/dist/${file}`), "utf8"), {
      context,
      identifier: file,
    });
  const entry = await load("index.js");
  await entry.link((specifier) => load(specifier.replace("./", "")));
  await entry.evaluate();
  return entry.namespace as { createClient(options: ClientOptions): Client };
}

test("the built package needs nothing specific to Node.js: it runs with the globals that browsers have too", async () => {
  const { AbortController, TextDecoder, TextEncoder, URL, URLSearchParams, atob, btoa, fetch } = globalThis;
  const { clearTimeout, performance, setTimeout } = globalThis;
  const web = { AbortController, TextDecoder, TextEncoder, URL, URLSearchParams, atob, btoa, fetch };
  const alone = await loadAlone({ ...web, clearTimeout, crypto: webcrypto, performance, setTimeout });
  const client = alone.createClient({
    url: product.composition.apiUrls[0] ?? "",
    key: product.adminKey,
    project: "fixed",
  });
  const chatId = randomUUID();
  expect(await client.send({ text: "hello", chatId, mode: "async" })).toMatchObject({ status: "queued" });
  expect(textsOf(await take(client.stream(chatId), 1))).toEqual([FIXED]);
});
