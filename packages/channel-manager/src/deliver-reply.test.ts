import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Channel, ReplyAnnouncement, ReplyDraft, ReplyJob } from "@svc/contracts";
import { REPLY_QUEUES } from "@svc/contracts";
import type { Queues } from "@svc/queue";
import { newId, openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { deliverReply } from "./deliver-reply.ts";
import { routeReply } from "./route-reply.ts";

let database: TestDatabase;
let store: Store;
let project: ProjectId;
/** What the receivers have got, in the order of its coming. */
let sent: Record<string, unknown>[];
/** Called before each send; a rejection is that of the channel. */
let beforeSend: (what: string) => Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() });
  project = (await store.projects.ensure("default")).project.id;
});

beforeEach(() => {
  sent = [];
  beforeSend = () => Promise.resolve();
});

afterAll(async () => {
  await store.close();
  await database.drop();
});

const bare: Channel = {
  id: "widget",
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
  onMessage: () => undefined,
  async sendMessage(chatId, text, metadata) {
    await beforeSend(text);
    sent.push({ chatId, text, metadata });
  },
};

const pushing: Channel = {
  ...bare,
  async sendAttachment(chatId, { filename, mime, content }, context) {
    await beforeSend(filename);
    sent.push({ chatId, filename, mime, content, context });
  },
};

const text = (value: string): ReplyDraft => ({ type: "message", text: value, markdown: true });
const FILE: ReplyDraft = {
  type: "attachment",
  filename: "a.xlsx",
  mime: "application/x",
  content: Buffer.from([0, 255]),
};

/** Lets a widget message come in and be answered with these replies. */
async function answer(items: ReplyDraft[], chatId: string = newId()): Promise<ReplyJob> {
  const { messageId, ticketId } = await store.messages.accept(project, {
    channelId: "widget",
    chatId,
    userId: null,
    text: "hello",
    timestampMs: Date.now(),
    attachments: null,
    channelMeta: {},
    mode: null,
    callInstance: null,
    callback: null,
  });
  const message = await store.messages.claim(project, ticketId);
  if (message === null) throw new Error("the message could not be claimed");
  await store.tickets.open(project, message);
  const finished = await store.tickets.finish(project, {
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
    replies: items.map((item) => ({ item, author: "agent" })),
    draft: null,
  });
  if (finished?.replies == null) throw new Error("there is no reply");
  return { project, ticketId, messageId, mode: null, ...finished.replies };
}

const deliver = (job: ReplyJob, channel = pushing) => deliverReply({ store, log: testLog() }, channel, job);
const textsSent = () => sent.map((item) => item["text"] ?? item["filename"]);

describe("replies of a channel that pushes", () => {
  test("are sent in the order of the chat, each with its context", async () => {
    const job = await answer([text("one"), FILE, text("two")], "visitor-1");
    await deliver(job);
    const context = (seq: number) => ({ project, ticketId: job.ticketId, replyId: expect.any(String), seq });
    const metadata = { inReplyTo: job.messageId, markdown: true };
    expect(sent).toEqual([
      { chatId: "visitor-1", text: "one", metadata: { ...context(job.fromSeq), ...metadata } },
      {
        chatId: "visitor-1",
        filename: "a.xlsx",
        mime: "application/x",
        content: Buffer.from([0, 255]),
        context: context(job.fromSeq + 1),
      },
      { chatId: "visitor-1", text: "two", metadata: { ...context(job.fromSeq + 2), ...metadata } },
    ]);
  });

  test("are confirmed, so that a job that comes again sends nothing", async () => {
    const job = await answer([text("one"), text("two")]);
    await deliver(job);
    await deliver(job);
    expect(textsSent()).toEqual(["one", "two"]);
    expect(await store.replies.readRange(project, job)).toBeNull();
  });

  test("that cannot be sent stay, and the next try goes on where this one has stopped", async () => {
    const job = await answer([text("one"), text("two"), text("three")]);
    beforeSend = (what) => (what === "two" ? Promise.reject(new Error("429")) : Promise.resolve());
    await expect(deliver(job)).rejects.toThrow("429");
    expect(textsSent()).toEqual(["one"]);
    beforeSend = () => Promise.resolve();
    await deliver(job);
    expect(textsSent()).toEqual(["one", "two", "three"]);
  });

  test("are each confirmed only once they are sent", async () => {
    const job = await answer([text("one"), text("two")]);
    const undelivered: number[] = [];
    beforeSend = async () => {
      undelivered.push((await store.replies.readRange(project, job))?.replies.length ?? 0);
    };
    await deliver(job);
    expect(undelivered).toEqual([2, 1]);
  });

  test("are those of the job only", async () => {
    const chatId = newId();
    const [first, second] = [await answer([text("one")], chatId), await answer([text("two")], chatId)];
    await deliver(second);
    expect(textsSent()).toEqual(["two"]);
    await deliver(first);
    expect(textsSent()).toEqual(["two", "one"]);
  });

  test("are not sent in the name of another project", async () => {
    const job = await answer([text("one")]);
    const other = (await store.projects.ensure("other")).project.id;
    await deliver({ ...job, project: other });
    expect(sent).toEqual([]);
    await deliver(job);
    expect(textsSent()).toEqual(["one"]);
  });

  test("that are files are at least named where the channel can send no files", async () => {
    const job = await answer([FILE]);
    await deliver(job, bare);
    expect(textsSent()).toEqual(["a.xlsx"]);
    expect(await store.replies.readRange(project, job)).toBeNull();
  });
});

test("a channel whose receivers collect is only told, and the replies stay for them", async () => {
  const told: ReplyAnnouncement[] = [];
  const collecting: Channel = {
    ...pushing,
    announce(announcement) {
      told.push(announcement);
      return Promise.resolve();
    },
  };
  const job = await answer([text("one"), FILE]);
  await deliver(job, collecting);
  const nothing = { ...job, fromSeq: 0, toSeq: 0 };
  await deliver(nothing, collecting);
  expect(told).toEqual([job, nothing]);
  expect(sent).toEqual([]);
  expect((await store.replies.readRange(project, job))?.replies).toHaveLength(2);
});

test.each(["api", "widget", "messenger"] as const)(
  "a reply of channel %s goes to its queue, and to no other",
  async (id) => {
    const published: unknown[] = [];
    const queues = {
      publish(name: string, jobs: unknown[]) {
        published.push({ name, jobs });
        return Promise.resolve();
      },
    } as unknown as Queues;
    const job: ReplyJob = { project: "p", ticketId: "t", messageId: "m", mode: null, fromSeq: 2, toSeq: 3 };
    await routeReply(queues, id, job);
    await routeReply(queues, id, { ...job, messageId: null });
    expect(published).toEqual([
      { name: REPLY_QUEUES[id], jobs: [{ id: "m-2-3", data: job }] },
      { name: REPLY_QUEUES[id], jobs: [{ id: "t-2-3", data: { ...job, messageId: null } }] },
    ]);
  },
);
