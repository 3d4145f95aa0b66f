import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { ClaimedMessage, ProjectId } from "@svc/store";
import { answeredRun, claimNow, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let owner: ProjectId;
let stranger: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
  [owner, stranger] = [await db.newProject(), await db.newProject()];
});

afterAll(async () => {
  await db.close();
});

/** Creates a message that a worker has claimed. */
async function claimed(change: Parameters<typeof newMessage>[0] = {}): Promise<ClaimedMessage> {
  const { ticketId } = await db.store.messages.accept(owner, newMessage({ mode: "async", ...change }));
  const message = await claimNow(db.store, owner, ticketId);
  await db.store.tickets.open(owner, message);
  return message;
}

const textOf = ({ ticketId, messageId, leaseId }: ClaimedMessage, text: string) => ({
  ticketId,
  messageId,
  leaseId,
  text,
});

test("an unfinished answer is found until the message is finished, and is only written by the holder of the lease", async () => {
  const { unfinishedReplies, tickets } = db.store;
  const message = await claimed();
  const { ticketId, messageId } = message;
  const find = () => unfinishedReplies.find(owner, ticketId);
  expect(await find()).toEqual({ messageId, text: null, isCollected: true });
  expect(await unfinishedReplies.write(owner, textOf(message, "He"))).toBe(true);
  expect(await unfinishedReplies.write(owner, textOf(message, "Hello"))).toBe(true);
  expect(await unfinishedReplies.write(owner, textOf({ ...message, leaseId: newId() }, "late"))).toBe(false);
  expect(await unfinishedReplies.write(stranger, textOf(message, "forged"))).toBe(false);
  expect(await find()).toEqual({ messageId, text: "Hello", isCollected: true });
  expect(await unfinishedReplies.find(stranger, ticketId)).toBeNull();
  await tickets.finish(owner, answeredRun(message, ["Hello you"]));
  expect(await find()).toBeNull();
  expect(await unfinishedReplies.write(owner, textOf(message, "Hello yo"))).toBe(false);
});

test("a text written while the message finishes is stored before, or not at all", async () => {
  const { unfinishedReplies, tickets } = db.store;
  for (let round = 0; round < 10; round++) {
    const message = await claimed();
    const finishing = tickets.finish(owner, answeredRun(message, ["answer"]));
    const [isWritten] = await Promise.all([unfinishedReplies.write(owner, textOf(message, "ans")), finishing]);
    expect(typeof isWritten).toBe("boolean");
    expect(await finishing).not.toBeNull();
    expect(await unfinishedReplies.write(owner, textOf(message, "answ"))).toBe(false);
  }
});

test("the texts of several chats share a statement, and each has its own", async () => {
  const messages = await Promise.all(Array.from({ length: 5 }, () => claimed()));
  const { unfinishedReplies } = db.store;
  await Promise.all(messages.map((message) => unfinishedReplies.write(owner, textOf(message, message.ticketId))));
  const found = await Promise.all(messages.map(({ ticketId }) => unfinishedReplies.find(owner, ticketId)));
  expect(found.map((one) => one?.text)).toEqual(messages.map(({ ticketId }) => ticketId));
});

test("a reply that a call or a callback waits for is not returned to readers of the chat", async () => {
  const callInstance = newId();
  await db.store.instances.beat(callInstance, "api");
  const call = await claimed({ mode: "sync", callInstance });
  const { unfinishedReplies } = db.store;
  expect(await unfinishedReplies.find(owner, call.ticketId)).toMatchObject({ isCollected: false });
  await db.store.replies.endCall(owner, call.messageId);
  expect(await unfinishedReplies.find(owner, call.ticketId)).toMatchObject({ isCollected: true });
});

test("abandoned texts are deleted, and immediately with their conversation", async () => {
  const { unfinishedReplies } = db.store;
  const [idle, busy] = [await claimed(), await claimed()];
  for (const message of [idle, busy]) await unfinishedReplies.write(owner, textOf(message, "text"));
  await db.sql("UPDATE unfinished_replies SET updated_at = now() - interval '61 seconds' WHERE message_id = $1", [
    idle.messageId,
  ]);
  await unfinishedReplies.removeIdle();
  const texts = [idle, busy].map(async ({ ticketId }) => (await unfinishedReplies.find(owner, ticketId))?.text);
  expect(await Promise.all(texts)).toEqual([null, "text"]);
  await db.sql("DELETE FROM messages WHERE id = $1", [busy.messageId]);
  expect(await db.sql("SELECT 1 FROM unfinished_replies WHERE message_id = $1", [busy.messageId])).toEqual([]);
});

test("a call can get its delivered replies again, but not those of another reader", async () => {
  const { replies, tickets, instances } = db.store;
  const instance = newId();
  await instances.beat(instance, "api");
  const [own, others] = [
    await claimed({ mode: "sync", callInstance: instance }),
    await claimed({ mode: "sync", callInstance: instance }),
  ];
  for (const message of [own, others]) await tickets.finish(owner, answeredRun(message, ["answer"]));
  const found = await replies.readForCall(owner, own.messageId, instance);
  const ids = (found?.replies ?? []).map(({ id }) => id);
  await replies.endAnsweredCall(owner, own.messageId, ids);
  await replies.endCall(owner, others.messageId);
  const limits = { maxReplies: 10, maxBytes: 1_000, keptDays: 7 };
  const [taken] = (await replies.claimFromBuffer(owner, others.ticketId, instance, limits)).replies;
  // The outcome of its delivery is not known yet.
  expect(await replies.listDelivered(owner, others.messageId)).toBeNull();
  await replies.confirm(owner, taken?.id ?? "");
  expect((await replies.listDelivered(owner, own.messageId))?.map(({ id }) => id)).toEqual(ids);
  expect(await replies.listDelivered(stranger, own.messageId)).toEqual([]);
  expect(await replies.listDelivered(owner, others.messageId)).toEqual([]);
});

test("replies that a resumed call has claimed from the buffer count as delivered by it", async () => {
  const { replies, tickets, instances } = db.store;
  const instance = newId();
  await instances.beat(instance, "api");
  const message = await claimed({ mode: "sync", callInstance: instance });
  await replies.endCall(owner, message.messageId);
  await tickets.finish(owner, answeredRun(message, ["answer"]));
  const takeId = newId();
  const taken = await replies.claimForCall(owner, message.messageId, instance, takeId);
  const ids = (taken?.replies ?? []).map(({ id }) => id);
  expect(ids).toHaveLength(1);
  await replies.endResumedCall(stranger, message.messageId, ids);
  expect(await replies.listDelivered(owner, message.messageId)).toBeNull();
  for (const _ of ["once", "again"]) await replies.endResumedCall(owner, message.messageId, ids);
  expect((await replies.listDelivered(owner, message.messageId))?.map(({ id }) => id)).toEqual(ids);
  await replies.release(owner, message.ticketId, takeId);
  const limits = { maxReplies: 10, maxBytes: 1_000, keptDays: 7 };
  expect((await replies.claimFromBuffer(owner, message.ticketId, instance, limits)).replies).toEqual([]);
});
