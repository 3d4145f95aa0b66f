import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { Client } from "pg";
import { DeliveryError, REPLY_QUEUES, ServiceError } from "@svc/contracts";
import type { Channel, ReplyDraft, ReplyJob } from "@svc/contracts";
import { announceReply } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { asProjectId, newId, openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { createTestDatabase, queryDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { deliverReplies } from "./deliver-replies.ts";

let database: TestDatabase;
/** Reads rows, and changes those that would otherwise change with time. */
let outside: Client;
let store: Store;
let project: ProjectId;
/** What the receivers have received, in order. */
let sent: Record<string, unknown>[];
/** Called before each send; its rejection is that of the channel. */
let beforeSend: (what: string) => Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  outside = new Client({ connectionString: database.url });
  await outside.connect();
  store = openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() });
  project = (await store.projects.ensure("default")).project.id;
});

beforeEach(() => {
  sent = [];
  beforeSend = () => Promise.resolve();
});

afterAll(async () => {
  await store.close();
  await outside.end();
  await database.drop();
});

const bare: Channel = {
  id: "messenger",
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

/** Returns the texts and file names of a chat's replies that are not delivered. */
const undelivered = async ({ ticketId }: ReplyJob) =>
  (
    await queryDatabase<{ content: string }>(
      database.url,
      "SELECT coalesce(text, filename) AS content FROM replies WHERE ticket_id = $1 AND delivered_at IS NULL",
      [ticketId],
    )
  ).map(({ content }) => content);

/** Accepts a message and answers it with these replies. */
async function answer(items: ReplyDraft[], chatId: string = newId()): Promise<ReplyJob> {
  const { messageId, ticketId } = await store.messages.accept(project, {
    channelId: "messenger",
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

/** Starts the work of one process. Its jobs wait for all replies, and a shutdown aborts at once. */
const open = (channel: Channel) =>
  // Only sweeps use the queues.
  deliverReplies({ store, queues: {} as Queues, log: testLog() }, channel, {
    jobWaitMs: 60_000,
    shutdown: { abortAfterMs: 0, deadlineMs: 10_000 },
  });

/** Sends the pending replies of a job's conversation. */
async function deliver(
  { project: of, ticketId }: Pick<ReplyJob, "project" | "ticketId">,
  channel = pushing,
  work = open(channel),
): Promise<void> {
  await work.process({ project: asProjectId(of), ticketId });
  await work.stop();
}
const textsSent = () => sent.map((item) => item["text"] ?? item["filename"]);
const later = () => new DeliveryError("later", "too much was sent", { retryAfterMs: 0 });
/** Fails until it is changed. */
const failAt = (failing: string, error: () => Error) => {
  beforeSend = (what) => (what === failing ? Promise.reject(error()) : Promise.resolve());
};
const undeliveredOf = async ({ ticketId }: ReplyJob) =>
  (await store.ticketDetails.read(project, ticketId))?.contents.events.flatMap(({ data }) => data["undelivered"] ?? []);
/** Makes every waiting reply due now, as at the end of its delay. */
const endPauses = () => outside.query("UPDATE outboxes SET next_at = now()");

describe("replies of a channel that pushes", () => {
  test("are sent in the order of the chat, each with its context", async () => {
    const job = await answer([text("one"), FILE, text("two")], "visitor-1");
    await deliver(job);
    const context = (seq: number) => ({
      project,
      ticketId: job.ticketId,
      replyId: expect.any(String),
      seq,
      inReplyTo: job.messageId,
      sentParts: 0,
      recordSentParts: expect.any(Function),
      signal: expect.any(AbortSignal),
    });
    const metadata = { markdown: true };
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
    expect(await undelivered(job)).toEqual([]);
  });

  test("that two processes want to send at once are sent by one of them", async () => {
    const job = await answer([text("one"), text("two"), text("three")]);
    await Promise.all([deliver(job), deliver(job), deliver(job)]);
    await deliver(job);
    expect(textsSent()).toEqual(["one", "two", "three"]);
  });

  test("of an earlier message go before those of a later one, whichever job comes first", async () => {
    const chatId = newId();
    const [first, second] = [await answer([text("one")], chatId), await answer([text("two")], chatId)];
    await deliver(second);
    await deliver(first);
    expect(textsSent()).toEqual(["one", "two"]);
  });

  test("that have to wait stay, and the next try goes on where this one has stopped", async () => {
    const job = await answer([text("one"), text("two"), text("three")]);
    failAt("two", later);
    for (const _ of Array.from({ length: 8 })) await deliver(job);
    expect(textsSent()).toEqual(["one"]);
    beforeSend = () => Promise.resolve();
    await deliver(job);
    expect(textsSent()).toEqual(["one", "two", "three"]);
    expect(await undeliveredOf(job)).toEqual([]);
  });

  test("that are to be tried later are not tried before", async () => {
    const job = await answer([text("one")]);
    failAt("one", () => new DeliveryError("later", "too much was sent", { retryAfterMs: 60_000 }));
    await deliver(job);
    beforeSend = () => Promise.resolve();
    await deliver(job);
    expect(await store.outboxes.listDue("messenger", 200)).not.toContainEqual({ project, ticketId: job.ticketId });
    expect(sent).toEqual([]);
    await endPauses();
    expect(await store.outboxes.listDue("messenger", 200)).toContainEqual({ project, ticketId: job.ticketId });
    await deliver(job);
    expect(textsSent()).toEqual(["one"]);
  });

  test("that were refused five times are given up and said so, and the next ones follow", async () => {
    const job = await answer([text("one"), text("two")]);
    failAt("one", () => new Error("a secret of a library"));
    for (const _ of Array.from({ length: 5 })) {
      expect(sent).toEqual([]);
      await deliver(job);
      await endPauses();
    }
    expect(textsSent()).toEqual(["two"]);
    expect(await undeliveredOf(job)).toEqual([
      { replyId: expect.any(String), reason: "the channel failed to send the reply; see the log", isDead: true },
    ]);
    const dead = await store.outboxes.listDead(project, 10);
    expect(dead).toEqual([
      expect.objectContaining({
        ticketId: job.ticketId,
        text: "one",
        failure: expect.stringContaining("see the log"),
      }),
    ]);
    beforeSend = () => Promise.resolve();
    expect(await store.outboxes.sendAgain(project, dead[0]?.replyId ?? "", "operator:1")).not.toBeNull();
    await deliver(job);
    expect(textsSent()).toEqual(["two", "one"]);
    expect(await store.outboxes.listDead(project, 10)).toEqual([]);
  });

  test("that were given up can be sent again, once", async () => {
    const job = await answer([text("one"), text("two")]);
    failAt("one", () => new DeliveryError("closed", "the bot was blocked"));
    await deliver(job);
    expect(textsSent()).toEqual(["two"]);
    const [lost] = (await undeliveredOf(job)) as { replyId: string; reason: string; isDead: boolean }[];
    expect(lost).toMatchObject({ reason: "the bot was blocked", isDead: false });
    beforeSend = () => Promise.resolve();
    const other = (await store.projects.ensure("other")).project.id;
    expect(await store.outboxes.sendAgain(other, lost?.replyId ?? "", "operator:1")).toBeNull();
    expect(await store.outboxes.sendAgain(project, lost?.replyId ?? "", "operator:1")).toEqual({
      project,
      ticketId: job.ticketId,
    });
    expect(await store.outboxes.sendAgain(project, lost?.replyId ?? "", "operator:1")).toBeNull();
    await deliver(job);
    await deliver(job);
    expect(textsSent()).toEqual(["two", "one"]);
  });

  test("of several parts go on after the last part that was noted", async () => {
    const job = await answer([text("long")]);
    const parts: (number | undefined)[] = [];
    const splitting: Channel = {
      ...pushing,
      async sendMessage(_chatId, _text, metadata) {
        parts.push(metadata?.sentParts);
        await metadata?.recordSentParts?.((metadata.sentParts ?? 0) + 2);
        if (parts.length === 1) throw later();
      },
    };
    await deliver(job, splitting);
    await deliver(job, splitting);
    await deliver(job, splitting);
    expect(parts).toEqual([0, 2]);
  });

  test("are sent no further by a process that has lost its lease", async () => {
    const job = await answer([text("one"), text("two")]);
    const errors: unknown[] = [];
    const slow: Channel = {
      ...pushing,
      async sendMessage(_chatId, value, metadata) {
        sent.push({ text: value });
        // Another process has taken over while this one was blocked.
        await outside.query("UPDATE outboxes SET lease_id = gen_random_uuid() WHERE ticket_id = $1", [job.ticketId]);
        await metadata?.recordSentParts?.(1).catch((error: unknown) => {
          errors.push(error);
          throw error;
        });
      },
    };
    await deliver(job, slow);
    expect(errors).toEqual([expect.any(DeliveryError)]);
    expect(textsSent()).toEqual(["one"]);
  });

  test("are begun no more when the process stops, and others can send them at once", async () => {
    const job = await answer([text("one"), text("two")]);
    await deliver(job, { ...pushing, isActive: () => sent.length === 0 });
    expect(textsSent()).toEqual(["one"]);
    await deliver(job);
    expect(textsSent()).toEqual(["one", "two"]);
  });

  test("that are broken off do not count as tried", async () => {
    const job = await answer([text("one")]);
    for (const _ of Array.from({ length: 7 })) {
      const work = open(pushing);
      beforeSend = () => {
        work.drain();
        return Promise.reject(new Error("aborted"));
      };
      await deliver(job, pushing, work);
    }
    beforeSend = () => Promise.resolve();
    await deliver(job);
    expect(textsSent()).toEqual(["one"]);
  });

  test("that could not be sent while the store was busy do not count as tried, also if the release fails at first", async () => {
    const job = await answer([text("one")]);
    const away = () => new ServiceError("unavailable", "busy");
    const release = jest.spyOn(store.outboxes, "retryLater");
    failAt("one", away);
    for (const _ of Array.from({ length: 6 })) {
      release.mockRejectedValueOnce(away());
      await deliver(job);
    }
    release.mockRestore();
    beforeSend = () => Promise.resolve();
    await deliver(job);
    expect(textsSent()).toEqual(["one"]);
    expect(await undeliveredOf(job)).toEqual([]);
  });

  test("that kill their process each time become dead letters and hold nothing up", async () => {
    const job = await answer([text("one"), text("two")]);
    // Five processes have crashed with it, and their leases have expired.
    await outside.query(
      `WITH crashed AS (
         INSERT INTO processes (id, app, host, pid, memory_bytes, heard_at, crashed_at)
         SELECT gen_random_uuid(), 'messenger', 'a-host', 1, 1, now() - interval '1 minute', now()
         FROM generate_series(1, 5) RETURNING id
       )
       UPDATE outboxes SET lease_until = now(), expired_leases = (
         SELECT jsonb_agg(jsonb_build_object('process', id, 'group', 1, 'until', now())) FROM crashed
       ) WHERE ticket_id = $1`,
      [job.ticketId],
    );
    await deliver(job);
    expect(textsSent()).toEqual(["two"]);
    expect(await undeliveredOf(job)).toMatchObject([{ isDead: true }]);
  });

  test("that are sent while the store is going away are noted when it is back, and not sent again", async () => {
    const job = await answer([text("one"), text("two")]);
    const note = jest.spyOn(store.outboxes, "markDelivered");
    for (const _ of [1, 2]) note.mockRejectedValueOnce(new ServiceError("unavailable", "away"));
    await deliver(job);
    expect(textsSent()).toEqual(["one", "two"]);
    expect(note).toHaveBeenCalledTimes(4);
    note.mockRestore();
    await deliver(job);
    expect(textsSent()).toEqual(["one", "two"]);
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
    expect(await undelivered(job)).toEqual([]);
  });
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
    await announceReply(queues, id, job);
    await announceReply(queues, id, { ...job, messageId: null });
    expect(published).toEqual([
      { name: REPLY_QUEUES[id], jobs: [{ id: "m-2-3", data: job }] },
      { name: REPLY_QUEUES[id], jobs: [{ id: "t-2-3", data: { ...job, messageId: null } }] },
    ]);
  },
);
