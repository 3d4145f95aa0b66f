import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { ClaimedMessage, ProjectId } from "@svc/store";
import { answeredRun, claimNow, newMessage, openTestStore, reviveLetter } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(async () => {
  await db.close();
});

beforeEach(async () => {
  project = await db.newProject();
  // The sweeper works on all projects: messages left by earlier tests would be due here.
  await db.sql("UPDATE messages SET state = 'answered' WHERE state = 'received'");
});

async function accept(chatId: string, text = chatId): Promise<{ messageId: string; ticketId: string }> {
  return db.store.messages.accept(project, newMessage({ chatId, text }));
}

async function start(chatId: string): Promise<ClaimedMessage> {
  const { ticketId } = await accept(chatId);
  const claimed = await claimNow(db.store, project, ticketId);
  await db.store.tickets.open(project, claimed);
  return claimed;
}

/** Makes deferred messages due. */
async function letTimePass(): Promise<void> {
  await db.sql(
    `UPDATE messages SET due_at = now() - interval '1 second',
       not_before = CASE WHEN not_before IS NOT NULL THEN now() - interval '1 second' END
     WHERE project_id = $1`,
    [project],
  );
}

const RETRY = { delayMs: 60_000, progress: { found: 1 }, failure: "the model is away", counts: true };

test("a failed attempt is deferred, releases the chat, keeps its results, and counts", async () => {
  const first = await start("counts");
  await db.store.messages.retryLater(first, RETRY);
  expect(await db.store.messages.claim(project, first.ticketId)).toBeNull();
  await letTimePass();
  expect(await claimNow(db.store, project, first.ticketId)).toMatchObject({
    messageId: first.messageId,
    attempts: 2,
    progress: { found: 1 },
  });
});

test("an attempt that failed for an external reason does not count", async () => {
  const first = await start("does not count");
  for (let round = 0; round < 3; round++) {
    await letTimePass();
    const claimed = round === 0 ? first : await claimNow(db.store, project, first.ticketId);
    expect(claimed.attempts).toBe(1);
    await db.store.messages.retryLater(claimed, { ...RETRY, counts: false });
  }
});

test("a deferred message is not overtaken by a later one of its chat", async () => {
  const first = await start("no overtaking");
  await accept("no overtaking", "later");
  await db.store.messages.retryLater(first, RETRY);
  expect(await db.store.messages.claim(project, first.ticketId)).toBeNull();
  await letTimePass();
  expect((await claimNow(db.store, project, first.ticketId)).messageId).toBe(first.messageId);
});

test("a worker that has lost its lease cannot defer a message", async () => {
  const first = await start("lost");
  await db.expireLease(first.ticketId);
  const second = await claimNow(db.store, project, first.ticketId);
  await db.store.messages.retryLater(first, { ...RETRY, counts: false });
  // The lease of the second one is still valid, its attempt still counts, and its message is not deferred.
  expect(await db.store.messages.claim(project, first.ticketId)).toBeNull();
  const rows = await db.sql("SELECT attempts, not_before, failure FROM messages WHERE id = $1", [first.messageId]);
  expect(rows).toEqual([{ attempts: 1, not_before: null, failure: "lease expired" }]);
  expect(await db.store.chats.renewLeases([second])).toEqual(new Set([second.leaseId]));
});

test("a message that waits too long is announced once by the sweepers of all processes", async () => {
  const accepted = await Promise.all(Array.from({ length: 30 }, (_, index) => accept(`due ${index}`)));
  expect(await db.store.messages.claimDue(100)).toEqual([]);
  await letTimePass();
  const another = db.openAnother();
  const taken = (
    await Promise.all([
      db.store.messages.claimDue(20),
      another.messages.claimDue(20),
      db.store.messages.claimDue(20),
      another.messages.claimDue(20),
    ])
  ).flat();
  expect(taken.map(({ messageId }) => messageId).toSorted()).toEqual(
    accepted.map(({ messageId }) => messageId).toSorted(),
  );
  expect(taken[0]).toMatchObject({ project, attempts: 0 });
  expect(await db.store.messages.claimDue(100)).toEqual([]);
  await letTimePass();
  expect((await db.store.messages.claimDue(100)).length).toBe(30);
});

test("the sweeper announces the longest due first, up to its limit", async () => {
  for (const [index, chatId] of ["newest", "oldest", "middle"].entries()) {
    const { messageId } = await accept(chatId);
    const ageS = [10, 30, 20][index];
    await db.sql("UPDATE messages SET due_at = now() - $2 * interval '1 second' WHERE id = $1", [messageId, ageS]);
  }
  const taken = await db.store.messages.claimDue(2);
  const rows = await db.sql<{ text: string }>("SELECT text FROM messages WHERE id = ANY ($1) ORDER BY text", [
    taken.map(({ messageId }) => messageId),
  ]);
  expect(rows.map(({ text }) => text)).toEqual(["middle", "oldest"]);
});

test("the sweeper skips a chat while a live worker has it", async () => {
  const { ticketId, messageId } = await start("leased");
  await letTimePass();
  expect(await db.store.messages.claimDue(100)).toEqual([]);
  await db.expireLease(ticketId);
  expect(await db.store.messages.claimDue(100)).toEqual([
    { project, messageId, ticketId, attempts: 1, priority: 0, isIssue: false },
  ]);
});

test("the sweeper announces the same share of each project with due messages, however many one of them has", async () => {
  const other = await db.newProject();
  await Promise.all(Array.from({ length: 30 }, (_, index) => accept(`flood ${index}`)));
  await db.store.messages.accept(other, newMessage());
  await db.sql("UPDATE messages SET due_at = now() - interval '1 minute' WHERE project_id = $1", [project]);
  await db.sql("UPDATE messages SET due_at = now() - interval '1 second' WHERE project_id = $1", [other]);
  const taken = await db.store.messages.claimDue(10);
  const prioritiesOf = (of: ProjectId) =>
    taken
      .filter((due) => due.project === of)
      .map(({ priority }) => priority)
      .toSorted();
  expect(prioritiesOf(other)).toEqual([0]);
  expect(prioritiesOf(project)).toEqual([0, 1, 2, 3, 4]);
});

test("what the sweeper announces of a backlog has the priority of a new message, so that it does not overtake others", async () => {
  const [flooding, other] = [await db.newProject(), await db.newProject()];
  const flood = Array.from({ length: 150 }, () => db.store.messages.accept(flooding, newMessage({ chatId: newId() })));
  await Promise.all([...flood, db.store.messages.accept(other, newMessage())]);
  await db.sql("UPDATE messages SET due_at = now() WHERE project_id = ANY ($1)", [[flooding, other]]);
  const taken = await db.store.messages.claimDue(10);
  const priorities = taken.map(({ project: of, priority }) => [of === other ? "other" : "flooding", priority]);
  expect(priorities.toSorted()).toEqual([...Array.from({ length: 5 }, () => ["flooding", 50]), ["other", 0]]);
});

test("the sweeper skips a message until its retry is due", async () => {
  const message = await start("backing off");
  await db.store.messages.retryLater(message, RETRY);
  expect(await db.store.messages.claimDue(100)).toEqual([]);
  await letTimePass();
  expect((await db.store.messages.claimDue(100)).map(({ messageId }) => messageId)).toEqual([message.messageId]);
});

test("the age of the oldest waiting message counts only those that can be processed", async () => {
  expect(await db.store.messages.oldestWaitingMs()).toBe(0);
  const { messageId } = await accept("waits");
  const age = (text: string) =>
    db.sql(`UPDATE messages SET created_at = now() - interval '1 hour', ${text} WHERE id = $1`, [messageId]);
  await age("due_at = now() - interval '1 minute'");
  expect(await db.store.messages.oldestWaitingMs()).toBeGreaterThanOrEqual(3_600_000);
  await age("not_before = now() + interval '1 minute', due_at = now() + interval '1 minute'");
  expect(await db.store.messages.oldestWaitingMs()).toBe(0);
});

test("a message that failed permanently is a dead letter of its project, with its text and reason, newest first", async () => {
  for (const chatId of ["dead 1", "dead 2", "dead 3"]) {
    const claimed = await start(chatId);
    const run = answeredRun(claimed, [], {
      state: "failed",
      stage: "failed",
      status: "open",
      failure: `why ${chatId}`,
    });
    await db.store.tickets.finish(project, run);
  }
  const letters = await db.store.messages.listDeadLetters(project, 2);
  expect(letters).toEqual(
    ["dead 3", "dead 2"].map((chatId) => ({
      messageId: expect.any(String),
      ticketId: expect.any(String),
      channelId: "api",
      chatId,
      text: chatId,
      failure: `why ${chatId}`,
      failedAt: expect.any(Date),
    })),
  );
});

test("a retried dead letter has new attempts, is due immediately, and its ticket is in received again", async () => {
  const claimed = await start("revived");
  await db.store.messages.retryLater(claimed, { ...RETRY, delayMs: 0 });
  const last = await claimNow(db.store, project, claimed.ticketId);
  const failed = answeredRun(last, [], { state: "failed", stage: "failed", status: "open", failure: "gave up" });
  await db.store.tickets.finish(project, failed);
  const { messageId, ticketId } = claimed;
  expect(await db.store.messages.claim(project, ticketId)).toBeNull();

  const due = { project, messageId, ticketId, attempts: 0, priority: 0, isIssue: false };
  expect(await reviveLetter(db.store, project, messageId, "operator-1")).toBe(true);
  expect(await reviveLetter(db.store, project, messageId, "operator-1")).toBe(false);
  expect(await db.store.messages.listDeadLetters(project, 10)).toEqual([]);
  expect(await db.store.messages.claimDue(10)).toEqual([due]);
  expect(await db.store.tickets.find(project, ticketId)).toMatchObject({ stage: "received" });
  expect((await db.store.tickets.listMoves(project, ticketId)).at(-1)).toMatchObject({
    actor: "operator-1",
    from: "failed",
    to: "received",
  });
  expect(await claimNow(db.store, project, ticketId)).toMatchObject({ messageId, attempts: 1 });
});
