import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { MAX_LAPSES } from "@svc/store";
import type { ClaimedMessage, ProjectId, Store, Suspect } from "@svc/store";
import { answeredRun, newMessage, openAndFinish, openTestStore } from "./open-test-store.ts";
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
});

const FACTS = { app: "pipeline", host: "a-host", pid: 1, memoryBytes: 1, memoryLimitBytes: null };

/** Starts a process that sends heartbeats. */
async function startProcess(): Promise<Store> {
  const store = db.openAnother();
  await store.processes.beat(FACTS);
  return store;
}

/** Makes a process look killed, and detected as such. */
async function kill(process: Store): Promise<void> {
  await db.sql("UPDATE processes SET heard_at = now() - interval '1 minute', told_at = now() WHERE id = $1", [
    process.processes.ownId,
  ]);
}

async function accept(text = "hello"): Promise<string> {
  const { ticketId } = await db.store.messages.accept(project, newMessage({ text }));
  return ticketId;
}

async function claimAfterExpiry(process: Store, ticketId: string): Promise<ClaimedMessage | Suspect | null> {
  await db.expireLease(ticketId);
  return process.messages.claimConcurrently(project, ticketId);
}

test("expired leases of a running process count neither as crashes nor as attempts, and make no suspect", async () => {
  const ticketId = await accept();
  const [slow, other] = [await startProcess(), await startProcess()];
  for (let lapses = 0; lapses < 5; lapses++) {
    const process = lapses % 2 === 0 ? slow : other;
    expect(await claimAfterExpiry(process, ticketId)).toMatchObject({ attempts: 1, crashes: 0, lapses });
  }
});

test("a message that always exceeds its lease waits longer each time, and is reported", async () => {
  const ticketId = await accept();
  const process = await startProcess();
  const expired = (count: number) =>
    db.sql(
      `UPDATE messages SET expired_leases = (
         SELECT jsonb_agg(jsonb_build_object('process', $2::uuid, 'until', now())) FROM generate_series(1, $3)
       ) WHERE ticket_id = $1`,
      [ticketId, process.processes.ownId, count],
    );
  expect(await claimAfterExpiry(process, ticketId)).toMatchObject({ lapses: 0 });
  await expired(MAX_LAPSES - 1);
  expect(await claimAfterExpiry(process, ticketId)).toBeNull();
  await db.sql("UPDATE chats SET lease_until = now() - interval '5 minutes' WHERE ticket_id = $1", [ticketId]);
  expect(await process.messages.claimConcurrently(project, ticketId)).toMatchObject({ crashes: 0, lapses: MAX_LAPSES });
});

test("a lease that ends with its process is a crash, even if that is detected later", async () => {
  const ticketId = await accept();
  const [first, second, third] = [await startProcess(), await startProcess(), await startProcess()];
  await claimAfterExpiry(first, ticketId);
  await kill(first);
  expect(await claimAfterExpiry(second, ticketId)).toMatchObject({ attempts: 1, crashes: 1, lapses: 0 });
  // The death of the second one has not been detected yet.
  expect(await claimAfterExpiry(third, ticketId)).toMatchObject({ crashes: 1, lapses: 1 });
  await kill(second);
  expect(await claimAfterExpiry(third, ticketId)).toEqual({ groupLimit: Infinity });
});

test("a process that sends heartbeats again, or was shut down gracefully, has no crashes", async () => {
  const ticketId = await accept();
  const [paused, stopped, third] = [await startProcess(), await startProcess(), await startProcess()];
  await claimAfterExpiry(paused, ticketId);
  await kill(paused);
  await claimAfterExpiry(stopped, ticketId);
  await stopped.processes.end();
  expect(await claimAfterExpiry(third, ticketId)).toMatchObject({ crashes: 1, lapses: 1 });
  await paused.processes.beat(FACTS);
  expect(await claimAfterExpiry(third, ticketId)).toMatchObject({ crashes: 0, lapses: 3 });
});

test("a process that sent a heartbeat after its lease expired has not crashed with it, even if it is killed later", async () => {
  const ticketId = await accept();
  const [slow, other] = [await startProcess(), await startProcess()];
  await claimAfterExpiry(slow, ticketId);
  await db.sql("UPDATE chats SET lease_until = now() - interval '2 minutes' WHERE ticket_id = $1", [ticketId]);
  await kill(slow);
  expect(await other.messages.claimConcurrently(project, ticketId)).toMatchObject({ crashes: 0, lapses: 1 });
});

test("a process that reports its own crash has crashed with the messages in progress", async () => {
  const ticketId = await accept();
  const [first, second] = [await startProcess(), await startProcess()];
  const claimed = await first.messages.claim(project, ticketId);
  if (claimed === null) throw new Error("nothing was claimed");
  await first.processes.crash();
  // Unfinished messages are released in order.
  await first.messages.retryLater(claimed, { delayMs: 0, progress: {}, failure: "aborted", counts: false });
  expect(await second.messages.claim(project, ticketId)).toMatchObject({ attempts: 1, crashes: 1 });
});

test("an operator's retry of a dead letter resets its crashes", async () => {
  const ticketId = await accept();
  const [first, second] = [await startProcess(), await startProcess()];
  await claimAfterExpiry(first, ticketId);
  await kill(first);
  const claimed = await claimAfterExpiry(second, ticketId);
  if (claimed === null || "groupLimit" in claimed) throw new Error("nothing was claimed");
  await openAndFinish(second, answeredRun(claimed, [], { state: "failed", failure: "crashed", stage: "failed" }));
  expect(await db.store.reviews.retryUnopened(project, ticketId, claimed.messageId)).toBe(false);
  await db.sql("DELETE FROM tickets WHERE id = $1", [ticketId]);
  expect(await db.store.reviews.retryUnopened(project, ticketId, claimed.messageId)).toBe(true);
  expect(await second.messages.claimConcurrently(project, ticketId)).toMatchObject({
    attempts: 1,
    crashes: 0,
    lapses: 0,
  });
});
