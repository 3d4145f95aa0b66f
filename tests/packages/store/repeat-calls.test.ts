import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { CallOutcome, ProjectId, StoredReply } from "@svc/store";
import {
  LIMITS,
  answeredRun,
  claimNow,
  newMessage,
  openAndFinish,
  openTestStore,
  reviveLetter,
  textsOf,
} from "./open-test-store.ts";
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

/** Number of attempts to hit a race between two statements. */
const ROUNDS = 40;

/** Creates a process that counts as alive for the whole test. */
async function newInstance(): Promise<string> {
  const id = newId();
  await db.sql("INSERT INTO instances (id, app, alive_until) VALUES ($1, 'api', now() + interval '1 hour')", [id]);
  return id;
}

interface Call {
  messageId: string;
  ticketId: string;
  instance: string;
}

/** Creates a sync call of a live process, whose message has no answer yet. */
async function openCall(): Promise<Call> {
  const instance = await newInstance();
  const accepted = await db.store.messages.accept(project, newMessage({ mode: "sync", callInstance: instance }));
  return { ...accepted, instance };
}

/** Answers the message of a call, like the pipeline. */
async function answer({ ticketId }: Call, texts: string[]): Promise<void> {
  await openAndFinish(db.store, answeredRun(await claimNow(db.store, project, ticketId), texts));
}

const reopen = ({ messageId }: Call, instance: string) => db.store.replies.reopenCall(project, messageId, instance);
const take = ({ messageId }: Call, instance: string) => db.store.replies.claimForCall(project, messageId, instance);
const endCall = ({ messageId }: Call) => db.store.replies.endCall(project, messageId);
const drain = ({ ticketId }: Call, instance: string) =>
  db.store.replies.claimFromBuffer(project, ticketId, instance, LIMITS);
const buffered = async ({ ticketId }: Call) =>
  textsOf((await db.store.replies.readBuffer(project, ticketId, 0, LIMITS)).replies);

/** Returns the replies for the first call of a message, without claiming them. */
const seenByFirst = async ({ messageId, instance }: Call) =>
  textsOf((await db.store.replies.readForCall(project, messageId, instance))?.replies ?? []);

const found = (outcome: CallOutcome | null) => ({ state: outcome?.state, texts: textsOf(outcome?.replies ?? []) });

describe("a call whose caller disconnected and retries", () => {
  test("has the replies to its message reserved from then on, and gets them once", async () => {
    const call = await openCall();
    await endCall(call);
    const instance = await newInstance();
    await reopen(call, instance);
    expect(found(await take(call, instance))).toEqual({ state: "received", texts: [] });
    await answer(call, ["one", "two"]);
    expect(await buffered(call)).toEqual([]);
    expect((await drain(call, await newInstance())).replies).toEqual([]);
    expect(found(await take(call, instance))).toEqual({ state: "answered", texts: ["one", "two"] });
    expect(found(await take(call, instance))).toEqual({ state: "answered", texts: [] });
  });

  test("gets the replies that were buffered meanwhile exclusively", async () => {
    const call = await openCall();
    await endCall(call);
    await answer(call, ["answer"]);
    expect(await buffered(call)).toEqual(["answer"]);
    const instance = await newInstance();
    await reopen(call, instance);
    expect(found(await take(call, instance))).toEqual({ state: "answered", texts: ["answer"] });
    expect(await buffered(call)).toEqual([]);
    expect((await drain(call, instance)).replies).toEqual([]);
  });

  test("gets no reply that a reader of the drain has claimed or acknowledged", async () => {
    const call = await openCall();
    await endCall(call);
    await answer(call, ["taken", "acknowledged"]);
    const reader = await newInstance();
    await db.store.replies.claimFromBuffer(project, call.ticketId, reader, { ...LIMITS, maxReplies: 1 });
    await db.store.replies.acknowledge(project, call.ticketId, 3);
    expect(found(await take(call, await newInstance()))).toEqual({ state: "answered", texts: [] });
  });

  test("that disconnects again leaves everything to the next one, and to the drain", async () => {
    const call = await openCall();
    await endCall(call);
    const instance = await newInstance();
    await reopen(call, instance);
    await answer(call, ["answer"]);
    const takeId = newId();
    const taken = await db.store.replies.claimForCall(project, call.messageId, instance, takeId);
    // The claim may be repeated, because the response of the store may have been lost.
    expect(await db.store.replies.claimForCall(project, call.messageId, instance, takeId)).toEqual(taken);
    await endCall(call);
    await db.store.replies.release(project, call.ticketId, takeId);
    expect(await buffered(call)).toEqual(["answer"]);
    expect(found(await take(call, await newInstance()))).toEqual({ state: "answered", texts: ["answer"] });
  });

  test("whose process crashes then leaves everything to the next one, and to the drain", async () => {
    const call = await openCall();
    await endCall(call);
    const instance = await newInstance();
    await reopen(call, instance);
    await answer(call, ["answer"]);
    expect(found(await take(call, instance)).texts).toEqual(["answer"]);
    await db.killInstance(instance);
    expect(await buffered(call)).toEqual(["answer"]);
    expect(found(await take(call, await newInstance())).texts).toEqual(["answer"]);
  });

  test("claims nothing of another message of its chat, nor of another project", async () => {
    const call = await openCall();
    await answer(call, ["its own"]);
    await endCall(call);
    const stranger = await db.newProject();
    const instance = await newInstance();
    await db.store.replies.reopenCall(stranger, call.messageId, instance);
    expect(await db.store.replies.claimForCall(stranger, call.messageId, instance)).toBeNull();
    expect(await db.store.replies.claimForCall(project, newId(), instance)).toBeNull();
    expect(await buffered(call)).toEqual(["its own"]);
  });
});

describe("a message with an open call in a live process", () => {
  test("appears unanswered to another process, which claims nothing until that call has ended", async () => {
    const call = await openCall();
    await answer(call, ["answer"]);
    const other = await newInstance();
    expect(found(await take(call, other))).toEqual({ state: "received", texts: [] });
    expect(await seenByFirst(call)).toEqual(["answer"]);
    await endCall(call);
    expect(found(await take(call, other))).toEqual({ state: "answered", texts: ["answer"] });
  });

  test("stays reserved for that call if another process tries to take it over", async () => {
    const call = await openCall();
    const other = await newInstance();
    await reopen(call, other);
    await answer(call, ["answer"]);
    expect(await seenByFirst(call)).toEqual(["answer"]);
    expect(found(await take(call, other))).toEqual({ state: "received", texts: [] });
  });

  test("is free for another one when that process crashes", async () => {
    const call = await openCall();
    await db.killInstance(call.instance);
    const other = await newInstance();
    await reopen(call, other);
    await answer(call, ["answer"]);
    expect(await buffered(call)).toEqual([]);
    expect(found(await take(call, other))).toEqual({ state: "answered", texts: ["answer"] });
  });
});

describe("a process that counted as dead, and is alive again after another one has taken over its call,", () => {
  test("sees no replies of that call", async () => {
    const call = await openCall();
    await db.killInstance(call.instance);
    const other = await newInstance();
    await reopen(call, other);
    await db.store.instances.beat(call.instance, "api");
    await answer(call, ["answer"]);
    expect(await seenByFirst(call)).toEqual([]);
    expect(found(await take(call, other))).toEqual({ state: "answered", texts: ["answer"] });
    expect(await seenByFirst(call)).toEqual([]);
  });

  test("has its call again if the other one was too late to take it over", async () => {
    const call = await openCall();
    await db.killInstance(call.instance);
    const other = await newInstance();
    await db.store.instances.beat(call.instance, "api");
    await reopen(call, other);
    await answer(call, ["answer"]);
    expect(found(await take(call, other))).toEqual({ state: "received", texts: [] });
    expect(await seenByFirst(call)).toEqual(["answer"]);
  });

  test("and the other one get each reply once, in any order", async () => {
    const another = db.openAnother();
    for (let round = 0; round < ROUNDS; round++) {
      const call = await openCall();
      await db.killInstance(call.instance);
      const other = await newInstance();
      const takeOver = async () => {
        await another.replies.reopenCall(project, call.messageId, other);
        return another.replies.claimForCall(project, call.messageId, other);
      };
      await Promise.all([db.store.instances.beat(call.instance, "api"), takeOver(), answer(call, ["answer"])]);
      const checks = await Promise.all([seenByFirst(call), take(call, other).then((outcome) => found(outcome).texts)]);
      // The first call claims nothing, so the replies that it sees must belong to no other; the other one may have had
      // it before.
      expect(checks.flat().length).toBeLessThanOrEqual(1);
    }
  });
});

describe("each reply goes to exactly one of several concurrent readers:", () => {
  const TEXTS = ["one", "two", "three"];
  const idsOf = (replies: readonly StoredReply[]) => replies.map(({ id }) => id);

  /** Creates a call that has ended, with its replies in the buffer. */
  async function overCall(): Promise<Call> {
    const call = await openCall();
    await endCall(call);
    await answer(call, TEXTS);
    return call;
  }

  test("a retry and plain readers of the drain, in two processes", async () => {
    const another = db.openAnother();
    const [instance, other] = [await newInstance(), await newInstance()];
    for (let round = 0; round < ROUNDS; round++) {
      const call = await overCall();
      const got = await Promise.all([
        take(call, instance).then((outcome) => outcome?.replies ?? []),
        another.replies
          .claimFromBuffer(project, call.ticketId, other, { ...LIMITS, maxReplies: 1 + (round % 3) })
          .then(({ replies }) => replies),
        drain(call, instance).then(({ replies }) => replies),
      ]);
      // A reader skips replies that another one is claiming; the rest is returned by the next read.
      const rest = (await drain(call, other)).replies;
      const all = idsOf([...got.flat(), ...rest]);
      expect(all.length).toBe(TEXTS.length);
      expect(new Set(all).size).toBe(TEXTS.length);
      await Promise.all(all.map((id) => db.store.replies.confirm(project, id)));
      expect(await buffered(call)).toEqual([]);
    }
  });

  test("two retries, in two processes", async () => {
    const another = db.openAnother();
    const [instance, other] = [await newInstance(), await newInstance()];
    for (let round = 0; round < ROUNDS; round++) {
      const call = await overCall();
      const outcomes = await Promise.all([
        take(call, instance),
        another.replies.claimForCall(project, call.messageId, other),
      ]);
      const all = outcomes.flatMap((outcome) => idsOf(outcome?.replies ?? []));
      expect(all.length).toBe(TEXTS.length);
      expect(new Set(all).size).toBe(TEXTS.length);
    }
  });

  test("a retry, a reader with a cursor, and the end of the previous call: nothing is lost", async () => {
    const another = db.openAnother();
    const instance = await newInstance();
    for (let round = 0; round < ROUNDS; round++) {
      const call = await openCall();
      await answer(call, TEXTS);
      const [, outcome] = await Promise.all([
        another.replies.endCall(project, call.messageId),
        take(call, instance),
        another.replies.acknowledge(project, call.ticketId, 2),
      ]);
      const page = await db.store.replies.readBuffer(project, call.ticketId, 0, LIMITS);
      const acknowledged = await db.sql<{ id: string }>(
        "SELECT id FROM replies WHERE ticket_id = $1 AND delivered_at IS NOT NULL",
        [call.ticketId],
      );
      // Replies that a reader has acknowledged may also be in transit to the retry, but only if the reader has read
      // them before.
      const [taken, left] = [idsOf(outcome?.replies ?? []), idsOf(page.replies)];
      expect(taken.filter((id) => left.includes(id))).toEqual([]);
      expect(new Set([...taken, ...left, ...acknowledged.map(({ id }) => id)]).size).toBe(TEXTS.length);
    }
  });

  test("the run that creates them, and a caller that retries at that moment", async () => {
    const another = db.openAnother();
    const [instance, other] = [await newInstance(), await newInstance()];
    for (let round = 0; round < ROUNDS; round++) {
      const call = await openCall();
      await endCall(call);
      const comeBack = async () => {
        await another.replies.reopenCall(project, call.messageId, other);
        return another.replies.claimForCall(project, call.messageId, other);
      };
      const [, early, page] = await Promise.all([answer(call, TEXTS), comeBack(), drain(call, instance)]);
      const late = await take(call, other);
      const rest = (await drain(call, instance)).replies;
      const all = idsOf([...(early?.replies ?? []), ...(late?.replies ?? []), ...page.replies, ...rest]);
      expect(all.length).toBe(TEXTS.length);
      expect(new Set(all).size).toBe(TEXTS.length);
    }
  });
});

test("a call waits for a retried dead letter, and does not return its error text as answer", async () => {
  const call = await openCall();
  await endCall(call);
  const claimed = await claimNow(db.store, project, call.ticketId);
  const failed = { state: "failed", stage: "failed", status: "open", failure: "gave up" } as const;
  await openAndFinish(db.store, answeredRun(claimed, ["a person will look at it"], failed));
  await reviveLetter(db.store, project, call.messageId);
  const instance = await newInstance();
  expect(found(await take(call, instance))).toEqual({ state: "received", texts: [] });
  expect(await buffered(call)).toEqual(["a person will look at it"]);
});
