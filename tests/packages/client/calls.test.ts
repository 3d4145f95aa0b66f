import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError, createClient } from "@svc/client";
import type { Client, ClientOptions } from "@svc/client";
import { freePort, startWebhookReceiver } from "@svc/testing";
import type { FullAnswer, WebhookReceiver } from "@svc/testing";

const KEY = "svc_key-that-nobody-may-see";
let server: WebhookReceiver;
let retries: string[];

beforeEach(async () => {
  server = await startWebhookReceiver();
  retries = [];
});

afterEach(() => server.close());

const json = (status: number, body: unknown, headers: Record<string, string> = {}): FullAnswer => ({
  status,
  headers: { "Content-Type": "application/json", ...headers },
  body: JSON.stringify(body),
});
const problem = (status: number, code: string, headers?: Record<string, string>) =>
  json(status, { ok: false, status, code, detail: `What ${code} means.`, requestId: "r-1" }, headers);
const NOW = { "Retry-After": "0" };
const ANSWERED = { ok: true, mode: "sync", chatId: "c", ticketId: "t", messageId: "m", replies: [] };
const PAGE = { ok: true, chatId: "c", replies: [], cursor: "0", more: false };

function connect(options: Partial<ClientOptions> = {}): Client {
  const onRetry = ({ code }: ServiceError) => void retries.push(code);
  return createClient({ url: server.url("/").slice(0, -1), key: KEY, onRetry, ...options });
}

/** Returns the error of a call. */
async function errorOf(call: Promise<unknown>): Promise<ServiceError> {
  const error: unknown = await call.then(
    () => "nothing",
    (error: unknown) => error,
  );
  expect(error).toBeInstanceOf(ServiceError);
  return error as ServiceError;
}

describe("a message", () => {
  test("has the key, the project, a separate Idempotency-Key, and its timeout", async () => {
    server.answerWith(json(200, ANSWERED));
    const client = connect({ project: "shop" });
    expect(await client.send({ text: "hello" }, { waitMs: 5_000 })).toEqual({ ...ANSWERED, status: "answered" });
    await client.send({ text: "again", timeoutMs: 1 }, { idempotencyKey: "mine", waitMs: 5_000 });
    const [first, second] = server.requests;
    expect(first).toMatchObject({
      method: "POST",
      path: "/api/v1/messages",
      headers: { "x-api-key": KEY, "x-svc-project": "shop", "content-type": "application/json" },
      json: { text: "hello", timeoutMs: 5_000 },
    });
    expect(first?.headers["idempotency-key"]).toMatch(/^[0-9a-f]{32}$/);
    expect(second).toMatchObject({ headers: { "idempotency-key": "mine" }, json: { text: "again", timeoutMs: 1 } });
  });

  test.each([
    ["a connection that was cut", "cut" as const, "unreachable"],
    ["an answer that was cut", "cut-midway" as const, "unreachable"],
    ["503", problem(503, "unavailable", NOW), "unavailable"],
    ["429", problem(429, "rate_limited", NOW), "rate_limited"],
    ["409 of a call that is under way", problem(409, "idempotency_in_progress", NOW), "idempotency_in_progress"],
    ["502 of a proxy", { status: 502, body: "<html>" }, "unexpected_answer"],
  ])("is sent again after %s, with the same key and the same bytes", async (_what, answer, code) => {
    server.answerWith((_, index) => (index === 0 ? answer : json(200, ANSWERED)));
    expect(await connect().send({ text: "hello" })).toMatchObject({ status: "answered" });
    expect(retries).toEqual([code]);
    const [first, second, ...others] = server.requests;
    expect(others).toEqual([]);
    expect(second?.headers["idempotency-key"]).toBe(first?.headers["idempotency-key"]);
    expect(second?.body).toEqual(first?.body);
  });

  test("that is rejected is not sent again, and all its errors are reported", async () => {
    const errors = [{ pointer: "/text", code: "too_long", detail: "must have at most 50000 characters" }];
    const body = { code: "invalid_request", detail: "The message is not valid.", errors, requestId: "r-9" };
    server.answerWith(json(400, body));
    const error = await errorOf(connect().send({ text: "hello" }));
    expect(error).toMatchObject({ ...body, message: body.detail, name: "ServiceError", status: 400 });
    expect(server.requests).toHaveLength(1);
  });

  test("fails after the maximum number of attempts", async () => {
    server.answerWith(problem(503, "unavailable", NOW));
    expect(await errorOf(connect({ maxRetries: 2 }).send({ text: "hello" }))).toMatchObject({ code: "unavailable" });
    expect(server.requests).toHaveLength(3);
  });

  test("fails immediately if it would have to wait for long", async () => {
    server.answerWith(problem(429, "rate_limited", { "Retry-After": "121" }));
    expect(await errorOf(connect().send({ text: "hello" }))).toMatchObject({ retryAfterSeconds: 121, status: 429 });
    expect(server.requests).toHaveLength(1);
  });
});

describe("any other call", () => {
  test("that reads is repeated, one that changes something is not, unless it was rejected with 429", async () => {
    server.answerWith((_, index) => (index === 0 ? "cut" : json(200, { ok: true, items: [], nextCursor: null })));
    await connect().call("listAgents", { query: { limit: 2 } });
    expect(server.requests.map(({ path }) => path)).toEqual(Array(2).fill("/api/v1/admin/agents?limit=2"));
    server.answerWith("cut");
    const create = () => connect().call("createAgent", { body: { name: "a" } });
    expect(await errorOf(create())).toMatchObject({ code: "unreachable", status: null });
    expect(server.requests).toHaveLength(3);
    server.answerWith((_, index) => (index === 3 ? problem(429, "rate_limited", NOW) : json(201, { ok: true })));
    await create();
    expect(server.requests).toHaveLength(5);
  });

  test("that removes replies is not repeated once the service may have received it: they may be lost unread", async () => {
    const client = connect();
    const takes = [
      () => client.drain("c"),
      () => client.call("drainMessages", { params: { chatId: "c" }, query: { wait: "0" } }),
      () => client.request("GET", "/api/v1/messages/c?peek=0"),
    ];
    for (const [index, take] of takes.entries()) {
      server.answerWith(index === 0 ? "cut-midway" : problem(503, "unavailable", NOW));
      expect(await errorOf(take())).toMatchObject({ code: index === 0 ? "unreachable" : "unavailable" });
      expect(server.requests).toHaveLength(index + 1);
    }
    const asked = server.requests.length;
    server.answerWith((_, index) => (index < asked + 2 ? problem(429, "rate_limited", NOW) : json(200, PAGE)));
    expect(await client.drain("c")).toEqual(PAGE);
    for (const options of [{ after: "0" }, { peek: true }]) {
      const before = server.requests.length;
      server.answerWith((_, index) => (index === before ? "cut-midway" : json(200, PAGE)));
      expect(await client.drain("c", options)).toEqual(PAGE);
    }
  });

  test("that found no listening server is repeated, whatever it does", async () => {
    const port = await freePort();
    let later: Promise<WebhookReceiver> | undefined;
    const onRetry = () => void (later ??= startWebhookReceiver({ port, answer: json(200, PAGE) }));
    expect(await connect({ url: `http://127.0.0.1:${port}`, onRetry }).drain("c")).toEqual(PAGE);
    const receiver = await later;
    expect(receiver?.requests).toHaveLength(1);
    await receiver?.close();
  });

  test("puts any ids into the path, and the version into If-Match", async () => {
    server.answerWith(json(200, { ok: true, item: {} }));
    const client = connect({ url: server.url("/behind/proxy/") });
    await client.call("deleteAgent", { params: { id: "a/b?c %2e" }, ifMatch: 7 });
    expect(server.requests[0]).toMatchObject({
      method: "DELETE",
      path: "/behind/proxy/api/v1/admin/agents/a%2Fb%3Fc%20%252e",
      headers: { "if-match": '"7"' },
    });
    for (const id of ["", ".", "..", "\ud800"]) {
      const call = client.call("deleteAgent", { params: { id } });
      expect(await errorOf(call)).toMatchObject({ code: "invalid_options" });
    }
    expect(await errorOf(client.drain(".."))).toMatchObject({ code: "invalid_options" });
    expect(server.requests).toHaveLength(1);
  });

  test("sends a form as a form", async () => {
    server.answerWith(json(201, { ok: true, item: {} }));
    const form = new FormData();
    form.append("file", new Blob(["# Owl"]), "owl.md");
    await connect().call("addDocuments", { params: { id: "1" }, form });
    expect(server.requests[0]?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(server.requests[0]?.body.toString()).toContain('filename="owl.md"');
  });

  test("that is not answered in time ends as timeout", async () => {
    server.answerWith("hang");
    const client = connect({ timeoutMs: 20, maxRetries: 1 });
    expect(await errorOf(client.drain("c", { after: "0", waitMs: 10 }))).toMatchObject({ code: "timeout" });
    expect(server.requests.map(({ path }) => path)).toEqual(Array(2).fill("/api/v1/messages/c?wait=10&after=0"));
  });

  test("throws the reason of its signal, during the call and between two attempts", async () => {
    server.answerWith("hang");
    const during = new AbortController();
    const call = connect().drain("c", { signal: during.signal });
    await server.next();
    const reason = new Error("enough");
    during.abort(reason);
    await expect(call).rejects.toBe(reason);
    server.answerWith(problem(503, "unavailable", { "Retry-After": "60" }));
    const between = new AbortController();
    const waiting = connect({ onRetry: () => between.abort(reason) }).drain("c", {
      after: "0",
      signal: between.signal,
    });
    await expect(waiting).rejects.toBe(reason);
    await expect(connect().drain("c", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  test.each<[string, FullAnswer]>([
    ["a page of another program", { status: 200, body: "<html>" }],
    ["nothing", { status: 200 }],
    ["other JSON", json(200, { hello: "world" })],
    ["an error of another program", { status: 404, body: "no" }],
  ])("that %s answers ends as unexpected_answer", async (_what, answer) => {
    server.answerWith(answer);
    expect(await errorOf(connect().drain("c"))).toMatchObject({ code: "unexpected_answer", status: answer.status });
    expect(await errorOf(connect().send({ text: "hello" }))).toMatchObject({ code: "unexpected_answer" });
  });

  test("follows no redirect, so that the key is sent to no other host", async () => {
    const other = await startWebhookReceiver();
    server.answerWith({ status: 307, headers: { Location: other.url("/api/v1/messages/c") } });
    expect(await errorOf(connect({ maxRetries: 0 }).drain("c"))).toMatchObject({ code: "unreachable" });
    expect(other.requests).toEqual([]);
    await other.close();
  });

  test("ends as unreachable if nothing listens", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await errorOf(connect({ url, maxRetries: 0 }).drain("c"))).toMatchObject({ code: "unreachable" });
  });
});

describe("an invalid request is rejected before it is sent, and never shown", () => {
  test.each<[string, Partial<ClientOptions>]>([
    ["a key of other letters", { key: "ключ-администратора" }],
    ["a key with a line break", { key: "secret-key\n" }],
    ["no key", { key: "" }],
    ["a project of other letters", { project: "магазин" }],
    ["no address", { url: "secret.example.com" }],
    ["an address with a password", { url: "http://user:secret@example.com" }],
    ["another kind of address", { url: "file:///secret" }],
  ])("%s", (_what, options) => {
    const made = () => connect(options);
    expect(made).toThrow(ServiceError);
    expect(made).toThrow(expect.objectContaining({ code: "invalid_options", status: null }));
    expect(made).not.toThrow(/secret|ключ|магазин/);
  });

  test("an Idempotency-Key with a line break", async () => {
    const call = connect().send({ text: "hello" }, { idempotencyKey: "a\nb" });
    expect(await errorOf(call)).toMatchObject({ code: "invalid_options" });
  });

  test("the key is in no error, whatever happens", async () => {
    const answers = ["cut", problem(401, "invalid_key"), { status: 200, body: "x" }] as const;
    for (const answer of answers) {
      server.answerWith(answer);
      const error = await errorOf(connect({ maxRetries: 0 }).drain("c"));
      expect(`${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`).not.toContain(KEY);
    }
  });
});

describe("a stream", () => {
  const reply = (seq: number) => ({
    type: "message",
    // A character that ends lines in some formats, but not in JSON.
    text: `reply ${seq}\u2028`,
    markdown: false,
    id: `id-${seq}`,
    seq,
    createdAt: "2026-11-21T17:01:34.692Z",
    inReplyTo: null,
    author: "agent",
  });
  const page = (...seqs: number[]) =>
    json(200, { ...PAGE, replies: seqs.map(reply), cursor: String(seqs.at(-1) ?? 0) });
  const pathsAsked = () => server.requests.map(({ path }) => path.replace("/api/v1/messages/", ""));

  test("yields every reply once, acknowledges consumed ones, and continues where the reader stopped", async () => {
    const answers = [page(2, 3), page(5), "cut", problem(503, "unavailable", NOW), page(6, 8), page(8)] as const;
    server.answerWith((_, index) => answers[index] ?? "hang");
    const stream = connect({ maxRetries: 0 }).stream("c 1", { waitMs: 9 });
    const seen: number[] = [];
    for await (const { seq } of stream) {
      seen.push(seq);
      if (seq === 6) break;
    }
    expect(seen).toEqual([2, 3, 5, 6]);
    expect(stream.cursor).toBe("6");
    for await (const { seq } of stream) {
      seen.push(seq);
      break;
    }
    expect(seen).toEqual([2, 3, 5, 6, 8]);
    const after = [0, 3, 5, 5, 5, 6];
    expect(pathsAsked()).toEqual(after.map((cursor) => `c%201?wait=9&after=${cursor}`));
    expect(retries).toEqual(["unreachable", "unavailable"]);
  });

  /** Returns a complete event stream, with multi-line data, and with the different line endings that are allowed. */
  const events = (...all: (readonly [type: string, data: unknown])[]): FullAnswer => ({
    status: 200,
    headers: { "Content-Type": "text/event-stream; charset=utf-8" },
    body: `retry: 1000\n\n:\n\n${all
      .map(([type, data], index) => {
        const lines = JSON.stringify(data, null, 1).replaceAll("\n", "\r\ndata:");
        return `id: ${index}\r\nevent: ${type}\r\ndata: ${lines}\r\n\r\n`;
      })
      .join("")}`,
  });

  test("accepts event streams where available, passes on unfinished replies, and reports its cursor", async () => {
    const messageId = "m-1";
    const deltas = [
      { messageId, offset: 0, text: "re🚚" },
      { messageId, offset: 4, text: "ply" },
    ] as const;
    const typing = [["typing", { on: true }] as const, ["typing", { on: false }] as const];
    const done = ["done", { ...PAGE, cursor: "3" }] as const;
    const answers = [
      events(["typing", { on: true }], ["delta", deltas[0]], ["delta", deltas[1]], ["unheard-of", null]),
      events(["typing", { on: true }], ["typing", { on: false }], ["reply", reply(2)], ["reply", reply(3)], done, [
        "reply",
        reply(99),
      ]),
      events(["error", { code: "unavailable", status: 503, detail: "later" }]),
      events(["reply", reply(4)], ["error", { code: "invalid_key", status: 401, detail: "gone" }]),
    ];
    server.answerWith((_, index) => answers[index] ?? "hang");
    const heard: unknown[] = [];
    const stream = connect({ maxRetries: 0 }).stream("c", {
      onDelta: (delta) => heard.push(delta),
      onTyping: (on) => heard.push(["typing", { on }]),
    });
    const seen: number[] = [];
    const read = async () => {
      for await (const { seq } of stream) seen.push(seq);
    };
    expect(await errorOf(read())).toMatchObject({ code: "invalid_key", status: 401, detail: "gone" });
    expect(seen).toEqual([2, 3, 4]);
    expect(heard).toEqual([typing[0], ...deltas, typing[1]]);
    const asked = server.requests.map(({ path, headers }) => [path.split("after=")[1], headers["last-event-id"]]);
    expect(asked).toEqual([
      ["0", undefined],
      ["0", "0"],
      ["3", "3"],
      ["3", "3"],
    ]);
    expect(server.requests[0]?.headers["accept"]).toMatch(/^text\/event-stream, /);
    expect(retries).toEqual(["unavailable"]);
  });

  test("throws errors of its listeners, and does not accept invalid replies", async () => {
    server.answerWith(events(["typing", { on: true }]));
    const stream = connect().stream("c", {
      onTyping() {
        throw new RangeError("mine");
      },
    });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow("mine");
    server.answerWith(events(["reply", "no reply"]));
    expect(await errorOf(connect().stream("c")[Symbol.asyncIterator]().next())).toMatchObject({
      code: "unexpected_answer",
    });
  });

  test("does not poll in a tight loop if the service responds before the wait is over", async () => {
    server.answerWith(page());
    const ending = AbortSignal.timeout(600);
    const read = async () => {
      for await (const _ of connect().stream("c", { signal: ending, after: "4" })) expect(_).toBeUndefined();
    };
    await expect(read()).rejects.toMatchObject({ name: "TimeoutError" });
    expect(server.requests.length).toBeLessThan(5);
    expect(pathsAsked()[0]).toBe("c?wait=30000&after=4");
  });

  test("ends with an error that no retry fixes", async () => {
    server.answerWith(problem(403, "insufficient_scope"));
    const reader = connect().stream("c")[Symbol.asyncIterator]();
    expect(await errorOf(reader.next())).toMatchObject({ code: "insufficient_scope" });
    expect(server.requests).toHaveLength(1);
  });

  test("rejects a second concurrent reader", async () => {
    server.answerWith("hang");
    const ending = new AbortController();
    const stream = connect().stream("c", { signal: ending.signal });
    const first = stream[Symbol.asyncIterator]().next();
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow("already being read");
    ending.abort(new Error("enough"));
    await expect(first).rejects.toThrow("enough");
  });
});
