import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { ProjectId, StoredReply } from "@svc/store";
import { waitFor } from "@svc/testing";
import { LIMITS, answeredRun, claimNow, exchange, newMessage, openTestStore, textsOf } from "./open-test-store.ts";
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

/** Creates a process with a heartbeat. */
async function newInstance(): Promise<string> {
  const id = newId();
  await db.store.instances.beat(id, "api");
  return id;
}

const buffered = async (ticketId: string) =>
  textsOf((await db.store.replies.readBuffer(project, ticketId, 0, LIMITS)).replies);

const seenByCall = async ({ messageId, instance }: { messageId: string; instance: string }) =>
  textsOf((await db.store.replies.readForCall(project, messageId, instance))?.replies ?? []);

/** Creates an open sync call, whose message has been answered with these texts. */
async function openCall(texts: string[], chatId = `call ${newId()}`) {
  const instance = await newInstance();
  const { accepted } = await exchange(
    db.store,
    project,
    newMessage({ chatId, mode: "sync", callInstance: instance }),
    texts,
  );
  return { ...accepted, instance, chatId };
}

test("a waiting call reads its message's state and then the replies to it, in order", async () => {
  const instance = await newInstance();
  const { messageId, ticketId } = await db.store.messages.accept(
    project,
    newMessage({ mode: "sync", callInstance: instance }),
  );
  const check = () => db.store.replies.readForCall(project, messageId, instance);
  expect(await check()).toEqual({ state: "received", coveredBy: null, replies: [] });
  const claimed = await claimNow(db.store, project, ticketId);
  await db.store.tickets.open(project, claimed);
  await db.store.tickets.finish(project, answeredRun(claimed, ["one", "two"]));
  const outcome = await check();
  expect(outcome?.state).toBe("answered");
  expect(textsOf(outcome?.replies ?? [])).toEqual(["one", "two"]);
  expect(outcome?.replies.map(({ inReplyTo }) => inReplyTo)).toEqual([messageId, messageId]);
  // Reading claims nothing: a call that reads twice, concurrently or later, misses nothing.
  expect(await Promise.all([check(), check()])).toEqual([outcome, outcome]);
  expect(await db.store.replies.readForCall(project, newId(), instance)).toBeNull();
});

test("many concurrent calls only get their own replies", async () => {
  const calls = await Promise.all(Array.from({ length: 30 }, (_, index) => openCall([`a${index}`, `b${index}`])));
  const outcomes = await Promise.all(
    calls.map(({ messageId, instance }) => db.store.replies.readForCall(project, messageId, instance)),
  );
  expect(outcomes.map((outcome) => textsOf(outcome?.replies ?? []))).toEqual(
    calls.map((_, index) => [`a${index}`, `b${index}`]),
  );
});

test("a call gets the replies to its own message, not those to another one of its chat", async () => {
  const chatId = "two messages";
  await exchange(db.store, project, newMessage({ chatId }), ["for async"]);
  const call = await openCall(["for the call"], chatId);
  expect(await seenByCall(call)).toEqual(["for the call"]);
  expect(await buffered(call.ticketId)).toEqual(["for async"]);
});

test("the replies of an open call are not in the buffer", async () => {
  const call = await openCall(["answer"]);
  expect(await buffered(call.ticketId)).toEqual([]);
  expect((await db.store.replies.claimFromBuffer(project, call.ticketId, call.instance, LIMITS)).replies).toEqual([]);
  await db.store.replies.acknowledge(project, call.ticketId, 100);
  expect(await seenByCall(call)).toEqual(["answer"]);
});

test("an answered call has its replies delivered, and the others are in the buffer", async () => {
  const call = await openCall(["has it", "has it too", "came too late"]);
  const outcome = await db.store.replies.readForCall(project, call.messageId, call.instance);
  const delivered = (outcome?.replies ?? []).slice(0, 2).map(({ id }) => id);
  await db.store.replies.endAnsweredCall(project, call.messageId, delivered);
  expect(await buffered(call.ticketId)).toEqual(["came too late"]);
  // Ending it again, or a crash of its process, returns nothing to the buffer.
  await db.store.replies.endCall(project, call.messageId);
  await db.store.replies.endAnsweredCall(project, call.messageId, []);
  await db.killInstance(call.instance);
  expect(await buffered(call.ticketId)).toEqual(["came too late"]);
});

test("many calls that end concurrently each release their own replies", async () => {
  const calls = await Promise.all(Array.from({ length: 30 }, (_, index) => openCall([`a${index}`, `b${index}`])));
  await Promise.all(
    calls.map(async ({ messageId, instance }, index) => {
      const outcome = await db.store.replies.readForCall(project, messageId, instance);
      const [first] = outcome?.replies ?? [];
      return index % 3 === 0
        ? db.store.replies.endCall(project, messageId)
        : db.store.replies.endAnsweredCall(project, messageId, index % 3 === 1 && first ? [first.id] : []);
    }),
  );
  for (const [index, { ticketId }] of calls.entries()) {
    expect(await buffered(ticketId)).toEqual(index % 3 === 1 ? [`b${index}`] : [`a${index}`, `b${index}`]);
  }
});

test("the replies of a call that ended without a response are in the buffer immediately", async () => {
  const call = await openCall(["nobody there"]);
  await db.store.replies.endCall(project, call.messageId);
  expect(await buffered(call.ticketId)).toEqual(["nobody there"]);
});

test("a reply that is created after the end of its call is in the buffer", async () => {
  const instance = await newInstance();
  const message = newMessage({ mode: "sync", callInstance: instance });
  const { messageId, ticketId } = await db.store.messages.accept(project, message);
  await db.store.replies.endCall(project, messageId);
  const claimed = await claimNow(db.store, project, ticketId);
  await db.store.tickets.open(project, claimed);
  await db.store.tickets.finish(project, answeredRun(claimed, ["late"]));
  expect(await buffered(ticketId)).toEqual(["late"]);
});

test("a crashed process loses its claimed replies, and those of its calls", async () => {
  const call = await openCall(["in a call"]);
  const { accepted } = await exchange(db.store, project, newMessage(), ["from the buffer"]);
  await db.store.replies.claimFromBuffer(project, accepted.ticketId, call.instance, LIMITS);
  expect([await buffered(call.ticketId), await buffered(accepted.ticketId)]).toEqual([[], []]);

  await db.killInstance(call.instance);
  expect(await buffered(call.ticketId)).toEqual(["in a call"]);
  expect(await buffered(accepted.ticketId)).toEqual(["from the buffer"]);
  const successor = await newInstance();
  const page = await db.store.replies.claimFromBuffer(project, call.ticketId, successor, LIMITS);
  expect(textsOf(page.replies)).toEqual(["in a call"]);
});

test("a process that shuts down releases its replies", async () => {
  const call = await openCall(["answer"]);
  expect(await buffered(call.ticketId)).toEqual([]);
  await db.store.instances.end(call.instance);
  expect(await buffered(call.ticketId)).toEqual(["answer"]);
});

test("the calls of a process that counts as dead get no replies until its next heartbeat", async () => {
  const call = await openCall(["answer"]);
  await db.killInstance(call.instance);
  // Its replies are in the buffer now: a reader there must be the only one who gets them.
  expect(await seenByCall(call)).toEqual([]);
  expect(await buffered(call.ticketId)).toEqual(["answer"]);
  await db.store.instances.beat(call.instance, "api");
  expect(await seenByCall(call)).toEqual(["answer"]);
  expect(await buffered(call.ticketId)).toEqual([]);
});

test("released replies return to the buffer, confirmed ones do not", async () => {
  const instance = await newInstance();
  const { accepted } = await exchange(db.store, project, newMessage(), ["one", "two", "three"]);
  const take = async (takeId: string, maxReplies: number) =>
    (await db.store.replies.claimFromBuffer(project, accepted.ticketId, instance, { ...LIMITS, maxReplies }, takeId))
      .replies;
  const [first, second, third] = [newId(), newId(), newId()];
  const taken = await take(first, 2);
  expect(textsOf(taken)).toEqual(["one", "two"]);
  expect(textsOf(await take(second, 2))).toEqual(["three"]);
  const [one = ""] = taken.map(({ id }) => id);
  await db.store.replies.confirm(project, one);
  await db.store.replies.confirm(project, one);
  await db.store.replies.release(project, accepted.ticketId, first);
  expect(await buffered(accepted.ticketId)).toEqual(["two"]);
  expect(textsOf(await take(third, 2))).toEqual(["two"]);
  // A repeated release does not release replies that were claimed since, in the same process.
  await db.store.replies.release(project, accepted.ticketId, first);
  expect(await buffered(accepted.ticketId)).toEqual([]);
});

test("many concurrent confirmations each apply to their reply", async () => {
  const instance = await newInstance();
  const texts = Array.from({ length: 50 }, (_, index) => `reply ${index}`);
  const { accepted } = await exchange(db.store, project, newMessage(), texts);
  const { replies } = await db.store.replies.claimFromBuffer(project, accepted.ticketId, instance, LIMITS);
  await Promise.all(replies.map(({ id }) => db.store.replies.confirm(project, id)));
  await db.killInstance(instance);
  expect(await buffered(accepted.ticketId)).toEqual([]);
});

test("concurrent plain readers of two processes get each reply exactly once, in order", async () => {
  const another = db.openAnother();
  const instances = await Promise.all(Array.from({ length: 8 }, newInstance));
  const texts = Array.from({ length: 40 }, (_, index) => `reply ${index}`);
  const { accepted } = await exchange(db.store, project, newMessage(), texts);
  const got: StoredReply[] = [];
  while (got.length < texts.length) {
    const pages = await Promise.all(
      instances.map((instance, index) =>
        (index % 2 === 0 ? db.store : another).replies.claimFromBuffer(project, accepted.ticketId, instance, {
          ...LIMITS,
          maxReplies: 3,
        }),
      ),
    );
    for (const { replies } of pages) {
      const positions = replies.map(({ seq }) => seq);
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
      expect(replies.length).toBeLessThanOrEqual(3);
      got.push(...replies);
    }
  }
  expect(new Set(got.map(({ id }) => id)).size).toBe(texts.length);
  expect(got.length).toBe(texts.length);
});

test("concurrent plain readers of many chats, each with its own limits, get the replies of their chat only", async () => {
  const chats = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const texts = Array.from({ length: 5 }, (_item, place) => `reply ${place} of chat ${index}`);
      const { accepted } = await exchange(db.store, project, newMessage(), texts);
      const taking = { ticketId: accepted.ticketId, instance: await newInstance(), takeId: newId() };
      return { ...taking, texts, limits: { ...LIMITS, maxReplies: 1 + (index % 6) } };
    }),
  );
  const [first, small, hidden] = chats;
  if (first === undefined || small === undefined || hidden === undefined) throw new Error("there are no chats");
  small.limits = { ...LIMITS, maxBytes: 1 };
  // Another reader has the first reply and may lose it: a cursor beyond it would acknowledge it.
  const {
    replies: [other],
  } = await db.store.replies.claimFromBuffer(project, hidden.ticketId, await newInstance(), {
    ...LIMITS,
    maxReplies: 1,
  });
  expect(other).toMatchObject({ text: "reply 0 of chat 2", seq: 2 });
  const pages = await Promise.all(
    chats.map(({ ticketId, instance, takeId, limits }) =>
      db.store.replies.claimFromBuffer(project, ticketId, instance, limits, takeId),
    ),
  );
  const expected = chats.map((chat) => {
    const from = chat === hidden ? 1 : 0;
    const texts = chat.texts.slice(from, chat === small ? 1 : from + chat.limits.maxReplies);
    // The message itself has the first number of its chat.
    const cursor = chat === hidden ? 1 : 1 + texts.length;
    return { texts, more: from + texts.length < chat.texts.length, cursor };
  });
  expect(pages.map(({ replies, more, cursor }) => ({ texts: textsOf(replies), more, cursor }))).toEqual(expected);
  // Each reader has claimed its own: releasing one frees no other.
  await db.store.replies.release(project, first.ticketId, first.takeId);
  const rest = await Promise.all(
    chats.map(({ ticketId, instance }) => db.store.replies.claimFromBuffer(project, ticketId, instance, LIMITS)),
  );
  const left = chats.map((chat, index) => {
    const from = chat === hidden ? 1 : 0;
    return chat.texts.slice(chat === first ? 0 : from + (expected[index]?.texts.length ?? 0));
  });
  expect(rest.map(({ replies }) => textsOf(replies))).toEqual(left);
});

test("replies to webhook messages are sent by callback and not in the buffer", async () => {
  const { accepted } = await exchange(db.store, project, newMessage({ mode: "webhook" }), ["by callback"]);
  expect(await buffered(accepted.ticketId)).toEqual([]);
});

test("a process only counts as dead if another one was alive without interruption", async () => {
  // The test servers must have been up for a while; before that no process counts as dead.
  const isUp = "SELECT now() > pg_postmaster_start_time() + interval '7 seconds' AS is_up";
  await waitFor(async () => (await db.sql<{ is_up: boolean }>(isUp))[0]?.is_up, {
    what: "the server's grace",
  });
  const call = await openCall(["answer"]);
  await db.sql("DELETE FROM instances WHERE id <> $1", [call.instance]);
  await db.sql("UPDATE instances SET alive_until = now() - interval '1 second'");
  // The database may have been unavailable.
  expect(await buffered(call.ticketId)).toEqual([]);
  const witness = await newInstance();
  expect(await buffered(call.ticketId)).toEqual([]);
  const setBack = (column: string, by: string) =>
    db.sql(`UPDATE instances SET ${column} = now() - interval '${by}' WHERE id = $1`, [witness]);
  // The witness itself was interrupted: its heartbeat proves nothing about the time before.
  await setBack("alive_since", "1 hour");
  await setBack("alive_until", "1 second");
  await db.store.instances.beat(witness, "api");
  expect(await buffered(call.ticketId)).toEqual([]);
  // The witness has been alive for as long as a process may take to reconnect.
  await setBack("alive_since", "5 seconds");
  expect(await buffered(call.ticketId)).toEqual(["answer"]);
  // The process that was disconnected is back.
  await db.store.instances.beat(call.instance, "api");
  expect(await buffered(call.ticketId)).toEqual([]);
  // Continuous heartbeats keep the witness valid.
  await db.store.instances.beat(witness, "api");
  await db.sql("UPDATE instances SET alive_until = now() - interval '1 second' WHERE id = $1", [call.instance]);
  expect(await buffered(call.ticketId)).toEqual(["answer"]);
  // Without any live process, nothing is withheld forever.
  await db.store.instances.end(witness);
  expect(await buffered(call.ticketId)).toEqual([]);
  await db.sql("UPDATE instances SET alive_until = now() - interval '121 seconds' WHERE id = $1", [call.instance]);
  expect(await buffered(call.ticketId)).toEqual(["answer"]);
});

test("processes count as alive until their last heartbeat is too old", async () => {
  const app = `app-${newId()}`;
  const [first, second] = [newId(), newId()];
  await db.store.instances.beat(first, app);
  await db.store.instances.beat(second, app);
  await db.store.instances.beat(second, app);
  expect(await db.store.instances.countAlive(app)).toBe(2);
  await db.killInstance(first);
  expect(await db.store.instances.countAlive(app)).toBe(1);
  await db.store.instances.beat(first, app);
  expect(await db.store.instances.countAlive(app)).toBe(2);
  await db.store.instances.end(first);
  expect(await db.store.instances.countAlive(app)).toBe(1);
});
