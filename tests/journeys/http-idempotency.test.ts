import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import type { Scope } from "@svc/contracts";
import { ticketIdOf } from "@svc/store";
import type { Project } from "@svc/store";
import { startWebhookReceiver, waitFor, queryDatabase } from "@svc/testing";
import type { WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient, ClientOptions } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { holdChat } from "./support/hold-chat.ts";
import { openRawCall } from "./support/open-raw-call.ts";
import { sendRaw } from "./support/send-raw.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const FIXED = "This is **always** the answer.";
const HANDOFF = "A person will look at it.";
const TABLE = "| City | People |\n|---|---|\n| Oslo | 717710 |\n| Rome | 2748109 |";
/** Number of attempts to hit a race between two requests. */
const ROUNDS = process.env["SVC_SOAK"] === "1" ? 100 : 6;

let product: Product;
let api: ApiClient;
let receiver: WebhookReceiver;
let fixed: Project;
let review: Project;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  receiver = await startWebhookReceiver();
  fixed = await addProject(product.store, "fixed", { fixedReply: FIXED });
  review = await addProject(
    product.store,
    "review",
    { fixedReply: FIXED, reviewPolicy: "review" },
    { handoffText: HANDOFF },
  );
  await addProject(product.store, "table", { fixedReply: TABLE });
  await addProject(product.store, "other", { fixedReply: "the other project's answer" });
});

afterAll(async () => {
  await receiver.close();
  await product.stop();
});

const sql = <Row extends object>(text: string, values: unknown[] = []) =>
  queryDatabase<Row>(product.databaseUrl, text, values);

/** Sends a message with an Idempotency-Key. */
const send = (
  key: string,
  json: unknown,
  { project = "fixed", ...options }: ClientOptions & { project?: string } = {},
) => api.send(project, json, { ...options, headers: { "Idempotency-Key": key, ...options.headers } });

/** Returns a text that no other message has. */
const newText = () => `hello ${randomUUID()}`;

/** Repeats an attempt, concurrently because each one waits for the pipeline. */
async function inRounds(attempt: (round: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: ROUNDS }, (_, round) => attempt(round)));
}

/** Returns the number of messages with this text. */
async function countMessages(text: string): Promise<number> {
  const rows = await sql<{ count: number }>("SELECT count(*)::integer AS count FROM messages WHERE text = $1", [text]);
  return rows[0]?.count ?? 0;
}

const isReplayed = (answer: ApiAnswer) => answer.headers.get("idempotent-replayed");

/** Checks that a response is the replay of another one. */
function expectReplayed(repeat: ApiAnswer, first: ApiAnswer): void {
  expect(isReplayed(first)).toBeNull();
  expect(isReplayed(repeat)).toBe("true");
  const seen = ({ status, headers, text }: ApiAnswer) => ({
    status,
    text,
    location: headers.get("location"),
    type: headers.get("content-type"),
  });
  expect(seen(repeat)).toEqual(seen(first));
}

/** Issues an API key without a rate limit. */
async function newApiKey(project: Project, scopes: Scope[] = ["messages:read", "messages:write"]) {
  return issueKey(product.store, { name: "test", scopes, project: project.id, createdBy: "test", rateLimit: null });
}

/** Retries until the first call is no longer reported as in progress. */
async function retryUntilAccepted(repeat: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  return waitFor(
    async () => {
      const answer = await repeat();
      if (answer.status !== 409) return answer;
      expectProblem(answer, "idempotency_in_progress");
      return null;
    },
    { what: "a repeat to take the place of the call before", timeoutMs: 20_000 },
  );
}

/** Blocks the pipeline on a chat; returns the function that releases it. */
const hold = (chatId: string, project = fixed) => holdChat(product.store, project, chatId);

/** Waits until there is a message with this text. */
const untilAccepted = (text: string) =>
  waitFor(async () => (await countMessages(text)) === 1, { what: `the message ${text}` });

/** Adds a reply to a chat, like an operator who replies later. */
async function addReply({ id: project }: Project, chatId: string, text: string): Promise<void> {
  await sql(
    `WITH chat AS (
       UPDATE chats SET last_seq = last_seq + 1 WHERE ticket_id = $2 RETURNING last_seq
     ), message AS (
       UPDATE messages SET state = 'answered' WHERE ticket_id = $2
     )
     INSERT INTO replies (id, project_id, ticket_id, seq, in_reply_to, author, type, text, markdown)
     SELECT gen_random_uuid(), $1, $2, chat.last_seq, m.id, 'operator', 'message', $3, false
     FROM chat, messages m WHERE m.ticket_id = $2 ORDER BY m.seq DESC LIMIT 1`,
    [project, ticketIdOf(project, "api", chatId), text],
  );
}

describe.each([
  ["the same replica", 0],
  ["another replica", 1],
])("a call that is retried on %s makes one message and gets the same response:", (_, replica) => {
  test.each(["fixed", "table"])("sync, with replies (project %s)", async (project) => {
    const [key, text] = [randomUUID(), newText()];
    const first = await send(key, { text, chatId: key }, { project });
    expect(first.status).toBe(200);
    expect(first.replies.map(({ type }) => type)).toEqual(
      project === "table" ? ["message", "attachment"] : ["message"],
    );
    for (let repeats = 0; repeats < 3; repeats++) {
      expectReplayed(await send(key, { text, chatId: key }, { project, replica }), first);
    }
    expect(await countMessages(text)).toBe(1);
    expect((await api.drain(project, key)).replies).toEqual([]);
  });

  test("async", async () => {
    const [key, text] = [randomUUID(), newText()];
    const first = await send(key, { text, mode: "async" });
    expect(first.status).toBe(202);
    expect(first.headers.get("location")).toBe(first.body.drainUrl);
    // The chat id was created for the first call: the retry returns the same one.
    expectReplayed(await send(key, { text, mode: "async" }, { replica }), first);
    expect((await api.drain("fixed", first.body.chatId ?? "", "?wait=20000")).texts).toEqual([FIXED]);
    expectReplayed(await send(key, { text, mode: "async" }, { replica }), first);
    expect(await countMessages(text)).toBe(1);
    expect((await api.drain("fixed", first.body.chatId ?? "")).replies).toEqual([]);
  });

  test("webhook, with one delivery and its id", async () => {
    const [key, text] = [randomUUID(), newText()];
    const message = { text, webhookUrl: receiver.url(`/${key}`) };
    const first = await send(key, message);
    expect(first.status).toBe(202);
    expectReplayed(await send(key, message, { replica }), first);
    const { deliveryId } = JSON.parse(first.text) as { deliveryId: string };
    const callback = await receiver.next(({ path }) => path === `/${key}`, { timeoutMs: 20_000 });
    expect(callback.json).toMatchObject({ type: "message.completed", deliveryId, chatId: first.body.chatId });
    expectReplayed(await send(key, message, { replica }), first);
    expect(await countMessages(text)).toBe(1);
    expect(await sql("SELECT id FROM deliveries WHERE url = $1", [message.webhookUrl])).toEqual([{ id: deliveryId }]);
  });

  test("invalid JSON, 400", async () => {
    const [key, body] = [randomUUID(), '{"text": "hello'];
    const request = { headers: { "Idempotency-Key": key }, body, key: product.adminKey, project: "fixed" };
    const first = await callApi(`${api.baseUrl()}/api/v1/messages`, request);
    expectProblem(first, "invalid_json");
    expectReplayed(await callApi(`${api.baseUrl(replica)}/api/v1/messages`, request), first);
    expectProblem(await send(key, { text: "mended" }), "idempotency_mismatch");
  });

  test("an invalid field, 400", async () => {
    const [key, text] = [randomUUID(), newText()];
    const first = await send(key, { text, timeoutMs: 0 });
    expectProblem(first, "invalid_request", ["/timeoutMs"]);
    expectReplayed(await send(key, { text, timeoutMs: 0 }, { replica }), first);
    expect(await countMessages(text)).toBe(0);
  });

  test("a forbidden webhookUrl, 400", async () => {
    const [key, text] = [randomUUID(), newText()];
    const first = await send(key, { text, webhookUrl: "http://169.254.169.254/" });
    expectProblem(first, "invalid_request", ["/webhookUrl"]);
    expectReplayed(await send(key, { text, webhookUrl: "http://169.254.169.254/" }, { replica }), first);
    expect(await countMessages(text)).toBe(0);
  });
});

describe("a key that was used before", () => {
  test("is rejected for another body, for the same text in other bytes, and for another project", async () => {
    const [key, text] = [randomUUID(), newText()];
    const first = await send(key, { text, mode: "async" });
    for (const replica of [0, 1]) {
      expectProblem(await send(key, { text: "another", mode: "async" }, { replica }), "idempotency_mismatch");
      expectProblem(await send(key, { mode: "async", text }, { replica }), "idempotency_mismatch");
      const elsewhere = await send(key, { text, mode: "async" }, { project: "other", replica });
      expectProblem(elsewhere, "idempotency_mismatch");
    }
    expectReplayed(await send(key, { text, mode: "async" }), first);
    expect(await countMessages(text)).toBe(1);
  });

  test("is rejected for another body while the first call is running, which continues", async () => {
    const [key, text] = [randomUUID(), newText()];
    const release = await hold(key);
    const running = send(key, { text, chatId: key, timeoutMs: 60_000 });
    await untilAccepted(text);
    for (const replica of [0, 1]) {
      expectProblem(await send(key, { text: "another", chatId: key }, { replica }), "idempotency_mismatch");
      const same = await send(key, { text, chatId: key, timeoutMs: 60_000 }, { replica });
      expectProblem(same, "idempotency_in_progress");
      expect(Number(same.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    await release();
    const first = await running;
    expect(first.texts).toEqual([FIXED]);
    expectReplayed(await send(key, { text, chatId: key, timeoutMs: 60_000 }), first);
    expect(await countMessages(text)).toBe(1);
  });

  test("of another API key in the same project is a different key", async () => {
    const [key, text] = [randomUUID(), newText()];
    const apiKeys = await Promise.all([newApiKey(fixed), newApiKey(fixed)]);
    const answers = await Promise.all(
      apiKeys.map((one) =>
        callApi(`${api.baseUrl()}/api/v1/messages`, {
          key: one.key,
          headers: { "Idempotency-Key": key },
          json: { text, mode: "async" },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect(answers.map(isReplayed)).toEqual([null, null]);
    expect(answers[0]?.body.chatId).not.toBe(answers[1]?.body.chatId);
    expect(await countMessages(text)).toBe(2);
  });

  test("with any different or additional letter is a different key", async () => {
    const [key, text] = [`Key-${randomUUID()}`, newText()];
    for (const other of [key, key.toLowerCase(), `${key}x`]) {
      const answer = await send(other, { text, mode: "async" });
      expect([answer.status, isReplayed(answer)]).toEqual([202, null]);
    }
    expect(await countMessages(text)).toBe(3);
  });

  test("is stored for 24 hours, and a new key afterwards", async () => {
    const [key, text] = [randomUUID(), newText()];
    const age = (interval: string) =>
      sql("UPDATE idempotency_keys SET created_at = now() - $2::interval WHERE key = $1", [key, interval]);
    const first = await send(key, { text, mode: "async" });
    await age("23 hours 59 minutes");
    expectReplayed(await send(key, { text, mode: "async" }), first);
    await age("24 hours 1 minute");
    const again = await send(key, { text: `${text} anew`, mode: "async" });
    expect([again.status, isReplayed(again)]).toEqual([202, null]);
    expectReplayed(await send(key, { text: `${text} anew`, mode: "async" }), again);
    expect([await countMessages(text), await countMessages(`${text} anew`)]).toEqual([1, 1]);
  });

  test("does not affect a call without a key", async () => {
    const [key, text] = [randomUUID(), newText()];
    await send(key, { text, mode: "async" });
    const [one, other] = [
      await api.send("fixed", { text, mode: "async" }),
      await api.send("fixed", { text, mode: "async" }),
    ];
    expect(one.body.chatId).not.toBe(other.body.chatId);
    expect(await countMessages(text)).toBe(3);
  });
});

describe("the header", () => {
  test("of 255 characters is accepted", async () => {
    const [key, text] = ["k".repeat(255 - 36) + randomUUID(), newText()];
    const first = await send(key, { text, mode: "async" });
    expect(first.status).toBe(202);
    expectReplayed(await send(key, { text, mode: "async" }), first);
  });

  test("may contain any bytes of a valid header", async () => {
    const text = newText();
    const request = (value: string) =>
      sendRaw(api.baseUrl(), {
        method: "POST",
        path: "/api/v1/messages",
        headers: [
          ["X-Api-Key", product.adminKey],
          ["x-svc-project", "fixed"],
          ["Content-Type", "application/json"],
          ["Idempotency-Key", value],
        ],
        body: JSON.stringify({ text, mode: "async" }),
      });
    for (const value of [
      "\u00ff\u0080é",
      "a\tb",
      "'; DROP TABLE replies; --",
      "__proto__",
      "%00\\0",
      '"quoted, list"',
    ]) {
      const first = await request(value);
      expect(first.status).toBe(202);
      expectReplayed(await request(value), first);
    }
    expect(await countMessages(text)).toBe(6);
  });

  test.each([
    ["empty", [""]],
    ["of spaces", ["   "]],
    ["of 256 characters", ["k".repeat(256)]],
    ["sent twice", ["one", "two"]],
    ["sent twice with the same value", ["one", "one"]],
  ])("%s is 400, and nothing is sent", async (_, values) => {
    const text = newText();
    const answer = await sendRaw(api.baseUrl(), {
      method: "POST",
      path: "/api/v1/messages",
      headers: [
        ["X-Api-Key", product.adminKey],
        ["x-svc-project", "fixed"],
        ["Content-Type", "application/json"],
        ...values.map((value): [string, string] => ["Idempotency-Key", value]),
      ],
      body: JSON.stringify({ text, mode: "async" }),
    });
    expectProblem(answer, "invalid_request", ["/Idempotency-Key"]);
    expect(await countMessages(text)).toBe(0);
    expect(await sql("SELECT 1 FROM idempotency_keys WHERE key = 'one'")).toEqual([]);
  });
});

describe("a response that does not depend on the message is not stored: the same key works after", () => {
  const url = () => `${api.baseUrl()}/api/v1/messages`;

  /** Sends until the call is accepted, and checks that it is not a replay. */
  async function expectAccepted(key: string, text: string, request: () => Promise<ApiAnswer>): Promise<void> {
    const taken = await waitFor(
      async () => {
        const answer = await request();
        return answer.status === 202 && answer;
      },
      { what: "the message to be taken" },
    );
    expect(isReplayed(taken)).toBeNull();
    expectReplayed(await request(), taken);
    expect(await countMessages(text)).toBe(1);
    expect(await sql("SELECT 1 FROM idempotency_keys WHERE key = $1", [key])).toHaveLength(1);
  }

  test("401", async () => {
    const [key, text] = [randomUUID(), newText()];
    const { key: apiKey } = await newApiKey(fixed);
    const request = { headers: { "Idempotency-Key": key }, json: { text, mode: "async" } };
    expectProblem(await callApi(url(), request), "missing_key");
    expectProblem(await callApi(url(), { ...request, key: `${apiKey.slice(0, -1)}!` }), "invalid_key");
    await expectAccepted(key, text, () => callApi(url(), { ...request, key: apiKey }));
  });

  test("403 of the project, and of the scope", async () => {
    const [key, text] = [randomUUID(), newText()];
    const { key: apiKey, record } = await newApiKey(fixed, ["messages:read"]);
    const request = { headers: { "Idempotency-Key": key }, json: { text, mode: "async" }, key: apiKey };
    expectProblem(await callApi(url(), { ...request, project: "other" }), "project_mismatch");
    expectProblem(await callApi(url(), request), "insufficient_scope");
    await sql("UPDATE api_keys SET scopes = '{messages:write}' WHERE id = $1", [record.id]);
    await expectAccepted(key, text, () => callApi(url(), request));
  });

  test("413 and 415, even with another body", async () => {
    const [key, text] = [randomUUID(), newText()];
    const request = { headers: { "Idempotency-Key": key }, key: product.adminKey, project: "fixed" };
    const large = await callApi(url(), { ...request, json: { text, meta: { large: "x".repeat(1024 * 1024) } } });
    expectProblem(large, "payload_too_large");
    const plain = { "Idempotency-Key": key, "Content-Type": "text/plain" };
    expectProblem(await callApi(url(), { ...request, headers: plain, body: "hello" }), "unsupported_media_type");
    await expectAccepted(key, text, () => callApi(url(), { ...request, json: { text, mode: "async" } }));
  });

  test("429", async () => {
    const [key, text] = [randomUUID(), newText()];
    const { key: apiKey, record } = await issueKey(product.store, {
      name: "slow",
      scopes: ["messages:*"],
      project: fixed.id,
      createdBy: "test",
      rateLimit: 1,
    });
    const request = { headers: { "Idempotency-Key": key }, json: { text, mode: "async" }, key: apiKey };
    expect((await callApi(`${url()}/limited`, { key: apiKey })).status).toBe(200);
    expectProblem(await callApi(url(), request), "rate_limited");
    await sql("UPDATE api_keys SET rate_limit = 0 WHERE id = $1", [record.id]);
    await expectAccepted(key, text, () => callApi(url(), request));
  });

  test("503 while the channel is disabled", async () => {
    const [key, text] = [randomUUID(), newText()];
    await product.store.channelsConfig.setEnabled("api", false);
    try {
      for (const replica of [0, 1]) {
        await waitFor(
          async () => (await send(randomUUID(), { text: "probe", mode: "async" }, { replica })).status === 503,
          {
            what: "the channel to be disabled",
          },
        );
        expectProblem(await send(key, { text, mode: "async" }, { replica }), "channel_disabled");
      }
    } finally {
      await product.store.channelsConfig.setEnabled("api", true);
    }
    await expectAccepted(key, text, () => send(key, { text, mode: "async" }, { replica: 1 }));
    // Every other test needs both replicas.
    await waitFor(async () => (await send(randomUUID(), { text: "probe", mode: "async" })).status === 202, {
      what: "the channel to be enabled",
    });
  });
});

describe("a sync call whose caller disconnected while it waited", () => {
  test.each([
    ["the same replica", 0],
    ["another replica", 1],
  ])("is taken over by its repeat on %s, which waits for the reply and gets it once", async (_, replica) => {
    const [key, text] = [randomUUID(), newText()];
    const message = { text, chatId: key, timeoutMs: 60_000 };
    const release = await hold(key);
    const call = await openRawCall(api.baseUrl(), {
      key: product.adminKey,
      project: "fixed",
      json: message,
      headers: { "Idempotency-Key": key },
    });
    await untilAccepted(text);
    call.hangUp();
    const repeat = retryUntilAccepted(() => send(key, message, { replica }));
    await waitFor(
      async () =>
        (
          await sql(
            `SELECT 1 FROM idempotency_keys k JOIN messages m ON m.id = k.message_id
             WHERE k.key = $1 AND k.call_id IS NOT NULL AND m.call_instance = k.call_instance AND m.call_ended_at IS NULL`,
            [key],
          )
        ).length === 1,
      { what: "the repeat to have the message" },
    );
    await release();
    const answer = await repeat;
    expect([answer.status, isReplayed(answer), answer.texts]).toEqual([200, null, [FIXED]]);
    expect((await api.drain("fixed", key)).replies).toEqual([]);
    expectReplayed(await send(key, message), answer);
    expect(await countMessages(text)).toBe(1);
    expect((await api.drain("fixed", key)).replies).toEqual([]);
  });

  test("repeatedly is taken over each time", async () => {
    const [key, text] = [randomUUID(), newText()];
    const message = { text, chatId: key, timeoutMs: 60_000 };
    const release = await hold(key);
    for (let round = 0; round < 5; round++) {
      const call = await openRawCall(api.baseUrl(round), {
        key: product.adminKey,
        project: "fixed",
        json: message,
        headers: { "Idempotency-Key": key },
      });
      await waitFor(
        async () =>
          (await sql("SELECT 1 FROM idempotency_keys WHERE key = $1 AND call_id IS NOT NULL AND status IS NULL", [key]))
            .length === 1,
        { what: `call ${round} to have the key` },
      );
      call.hangUp();
      await waitFor(
        async () =>
          (await sql("SELECT 1 FROM idempotency_keys WHERE key = $1 AND call_id IS NULL", [key])).length === 1,
        { what: `call ${round} to have given the key back` },
      );
    }
    const last = send(key, message, { replica: 1 });
    await release();
    expect((await last).texts).toEqual([FIXED]);
    expect(await countMessages(text)).toBe(1);
    expect((await api.drain("fixed", key)).replies).toEqual([]);
  });

  test("and whose reply was collected from the drain returns no reply to retries", async () => {
    const [key, text] = [randomUUID(), newText()];
    const message = { text, chatId: key, timeoutMs: 60_000 };
    const release = await hold(key);
    const call = await openRawCall(api.baseUrl(), {
      key: product.adminKey,
      project: "fixed",
      json: message,
      headers: { "Idempotency-Key": key },
    });
    await untilAccepted(text);
    call.hangUp();
    await release();
    expect((await api.drain("fixed", key, "?wait=20000", { replica: 1 })).texts).toEqual([FIXED]);
    const repeat = await retryUntilAccepted(() => send(key, message));
    expect(repeat).toMatchObject({ status: 202, body: { status: "pending", timedOut: false, replies: [] } });
    expectReplayed(await send(key, message, { replica: 1 }), repeat);
    expect(await countMessages(text)).toBe(1);
  });

  test("shares the replies between its retry and a concurrent reader of the drain, each once", async () => {
    await inRounds(async (round) => {
      const [key, text] = [randomUUID(), newText()];
      const message = { text, chatId: key, timeoutMs: 60_000 };
      const release = await hold(key);
      const call = await openRawCall(api.baseUrl(), {
        key: product.adminKey,
        project: "fixed",
        json: message,
        headers: { "Idempotency-Key": key },
      });
      await untilAccepted(text);
      call.hangUp();
      const reader = api.drain("fixed", key, "?wait=2000", { replica: round + 1 });
      const repeat = retryUntilAccepted(() => send(key, message, { replica: round }));
      await release();
      const [answer, drained] = await Promise.all([repeat, reader]);
      const rest = await api.drain("fixed", key);
      expect([...answer.texts, ...drained.texts, ...rest.texts]).toEqual([FIXED]);
    });
  });
});

describe("a sync call that timed out", () => {
  /** Makes a call that gets its 202 before its reply; returns it with the function that releases the reply. */
  async function timedOut() {
    const [key, text] = [randomUUID(), newText()];
    const message = { text, chatId: key, timeoutMs: 100 };
    const release = await hold(key);
    const first = await send(key, message);
    expect(first).toMatchObject({ status: 202, body: { status: "pending", timedOut: true, replies: [] } });
    const answered = async () => {
      await release();
      await waitFor(async () => (await api.drain("fixed", key, "?peek=1")).replies.length === 1, { what: "the reply" });
    };
    return { key, text, message, first, release, answered };
  }

  test.each([
    ["the same replica", 0],
    ["another replica", 1],
  ])("returns its uncollected reply to a retry on %s, and to later retries", async (_, replica) => {
    const { key, text, message, first, answered } = await timedOut();
    expectReplayed(await send(key, message, { replica }), first);
    await answered();
    const repeat = await send(key, message, { replica });
    expect([repeat.status, isReplayed(repeat), repeat.texts]).toEqual([200, null, [FIXED]]);
    expect(repeat.body).toMatchObject({ ok: true, mode: "sync", chatId: key, ticketId: first.body.ticketId });
    for (const later of [0, 1]) expectReplayed(await send(key, message, { replica: later }), repeat);
    expect((await api.drain("fixed", key)).replies).toEqual([]);
    expect((await api.drain("fixed", key, "?after=0")).replies).toEqual([]);
    expect(await countMessages(text)).toBe(1);
  });

  test("returns the same 202 to a retry while there is no reply", async () => {
    const { key, message, first, release } = await timedOut();
    for (let repeats = 0; repeats < 6; repeats++) {
      expectReplayed(await send(key, message, { replica: repeats }), first);
    }
    await release();
  });

  test("returns the same 202 to a retry if the reply was collected from the drain", async () => {
    const { key, message, first, answered } = await timedOut();
    await answered();
    expect((await api.drain("fixed", key)).texts).toEqual([FIXED]);
    for (const replica of [0, 1]) expectReplayed(await send(key, message, { replica }), first);
  });

  test("returns its reply to the drain if the connection of the retry drops", async () => {
    const { key, message, answered } = await timedOut();
    await answered();
    const repeat = await openRawCall(api.baseUrl(), {
      key: product.adminKey,
      project: "fixed",
      json: message,
      headers: { "Idempotency-Key": key },
    });
    repeat.hangUp();
    // Whether or not the retry had got that far, the reply is in the drain or was delivered to an open connection.
    const delivered = () =>
      sql("SELECT 1 FROM replies WHERE ticket_id = $1 AND delivered_at IS NOT NULL", [
        ticketIdOf(fixed.id, "api", key),
      ]);
    await waitFor(
      async () => (await api.drain("fixed", key, "?peek=1")).replies.length + (await delivered()).length === 1,
      { what: "the reply to be somewhere" },
    );
  });

  test("returns its reply either to a retry or to a concurrent reader of the drain", async () => {
    await inRounds(async (round) => {
      const { key, message, first, answered } = await timedOut();
      await answered();
      const [repeat, drained] = await Promise.all([
        send(key, message, { replica: round }),
        api.drain("fixed", key, "", { replica: round + 1 }),
      ]);
      // The drain skips a reply that the retry is delivering.
      expect([...repeat.texts, ...drained.texts]).toEqual([FIXED]);
      expect((await api.drain("fixed", key)).replies).toEqual([]);
      const later = await send(key, message);
      expectReplayed(later, repeat.status === 200 ? repeat : first);
    });
  });

  test("returns its reply to one of many concurrent retries; the others get the 202", async () => {
    await inRounds(async (round) => {
      const { key, message, answered } = await timedOut();
      await answered();
      const repeats = await Promise.all(
        Array.from({ length: 6 }, (_, replica) => send(key, message, { replica: replica + round })),
      );
      const fresh = repeats.filter((repeat) => isReplayed(repeat) === null);
      expect(fresh.map(({ texts }) => texts)).toEqual([[FIXED]]);
      for (const repeat of repeats) expect([200, 202]).toContain(repeat.status);
      const [better] = fresh;
      if (better !== undefined) expectReplayed(await send(key, message), better);
      expect((await api.drain("fixed", key)).replies).toEqual([]);
    });
  });

  test("returns its reply once even if the retry arrives at the same moment", async () => {
    await inRounds(async (round) => {
      const { key, message, release } = await timedOut();
      const releasing = release();
      const texts: string[] = [];
      let answer = await send(key, message, { replica: round });
      await releasing;
      await waitFor(
        async () => {
          if (answer.status === 200) return true;
          answer = await send(key, message, { replica: round });
          return answer.status === 200;
        },
        { what: "a repeat to get the reply" },
      );
      texts.push(...answer.texts, ...(await api.drain("fixed", key)).texts);
      expect(texts).toEqual([FIXED]);
    });
  });
});

describe("a sync call that was held for review", () => {
  const heldCall = async () => {
    const [key, text] = [randomUUID(), newText()];
    const message = { text, chatId: key };
    const first = await send(key, message, { project: "review" });
    expect(first).toMatchObject({ status: 202, texts: [HANDOFF], body: { status: "in_review", timedOut: false } });
    return { key, message, first };
  };

  test("returns the same 202 until an operator replies, however early it is retried, with the handoff text only there", async () => {
    await inRounds(async (round) => {
      const { key, message, first } = await heldCall();
      expectReplayed(await send(key, message, { project: "review", replica: round }), first);
      expect((await api.drain("review", key)).replies).toEqual([]);
    });
  });

  test("returns the operator's uncollected reply to a retry, and to later retries", async () => {
    const { key, message } = await heldCall();
    await addReply(review, key, "the operator's answer");
    const repeat = await send(key, message, { project: "review", replica: 1 });
    expect([repeat.status, isReplayed(repeat), repeat.texts]).toEqual([200, null, ["the operator's answer"]]);
    for (const replica of [0, 1]) expectReplayed(await send(key, message, { project: "review", replica }), repeat);
    expect((await api.drain("review", key)).replies).toEqual([]);
  });

  test("returns the same 202 if the operator's reply was collected from the drain", async () => {
    const { key, message, first } = await heldCall();
    await addReply(review, key, "the operator's answer");
    expect((await api.drain("review", key)).texts).toEqual(["the operator's answer"]);
    expectReplayed(await send(key, message, { project: "review", replica: 1 }), first);
  });
});

describe("the data stored under a key", () => {
  test("is the response, without an API key", async () => {
    const { key: apiKey } = await newApiKey(fixed);
    for (const json of [
      { text: "hello" },
      { text: "hello", mode: "async" },
      { text: "hello", webhookUrl: receiver.url() },
      { text: "" },
    ]) {
      const key = randomUUID();
      const answer = await callApi(`${api.baseUrl()}/api/v1/messages`, {
        key: apiKey,
        headers: { "Idempotency-Key": key, "X-Api-Key": apiKey },
        json,
      });
      const row = await waitFor(
        async () =>
          (
            await sql<{ body: string; everything: string }>(
              "SELECT body, k::text AS everything FROM idempotency_keys k WHERE key = $1 AND status IS NOT NULL",
              [key],
            )
          )[0],
        { what: "the answer to be kept" },
      );
      expect(row.body).toBe(answer.text);
      expect(row.everything).not.toContain(apiKey);
      expect(row.everything).not.toContain(Buffer.from(apiKey).toString("hex"));
      expect(row.everything).not.toContain(product.adminKey);
    }
  });

  test("is deleted after 24 hours", async () => {
    const [old, young] = [randomUUID(), randomUUID()];
    for (const key of [old, young]) await send(key, { text: "hello", mode: "async" });
    await sql("UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 minute' WHERE key = $1", [old]);
    await sql("UPDATE idempotency_keys SET created_at = now() - interval '23 hours 59 minutes' WHERE key = $1", [
      young,
    ]);
    // Expired keys are deleted each minute, and when a process starts.
    const holder = product.composition.processes.find(({ apiUrl }) => apiUrl === api.baseUrl());
    await holder?.kill("SIGTERM");
    await holder?.start();
    const left = () => sql<{ key: string }>("SELECT key FROM idempotency_keys WHERE key = ANY ($1)", [[old, young]]);
    await waitFor(async () => (await left()).length === 1, { what: "the old key to be deleted", timeoutMs: 30_000 });
    expect(await left()).toEqual([{ key: young }]);
  });
});
