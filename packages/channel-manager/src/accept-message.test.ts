import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { AcceptedMessage, Channel, IncomingMessage } from "@svc/contracts";
import { openQueues, QueueDownError } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { newId, openStore, ticketIdOf } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { collectLog, createTestDatabase, createTestQueueBackend, freePort, testLog, waitFor } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { acceptMessage } from "./accept-message.ts";

let database: TestDatabase;
let store: Store;
/** Another process that reads committed rows. */
let observer: Store;
let project: ProjectId;
/** Published jobs, and the response of the queue. */
let published: { name: string; jobs: { id: string; data: unknown }[] }[];
let publish: () => Promise<void>;
let log: ReturnType<typeof collectLog>;
/** Where typing was shown. */
let typing: unknown[];
let markTyping: () => Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  [store, observer] = [1, 2].map(() => openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() })) as [
    Store,
    Store,
  ];
  project = (await store.projects.ensure("default")).project.id;
});

beforeEach(() => {
  published = [];
  publish = () => Promise.resolve();
  log = collectLog();
  typing = [];
  markTyping = () => Promise.resolve();
});

afterAll(async () => {
  await store.close();
  await observer.close();
  await database.drop();
});

/** Queues that record published jobs and respond as the test defines. */
const queues = {
  publish(name: string, jobs: { id: string; data: unknown }[]) {
    published.push({ name, jobs });
    return publish();
  },
} as unknown as Queues;

const channel: Channel = {
  id: "widget",
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  onMessage: () => undefined,
  sendMessage: () => Promise.resolve(),
  markTyping(chatId, context) {
    typing.push({ chatId, context });
    return markTyping();
  },
};

const newMessage = (change: Partial<IncomingMessage> = {}): IncomingMessage => ({
  channelId: "widget",
  chatId: newId(),
  text: "hello",
  timestamp: 1_700_000_000_000,
  channelMeta: {},
  ...change,
});

function accept(message: IncomingMessage, on: Partial<{ store: Store; queues: Queues; channel: Channel }> = {}) {
  return acceptMessage({ store, queues, log: log.log, ...on }, on.channel ?? channel, message, { project });
}

const isCommitted = async ({ messageId }: AcceptedMessage) =>
  (await observer.messages.findState(project, messageId)) === "received";

/** Never resolves. */
const hang = () => new Promise<void>(() => undefined);

describe("a message that is accepted", () => {
  test("is committed with all that it came with, and its ids are known before the pipeline has run", async () => {
    const message = newMessage({
      chatId: "visitor/1",
      userId: "u",
      attachments: [{ type: "image/png", url: "https://example.com/a.png" }],
      channelMeta: JSON.parse('{"__proto__":{"a":1},"page":"/"}') as Record<string, unknown>,
    });
    const accepted = await accept(message);
    expect(accepted).toEqual({
      messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      ticketId: ticketIdOf(project, "widget", "visitor/1"),
      seq: 1,
    });
    expect(await isCommitted(accepted)).toBe(true);
    const claimed = await observer.messages.claim(project, accepted.ticketId);
    expect(claimed).toMatchObject({ channelId: "widget", chatId: "visitor/1", userId: "u", text: "hello" });
    // Keys may be returned in another order.
    const kept = Object.entries(claimed?.channelMeta ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
    expect(kept).toEqual([
      ["__proto__", { a: 1 }],
      ["page", "/"],
    ]);
  });

  test("has the next place of its chat", async () => {
    const chatId = newId();
    const positions = [];
    for (let round = 0; round < 3; round++) positions.push((await accept(newMessage({ chatId }))).seq);
    expect(positions).toEqual([1, 2, 3]);
  });

  test("is announced to the pipeline once, by ids only", async () => {
    const { messageId, ticketId } = await accept(newMessage({ text: "not in the queue" }));
    expect(published).toEqual([
      {
        name: "incoming-messages",
        jobs: [{ id: `${messageId}-0`, data: { project, messageId, ticketId }, mayShare: true }],
      },
    ]);
  });

  test("is announced on the real queue", async () => {
    const backend = await createTestQueueBackend();
    const { redisUrl, prefix } = backend;
    const real = openQueues({ databaseUrl: database.url, redisUrl, prefix, log: testLog() });
    await waitFor(() => real.isUp(), { what: "the queues to be up" });
    const accepted = await accept(newMessage(), { queues: real });
    const taken: unknown[] = [];
    const consumer = real.consume("incoming-messages", (job) => {
      taken.push(job);
      return Promise.resolve();
    });
    await waitFor(() => taken.length > 0, { what: "the job" });
    expect(taken).toEqual([{ project, messageId: accepted.messageId, ticketId: accepted.ticketId }]);
    await consumer.close(1_000);
    await real.close();
    await backend.stop();
  });

  test("shows in its chat that a reply is pending", async () => {
    const { ticketId } = await accept(newMessage({ chatId: "visitor/2" }));
    expect(typing).toEqual([{ chatId: "visitor/2", context: { project, ticketId } }]);
  });
});

describe("acceptance does not depend on", () => {
  test("the queue being there: the message is committed, and the sweeper will announce it", async () => {
    publish = () => Promise.reject(new QueueDownError());
    const accepted = await accept(newMessage());
    expect(await isCommitted(accepted)).toBe(true);
    expect(log.lines().map(({ level }) => level)).toEqual(["debug"]);
  });

  test("the queue answering", async () => {
    publish = hang;
    expect(await isCommitted(await accept(newMessage()))).toBe(true);
  });

  test("the queue working: another fault of it is in the log as a warning", async () => {
    publish = () => Promise.reject(new Error("out of memory"));
    const accepted = await accept(newMessage());
    expect(await isCommitted(accepted)).toBe(true);
    expect(log.lines()).toEqual([expect.objectContaining({ level: "warn", messageId: accepted.messageId })]);
  });

  test.each([
    ["fails", () => Promise.reject(new Error("no such chat"))],
    ["hangs", hang],
  ])("typing being shown: it %s", async (_what, show) => {
    markTyping = show;
    expect(await isCommitted(await accept(newMessage()))).toBe(true);
  });

  test("a channel that can show typing", async () => {
    const { markTyping: _none, ...bare } = channel;
    expect(await isCommitted(await accept(newMessage(), { channel: bare }))).toBe(true);
  });
});

describe("a message that is not accepted", () => {
  test("while the store is away is told unavailable, is announced to nobody, and shows no typing", async () => {
    const url = `postgres://svc@127.0.0.1:${await freePort()}/svc`;
    const away = openStore({ url, secretKey: "x".repeat(32), log: testLog() });
    await expect(accept(newMessage(), { store: away })).rejects.toMatchObject({ code: "unavailable" });
    await away.close();
    expect([published, typing]).toEqual([[], []]);
  });

  test.each<[string, object]>([
    ["a channel that nobody knows", { channelId: "email" }],
    ["no text", { text: undefined }],
    ["a time that is no number", { timestamp: "now" }],
    ["no channelMeta", { channelMeta: null }],
  ])("for %s is stored nowhere", async (_what, change) => {
    const chatId = newId();
    await expect(accept({ ...newMessage({ chatId }), ...change })).rejects.toThrow();
    expect(published).toEqual([]);
    expect((await accept(newMessage({ chatId }))).seq).toBe(1);
  });
});
