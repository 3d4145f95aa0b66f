import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { ServiceError, webhookSecretsSchema } from "@svc/contracts";
import type { DeliveryItem } from "@svc/contracts";
import { createAddressGuard } from "@svc/outbound";
import { newId, openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { collectLog, createTestDatabase, startWebhookReceiver, testLog, waitFor } from "@svc/testing";
import type { TestDatabase, WebhookReceiver } from "@svc/testing";
import type { Queues } from "@svc/queue";
import { deliverCallbacks } from "./deliver-callbacks.ts";
import type { DeliveryContext } from "./deliver-callbacks.ts";

const secrets = webhookSecretsSchema.parse({});

let database: TestDatabase;
let store: Store;
let project: ProjectId;
let receiver: WebhookReceiver;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "a".repeat(48), log: testLog() });
  project = (await store.projects.ensure("default")).project.id;
});

afterAll(async () => {
  await store.close();
  await database.drop();
});

beforeEach(async () => {
  receiver = await startWebhookReceiver();
});

afterEach(() => receiver.close());

/** Returns the store's table with some functions replaced. */
const withDeliveries = (change: Partial<Store["deliveries"]>): Store => ({
  ...store,
  deliveries: { ...store.deliveries, ...change },
});

const unavailable = () => Promise.reject(new ServiceError("unavailable", "service unavailable"));

function startWorker(change: Partial<DeliveryContext> = {}) {
  const notifications: string[] = [];
  const context = {
    store,
    // Only sweeps use the queues.
    queues: {} as Queues,
    log: testLog(),
    guard: createAddressGuard({ allow: [], allowLoopback: true, ownPorts: [] }),
    readSecrets: () => Promise.resolve(secrets),
    notifyWaiters: (ticketId: string) => void notifications.push(ticketId),
    ...change,
  };
  return { ...deliverCallbacks(context, { abortAfterMs: 0, deadlineMs: 30_000 }), notifications };
}

/**
 * Commits this number of webhook messages of a chat with replies, and creates their callbacks; returns the ids of these, in
 * order.
 */
async function addCallbacks(count: number, { isCreated = true } = {}): Promise<{ ticketId: string; ids: string[] }> {
  const chatId = newId();
  const ids: string[] = [];
  let ticketId = "";
  for (let number = 1; number <= count; number++) {
    const deliveryId = newId();
    ids.push(deliveryId);
    const accepted = await store.messages.accept(project, {
      channelId: "api",
      chatId,
      userId: null,
      text: "hello",
      timestampMs: Date.now(),
      attachments: null,
      channelMeta: {},
      mode: "webhook",
      callInstance: null,
      callback: {
        url: receiver.url(),
        deliveryId,
        apiKeyId: null,
        sealedSecret: store.sealer.seal("the key of the sender"),
        timeoutMs: 30_000,
      },
    });
    ({ ticketId } = accepted);
    const message = await store.messages.claim(project, ticketId);
    if (message === null) throw new Error("nothing to claim");
    await store.tickets.open(project, message);
    await store.tickets.finish(project, {
      message,
      state: "answered",
      failure: null,
      stage: "done",
      status: "pending",
      agentId: null,
      confidence: null,
      language: null,
      moves: [],
      trace: {},
      replies: [{ item: { type: "message", text: `answer ${number}`, markdown: false }, author: "agent" }],
      draft: null,
    });
    if (isCreated) await store.callbacks.settle([{ project, ticketId }]);
  }
  return { ticketId, ids };
}

const find = (id = "") => store.deliveries.find(project, id);
const untilIt = (id = "", matches: (item: DeliveryItem) => boolean, what: string) =>
  waitFor(
    async () => {
      const item = await find(id);
      return item !== null && matches(item);
    },
    { what },
  );
const received = () => receiver.requests.map(({ headers }) => headers["x-svc-delivery"]);

test("one job delivers the callbacks of a chat in order, until one fails", async () => {
  const { ticketId, ids } = await addCallbacks(4);
  receiver.answerWith((_, index) => ({ status: index === 2 ? 500 : 204 }));
  const worker = startWorker();
  await worker.process({ project, ticketId });
  await untilIt(ids[2], ({ attempts }) => attempts[0]?.status === 500, "the third one to fail");
  expect(received()).toEqual(ids.slice(0, 3));
  expect(await find(ids[3])).toMatchObject({ state: "pending", attempts: [] });
  await worker.stop();
});

test("new callbacks are delivered in the order of their chat, without a job up to 100 at once and until a shutdown", async () => {
  const published: { ticketId: string }[] = [];
  const publish = async (_name: string, jobs: { data: { ticketId: string } }[]) =>
    void published.push(...jobs.map(({ data }) => data));
  const worker = startWorker({ queues: { publish } as unknown as Queues });
  const { ticketId, ids } = await addCallbacks(3, { isCreated: false });
  await worker.create([{ project, ticketId }]);
  await untilIt(ids[2], ({ state }) => state === "delivered", "the last one to be received");
  expect(received()).toEqual(ids);
  expect(published).toEqual([]);

  const chats: { ticketId: string; ids: string[] }[] = [];
  while (chats.length < 101) chats.push(await addCallbacks(1, { isCreated: false }));
  await worker.create(chats.map((chat) => ({ project, ticketId: chat.ticketId })));
  await waitFor(() => received().length === 103, { what: "all but one" });
  expect(published).toHaveLength(1);
  const waiting = chats.filter((chat) => !received().includes(chat.ids[0]));
  expect(waiting.map((chat) => chat.ticketId)).toEqual(published.map((job) => job.ticketId));

  worker.drain();
  const late = await addCallbacks(1, { isCreated: false });
  await worker.create([{ project, ticketId: late.ticketId }]);
  expect(published.at(-1)?.ticketId).toBe(late.ticketId);
  await worker.stop();
});

test("duplicate and concurrent jobs deliver each callback once", async () => {
  const { ticketId, ids } = await addCallbacks(3);
  const workers = [startWorker(), startWorker()];
  await Promise.all(
    workers.flatMap((worker) => [worker.process({ project, ticketId }), worker.process({ project, ticketId })]),
  );
  await untilIt(ids[2], ({ state }) => state === "delivered", "the last one to be received");
  await Promise.all(workers.map((worker) => worker.process({ project, ticketId })));
  expect(received()).toEqual(ids);
  await Promise.all(workers.map((worker) => worker.stop()));
});

test("notifies waiting callers of a dead callback, and of no other", async () => {
  const { ticketId, ids } = await addCallbacks(3);
  receiver.answerWith((_, index) => ({ status: index === 1 ? 410 : 204 }));
  const worker = startWorker();
  await worker.process({ project, ticketId });
  await untilIt(ids[2], ({ state }) => state === "delivered", "the last one to be received");
  expect(await find(ids[1])).toMatchObject({ state: "dead" });
  expect(worker.notifications).toEqual([ticketId]);
  await worker.stop();
});

describe("a receiver that hangs", () => {
  test("blocks no job: the attempt continues without it, and is recorded when it ends", async () => {
    const { ticketId, ids } = await addCallbacks(1);
    receiver.answerWith({ status: 204, delayMs: 1_000 });
    const worker = startWorker();
    await worker.process({ project, ticketId });
    expect((await find(ids[0]))?.attempts).toMatchObject([{ status: null }]);
    await untilIt(ids[0], ({ state }) => state === "delivered", "the try to be noted");
    await worker.stop();
  });

  test("does not delay a shutdown: its attempt is aborted, recorded but not counted, and another process makes the next one immediately", async () => {
    const { ticketId, ids } = await addCallbacks(1);
    receiver.answerWith("hang");
    const worker = startWorker();
    await worker.process({ project, ticketId });
    await worker.stop();
    const brokenOff = { status: null, ms: expect.any(Number), error: expect.stringMatching(/interrupted by shutdown/) };
    expect(await find(ids[0])).toMatchObject({ state: "pending", attempts: [brokenOff] });
    receiver.answerWith({ status: 204 });
    const other = startWorker();
    await other.process({ project, ticketId });
    expect(await find(ids[0])).toMatchObject({ state: "delivered", attempts: [brokenOff, { status: 204 }] });
    expect(receiver.requests.map(({ headers }) => headers["x-svc-attempt"])).toEqual(["1", "2"]);
    await other.stop();
  });
});

describe("while the store is unavailable", () => {
  test("a result is recorded when it recovers, and nothing is sent twice meanwhile", async () => {
    const { ticketId, ids } = await addCallbacks(2);
    let refusals = 0;
    const worker = startWorker({
      store: withDeliveries({
        finishAttempt: (...args) => (refusals++ < 2 ? unavailable() : store.deliveries.finishAttempt(...args)),
      }),
    });
    await worker.process({ project, ticketId });
    await untilIt(ids[1], ({ state }) => state === "delivered", "both to be received");
    expect(received()).toEqual(ids);
    await worker.stop();
  });

  test("a shutdown does not wait for it: another process repeats the attempt, with the same id", async () => {
    const { ticketId, ids } = await addCallbacks(1);
    const worker = startWorker({ store: withDeliveries({ finishAttempt: unavailable }) });
    await worker.process({ project, ticketId });
    await receiver.next();
    await worker.stop();
    expect(await find(ids[0])).toMatchObject({ state: "pending" });
    expect(received()).toEqual(ids);
  });

  test("a callback whose settings cannot be read is released and not counted", async () => {
    const { ticketId, ids } = await addCallbacks(1);
    let refusals = 0;
    const worker = startWorker({ readSecrets: () => (refusals++ === 0 ? unavailable() : Promise.resolve(secrets)) });
    await worker.process({ project, ticketId });
    expect(await find(ids[0])).toMatchObject({ state: "pending", attempts: [] });
    await waitFor(
      async () => {
        await worker.process({ project, ticketId });
        return (await find(ids[0]))?.state === "delivered";
      },
      { what: "the callback to be received" },
    );
    expect(await find(ids[0])).toMatchObject({ attempts: [{ status: 204 }] });
    await worker.stop();
  });

  test("an unsent attempt does not count: after 12 such claims and one 500, the next attempt is the second, after the first delay", async () => {
    const { ticketId, ids } = await addCallbacks(1);
    receiver.answerWith({ status: 500 });
    let claims = 0;
    const worker = startWorker({
      store: withDeliveries({
        claim: (...args) => {
          claims++;
          return store.deliveries.claim(...args);
        },
        // Half of them fail before the attempt is recorded, half after it: then the response is lost.
        async begin(claimed) {
          if (claims > 12) return store.deliveries.begin(claimed);
          if (claims % 2 === 0) await store.deliveries.begin(claimed);
          return unavailable();
        },
        postpone: (claimed) => store.deliveries.postpone(claimed, 0),
      }),
    });
    for (let round = 1; round <= 13; round++) await worker.process({ project, ticketId });
    expect(claims).toBe(13);
    await untilIt(ids[0], ({ attempts }) => attempts[0]?.status === 500, "the attempt to fail");
    const item = await find(ids[0]);
    expect(item).toMatchObject({ state: "pending", attempts: [{ status: 500 }] });
    const waitMs = Date.parse(item?.nextAt ?? "") - Date.parse(item?.attempts[0]?.at ?? "");
    expect(waitMs).toBeGreaterThanOrEqual(5_000);
    expect(waitMs).toBeLessThan(30_000);
    expect(receiver.requests.map(({ headers }) => headers["x-svc-attempt"])).toEqual(["1"]);
    await worker.stop();

    receiver.answerWith({ status: 204 });
    await store.deliveries.replay(project, ids[0] ?? "");
    const next = startWorker();
    await next.process({ project, ticketId });
    await untilIt(ids[0], ({ state }) => state === "delivered", "the second attempt");
    expect(receiver.requests.map(({ headers }) => headers["x-svc-attempt"])).toEqual(["1", "2"]);
    await next.stop();
  });
});

test("a callback whose lease expired nine times in a row is dead, since it crashes the process", async () => {
  const { ticketId, ids } = await addCallbacks(1);
  const worker = startWorker({
    store: withDeliveries({
      async claim(...args) {
        const claimed = await store.deliveries.claim(...args);
        return claimed === null ? null : { ...claimed, lapses: 9 };
      },
    }),
  });
  await worker.process({ project, ticketId });
  expect(await find(ids[0])).toMatchObject({
    state: "dead",
    attempts: [{ status: null, error: expect.stringContaining("9 times in a row") }],
  });
  expect(receiver.requests).toEqual([]);
  await worker.stop();
});

test("a request that could not be sent soon after its attempt began in the store is not sent, since its lease may expire before it ends", async () => {
  const { ticketId, ids } = await addCallbacks(1);
  const begunAt = performance.now();
  const worker = startWorker({
    store: withDeliveries({
      async begin(claimed) {
        // As long as an unresponsive store may take.
        await waitFor(() => performance.now() > begunAt + 5_000, { what: "the beginning" });
        return store.deliveries.begin(claimed);
      },
    }),
  });
  await worker.process({ project, ticketId });
  await waitFor(async () => (await find(ids[0]))?.attempts.length === 0, { what: "the callback to be given back" });
  expect(receiver.requests).toEqual([]);
  expect(await find(ids[0])).toMatchObject({ state: "pending" });
  await worker.stop();
});

test("an error of the service is logged and counts as a failed attempt, so that it does not block the chat forever", async () => {
  const { ticketId, ids } = await addCallbacks(1);
  const { log, lines } = collectLog();
  const worker = startWorker({ log, readSecrets: () => Promise.reject(new TypeError("planted fault")) });
  await worker.process({ project, ticketId });
  expect(await find(ids[0])).toMatchObject({
    state: "pending",
    nextAt: expect.any(String),
    attempts: [{ status: null, error: "internal error while delivering this callback" }],
  });
  expect(lines()).toContainEqual(expect.objectContaining({ level: "error", deliveryId: ids[0] }));
  expect(await store.deliveries.claim(project, ticketId)).toBeNull();
  await worker.stop();
});
