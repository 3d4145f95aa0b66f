import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { localAdministrator } from "@svc/auth";
import type { Queues } from "@svc/queue";
import { newId, openStore } from "@svc/store";
import type { Project, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { reviewTicket } from "./reviews.ts";

let database: TestDatabase;
let store: Store;
let project: Project;
/** The queues to which something was published. */
let published: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "x".repeat(32), log: testLog() });
  project = (await store.projects.ensure("reviewed")).project;
});

beforeEach(() => {
  published = [];
});

afterAll(async () => {
  await store.close();
  await database.drop();
});

const queues = {
  publish(name: string) {
    published.push(name);
    return Promise.resolve();
  },
} as unknown as Queues;
const deps = () => ({ store, queues, log: testLog() });
const operator = () => localAdministrator(project);

const accept = (chatId: string) =>
  store.messages.accept(project.id, {
    channelId: "api",
    chatId,
    userId: null,
    text: "Where is my parcel?",
    timestampMs: Date.now(),
    attachments: null,
    channelMeta: {},
    mode: "async",
    callInstance: null,
    callback: null,
  });

/** A ticket whose one message waits for a person, and its version. */
async function heldTicket(chatId: string): Promise<{ ticketId: string; version: number }> {
  const { ticketId } = await accept(chatId);
  const message = await store.messages.claim(project.id, ticketId);
  if (message === null) throw new Error("the message could not be claimed");
  await store.tickets.open(project.id, message);
  await store.tickets.finish(project.id, {
    message,
    state: "held",
    failure: null,
    stage: "review",
    status: "open",
    agentId: null,
    confidence: null,
    language: null,
    moves: [],
    trace: {},
    replies: [],
    draft: { text: "The draft.", markdown: false, sources: [], confidence: 0.4, why: "not sure" },
  });
  const ticket = await store.tickets.find(project.id, ticketId);
  return { ticketId, version: ticket?.version ?? 0 };
}

describe("a reply while the customer has written something that is not in the ticket yet", () => {
  test("is refused where it names the version that was read, and goes out where it names none", async () => {
    const chatId = newId();
    const { ticketId, version } = await heldTicket(chatId);
    await accept(chatId);
    const replying = reviewTicket.reply(deps(), operator(), ticketId, { text: "Mine." }, [version]);
    await expect(replying).rejects.toMatchObject({ code: "version_conflict" });
    expect(published).toEqual([]);
    const answered = await reviewTicket.reply(deps(), operator(), ticketId, { text: "Mine." });
    expect(answered).toMatchObject({ stage: "delivering", version: version + 1 });
    expect(published).toEqual(["review-decisions"]);
  });
});

describe("the pipeline is told of a decision", () => {
  test("where it has something to do, and of nothing else", async () => {
    const chatId = newId();
    const { ticketId } = await heldTicket(chatId);
    await reviewTicket.note(deps(), operator(), ticketId, { text: "A note." });
    await reviewTicket.takeover(deps(), operator(), ticketId, {});
    await reviewTicket.resolve(deps(), operator(), ticketId, {});
    await reviewTicket.reopen(deps(), operator(), ticketId, {});
    expect(published).toEqual([]);
    // A run that is under way begins anew, so somebody has to begin it.
    await accept(chatId);
    await reviewTicket.takeover(deps(), operator(), ticketId, {});
    expect(published).toEqual(["review-decisions"]);
  });
});

test("a decision answers the ticket as it has made it, also where the ticket is gone a moment later", async () => {
  const { ticketId, version } = await heldTicket(newId());
  const vanishing: Store = {
    ...store,
    ticketDetails: { ...store.ticketDetails, find: () => Promise.resolve(null) },
  };
  const item = await reviewTicket.approve({ ...deps(), store: vanishing }, operator(), ticketId, {}, [version]);
  expect(item).toMatchObject({ id: ticketId, stage: "delivering", version: version + 1, project: project.name });
});
