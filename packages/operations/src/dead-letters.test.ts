import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Principal } from "@svc/auth";
import type { Scope } from "@svc/contracts";
import { QueueDownError } from "@svc/queue";
import type { Queues } from "@svc/queue";
import { newId, openStore } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { listDeadLetters, retryDeadLetter } from "./dead-letters.ts";

/** The id of no message. */
const UNKNOWN = "0190b5a0-9e8f-7c1d-8000-0123456789ab";

let database: TestDatabase;
let store: Store;
let project: Project;
/** What was published, and what the queue says to it. */
let published: unknown[];
let publish: () => Promise<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() });
});

beforeEach(async () => {
  project = (await store.projects.ensure(`project-${newId()}`)).project;
  published = [];
  publish = () => Promise.resolve();
});

afterAll(async () => {
  await store.close();
  await database.drop();
});

const queues = {
  publish(name: string, jobs: unknown[]) {
    published.push({ name, jobs });
    return publish();
  },
} as unknown as Queues;

const principal = (scopes: Scope[] = ["tickets:*"], of: Project = project): Principal => ({
  actor: "key:test",
  keyId: "test",
  rateLimit: null,
  scopes,
  project: of.id,
  projectName: of.name,
});

const list = (who = principal()) => listDeadLetters({ store }, who);
const retry = (messageId: string, who = principal()) =>
  retryDeadLetter({ store, queues, log: testLog() }, who, messageId);

/** A message of the project that was given up. */
async function deadLetter(text = "hello"): Promise<{ messageId: string; ticketId: string }> {
  const { messageId, ticketId } = await store.messages.accept(project.id, {
    channelId: "api",
    chatId: newId(),
    userId: null,
    text,
    timestampMs: Date.now(),
    attachments: null,
    channelMeta: {},
    mode: "async",
    callInstance: null,
    callback: null,
  });
  const message = await store.messages.claim(project.id, ticketId);
  if (message === null) throw new Error("the message could not be claimed");
  await store.tickets.open(project.id, message);
  await store.tickets.finish(project.id, {
    message,
    state: "failed",
    failure: "the model is broken",
    stage: "failed",
    status: "open",
    agentId: null,
    confidence: null,
    language: null,
    moves: [],
    trace: {},
    replies: [],
    draft: null,
  });
  return { messageId, ticketId };
}

/** An update of the messenger that was given up. */
async function deadUpdate(): Promise<string> {
  const origin = { ticketId: newId(), chatId: "77", userId: "5" };
  const body = JSON.stringify({ update_id: 1 });
  const botId = Number.parseInt(newId().slice(-8), 16);
  await store.channelUpdates.insertMany(project.id, botId, [
    { updateId: 1, origin, body, excerpt: "hello bot", albumId: null },
  ]);
  await store.channelUpdates.markDead(botId, [1], "it is broken");
  const [letter] = await store.channelUpdates.listDead(project.id, 1);
  return letter?.messageId ?? "";
}

describe("the dead letters of a project", () => {
  test("are also updates of the messenger, which are taken again without the pipeline's queue", async () => {
    const [{ messageId }, update] = [await deadLetter(), await deadUpdate()];
    expect(await list()).toEqual([
      expect.objectContaining({
        kind: "update",
        messageId: update,
        channelId: "messenger",
        chatId: "77",
        text: "hello bot",
        failure: "it is broken",
      }),
      expect.objectContaining({ kind: "message", messageId }),
    ]);
    const other = (await store.projects.ensure("other")).project;
    await expect(retry(update, principal(["admin:*"], other))).rejects.toMatchObject({ code: "not_found" });
    await retry(update);
    expect(await list()).toEqual([expect.objectContaining({ messageId })]);
    expect(published).toEqual([]);
    await expect(retry(update)).rejects.toMatchObject({ code: "not_found" });
  });

  test("are listed newest first, with what was said and why it failed", async () => {
    expect(await list()).toEqual([]);
    const [older, newer] = [await deadLetter("first"), await deadLetter("second")];
    expect(await list()).toEqual([
      expect.objectContaining({ ...newer, channelId: "api", text: "second", failure: "the model is broken" }),
      expect.objectContaining({ ...older, text: "first", failedAt: expect.any(Date) }),
    ]);
  });

  test("are not those of another project", async () => {
    await deadLetter();
    const other = (await store.projects.ensure("other")).project;
    expect(await list(principal(["admin:*"], other))).toEqual([]);
  });

  test.each<[Scope[], boolean]>([
    [["tickets:read"], true],
    [["tickets:*"], true],
    [["admin:*"], true],
    [["tickets:write"], false],
    [["messages:*", "kb:*"], false],
    [[], false],
  ])("are listed for %j: %j", async (scopes, isAllowed) => {
    const listing = list(principal(scopes));
    if (isAllowed) expect(await listing).toEqual([]);
    else await expect(listing).rejects.toMatchObject({ code: "insufficient_scope" });
  });
});

describe("a dead letter that is sent again", () => {
  test("is no dead letter any more, waits for the pipeline with fresh tries, and is announced", async () => {
    const { messageId, ticketId } = await deadLetter();
    await retry(messageId);
    expect(await list()).toEqual([]);
    expect(published).toEqual([
      {
        name: "incoming-messages",
        jobs: [{ id: `${messageId}-0`, data: { project: project.id, messageId, ticketId } }],
      },
    ]);
    expect(await store.messages.claim(project.id, ticketId)).toMatchObject({ messageId, attempts: 1 });
    expect(await store.tickets.listMoves(project.id, ticketId)).toContainEqual(
      expect.objectContaining({ from: "failed", to: "received", actor: "key:test" }),
    );
  });

  test("is sent again though the queue is away: the sweeper announces it", async () => {
    publish = () => Promise.reject(new QueueDownError());
    const { messageId } = await deadLetter();
    await retry(messageId);
    expect(await store.messages.findState(project.id, messageId)).toBe("received");
  });

  test("is sent again once, however many ask at once", async () => {
    const { messageId } = await deadLetter();
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map(() => retry(messageId)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(published).toHaveLength(1);
  });

  test.each<[Scope[], boolean]>([
    [["tickets:write"], true],
    [["tickets:*"], true],
    [["admin:*"], true],
    [["tickets:read"], false],
    [["messages:*"], false],
  ])("is sent by %j: %j", async (scopes, isAllowed) => {
    const { messageId } = await deadLetter();
    const retrying = retry(messageId, principal(scopes));
    if (isAllowed) await retrying;
    else await expect(retrying).rejects.toMatchObject({ code: "insufficient_scope" });
    expect((await list()).length).toBe(isAllowed ? 0 : 1);
  });
});

describe("not_found is what is said of", () => {
  const expectNotFound = async (messageId: string, who = principal()) => {
    await expect(retry(messageId, who)).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining("svc dead-letters list"),
    });
    expect(published).toEqual([]);
  };

  test.each(["", "1", "no-id", "'; DROP TABLE messages", UNKNOWN, UNKNOWN.toUpperCase(), `${UNKNOWN} `, "\u0000"])(
    "a message that is not there: %j",
    async (messageId) => {
      await expectNotFound(messageId);
    },
  );

  test("a dead letter of another project, to an administrator too, and it stays one", async () => {
    const { messageId } = await deadLetter();
    const other = (await store.projects.ensure("other")).project;
    await expectNotFound(messageId, principal(["admin:*"], other));
    expect(await list()).toHaveLength(1);
  });

  test("a message that waits or was sent again already", async () => {
    const { messageId } = await deadLetter();
    await retry(messageId);
    published = [];
    await expectNotFound(messageId);
  });
});
