import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { DeliveryJob } from "@svc/contracts";
import { openQueues } from "@svc/queue";
import type { Consumer, Queues } from "@svc/queue";
import { asProjectId, newId, openStore } from "@svc/store";
import type { DeliveryRequest, ProjectId, Store } from "@svc/store";
import { collectLog, createTestDatabase, createTestQueueBackend, testLog, waitFor } from "@svc/testing";
import type { TestDatabase, TestQueueBackend } from "@svc/testing";
import { startSweeps } from "@svc/work";
import type { Sweeps } from "@svc/work";
import { callbackBody, callbackSweeps } from "./create-callbacks.ts";

const createdAt = new Date("2026-11-21T12:00:00.123Z");
const reply = { id: newId(), ticketId: newId(), inReplyTo: newId(), author: "agent" as const, createdAt };
const delivery: DeliveryRequest = {
  project: asProjectId(newId()),
  id: newId(),
  leaseId: newId(),
  ticketId: reply.ticketId,
  messageId: reply.inReplyTo,
  type: "message.completed",
  url: "https://example.com/hook",
  createdAt,
  replyIds: [],
  event: null,
  webhook: null,
  failures: 0,
  lapses: 0,
  attempt: 1,
  chatId: "chat 1",
  meta: { userId: "u-1", nested: { list: [1, "ä"] } },
  replies: [
    { ...reply, type: "message", seq: 2, text: "Hello\u2028 <b>", markdown: true, sources: null },
    {
      ...reply,
      type: "attachment",
      seq: 3,
      filename: "table.xlsx",
      mime: "application/x",
      content: Buffer.from([0, 255]),
    },
  ],
  sealedSecret: { sealed: "sealed" },
  coveredBy: null,
  isKeyRevoked: false,
  trace: null,
};

test("the body is that of a sync response, with type, ids, time and meta, and without secrets or attempts", () => {
  const item = { id: reply.id, createdAt: createdAt.toISOString(), inReplyTo: reply.inReplyTo, author: "agent" };
  expect(JSON.parse(callbackBody(delivery))).toEqual({
    ok: true,
    mode: "webhook",
    type: "message.completed",
    deliveryId: delivery.id,
    timestamp: "2026-11-21T12:00:00.123Z",
    chatId: "chat 1",
    ticketId: delivery.ticketId,
    messageId: delivery.messageId,
    replies: [
      { ...item, type: "message", seq: 2, text: "Hello\u2028 <b>", markdown: true },
      { ...item, type: "attachment", seq: 3, filename: "table.xlsx", mime: "application/x", base64: "AP8=" },
    ],
    meta: { userId: "u-1", nested: { list: [1, "ä"] } },
  });
});

test("every attempt of a callback sends the same bytes", () => {
  const again = { ...delivery, leaseId: newId(), failures: 5, attempt: 9, isKeyRevoked: true, sealedSecret: null };
  expect(callbackBody(again)).toBe(callbackBody(delivery));
});

let database: TestDatabase;
let backend: TestQueueBackend;
let store: Store;
let queues: Queues;
let consumer: Consumer;
let project: ProjectId;
/** Announced jobs. */
const jobs: DeliveryJob[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  backend = await createTestQueueBackend();
  store = openStore({ url: database.url, secretKey: "a".repeat(48), log: testLog() });
  project = (await store.projects.ensure("default")).project.id;
  queues = openQueues({
    databaseUrl: database.url,
    redisUrl: backend.redisUrl,
    prefix: backend.prefix,
    log: testLog(),
  });
  consumer = queues.consume("webhook-deliveries", (job) => {
    jobs.push(job);
    return Promise.resolve();
  });
});

afterAll(async () => {
  await consumer.close(1_000);
  await queues.close();
  await store.close();
  await backend.stop();
  await database.drop();
});

/** Commits a webhook message with this timeout, after which its sender gets a timeout callback. */
async function send(timeoutMs: number): Promise<{ ticketId: string; messageId: string }> {
  return store.messages.accept(project, {
    channelId: "api",
    chatId: newId(),
    userId: null,
    text: "hello",
    timestampMs: Date.now(),
    attachments: null,
    channelMeta: {},
    mode: "webhook",
    callInstance: null,
    callback: {
      url: "http://127.0.0.1:1/",
      deliveryId: newId(),
      apiKeyId: null,
      sealedSecret: store.sealer.seal("the key of the sender"),
      timeoutMs,
    },
  });
}

/** Reports due callbacks in each sweep. */
const dueWork: Store["dueWork"] = {
  find: async () => ({ ...(await store.dueWork.find()), callbacks: true }),
};

/** Starts the sweeps of one replica. */
const startCallbackSweeps = (context: Parameters<typeof callbackSweeps>[0]): Sweeps =>
  startSweeps(context.log, "callbacks", callbackSweeps(context));

const isAnnounced = (ticketId: string, times = 1) =>
  waitFor(() => jobs.filter((job) => job.ticketId === ticketId).length >= times, { what: "the announcement" });

test("creates and announces missing callbacks, and announces them again until they are delivered", async () => {
  const { ticketId } = await send(1);
  const sweepers = [1, 2].map(() => startCallbackSweeps({ store, queues, log: testLog() }));
  await isAnnounced(ticketId, 2);
  expect(await store.deliveries.listPage(project, { limit: 10 })).toMatchObject([
    { ticketId, type: "message.timeout", state: "pending" },
  ]);
  await Promise.all(sweepers.map((sweeper) => sweeper.stop()));
});

test("deletes expired and revoked keys in the first sweep, but not in every sweep", async () => {
  const calls: string[] = [];
  const noting: Store = {
    ...store,
    dueWork,
    callbacks: {
      ...store.callbacks,
      findUnsettled: (limit) => {
        calls.push("sweep");
        return store.callbacks.findUnsettled(limit);
      },
      eraseOldSecrets: (limit) => {
        calls.push("erase");
        return store.callbacks.eraseOldSecrets(limit);
      },
      eraseRevokedSecrets: (limit) => {
        calls.push("erase revoked");
        return store.callbacks.eraseRevokedSecrets(limit);
      },
    },
  };
  const sweeper = startCallbackSweeps({ store: noting, queues, log: testLog() });
  await waitFor(() => calls.length >= 5, { what: "three sweeps" });
  await sweeper.stop();
  expect(calls.slice(0, 5)).toEqual(["sweep", "erase", "erase revoked", "sweep", "sweep"]);
});

test("logs a failed step, and continues with the other steps and the next sweep", async () => {
  const { log, lines } = collectLog();
  let failures = 0;
  const failing: Store = {
    ...store,
    callbacks: {
      ...store.callbacks,
      findUnsettled: (limit) =>
        failures++ === 0 ? Promise.reject(new Error("planted fault")) : store.callbacks.findUnsettled(limit),
    },
  };
  const { ticketId } = await send(1);
  const sweeper = startCallbackSweeps({ store: failing, queues, log });
  await isAnnounced(ticketId);
  expect(lines()).toContainEqual(expect.objectContaining({ level: "warn", msg: expect.stringMatching(/sweep/) }));
  await sweeper.stop();
});

test("stopping waits for the current sweep, and no other one follows", async () => {
  let sweeps = 0;
  const counting: Store = {
    ...store,
    dueWork,
    callbacks: {
      ...store.callbacks,
      findUnsettled: (limit) => {
        sweeps++;
        return store.callbacks.findUnsettled(limit);
      },
    },
  };
  const sweeper = startCallbackSweeps({ store: counting, queues, log: testLog() });
  await waitFor(() => sweeps === 1, { what: "a sweep" });
  await sweeper.stop();
  const { ticketId } = await send(1);
  const other = startCallbackSweeps({ store, queues, log: testLog() });
  await isAnnounced(ticketId);
  await other.stop();
  expect(sweeps).toBe(1);
});
