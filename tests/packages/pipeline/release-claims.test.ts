import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { ServiceError } from "@svc/contracts";
import type { ProjectId, Store } from "@svc/store";
import { testLog } from "@svc/testing";
import { createIsolation } from "../../../apps/pipeline/src/create-isolation.ts";
import { createChatLeases, processMessages } from "../../../apps/pipeline/src/process-messages.ts";
import { processReviews } from "../../../apps/pipeline/src/process-reviews.ts";
import type { StageContext } from "../../../apps/pipeline/src/run.ts";
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
