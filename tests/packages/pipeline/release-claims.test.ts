import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import type { IncomingJob } from "@svc/contracts";
import type { ProjectId, Store } from "@svc/store";
import { testLog, waitFor } from "@svc/testing";
import { createIsolation } from "../../../apps/pipeline/src/isolation.ts";
import { createChatLeases, processMessages } from "../../../apps/pipeline/src/process-messages.ts";
import { processReviews } from "../../../apps/pipeline/src/process-reviews.ts";
import type { Run, StageContext } from "../../../apps/pipeline/src/run.ts";
import { exchange, newMessage, openTestStore } from "../store/open-test-store.ts";
import type { TestStore } from "../store/open-test-store.ts";

let db: TestStore;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
  project = await db.newProject();
});
afterAll(() => db.close());

const unavailable = () => Promise.reject(new ServiceError("unavailable", "The database is unreachable. Retry."));

/** Returns `write`, failing twice as if the store were unavailable. */
function afterTwoErrors<Args extends unknown[]>(write: (...args: Args) => Promise<void>) {
  let calls = 0;
  return (...args: Args): Promise<void> => (++calls <= 2 ? unavailable() : write(...args));
}

/** Returns the worker's dependencies up to its first read, which fails. */
const contextWith = (change: Partial<Store>) =>
  ({
    store: { ...db.store, ...change },
    readSettings: unavailable,
    models: null,
    log: testLog(),
  }) as unknown as StageContext;

const RELEASED = { lease_id: null, expired_leases: null, attempts: 0 };

test("a decision that could not start during an outage is released when it ends: no attempt, no expired lease", async () => {
  const { ticketId } = (await exchange(db.store, project, newMessage(), ["An answer."])).accepted;
  await db.store.reviews.decide(project, ticketId, ({ ticket }) => ({
    action: "reply",
    actor: "tester",
    ticket: { ...ticket, stage: "delivering" },
    why: "tested",
    data: {},
    waiting: "stay",
    dropsDraft: false,
    interrupts: true,
    work: {
      kind: "send",
      author: "operator",
      text: "Mine.",
      markdown: false,
      sources: [],
      fileIds: [],
      resolves: false,
      covers: [],
      answers: null,
    },
    lessons: [],
  }));
  const { tickets, reviews } = db.store;
  const context = contextWith({
    tickets: { ...tickets, find: unavailable },
    reviews: { ...reviews, retryLater: afterTwoErrors((review, retry) => reviews.retryLater(review, retry)) },
  });
  const deps = {
    leases: createChatLeases(context),
    isolation: createIsolation(),
    messages: { process: () => Promise.resolve() },
  };
  await processReviews(context, deps).process({ project, ticketId });
  const state =
    "SELECT lease_id, expired_leases, attempts FROM reviews r JOIN chats c USING (ticket_id) WHERE ticket_id = $1";
  expect(await db.sql(state, [ticketId])).toEqual([RELEASED]);
});

test("a message that could not start during an outage is released when it ends: no attempt, no expired lease", async () => {
  const { ticketId } = await db.store.messages.accept(project, newMessage());
  const { messages } = db.store;
  const context = contextWith({
    messages: { ...messages, retryLater: afterTwoErrors((message, retry) => messages.retryLater(message, retry)) },
  });
  const deps = { leases: createChatLeases(context), isolation: createIsolation() };
  await (await processMessages(context, deps)).process({ project, ticketId });
  const state =
    "SELECT lease_id, expired_leases, attempts FROM messages m JOIN chats c USING (ticket_id) WHERE ticket_id = $1";
  expect(await db.sql(state, [ticketId])).toEqual([RELEASED]);
});

test("a job announces several conversations: each is claimed once, and an overloaded process claims fewer at a time", async () => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const { messages } = db.store;
  const context = contextWith({
    messages: {
      ...messages,
      async claimConcurrently(_project, ticketId) {
        begun.push(ticketId);
        await new Promise<void>((resolve) => void ends.push(resolve));
        return null;
      },
    },
  });
  const handlers = new Map<string, (job: IncomingJob) => Promise<void>>();
  const queues = {
    isUp: () => false,
    consume(name: string, handle: (job: IncomingJob) => Promise<void>) {
      handlers.set(name, handle);
      return { close: () => Promise.resolve(), setShare: () => undefined };
    },
  } as unknown as StageContext["queues"];
  const deps = { leases: createChatLeases(context), isolation: createIsolation() };
  const work = await processMessages({ ...context, queues }, deps);
  work.start();
  const announced = (ticketId: string) => ({ project, messageId: `message of ${ticketId}`, ticketId });
  const job = { ...announced("a"), others: [announced("b"), announced("a"), announced("c")] };

  const done = handlers.get("incoming-messages")?.(job);
  await waitFor(() => begun.length === 3, { what: "the claims" });
  expect(begun).toEqual(["a", "b", "c"]);
  work.setShare(1 / 100);
  const later = handlers.get("incoming-messages")?.({ ...announced("d"), others: [announced("e")] });
  for (const end of ends.splice(0)) end();
  await done;
  await waitFor(() => begun.length > 3, { what: "the next claim" });
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun.slice(3)).toEqual(["d"]);
  ends[0]?.();
  await waitFor(() => begun.length === 5, { what: "the last claim" });
  ends[1]?.();
  await later;
  await work.stop();
});

test("what a run has found is stored once it lasts, and again only after another stage", async () => {
  jest.useFakeTimers();
  try {
    const stored: unknown[] = [];
    const { chats } = db.store;
    const context = contextWith({
      chats: {
        ...chats,
        renewLeases: (claims) => Promise.resolve(new Set(claims.map(({ leaseId }) => leaseId))),
        saveProgress: (_project, _messageId, _leaseId, progress) => Promise.resolve(void stored.push(progress)),
      },
    });
    const triage = { agentId: null, confidence: 0, why: "tested" };
    const run = { message: { messageId: "m" }, triage } as unknown as Run;
    const claim = { project, ticketId: "t", leaseId: "l", run };
    const lease = createChatLeases(context).hold(claim);
    const seconds = [];
    for (let second = 1; second <= 4; second += 1) {
      await jest.advanceTimersByTimeAsync(1_000);
      seconds.push(stored.length);
      if (second === 3) run.answer = { text: null } as unknown as Run["answer"];
    }
    lease.drop();
    expect(seconds).toEqual([0, 1, 1, 2]);
    expect(stored).toEqual([{ triage }, { triage, answer: { text: null } }]);
  } finally {
    jest.useRealTimers();
  }
});
