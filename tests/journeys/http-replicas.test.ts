import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { issueKey } from "@svc/auth";
import { newId, ticketIdOf } from "@svc/store";
import type { IdempotentCall, Project } from "@svc/store";
import {
  createTestDatabase,
  createTestQueueBackend,
  readTestSettings,
  startWebhookReceiver,
  waitFor,
  queryDatabase,
} from "@svc/testing";
import type { CompositionProcess, WebhookReceiver } from "@svc/testing";
import { Client } from "pg";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callApi } from "./support/call-api.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient, ClientOptions } from "./support/create-api-client.ts";
import { expectProblem } from "./support/expect-problem.ts";
import { holdChat } from "./support/hold-chat.ts";
import { holdTable } from "./support/hold-table.ts";
import { startDeafRelay } from "./support/start-deaf-relay.ts";
import type { DeafRelay } from "./support/start-deaf-relay.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const isSoak = process.env["SVC_SOAK"] === "1";
const isSeparate = readTestSettings().composition === "separate";
const PROJECT = "replicas";
const FIXED = "This is always the answer.";
/** A killed process counts as dead some seconds later; a single process has to restart first. */
const TAKEN_OVER_WITHIN_MS = 40_000;

let product: Product;
let api: ApiClient;
let project: Project;
let receiver: WebhookReceiver;

beforeAll(async () => {
  product = await startProduct();
  api = createApiClient(product);
  project = await addProject(product.store, PROJECT, { fixedReply: FIXED });
  receiver = await startWebhookReceiver();
});

afterAll(async () => {
  await receiver.close();
  await product.stop();
});

const sql = <Row extends object>(text: string, values: unknown[] = []) =>
  queryDatabase<Row>(product.databaseUrl, text, values);

/** Sends a message with an Idempotency-Key. */
const send = (key: string, json: unknown, options: ClientOptions = {}) =>
  api.send(PROJECT, json, { ...options, headers: { "Idempotency-Key": key } });

const isReplayed = (answer: ApiAnswer) => answer.headers.get("idempotent-replayed");
const ticketOf = (chatId: string) => ticketIdOf(project.id, "api", chatId);

/** Returns the process of a replica. */
function holderOf(replica: number): CompositionProcess {
  const holder = product.composition.processes.find(({ apiUrl }) => apiUrl === api.baseUrl(replica));
  if (holder === undefined) throw new Error(`there is no replica ${replica}`);
  return holder;
}

/** Kills a replica; restarts it if it is the only one. Returns a function that starts it in any case. */
async function killReplica(replica: number): Promise<() => Promise<void>> {
  const holder = holderOf(replica);
  await holder.kill("SIGKILL");
  if (isSeparate) return () => holder.start();
  await holder.start();
  return () => Promise.resolve();
}

/** Retries a call until no other call with its key is in progress. */
async function retryUntilAccepted(repeat: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  return waitFor(
    async () => {
      const answer = await repeat();
      if (answer.status !== 409) return answer;
      expectProblem(answer, "idempotency_in_progress");
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
      return null;
    },
    { what: "a repeat to take the place of the call before", timeoutMs: TAKEN_OVER_WITHIN_MS },
  );
}

/** Returns the number of messages in a chat. */
const messagesIn = async (chatId: string, mode = "sync") =>
  (await sql("SELECT 1 FROM messages WHERE ticket_id = $1 AND mode = $2", [ticketOf(chatId), mode])).length;

const untilAccepted = (chatId: string) =>
  waitFor(async () => (await messagesIn(chatId)) === 1, { what: `the call in ${chatId} to be accepted` });

/** Waits until the message of a key belongs to a call of another process than before. */
const untilTakenOver = (key: string, before: string) =>
  waitFor(
    async () =>
      (
        await sql(
          `SELECT 1 FROM idempotency_keys k JOIN messages m ON m.id = k.message_id
           WHERE k.key = $1 AND m.call_instance = k.call_instance AND m.call_instance <> $2`,
          [key, before],
        )
      ).length === 1,
    { what: "a repeat to have the message", timeoutMs: TAKEN_OVER_WITHIN_MS },
  );

async function instanceOf(key: string): Promise<string> {
  const [row] = await sql<{ id: string }>("SELECT call_instance AS id FROM idempotency_keys WHERE key = $1", [key]);
  if (row === undefined) throw new Error(`nobody has used the key ${key}`);
  return row.id;
}

/** Returns the response of a call, or null if the connection dropped. */
const orCut = (call: Promise<ApiAnswer>) =>
  call.catch((error: unknown) => {
    if (error instanceof TypeError) return null;
    throw error;
  });

describe("many parallel posts with each of many keys, on every replica,", () => {
  const KEYS = isSoak ? 1_000 : 24;
  const POSTS = 20;
  const KEYS_AT_ONCE = 10;
  const MODES = ["sync", "async", "webhook"] as const;

  test(`make exactly one message per key (${KEYS} keys, ${POSTS} posts each)`, async () => {
    const keys = Array.from({ length: KEYS }, (_, index) => ({
      key: `many-${index}`,
      mode: MODES[index % MODES.length] ?? "sync",
    }));
    const bodyOf = ({ key, mode }: (typeof keys)[number]) => ({
      text: `hello ${key}`,
      chatId: key,
      mode,
      timeoutMs: 60_000,
      ...(mode === "webhook" ? { webhookUrl: receiver.url(`/${key}`) } : {}),
    });

    async function postAll(one: (typeof keys)[number]): Promise<void> {
      const answers = await Promise.all(
        Array.from({ length: POSTS }, (_, replica) => send(one.key, bodyOf(one), { replica })),
      );
      const taken = answers.filter(({ status }) => status !== 409);
      for (const busy of answers.filter(({ status }) => status === 409)) {
        expectProblem(busy, "idempotency_in_progress");
        expect(Number(busy.headers.get("retry-after"))).toBeGreaterThan(0);
      }
      expect(new Set(taken.map(({ status }) => status))).toEqual(new Set([one.mode === "sync" ? 200 : 202]));
      // One was the first; all others have exactly the same response.
      expect(taken.filter((answer) => isReplayed(answer) === null).length).toBe(1);
      expect(new Set(taken.map(({ text }) => text)).size).toBe(1);
      const repeat = await send(one.key, bodyOf(one));
      expect([isReplayed(repeat), repeat.text]).toEqual(["true", taken[0]?.text]);
    }

    const waiting = [...keys];
    await Promise.all(
      Array.from({ length: KEYS_AT_ONCE }, async () => {
        for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) await postAll(one);
      }),
    );
    const accepted = await sql<{ text: string }>("SELECT text FROM messages WHERE text LIKE 'hello many-%'");
    expect(accepted.map(({ text }) => text).toSorted()).toEqual(keys.map(({ key }) => `hello ${key}`).toSorted());

    // Each is answered once, by its mode.
    await waitFor(
      async () => (await sql("SELECT 1 FROM replies WHERE project_id = $1", [project.id])).length === KEYS,
      {
        what: "all replies",
        timeoutMs: 60_000,
      },
    );
    for (const { key, mode } of keys) {
      const drained = await api.drain(PROJECT, key, "", { replica: 1 });
      expect(drained.texts).toEqual(mode === "async" ? [FIXED] : []);
    }
    const hooked = keys.filter(({ mode }) => mode === "webhook");
    await waitFor(() => receiver.requests.length >= hooked.length, { what: "all callbacks", timeoutMs: 60_000 });
    expect(receiver.requests.map(({ path }) => path).toSorted()).toEqual(hooked.map(({ key }) => `/${key}`).toSorted());
  }, 600_000);
});

describe("a replica that is killed with SIGKILL", () => {
  test("during a call leaves it to a retry, which waits and gets the reply once", async () => {
    const key = randomUUID();
    const message = { text: "hello", chatId: key, timeoutMs: 60_000 };
    const release = await holdChat(product.store, project, key);
    const call = orCut(send(key, message));
    await untilAccepted(key);
    const before = await instanceOf(key);
    const startAgain = await killReplica(0);
    expect(await call).toBeNull();
    // Other replicas cannot know yet that it is dead.
    if (isSeparate) expectProblem(await send(key, message, { replica: 1 }), "idempotency_in_progress");
    const repeat = retryUntilAccepted(() => send(key, message, { replica: 1 }));
    await untilTakenOver(key, before);
    await release();
    const answer = await repeat;
    expect([answer.status, isReplayed(answer), answer.texts]).toEqual([200, null, [FIXED]]);
    expect((await api.drain(PROJECT, key, "", { replica: 1 })).replies).toEqual([]);
    await startAgain();
    const again = await send(key, message);
    expect([isReplayed(again), again.text]).toEqual(["true", answer.text]);
    expect(await messagesIn(key)).toBe(1);
    expect((await api.drain(PROJECT, key)).replies).toEqual([]);
  });

  test("during a call that is answered meanwhile leaves the reply to a retry", async () => {
    const key = randomUUID();
    const message = { text: "hello", chatId: key, timeoutMs: 60_000 };
    const release = await holdChat(product.store, project, key);
    const call = orCut(send(key, message));
    await untilAccepted(key);
    const startAgain = await killReplica(0);
    expect(await call).toBeNull();
    await release();
    const answer = await retryUntilAccepted(() => send(key, message, { replica: 1 }));
    expect([answer.status, isReplayed(answer), answer.texts]).toEqual([200, null, [FIXED]]);
    expect((await api.drain(PROJECT, key, "?wait=1000", { replica: 1 })).replies).toEqual([]);
    await startAgain();
    expect(await messagesIn(key)).toBe(1);
  });

  test("during many waiting calls leaves their replies to the drain of another one, each once", async () => {
    const count = isSoak ? 300 : 20;
    const chats = Array.from({ length: count }, () => randomUUID());
    const release = await holdTable(product.databaseUrl, "tickets");
    const calls = chats.map((chatId) => orCut(api.send(PROJECT, { text: "hello", chatId, timeoutMs: 60_000 })));
    await waitFor(
      async () =>
        (await sql("SELECT 1 FROM messages WHERE ticket_id = ANY ($1)", [chats.map(ticketOf)])).length === count,
      { what: "all calls to be accepted" },
    );
    const startAgain = await killReplica(0);
    expect(await Promise.all(calls)).toEqual(chats.map(() => null));
    await release();
    const drained = await Promise.all(chats.map((chatId) => api.drain(PROJECT, chatId, "?wait=40000", { replica: 1 })));
    expect(drained.map(({ texts }) => texts)).toEqual(chats.map(() => [FIXED]));
    await startAgain();
    const rest = await Promise.all(chats.map((chatId) => api.drain(PROJECT, chatId)));
    expect(rest.flatMap(({ replies }) => replies)).toEqual([]);
  });

  test("during many calls that are retried creates no message twice and loses no reply", async () => {
    const callers = isSoak ? 300 : 30;
    const keys = Array.from({ length: callers }, () => randomUUID());
    let answered = 0;
    /** Like a careful client: repeats the same call until there is a response, on any available replica. */
    async function call(key: string): Promise<{ answer: ApiAnswer; at: number }> {
      for (let attempt = 0; ; attempt++) {
        const message = { text: "hello", chatId: key, timeoutMs: 60_000 };
        const answer = await orCut(send(key, message, { replica: attempt }));
        if (answer?.status === 200) {
          answered++;
          return { answer, at: performance.now() };
        }
        if (answer !== null) expect([409, 503]).toContain(answer.status);
      }
    }
    const calls = Promise.all(keys.map(call));
    await waitFor(() => answered > callers / 10, { what: "some calls to be answered", timeoutMs: 30_000 });
    const killedAt = performance.now();
    const startAgain = await killReplica(0);
    await startAgain();
    const answers = await calls;
    expect(answers.map(({ answer }) => answer.texts)).toEqual(keys.map(() => [FIXED]));
    const messages = await sql("SELECT 1 FROM messages WHERE ticket_id = ANY ($1)", [keys.map(ticketOf)]);
    expect(messages.length).toBe(callers);
    // A reply sent at the moment of the kill may not have been recorded as delivered; it is delivered again with the
    // same id.
    for (const [index, { answer, at }] of answers.entries()) {
      if (Math.abs(at - killedAt) < 1_000) continue;
      expect((await api.drain(PROJECT, keys[index] ?? "")).replies).toEqual([]);
      expect(answer.replies.length).toBe(1);
    }
  });
});

describe("a replica that crashed between the claim of a key and the commit of the message", () => {
  /** Claims a key as a process does that dies before the commit. */
  async function dieAfterClaim(body: object) {
    const { key: apiKey, record } = await issueKey(product.store, {
      name: "test",
      scopes: ["messages:*"],
      project: project.id,
      createdBy: "test",
      rateLimit: null,
    });
    const call: IdempotentCall = {
      apiKeyId: record.id,
      project: project.id,
      method: "POST",
      path: "/api/v1/messages",
      key: randomUUID(),
      bodyHash: createHash("sha256")
        .update(`${project.id}\n${JSON.stringify(body)}`)
        .digest(),
      callId: newId(),
      instance: newId(),
      messageId: newId(),
      chatId: newId(),
    };
    expect(await product.store.idempotencyKeys.claim(call)).toMatchObject({ kind: "mine", isRepeat: false });
    const repeat = (replica: number) =>
      callApi(`${api.baseUrl(replica)}/api/v1/messages`, {
        key: apiKey,
        headers: { "Idempotency-Key": call.key },
        json: body,
      });
    return { call, repeat };
  }

  test.each(["sync", "async", "webhook"])(
    "releases its slot to a retry: one message, with the ids of the first (%s)",
    async (mode) => {
      const { call, repeat } = await dieAfterClaim({
        text: "hello",
        mode,
        ...(mode === "webhook" ? { webhookUrl: receiver.url("/after-claim") } : {}),
      });
      const answer = await repeat(1);
      expect([answer.status, isReplayed(answer)]).toEqual([mode === "sync" ? 200 : 202, null]);
      expect(answer.body.chatId).toBe(call.chatId);
      const again = await repeat(0);
      expect([isReplayed(again), again.text]).toEqual(["true", answer.text]);
      const messages = await sql<{ id: string }>("SELECT id FROM messages WHERE ticket_id = $1", [
        ticketOf(call.chatId),
      ]);
      expect(messages).toEqual([{ id: call.messageId }]);
      if (mode === "webhook") {
        const callback = await receiver.next(({ path }) => path === "/after-claim", { timeoutMs: 20_000 });
        const { deliveryId } = JSON.parse(answer.text) as { deliveryId: string };
        expect(callback.json).toMatchObject({ deliveryId, chatId: call.chatId });
        return;
      }
      const drained = await api.drain(PROJECT, call.chatId, mode === "async" ? "?wait=20000" : "");
      expect([...answer.texts, ...drained.texts]).toEqual([FIXED]);
    },
  );

  test("or right after the commit leaves the message and its reply to a retry", async () => {
    const { call, repeat } = await dieAfterClaim({ text: "hello", mode: "sync" });
    await product.store.messages.accept(
      project.id,
      {
        channelId: "api",
        chatId: call.chatId,
        userId: null,
        text: "hello",
        timestampMs: Date.now(),
        attachments: null,
        channelMeta: {},
        mode: "sync",
        callInstance: call.instance,
        callback: null,
      },
      call.messageId,
    );
    const answer = await repeat(1);
    expect([answer.status, isReplayed(answer), answer.texts]).toEqual([200, null, [FIXED]]);
    expect(await messagesIn(call.chatId)).toBe(1);
    expect((await api.drain(PROJECT, call.chatId)).replies).toEqual([]);
  });
});

(isSeparate ? describe : describe.skip)("a replica that freezes until it counts as dead", () => {
  async function freeze(replica: number): Promise<() => void> {
    const { pid } = holderOf(replica);
    process.kill(pid, "SIGSTOP");
    return () => process.kill(pid, "SIGCONT");
  }

  test("and continues after a retry has taken over its call does not get the reply too", async () => {
    const key = randomUUID();
    const message = { text: "hello", chatId: key, timeoutMs: 60_000 };
    const release = await holdChat(product.store, project, key);
    const call = send(key, message);
    await untilAccepted(key);
    const before = await instanceOf(key);
    const thaw = await freeze(0);
    const repeat = retryUntilAccepted(() => send(key, message, { replica: 1 }));
    await untilTakenOver(key, before);
    // Both wait for the message now.
    thaw();
    await callApi(`${api.baseUrl()}/healthz`);
    await release();
    const answers = await Promise.all([call, repeat]);
    const drained = await api.drain(PROJECT, key, "?wait=1000");
    expect([...answers.map(({ texts }) => texts), drained.texts]).toEqual([[], [FIXED], []]);
    // The stored response is that of the call that has the key.
    const again = await send(key, message);
    expect([isReplayed(again), again.text]).toEqual(["true", answers[1]?.text]);
    expect(await messagesIn(key)).toBe(1);
  });

  test("and continues after a retry, or the drain, has delivered the reply does not get it too", async () => {
    for (const way of ["repeat", "drain"]) {
      const key = randomUUID();
      const message = { text: "hello", chatId: key, timeoutMs: 60_000 };
      const release = await holdChat(product.store, project, key);
      const call = send(key, message);
      await untilAccepted(key);
      const thaw = await freeze(0);
      await release();
      const other =
        way === "repeat"
          ? await retryUntilAccepted(() => send(key, message, { replica: 1 }))
          : await api.drain(PROJECT, key, "?wait=40000", { replica: 1 });
      expect(other.texts).toEqual([FIXED]);
      thaw();
      expect(await call).toMatchObject({ status: 202, body: { status: "pending", replies: [] } });
      expect((await api.drain(PROJECT, key)).replies).toEqual([]);
    }
  });
});

describe("long polls on one replica while the messages are sent to another one", () => {
  test("get the replies of their chats, many at once", async () => {
    const chats = Array.from({ length: isSoak ? 200 : 25 }, () => randomUUID());
    const polls = chats.map((chatId) => api.drain(PROJECT, chatId, "?wait=40000", { replica: 1 }));
    const sent = await Promise.all(chats.map((chatId) => api.send(PROJECT, { text: "hello", chatId, mode: "async" })));
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([202]));
    expect((await Promise.all(polls)).map(({ texts }) => texts)).toEqual(chats.map(() => [FIXED]));
  });

  test("of one chat share its replies, each once", async () => {
    const chatId = randomUUID();
    const count = 30;
    const seen: string[] = [];
    const readers = Array.from({ length: 10 }, async (_, replica) => {
      while (seen.length < count) {
        const { replies } = await api.drain(PROJECT, chatId, "?wait=1000", { replica });
        seen.push(...replies.map(({ id }) => id));
      }
    });
    for (let index = 0; index < count; index++) {
      await api.send(PROJECT, { text: `message ${index}`, chatId, mode: "async" }, { replica: index });
    }
    await Promise.all(readers);
    expect([seen.length, new Set(seen).size]).toEqual([count, count]);
    expect((await api.drain(PROJECT, chatId)).replies).toEqual([]);
  });

  test("that are killed with their replica remove nothing", async () => {
    const chats = Array.from({ length: 20 }, () => randomUUID());
    const polls = chats.map((chatId) => orCut(api.drain(PROJECT, chatId, "?wait=60000")));
    // The polls have reached the process once a later request has its response.
    await api.drain(PROJECT, chats[0] ?? "");
    const startAgain = await killReplica(0);
    expect(await Promise.all(polls)).toEqual(chats.map(() => null));
    await Promise.all(
      chats.map((chatId) => api.send(PROJECT, { text: "hello", chatId, mode: "async" }, { replica: 1 })),
    );
    const drained = await Promise.all(chats.map((chatId) => api.drain(PROJECT, chatId, "?wait=40000", { replica: 1 })));
    expect(drained.map(({ texts }) => texts)).toEqual(chats.map(() => [FIXED]));
    await startAgain();
  });
});

describe("a store that fails", () => {
  let relay: DeafRelay;
  let databaseUrl: string;
  let broken: Product;
  let brokenApi: ApiClient;

  beforeAll(async () => {
    const database = await createTestDatabase();
    const queues = await createTestQueueBackend();
    databaseUrl = database.url;
    relay = await startDeafRelay(database.url);
    broken = await startProduct({
      replicas: 1,
      ground: {
        databaseUrl: relay.url,
        ...(queues.redisUrl === undefined ? {} : { redisUrl: queues.redisUrl }),
        prefix: queues.prefix,
        async remove() {
          await relay.close();
          await queues.stop();
          await database.drop();
        },
      },
    });
    brokenApi = createApiClient(broken);
    await addProject(broken.store, PROJECT, { fixedReply: FIXED });
  });

  afterAll(async () => {
    // How it ends is tested elsewhere: a worker of a queue that has just reconnected may end late.
    await Promise.all(broken.composition.processes.map((process) => process.kill("SIGKILL")));
    await broken.stop();
  });

  const sendTo = (key: string, json: unknown) => brokenApi.send(PROJECT, json, { headers: { "Idempotency-Key": key } });

  /** Sends until the store is available again and no other call is in progress. */
  const untilAnswered = (key: string, json: unknown) =>
    waitFor(
      async () => {
        const answer = await sendTo(key, json);
        return ![409, 503].includes(answer.status) && answer;
      },
      { what: "an answer", timeoutMs: 30_000 },
    );

  const query = <Row extends object>(text: string, values: unknown[]) => queryDatabase<Row>(databaseUrl, text, values);
  const messagesWith = async (text: string) => (await query("SELECT 1 FROM messages WHERE text = $1", [text])).length;

  test("causes 503, which is not stored: the same key works after it recovers", async () => {
    const [key, text] = [randomUUID(), `hello ${randomUUID()}`];
    expect((await sendTo(randomUUID(), { text: "the key and the project are known now" })).status).toBe(200);
    relay.goAway();
    try {
      expectProblem(await sendTo(key, { text }), "unavailable");
    } finally {
      relay.comeBack();
    }
    const answer = await untilAnswered(key, { text });
    expect([answer.status, isReplayed(answer), answer.texts]).toEqual([200, null, [FIXED]]);
    expect(await messagesWith(text)).toBe(1);
  });

  test("after it has claimed a key without a response leaves the key to a retry", async () => {
    const [key, text] = [randomUUID(), `hello ${randomUUID()}`];
    let call: Promise<ApiAnswer> | undefined;
    const isClaimed = async () => (await query("SELECT 1 FROM idempotency_keys WHERE key = $1", [key])).length === 1;
    await waitFor(
      async () => {
        // What the request needs before the claim is cached for a short time.
        expect((await sendTo(randomUUID(), { text: "warm", mode: "async" })).status).toBe(202);
        relay.swallowAnswers();
        call = sendTo(key, { text });
        const claimed = await waitFor(isClaimed, { what: "the claim", timeoutMs: 500 }).catch(() => false);
        if (claimed) return true;
        relay.goAway();
        relay.comeBack();
        await call;
        return false;
      },
      { what: "a claim whose answer is lost", timeoutMs: 30_000 },
    );
    relay.goAway();
    relay.comeBack();
    if (call !== undefined) expectProblem(await call, "unavailable");
    const answer = await untilAnswered(key, { text });
    expect([answer.status, isReplayed(answer), answer.texts]).toEqual([200, null, [FIXED]]);
    expect(await messagesWith(text)).toBe(1);
  });

  test("after it has accepted a message without a response leaves message and reply to a retry", async () => {
    const [key, text] = [randomUUID(), `hello ${randomUUID()}`];
    const message = { text, chatId: key };
    const owner = await broken.store.projects.findByName(PROJECT);
    if (owner === null) throw new Error(`no project is named ${PROJECT}`);
    const ticketId = ticketIdOf(owner.id, "api", key);
    expect((await sendTo(randomUUID(), { ...message, text: "the first one" })).status).toBe(200);
    // The transaction that accepts the message waits for the chat's row, which this transaction has locked.
    const locker = new Client({ connectionString: databaseUrl });
    await locker.connect();
    let call: Promise<ApiAnswer>;
    try {
      await locker.query("BEGIN");
      await locker.query("SELECT 1 FROM chats WHERE ticket_id = $1 FOR UPDATE", [ticketId]);
      call = sendTo(key, message);
      await waitFor(
        async () =>
          (
            await query(
              "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
              [],
            )
          ).length > 0,
        { what: "the acceptance to wait for the chat" },
      );
      relay.swallowAnswers();
      await locker.query("COMMIT");
    } finally {
      await locker.end();
    }
    await waitFor(async () => (await messagesWith(text)) === 1, { what: "ID of the message" });
    relay.goAway();
    relay.comeBack();
    expectProblem(await call, "unavailable");
    const answer = await untilAnswered(key, message);
    expect([answer.status, answer.texts]).toEqual([200, [FIXED]]);
    expect(await messagesWith(text)).toBe(1);
    expect((await brokenApi.drain(PROJECT, key)).replies).toEqual([]);
  });

  const repliesOf = async (chatId: string, query = "") => (await brokenApi.drain(PROJECT, chatId, query)).texts;
  const untilBuffered = (chatId: string) =>
    waitFor(async () => (await repliesOf(chatId, "?peek=1")).length === 1, { what: "the reply to be in the drain" });
  const isTaken = async (text: string) =>
    (
      await query(
        "SELECT 1 FROM replies r JOIN messages m ON m.id = r.in_reply_to WHERE m.text = $1 AND r.taken_by IS NOT NULL",
        [text],
      )
    ).length === 1;

  /** Drops the response to the statement with which this request claims the reply to the message with this text. */
  async function loseTake(text: string, request: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    relay.swallowAnswersFrom("replies.claimFromBuffer");
    const call = request();
    await waitFor(() => isTaken(text), { what: "the take whose answer is lost", timeoutMs: 30_000 });
    relay.goAway();
    relay.comeBack();
    return call;
  }

  test("after it has claimed replies without a response leaves them to the next reader", async () => {
    const chatId = randomUUID();
    await brokenApi.send(PROJECT, { text: chatId, chatId, mode: "async" });
    await untilBuffered(chatId);
    expectProblem(await loseTake(chatId, () => brokenApi.drain(PROJECT, chatId)), "unavailable");
    await untilBuffered(chatId);
    expect(await repliesOf(chatId)).toEqual([FIXED]);
    expect(await repliesOf(chatId)).toEqual([]);
  });
});
