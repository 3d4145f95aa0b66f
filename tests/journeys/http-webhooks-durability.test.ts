import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Project } from "@svc/store";
import { startWebhookReceiver, waitFor } from "@svc/testing";
import type { CompositionProcess, ReceivedRequest, WebhookReceiver } from "@svc/testing";
import { addProject } from "./support/add-project.ts";
import type { ApiAnswer } from "./support/api-answer.ts";
import { callbackView } from "./support/callback-view.ts";
import type { CallbackView } from "./support/callback-view.ts";
import { createApiClient } from "./support/create-api-client.ts";
import type { ApiClient } from "./support/create-api-client.ts";
import { callbackOf } from "./support/expect-signed.ts";
import { startPrivateGround } from "./support/start-private-ground.ts";
import type { PrivateGround } from "./support/start-private-ground.ts";
import { startProduct } from "./support/start-product.ts";
import type { Product } from "./support/start-product.ts";

const isSoak = process.env["SVC_SOAK"] === "1";
const FIXED = "This is always the answer.";
const CLEAN = { code: 0, signal: null };
/** Time limit for another process to take over the attempts of a dead one. */
const TAKEN_OVER_WITHIN_MS = 40_000;

let ground: PrivateGround;
let product: Product;
let api: ApiClient;
let receiver: WebhookReceiver;
let project: Project;
let callbacks: CallbackView;

beforeAll(async () => {
  ground = await startPrivateGround();
  product = await startProduct({ ground });
  api = createApiClient(product);
  project = await addProject(product.store, "durable", { fixedReply: FIXED });
  callbacks = callbackView(product, project.id);
});

afterAll(() => product?.stop());

beforeEach(async () => {
  receiver = await startWebhookReceiver();
});

afterEach(() => receiver.close());

const senders = () => product.composition.processes.filter(({ apiUrl }) => apiUrl !== undefined);
const deliveryIdOf = ({ body }: ApiAnswer) => (body as { deliveryId: string }).deliveryId;
const header = (name: string) => receiver.requests.map(({ headers }) => headers[name]);

const untilHealthy = () =>
  waitFor(
    async () => {
      const answers = await Promise.all(product.composition.apiUrls.map((url) => fetch(`${url}/api/v1/health`)));
      return answers.every(({ ok }) => ok);
    },
    { what: "every api to be healthy", timeoutMs: 30_000 },
  );

/** Sends a message like a careful client: until it is accepted. Returns the final callback's id. */
async function send(chatId: string, options: { number?: number; replica?: number } = {}): Promise<string> {
  const { number = 0, replica = 0 } = options;
  const json = { text: "hello", chatId, meta: { number }, webhookUrl: receiver.url(`/${chatId}`) };
  const headers = { "Idempotency-Key": randomUUID() };
  const answer = await waitFor(
    async () => {
      const tried = await api.send("durable", json, { replica, headers });
      return tried.status === 202 ? tried : null;
    },
    { what: "a message to be accepted", timeoutMs: 60_000 },
  );
  return deliveryIdOf(answer);
}

async function stopAll(processes: CompositionProcess[], signal: "SIGTERM" | "SIGKILL") {
  return Promise.all(processes.map((process) => process.kill(signal)));
}
async function startAll(processes: CompositionProcess[]): Promise<void> {
  await Promise.all(processes.map((process) => process.start()));
}

/**
 * Returns the callbacks that reached the receiver in a chat, with consecutive repetitions counted once: a callback may
 * be repeated, but not after a later one.
 */
function sequenceIn(chatId: string): string[] {
  const ids = receiver.requests.filter(({ path }) => path === `/${chatId}`).map(({ headers }) => headers["webhook-id"]);
  return ids.filter((id, index): id is string => id !== undefined && id !== ids[index - 1]);
}

describe("a process that is killed with SIGKILL while it delivers a callback", () => {
  test("is replaced by another one, which delivers it with the same id", async () => {
    receiver.answerWith("hang");
    const chatId = randomUUID();
    const [first, second] = [await send(chatId), await send(chatId, { number: 1 })];
    await receiver.next();
    const processes = senders();
    await stopAll(processes, "SIGKILL");
    receiver.answerWith({ status: 204 });
    await startAll(processes);
    await callbacks.endLease(first);
    const delivered = await callbacks.untilIn(first, "delivered", { timeoutMs: TAKEN_OVER_WITHIN_MS });
    expect(delivered.attempts).toMatchObject([
      { status: null, ms: null, error: "interrupted" },
      { status: 204, error: null },
    ]);
    await callbacks.untilIn(second, "delivered");
    expect(header("webhook-id")).toEqual([first, first, second]);
    expect(header("x-svc-attempt")).toEqual(["1", "2", "1"]);
    expect((await api.drain("durable", chatId)).replies).toEqual([]);
  });
});

describe("a process that gets SIGTERM while it delivers callbacks", () => {
  test("aborts them, exits with 0, and they are repeated immediately with the same ids", async () => {
    receiver.answerWith("hang");
    const chats = Array.from({ length: 6 }, () => randomUUID());
    const ids = await Promise.all(chats.map((chatId, index) => send(chatId, { replica: index })));
    await waitFor(() => receiver.requests.length === ids.length, { what: "every try to be on its way" });
    const processes = senders();
    const exits = await stopAll(processes, "SIGTERM");
    expect(exits).toEqual(processes.map(() => CLEAN));
    receiver.answerWith({ status: 204 });
    await startAll(processes);
    for (const id of ids) {
      const { attempts } = await callbacks.untilIn(id, "delivered");
      expect(attempts).toMatchObject([
        { status: null, error: expect.stringMatching(/interrupted by shutdown/) },
        { status: 204 },
      ]);
    }
    expect(header("x-svc-attempt").toSorted()).toEqual([...ids.map(() => "1"), ...ids.map(() => "2")]);
    for (const [index, chatId] of chats.entries()) expect(sequenceIn(chatId)).toEqual([ids[index]]);
  });

  test("waits for one that ends in time", async () => {
    receiver.answerWith({ status: 204, delayMs: 500 });
    const id = await send(randomUUID());
    await receiver.next();
    const processes = senders();
    expect(await stopAll(processes, "SIGTERM")).toEqual(processes.map(() => CLEAN));
    await startAll(processes);
    await callbacks.untilIn(id, "delivered");
    expect(new Set(header("webhook-id"))).toEqual(new Set([id]));
  });

  test("exits with 0 even if the store is unavailable and the result cannot be recorded: then the attempt is repeated", async () => {
    receiver.answerWith({ status: 204, delayMs: 1_000 });
    const id = await send(randomUUID());
    await receiver.next();
    await ground.postgres.kill();
    // The receiver has responded; the result cannot be recorded.
    const processes = senders();
    await waitFor(
      () => receiver.requests.length === 1 && Date.now() > (receiver.requests[0]?.receivedAtMs ?? 0) + 1_500,
      {
        what: "the receiver to have answered",
      },
    );
    const exits = await stopAll(processes, "SIGTERM");
    await ground.postgres.start();
    await startAll(processes);
    expect(exits).toEqual(processes.map(() => CLEAN));
    receiver.answerWith({ status: 204 });
    await callbacks.endLease(id);
    await callbacks.untilIn(id, "delivered", { timeoutMs: TAKEN_OVER_WITHIN_MS });
    expect(new Set(header("webhook-id"))).toEqual(new Set([id]));
  });
});

describe("while the queue's server is unavailable", () => {
  test("callbacks wait; after it recovers without its data, each is delivered in order", async () => {
    const server = ground.redis ?? ground.postgres;
    const chats = Array.from({ length: 5 }, () => randomUUID());
    receiver.answerWith({ status: 500 });
    const firsts = await Promise.all(chats.map((chatId) => send(chatId)));
    for (const id of firsts) await callbacks.untilTried(id, 1);
    const seconds = await Promise.all(chats.map((chatId) => send(chatId, { number: 1 })));
    await server.kill("SIGKILL");
    // Messages are accepted while Redis is unavailable; without Postgres none can be.
    const thirds = ground.redis === null ? [] : await Promise.all(chats.map((chatId) => send(chatId, { number: 2 })));
    receiver.answerWith({ status: 204 });
    await server.start();
    await untilHealthy();
    for (const id of firsts) await callbacks.hurry(id);
    for (const id of [...firsts, ...seconds, ...thirds]) {
      await callbacks.untilIn(id, "delivered", { timeoutMs: TAKEN_OVER_WITHIN_MS });
    }
    for (const [index, chatId] of chats.entries()) {
      const expected = [firsts[index], seconds[index], ...(ground.redis === null ? [] : [thirds[index]])];
      expect(sequenceIn(chatId)).toEqual(expected);
    }
  });
});

describe("while Postgres is unavailable", () => {
  test("results of attempts are kept until it recovers, and no callback is lost or out of order", async () => {
    const chats = Array.from({ length: 5 }, () => randomUUID());
    receiver.answerWith({ status: 204, delayMs: 1_000 });
    const ids = await Promise.all(
      chats.map(async (chatId) => [await send(chatId), await send(chatId, { number: 1 })] as const),
    );
    await waitFor(() => receiver.requests.length >= chats.length, { what: "attempts to be on their way" });
    await ground.postgres.kill();
    await waitFor(() => Date.now() > (receiver.requests.at(-1)?.receivedAtMs ?? 0) + 1_500, {
      what: "the receiver to have answered",
    });
    await ground.postgres.start();
    await untilHealthy();
    for (const [first, second] of ids) {
      await callbacks.untilIn(first, "delivered", { timeoutMs: TAKEN_OVER_WITHIN_MS });
      await callbacks.untilIn(second, "delivered", { timeoutMs: TAKEN_OVER_WITHIN_MS });
    }
    for (const [index, chatId] of chats.entries()) expect(sequenceIn(chatId)).toEqual(ids[index]);
  });
});

describe("kills of processes and servers under load", () => {
  const CHATS = isSoak ? 20 : 6;
  const MESSAGES_A_CHAT = isSoak ? 12 : 4;
  const ROUNDS = isSoak ? 4 : 1;

  test(
    "every accepted message has its callbacks at least once, with the id that its sender got, in the order of its chat",
    async () => {
      // Every third attempt is rejected, so that some callbacks always wait for their next one.
      let attempts = 0;
      receiver.answerWith(() => ({ status: ++attempts % 3 === 0 ? 503 : 204 }));
      const chats = Array.from({ length: CHATS }, () => randomUUID());
      let isOver = false;
      const havoc = async () => {
        for (let round = 0; round < ROUNDS; round++) {
          const [victim] = senders();
          const worker = product.composition.processes.find(({ name }) => name.startsWith("pipeline"));
          for (const process of [victim, worker]) {
            await process?.kill("SIGKILL");
            await process?.start();
          }
          for (const server of [ground.redis, ground.postgres]) {
            await server?.kill("SIGKILL");
            await server?.start();
            await untilHealthy();
          }
        }
      };
      const talk = async (chatId: string, chat: number) => {
        const own: string[] = [];
        for (let number = 0; number < MESSAGES_A_CHAT; number++) {
          own.push(await send(chatId, { number, replica: chat + number }));
        }
        return own;
      };
      // Rejected callbacks are retried immediately while the store is available.
      const hurryOn = async () => {
        if (isOver) return true;
        const waiting = await product.store.deliveries.listPage(project.id, { limit: 200, state: "pending" });
        for (const { id, attempts } of waiting) if (attempts.at(-1)?.error != null) await callbacks.hurry(id);
        return false;
      };
      const hurrying = waitFor(hurryOn, { what: "the end of the test", timeoutMs: 900_000 });
      try {
        const [ids] = await Promise.all([Promise.all(chats.map(talk)), havoc()]);
        for (const id of ids.flat()) await callbacks.untilIn(id, "delivered", { timeoutMs: 90_000 });
        for (const [index, chatId] of chats.entries()) expect(sequenceIn(chatId)).toEqual(ids[index]);
        const answered = (request: ReceivedRequest) => callbackOf(request).replies.map(({ type }) => type);
        for (const request of receiver.requests) expect(answered(request)).toEqual(["message"]);
        for (const chatId of chats) expect((await api.drain("durable", chatId)).replies).toEqual([]);
      } finally {
        isOver = true;
        await hurrying;
      }
    },
    isSoak ? 600_000 : 240_000,
  );
});
