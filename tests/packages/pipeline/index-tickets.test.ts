import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ProjectId, Store } from "@svc/store";
import { testLog, waitFor } from "@svc/testing";
import { startTicketIndex } from "../../../apps/pipeline/src/index-tickets.ts";
import { createIsolation } from "../../../apps/pipeline/src/isolation.ts";
import { exchange, newMessage, openTestStore } from "../store/open-test-store.ts";
import type { TestStore } from "../store/open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(() => db.close());

/** Starts the index of a process that processes no messages. */
const startIndex = (overrides: Partial<Store> = {}, isolation = createIsolation()) =>
  startTicketIndex(
    { store: { ...db.store, ...overrides }, mailer: null, log: testLog() },
    { isBusy: () => false, isolation },
  );

async function find(project: ProjectId, word: string) {
  const words = { text: word, words: [word], beginning: null };
  const query = { sort: "-createdAt", limit: 10, after: undefined, words } as const;
  return (await db.store.ticketList.listPage(project, query)).tickets;
}

test("a replica indexes the words of the changes that it follows in the same sweep", async () => {
  const project = await db.newProject();
  const dueWork: Store["dueWork"] = {
    find: async () => ({ ...(await db.store.dueWork.find()), ticketTexts: false }),
  };
  const index = startIndex({ dueWork });
  try {
    await exchange(db.store, project, newMessage({ text: "Where is my parcel?" }), ["It is on its way."]);
    await waitFor(async () => (await find(project, "parcel")).length === 1, { what: "the ticket" });
  } finally {
    await index.stop();
  }
  expect(await find(project, "way")).toHaveLength(1);
});

test("a search finds what another process has queued, such as a customer's new name, after the next sweep", async () => {
  const project = await db.newProject();
  const index = startIndex();
  try {
    const { accepted } = await exchange(db.store, project, newMessage({ text: "Where is my lamp?", userId: "u-1" }), [
      "Soon.",
    ]);
    await waitFor(async () => (await find(project, "lamp")).length === 1, { what: "the ticket" });
    await db.sql(
      `UPDATE customers c SET name = 'Ottilie' FROM ticket_customers k WHERE k.customer_id = c.id AND k.ticket_id = $1`,
      [accepted.ticketId],
    );
    await db.sql("INSERT INTO ticket_text_queue (ticket_id) VALUES ($1)", [accepted.ticketId]);
    // Less than the ten seconds for which a process counts as busy.
    await waitFor(async () => (await find(project, "ottilie")).length === 1, { what: "the name", timeoutMs: 5_000 });
  } finally {
    await index.stop();
  }
});

test("a backlog of words does not delay the end of a snooze", async () => {
  const project = await db.newProject();
  const { accepted } = await exchange(db.store, project, newMessage(), ["Soon."]);
  const snoozed = "UPDATE tickets SET snoozed_until = now() + interval '100 milliseconds' WHERE id = $1";
  let stepCount = 0;
  const indexNext = () => Promise.resolve(++stepCount > 0);
  const index = startIndex({ ticketTexts: { ...db.store.ticketTexts, indexNext } });
  try {
    await waitFor(() => stepCount > 0, { what: "the backlog" });
    await db.sql(snoozed, [accepted.ticketId]);
    const isAwake = async () =>
      (await db.sql("SELECT FROM tickets WHERE id = $1 AND snoozed_until IS NULL", [accepted.ticketId])).length === 1;
    await waitFor(isAwake, { what: "the end of the snooze", timeoutMs: 10_000 });
  } finally {
    await index.stop();
  }
});

test("no words are indexed next to messages that may crash the process, and the other steps go on", async () => {
  const project = await db.newProject();
  const { accepted } = await exchange(db.store, project, newMessage(), ["Soon."]);
  const isolation = createIsolation();
  const suspect = { end: (): void => undefined, isRunning: false };
  const running = isolation.runExclusive(1, async () => {
    suspect.isRunning = true;
    await new Promise<void>((resolve) => {
      suspect.end = resolve;
    });
  });
  await waitFor(() => suspect.isRunning, { what: "the suspect to run" });
  let stepCount = 0;
  const indexNext = () => Promise.resolve(++stepCount < 2);
  const index = startIndex({ ticketTexts: { ...db.store.ticketTexts, indexNext } }, isolation);
  const wake = async () => {
    await db.sql("UPDATE tickets SET snoozed_until = now() WHERE id = $1", [accepted.ticketId]);
    const isAwake = async () =>
      (await db.sql("SELECT FROM tickets WHERE id = $1 AND snoozed_until IS NULL", [accepted.ticketId])).length === 1;
    await waitFor(isAwake, { what: "the end of the snooze", timeoutMs: 10_000 });
  };
  try {
    // The second end is in a later sweep than the first, which would have indexed words.
    await wake();
    await wake();
    expect(stepCount).toBe(0);
    suspect.end();
    await running;
    await wake();
    await waitFor(() => stepCount > 0, { what: "the index to go on" });
  } finally {
    suspect.end();
    await index.stop();
  }
});

test("the end of a snooze is reported before it is due, so that an idle process sweeps often by then", async () => {
  const project = await db.newProject();
  const { accepted } = await exchange(db.store, project, newMessage(), ["Soon."]);
  const snooze = (seconds: number) =>
    db.sql("UPDATE tickets SET snoozed_until = now() + make_interval(secs => $1) WHERE id = $2", [
      seconds,
      accepted.ticketId,
    ]);
  await snooze(60);
  expect((await db.store.dueWork.find()).snoozes).toBe(false);
  await snooze(2);
  expect((await db.store.dueWork.find()).snoozes).toBe(true);
});
