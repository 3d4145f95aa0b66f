import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { createClient } from "@svc/client";
import type { ReplyDelta } from "@svc/client";
import { addDocument, ensureKb } from "@svc/knowledge";
import type { Project } from "@svc/store";
import { startCuttingProxy, startFakeModel, testLog, waitFor, queryDatabase } from "@svc/testing";
import type { CuttingProxy, FakeModel } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { closeEvents, joinDeltas, openEvents } from "./support/open-events.ts";
import type { EventReader } from "./support/open-events.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const HANDOFF = "A person will look at it.";
const QUESTION = "When do parcels leave, and how do they travel?";
const SENTENCES = [
  "Parcels leave the house every working day at three in the afternoon 🚚.",
  "Parcels travel by train to the sorting centre in the north.",
  "Parcels travel by bicycle inside the town.",
  "Parcels for islands travel by ferry twice a week.",
];
const ANSWER = SENTENCES.join(" ");
/** The answer takes some seconds. */
const SLOWLY = { latency: 25, chunkSize: 24 };

let model: FakeModel;
let product: Product;
let api: ApiClient;
let shop: Project;
let proxy: CuttingProxy;

beforeAll(async () => {
  model = await startFakeModel();
  const env = { SVC_LLM_BASE_URL: model.baseUrl, SVC_LLM_MODEL: "gpt-test" };
  product = await startProduct({ env, composition: "separate" });
  api = createApiClient(product);
  const { store } = product;
  shop = await addProject(store, "shop", {});
  const { kb } = await ensureKb({ store }, shop.id, "parcels");
  const text = `# Parcels\n\n## When do parcels leave, and how do they travel?\n\n${ANSWER}`;
  await addDocument({ store, log: testLog() }, shop.id, kb.id, { key: "parcels.md", text, mime: "text/markdown" });
  const [agent] = await store.agents.list(shop.id);
  await store.agents.update(shop.id, { id: agent?.id ?? "" }, { kbIds: [kb.id] });
  await addProject(store, "fixed", { fixedReply: ANSWER });
  await addProject(store, "review", { fixedReply: ANSWER, reviewPolicy: "review" }, { handoffText: HANDOFF });
  proxy = await startCuttingProxy(api.baseUrl(0));
});

afterEach(() => {
  closeEvents();
  proxy.cutWhen(() => null);
});

afterAll(async () => {
  await proxy.close();
  await product.stop();
  await model.close();
});

/** Returns a model's answer based on the first passage. */
function modelAnswer(sentences: readonly string[]): object {
  const claims = sentences.map((text) => ({ text, citations: [{ passage: 1, quote: text }] }));
  return { answered: true, needsPerson: false, claims };
}

const headersOf = (project: string, key = product.adminKey) => ({
  Authorization: `Bearer ${key}`,
  "x-svc-project": project,
});

/** Sends a message and reads the events of its call. */
function post(
  json: Record<string, unknown>,
  { project = "shop", headers = {}, url = () => api.baseUrl(0) }: Partial<PostOptions> = {},
): EventReader {
  return openEvents({
    url: (connection) => `${url(connection)}/api/v1/messages`,
    headers: { ...headersOf(project), ...headers },
    json,
  });
}

interface PostOptions {
  project: string;
  headers: Record<string, string>;
  url: (connection: number) => string;
}

/** Reads the stream of a chat. */
function read(
  chatId: string,
  options: {
    project?: string;
    key?: string;
    query?: string;
    after?: string;
    url?: (connection: number) => string;
  } = {},
): EventReader {
  const { project = "shop", key, query = "", after, url = () => api.baseUrl(1) } = options;
  return openEvents({
    url: (connection) => `${url(connection)}/api/v1/messages/${chatId}${query}`,
    headers: { ...headersOf(project, key), ...(after === undefined ? {} : { "Last-Event-ID": after }) },
  });
}

const typesOf = ({ events }: EventReader) =>
  events.map(({ type }) => type).filter((type, index, all) => type !== "delta" || all[index - 1] !== "delta");
const textOf = (reply: Record<string, unknown> | undefined) => String(reply?.["text"]);

/** Returns the stored text of the only reply to a message. */
async function storedText(messageId: unknown): Promise<string> {
  const rows = await queryDatabase<{ text: string }>(
    product.databaseUrl,
    "SELECT text FROM replies WHERE in_reply_to = $1",
    [messageId],
  );
  expect(rows).toHaveLength(1);
  return rows[0]?.text ?? "";
}

const countMessages = async (chatId: string) =>
  (
    await queryDatabase<{ count: number }>(
      product.databaseUrl,
      "SELECT count(*)::integer AS count FROM messages m JOIN chats c USING (ticket_id) WHERE c.chat_id = $1",
      [chatId],
    )
  )[0]?.count;

describe("a call with an event stream as its response", () => {
  test("gets accepted immediately, then the growing text, which ends as the stored reply", async () => {
    model.answerWith(() => modelAnswer(SENTENCES), SLOWLY);
    const chatId = randomUUID();
    const call = post({ text: QUESTION, chatId });
    const { data: done } = await call.until("done");
    expect(typesOf(call)).toEqual(["accepted", "typing", "delta", "typing", "reply", "done"]);
    expect(call.of("typing").map(({ data }) => data)).toEqual([{ on: true }, { on: false }]);
    const [accepted] = call.of("accepted");
    const { ticketId, messageId } = done as { ticketId: string; messageId: string };
    const drainUrl = `/api/v1/messages/${chatId}`;
    expect(accepted?.data).toEqual({ ok: true, mode: "sync", chatId, ticketId, messageId, drainUrl });
    const [reply] = call.of("reply");
    expect(done).toEqual({ ok: true, mode: "sync", chatId, ticketId, messageId, replies: [reply?.data] });
    expect(call.of("delta").length).toBeGreaterThan(1);
    expect(textOf(reply?.data)).toContain(SENTENCES[0]);
    expect(joinDeltas(call.events, messageId)).toBe(textOf(reply?.data));
    expect(await storedText(messageId)).toBe(textOf(reply?.data));
    const ids = call.events.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(call.answers[0]?.headers.get("content-type")).toMatch(/^text\/event-stream/);
    expect(call.answers[0]?.headers.get("cache-control")).toBe("no-store, no-transform");
    expect((await api.drain("shop", chatId)).body).toMatchObject({ replies: [] });
  });

  test("gets an answer that is not generated word by word as one reply, and likewise a handoff", async () => {
    const fixed = post({ text: QUESTION }, { project: "fixed" });
    const held = post({ text: QUESTION }, { project: "review" });
    expect((await fixed.until("done")).data).toMatchObject({ replies: [{ text: ANSWER }] });
    expect((await held.until("done")).data).toMatchObject({ status: "in_review", replies: [{ text: HANDOFF }] });
    const types = ["accepted", "typing", "typing", "reply", "done"];
    expect([typesOf(fixed), typesOf(held)]).toEqual([types, types]);
  });

  test("withdraws the shown text of an answer that is handed over to a person", async () => {
    const invented = ["green", "blue", "red", "white"].map(
      (colour) => `Parcels are wrapped in ${colour} paper for free.`,
    );
    model.answerWith(() => modelAnswer([...SENTENCES.slice(0, 1), ...invented]), SLOWLY);
    const call = post({ text: QUESTION });
    const { data } = await call.until("done");
    expect(data).toMatchObject({ status: "in_review", timedOut: false });
    const [handoff] = call.of("reply");
    expect(handoff?.data).toMatchObject({ author: "system" });
    expect(call.of("delta").length).toBeGreaterThan(1);
    expect(joinDeltas(call.events, String(data["messageId"]))).toBe(textOf(handoff?.data));
  });

  test("that is invalid is rejected like any other, and one that does not wait gets JSON", async () => {
    const headers = { Accept: "text/event-stream" };
    expectProblem(await api.send("shop", { text: " " }, { headers }), "invalid_request");
    expectProblem(await api.send("shop", { text: "x" }, { headers, key: "no-such-key" }), "invalid_key");
    const unknown = { ...headers, "Last-Event-ID": `${randomUUID()}.4` };
    expectProblem(await api.send("shop", { text: "x" }, { headers: unknown }), "invalid_request");
    const queued = await api.send("fixed", { text: "x", mode: "async" }, { headers });
    expect(queued).toMatchObject({ status: 202, body: { status: "queued" } });
    const both = { Accept: "application/json, text/event-stream;q=0.9" };
    expect((await api.send("fixed", { text: "x" }, { headers: both })).body).toMatchObject({ mode: "sync" });
  });

  test("that ends before its answer leaves the rest to the stream of the chat", async () => {
    // Slow enough that it is still being generated when the stream of the chat begins.
    model.answerWith(() => modelAnswer(SENTENCES), { ...SLOWLY, latency: 100 });
    const chatId = randomUUID();
    const call = post({ text: QUESTION, chatId, timeoutMs: 400 });
    const { data } = await call.until("done");
    expect(data).toMatchObject({ status: "pending", timedOut: true, replies: [] });
    const chat = read(chatId);
    const reply = await chat.until("reply");
    expect(typesOf(chat).slice(0, 4)).toEqual(["typing", "delta", "typing", "reply"]);
    expect(joinDeltas(chat.events, String(data["messageId"]))).toBe(textOf(reply.data));
    expect(await storedText(data["messageId"])).toBe(textOf(reply.data));
  });

  test("is one message wherever it is interrupted and retried, and its reply is not lost", async () => {
    model.answerWith(() => modelAnswer(SENTENCES), { latency: 5, chunkSize: 24 });
    // Twice, each at another byte after the first event, which identifies the message.
    proxy.cutWhen(({ headers }) => Number(headers["x-cut"]) || null);
    await Promise.all(
      [900, 1_200, 1_600, 2_000, 2_600].map(async (cut) => {
        const chatId = randomUUID();
        // The EventSource repeats the same call, and then at the other replica, with the id of the last event.
        const call = post(
          { text: QUESTION, chatId },
          {
            headers: { "X-Cut": String(cut) },
            url: (connection) => (connection < 2 ? proxy.url : api.baseUrl(1)),
          },
        );
        const { data } = await call.until("done");
        const accepted = new Set(call.of("accepted").map((event) => event.data["messageId"]));
        expect(await countMessages(chatId)).toBe(1);
        expect([...accepted]).toEqual([data["messageId"]]);
        expect(data).toMatchObject({ replies: [{ inReplyTo: data["messageId"] }] });
        expect(joinDeltas(call.events, String(data["messageId"]))).toBe(await storedText(data["messageId"]));
      }),
    );
    expect(proxy.cuts).toBeGreaterThan(5);
  });

  test("gets its reply again after each lost response, and the drain does not have it then", async () => {
    const chatId = randomUUID();
    const json = { text: QUESTION, chatId };
    model.answerWith(() => modelAnswer(SENTENCES), SLOWLY);
    const call = post(json);
    const { id } = await call.until("delta");
    call.close();
    // No caller was connected when it arrived: it is in the drain, where the continued call gets it.
    expect((await api.drain("shop", chatId, "?peek=1&wait=20000")).replies).toHaveLength(1);
    proxy.cutWhen(() => 1_500);
    const headers = { ...headersOf("shop"), "Content-Type": "application/json", "Last-Event-ID": id };
    const body = JSON.stringify(json);
    const isSettled = async () => {
      const sql = `SELECT 1 FROM replies WHERE in_reply_to = $1 AND taken_by IS NOT NULL AND delivered_at IS NULL`;
      return (await queryDatabase(product.databaseUrl, sql, [id.split(".")[0]])).length === 0;
    };
    for (const _ of [1, 2]) {
      const init = { method: "POST", headers: { ...headers, Accept: "text/event-stream" }, body };
      const lost = await fetch(`${proxy.url}/api/v1/messages`, init);
      await expect(lost.text()).rejects.toThrow("terminated");
      await waitFor(isSettled, { what: "the service to note that it has handed it over" });
    }
    const again = post(json, { headers: { "Last-Event-ID": id } });
    const { data } = await again.until("done");
    expect(data).toMatchObject({ replies: [{ text: await storedText(data["messageId"]) }] });
    expect((await api.drain("shop", chatId)).replies).toEqual([]);
    expect(await countMessages(chatId)).toBe(1);
    // It cannot continue with another message, nor in another mode.
    const other = { headers: { Accept: "text/event-stream", "Last-Event-ID": id } };
    expectProblem(await api.send("shop", { ...json, text: "another" }, other), "invalid_request");
    expectProblem(await api.send("shop", { ...json, mode: "async" }, other), "invalid_request");
  });

  test("and disconnects leaves its reply in the drain; under an Idempotency-Key a retry gets it, in either form", async () => {
    const headers = { "Idempotency-Key": randomUUID() };
    const json = { text: QUESTION, chatId: randomUUID() };
    const first = await post(json, { project: "fixed", headers }).until("done");
    const again = post(json, { project: "fixed", headers });
    expect((await again.until("done")).data).toEqual(first.data);
    expect(typesOf(again)).toEqual(["accepted", "typing", "typing", "reply", "done"]);
    expect(again.answers[0]?.headers.get("idempotent-replayed")).toBe("true");
    expect((await api.send("fixed", json, { headers })).body).toEqual(first.data);

    model.answerWith(() => modelAnswer(SENTENCES), SLOWLY);
    const chatId = randomUUID();
    const call = post({ text: QUESTION, chatId });
    await call.until("delta");
    call.close();
    const drained = await api.drain("shop", chatId, "?wait=20000");
    expect(drained.body).toMatchObject({ replies: [{ author: "agent" }] });
  });
});

describe("the stream of a chat", () => {
  test("continues at another replica after its last event, without loss or duplicates", async () => {
    model.answerWith(() => modelAnswer(SENTENCES), SLOWLY);
    const chatId = randomUUID();
    proxy.cutWhen(({ connection }) => (connection % 2 === 0 ? 900 : 3_000));
    const chat = read(chatId, { url: (connection) => (connection < 2 ? proxy.url : api.baseUrl(connection)) });
    const sent: string[] = [];
    for (const text of [QUESTION, "And how do parcels travel inside the town?"]) {
      const { body } = await api.send("shop", { text, chatId, mode: "async" });
      sent.push(String(body.messageId));
      await chat.until("reply", sent.length);
    }
    expect(proxy.cuts).toBeGreaterThan(0);
    const replies = chat.of("reply");
    expect(replies.map(({ data }) => data["inReplyTo"])).toEqual(sent);
    expect(replies.map(({ id, data }) => id === String(data["seq"]))).toEqual([true, true]);
    for (const messageId of sent) expect(joinDeltas(chat.events, messageId)).toBe(await storedText(messageId));
    // The second reply is not acknowledged yet; its id acknowledges it, like a cursor.
    const rest = read(chatId, { after: replies[0]?.id ?? "", query: "?wait=1" });
    expect((await rest.until("done")).data).toMatchObject({ cursor: replies[1]?.id });
    expect(rest.of("reply").map(({ data }) => data)).toEqual([replies[1]?.data]);
    rest.close();
    expect((await api.drain("shop", chatId, `?after=${replies[1]?.id}`)).body).toMatchObject({ replies: [] });
    expect((await api.drain("shop", chatId)).body).toMatchObject({ replies: [] });
  });

  test("shows the text of a second worker after the first one was killed, like a call", async () => {
    model.answerWith(() => modelAnswer(SENTENCES), SLOWLY);
    const chatId = randomUUID();
    const chat = read(chatId);
    const { body } = await api.send("shop", { text: QUESTION, chatId, mode: "async" });
    // The process that serves the call is killed as well: the call continues at the other one.
    const call = post(
      { text: QUESTION, chatId: randomUUID(), timeoutMs: 120_000 },
      { url: (connection) => api.baseUrl(Math.min(connection, 1)) },
    );
    await Promise.all([chat.until("delta"), call.until("delta")]);
    const [apiProcess] = product.composition.processes;
    const pipelines = product.composition.processes.filter(({ name }) => name.startsWith("pipeline"));
    await Promise.all([...pipelines, apiProcess].map((one) => one?.kill("SIGKILL")));
    model.answerWith(() => modelAnswer([...SENTENCES].toReversed()));
    await Promise.all([pipelines[0]?.start(), apiProcess?.start()]);
    const { data } = await waitFor(() => chat.of("reply")[0], { what: "the reply" });
    const deltas = chat.of("delta");
    expect(deltas.filter(({ data: delta }) => delta["offset"] === 0).length).toBeGreaterThan(1);
    expect(textOf(data)).toMatch(/^Parcels for islands/);
    expect(joinDeltas(chat.events, String(body.messageId))).toBe(textOf(data));
    expect(await storedText(body.messageId)).toBe(textOf(data));
    const done = await waitFor(() => call.of("done")[0], { what: "the answer of the call" });
    const messageId = String(done.data["messageId"]);
    expect(done.data).toMatchObject({ replies: [{ inReplyTo: messageId }] });
    expect(joinDeltas(call.events, messageId)).toBe(await storedText(messageId));
    expect(done.connection).toBeGreaterThan(0);
  });

  test("withdraws the text of an interrupted model, and shows what is sent instead", async () => {
    model.answerWith(() => modelAnswer([...SENTENCES].toReversed()), { ...SLOWLY, truncateAfterChunks: 30 });
    const chatId = randomUUID();
    const chat = read(chatId);
    const { body } = await api.send("shop", { text: QUESTION, chatId, mode: "async" });
    const { data } = await chat.until("reply");
    expect(chat.of("delta").length).toBeGreaterThan(1);
    expect(chat.of("delta").at(-1)?.data["offset"]).toBe(0);
    expect(joinDeltas(chat.events, String(body.messageId))).toBe(textOf(data));
    expect(data).toMatchObject({ inReplyTo: body.messageId, author: "agent" });
  });

  test("ends with an error soon after its key was revoked, and with `done` after its maximum duration", async () => {
    const { store } = product;
    const { key, record } = await issueKey(store, {
      name: "reader",
      scopes: ["messages:read"],
      project: shop.id,
      createdBy: "test",
    });
    const chat = read(randomUUID(), { key });
    await waitFor(() => chat.answers.length > 0, { what: "the stream" });
    await store.apiKeys.revoke(record.id);
    expect((await chat.until("error")).data).toMatchObject({ ok: false, code: "invalid_key", status: 401 });
    const brief = read("nobody-wrote", { query: "?wait=10&after=0" });
    const { data, id } = await brief.until("done");
    expect({ data, id }).toEqual({
      data: { ok: true, chatId: "nobody-wrote", replies: [], cursor: "0", more: false },
      id: "0",
    });
    const headers = { Accept: "text/event-stream", "Last-Event-ID": "yesterday" };
    expectProblem(await api.drain("shop", "x", "", { headers }), "invalid_request");
    expect((await api.drain("shop", "x", "", { headers, method: "HEAD" })).status).toBe(200);
  });
});

test("the client's stream passes unfinished replies to listeners", async () => {
  model.answerWith(() => modelAnswer(SENTENCES), SLOWLY);
  const client = createClient({ url: api.baseUrl(0), key: product.adminKey, project: "shop" });
  const chatId = randomUUID();
  const sent = await client.send({ text: QUESTION, chatId, mode: "async" });
  const deltas: ReplyDelta[] = [];
  const typing: boolean[] = [];
  const stream = client.stream(chatId, { onDelta: (delta) => deltas.push(delta), onTyping: (on) => typing.push(on) });
  for await (const reply of stream) {
    const answerOf = deltas.reduce((text, delta) => text.slice(0, delta.offset) + delta.text, "");
    expect(reply).toMatchObject({ inReplyTo: sent.messageId, text: answerOf });
    break;
  }
  expect([deltas.length > 1, typing]).toEqual([true, [true, false]]);
});

test("the stream of a chat ends cleanly when its process shuts down, and continues at the next one", async () => {
  const chatId = randomUUID();
  const chat = read(chatId, { project: "fixed", url: (connection) => api.baseUrl(connection) });
  await waitFor(() => chat.answers.length > 0, { what: "the stream" });
  const [first] = product.composition.processes;
  expect(await first?.kill("SIGTERM")).toMatchObject({ code: 0 });
  // Its last events may be read after its end.
  await chat.until("done");
  expect(chat.of("done")).toHaveLength(1);
  await api.send("fixed", { text: "hello", chatId, mode: "async" }, { replica: 1 });
  expect((await chat.until("reply")).data).toMatchObject({ text: ANSWER });
});
