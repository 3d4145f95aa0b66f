import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { IDEMPOTENCY_HOURS, newId } from "@svc/store";
import type { IdempotentCall, StoredResponse, ProjectId } from "@svc/store";
import { LIMITS, answeredRun, claimNow, newMessage, openAndFinish, openTestStore, textsOf } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let project: ProjectId;
/** Two live processes. */
let instance: string;
let other: string;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(async () => {
  await db.close();
});

beforeEach(async () => {
  project = await db.newProject();
  [instance, other] = await Promise.all([newInstance(), newInstance()]);
});

/** Creates a process that counts as alive for the whole test. */
async function newInstance(): Promise<string> {
  const id = newId();
  await db.sql("INSERT INTO instances (id, app, alive_until) VALUES ($1, 'api', now() + interval '1 hour')", [id]);
  return id;
}

const keys = () => db.store.idempotencyKeys;
const hashOf = (body: string) => createHash("sha256").update(body).digest();
/** Returns a call with a new key. */
function newCall(change: Partial<IdempotentCall> = {}): IdempotentCall {
  return {
    apiKeyId: newId(),
    project,
    method: "POST",
    path: "/api/v1/messages",
    key: `key ${newId()}`,
    bodyHash: hashOf("the body"),
    callId: newId(),
    instance,
    messageId: newId(),
    chatId: newId(),
    ...change,
  };
}

/** Returns a retry of the call: another request, with ids of its own. */
const repeatOf = (call: IdempotentCall, change: Partial<IdempotentCall> = {}): IdempotentCall => ({
  ...call,
  callId: newId(),
  messageId: newId(),
  chatId: newId(),
  ...change,
});

const ANSWER: StoredResponse = {
  status: 202,
  headers: { "Content-Type": "application/json; charset=utf-8", Location: "/api/v1/messages/%F0%9F%99%82" },
  body: '{"ok":true,"text":"naïve 🙂 \\u0000 \\ud800 שלום"}',
};

const MINE = (call: IdempotentCall, isRepeat: boolean) => ({
  kind: "mine",
  isRepeat,
  messageId: call.messageId,
  chatId: call.chatId,
});
const ANSWERED = (call: IdempotentCall, answer: StoredResponse) => ({
  kind: "answered",
  answer,
  messageId: call.messageId,
  chatId: call.chatId,
});

/** Makes a key look older. */
const makeOld = (call: IdempotentCall, minutesOverTime: number) =>
  db.sql(
    `UPDATE idempotency_keys SET created_at = now() - interval '${IDEMPOTENCY_HOURS} hours' - $2 * interval '1 minute'
     WHERE key = $1`,
    [call.key, minutesOverTime],
  );

describe("a key", () => {
  test("belongs to the first call, and returns its message and chat", async () => {
    const call = newCall();
    expect(await keys().claim(call)).toEqual(MINE(call, false));
  });

  test("is busy for every other call while the first one is running", async () => {
    const call = newCall();
    await keys().claim(call);
    expect(await keys().claim(repeatOf(call))).toEqual({ kind: "busy" });
    expect(await keys().claim(repeatOf(call, { instance: other }))).toEqual({ kind: "busy" });
  });

  test("returns the stored response to retries, byte for byte", async () => {
    const call = newCall();
    await keys().claim(call);
    await keys().storeResponse(call, ANSWER);
    for (const by of [instance, other]) {
      expect(await keys().claim(repeatOf(call, { instance: by }))).toEqual(ANSWERED(call, ANSWER));
    }
  });

  test("rejects another body: during the first call, after its release, and after its response", async () => {
    const call = newCall();
    const different = () => keys().claim(repeatOf(call, { bodyHash: hashOf("another body") }));
    await keys().claim(call);
    expect(await different()).toEqual({ kind: "mismatch" });
    await keys().release(call);
    expect(await different()).toEqual({ kind: "mismatch" });
    const repeat = repeatOf(call);
    expect(await keys().claim(repeat)).toEqual(MINE(call, true));
    await keys().storeResponse(repeat, ANSWER);
    expect(await different()).toEqual({ kind: "mismatch" });
    expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, ANSWER));
  });

  test("is separate per API key, method and path", async () => {
    const call = newCall();
    const others: Partial<IdempotentCall>[] = [
      { apiKeyId: newId() },
      { method: "PUT" },
      { path: "/api/v1/other" },
      { key: `${call.key} ` },
      { key: call.key.toUpperCase() },
    ];
    for (const change of [{}, ...others]) {
      const one = repeatOf(call, { bodyHash: hashOf(JSON.stringify(change)), ...change });
      expect(await keys().claim(one)).toEqual(MINE(one, false));
    }
  });

  test("may have 255 characters of any kind", async () => {
    for (const character of ["x", "é", "ÿ", "'", "\\", "%", "\t"]) {
      const call = newCall({ key: character.repeat(255) });
      await keys().claim(call);
      await keys().storeResponse(call, ANSWER);
      expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, ANSWER));
    }
  });

  test("is claimed by one of many concurrent calls in two processes", async () => {
    const another = db.openAnother();
    for (let round = 0; round < 20; round++) {
      const call = newCall();
      const claims = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? db.store : another).idempotencyKeys.claim(
            repeatOf(call, { instance: index % 2 === 0 ? instance : other }),
          ),
        ),
      );
      expect(claims.filter(({ kind }) => kind === "mine")).toEqual([expect.objectContaining({ isRepeat: false })]);
      expect(claims.filter(({ kind }) => kind === "busy").length).toBe(19);
    }
  });
});

describe("a call that ended without a response", () => {
  test("leaves its slot, with the ids of its message, to the next one", async () => {
    const call = newCall();
    await keys().claim(call);
    await keys().release(call);
    expect(await keys().claim(repeatOf(call, { instance: other }))).toEqual(MINE(call, true));
  });

  test("by a crash leaves its slot once its process counts as dead, and not before", async () => {
    const call = newCall();
    await keys().claim(call);
    const repeat = repeatOf(call, { instance: other });
    expect(await keys().claim(repeat)).toEqual({ kind: "busy" });
    await db.killInstance(instance);
    expect(await keys().claim(repeat)).toEqual(MINE(call, true));
    expect(await keys().claim(repeatOf(call, { instance: other }))).toEqual({ kind: "busy" });
  });

  test("by a shutdown leaves its slot immediately", async () => {
    const call = newCall();
    await keys().claim(call);
    await db.store.instances.end(instance);
    expect(await keys().claim(repeatOf(call, { instance: other }))).toEqual(MINE(call, true));
  });

  test("leaves its slot to exactly one of many concurrent calls", async () => {
    for (let round = 0; round < 20; round++) {
      const dead = await newInstance();
      const call = newCall({ instance: dead });
      await keys().claim(call);
      await db.killInstance(dead);
      const claims = await Promise.all(
        Array.from({ length: 12 }, (_, index) =>
          keys().claim(repeatOf(call, { instance: index % 2 === 0 ? instance : other })),
        ),
      );
      expect(claims.filter(({ kind }) => kind === "mine")).toEqual([MINE(call, true)]);
    }
  });
});

describe("a call that counts as dead", () => {
  test("keeps its slot within its own process, which knows that it is alive", async () => {
    const call = newCall();
    await keys().claim(call);
    await db.killInstance(instance);
    expect(await keys().claim(repeatOf(call))).toEqual({ kind: "busy" });
  });

  test("can neither store its response nor release the key once another call has its slot", async () => {
    const call = newCall();
    await keys().claim(call);
    await db.killInstance(instance);
    const successor = repeatOf(call, { instance: other });
    await keys().claim(successor);
    await db.store.instances.beat(instance, "api");

    await keys().storeResponse(call, { ...ANSWER, body: "too late" });
    await keys().release(call);
    expect(await keys().claim(repeatOf(call))).toEqual({ kind: "busy" });
    await keys().storeResponse(successor, ANSWER);
    await keys().storeResponse(call, { ...ANSWER, body: "much too late" });
    await keys().release(call);
    expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, ANSWER));
  });

  test("has its slot again if no other call has claimed it", async () => {
    const call = newCall();
    await keys().claim(call);
    await db.killInstance(instance);
    await db.store.instances.beat(instance, "api");
    expect(await keys().claim(repeatOf(call, { instance: other }))).toEqual({ kind: "busy" });
    await keys().storeResponse(call, ANSWER);
    expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, ANSWER));
  });
});

describe("a write that is repeated because its result was unknown", () => {
  test("changes neither a stored response nor a released key", async () => {
    const call = newCall();
    await keys().claim(call);
    await keys().release(call);
    const successor = repeatOf(call);
    await keys().claim(successor);
    await keys().release(call);
    expect(await keys().claim(repeatOf(call))).toEqual({ kind: "busy" });

    await keys().storeResponse(successor, ANSWER);
    await keys().storeResponse(successor, ANSWER);
    await keys().release(successor);
    expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, ANSWER));
  });

  test("does not free a claim that a later call has made", async () => {
    const call = newCall();
    await keys().claim(call);
    await keys().storeResponse(call, ANSWER);
    const better = repeatOf(call);
    expect(await keys().reclaim(better, ANSWER)).toBe(true);
    await keys().storeResponse(call, { ...ANSWER, body: "again" });
    await keys().release(call);
    expect(await keys().reclaim(repeatOf(call), ANSWER)).toBe(false);
    expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, ANSWER));
  });
});

describe("a response that can be replaced by a better one", () => {
  const BETTER = { status: 200, headers: {}, body: "better" };

  async function answeredCall(): Promise<IdempotentCall> {
    const call = newCall();
    await keys().claim(call);
    await keys().storeResponse(call, ANSWER);
    return call;
  }

  test("is taken over by one of many concurrent calls; the others get the former response", async () => {
    const call = await answeredCall();
    const repeats = Array.from({ length: 12 }, (_, index) =>
      repeatOf(call, { instance: index % 2 === 0 ? instance : other }),
    );
    const won = await Promise.all(repeats.map((repeat) => keys().reclaim(repeat, ANSWER)));
    expect(won.filter(Boolean).length).toBe(1);
    expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, ANSWER));
    const winner = repeats[won.indexOf(true)] ?? call;
    await keys().storeResponse(winner, BETTER);
    expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, BETTER));
  });

  test("is not taken over by a call that has read the former response, once there is a better one", async () => {
    for (const better of [BETTER, { ...ANSWER, body: "another one with the same status" }]) {
      const call = await answeredCall();
      const first = repeatOf(call);
      await keys().reclaim(first, ANSWER);
      await keys().storeResponse(first, better);
      expect(await keys().reclaim(repeatOf(call), ANSWER)).toBe(false);
      expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, better));
    }
  });

  test("is kept if the call gives up or crashes, and can be taken over again", async () => {
    const call = await answeredCall();
    const first = repeatOf(call);
    await keys().reclaim(first, ANSWER);
    await keys().release(first);
    const second = repeatOf(call, { instance: other });
    expect(await keys().reclaim(second, ANSWER)).toBe(true);
    await db.killInstance(other);
    expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, ANSWER));
    expect(await keys().reclaim(repeatOf(call), ANSWER)).toBe(true);
  });

  test("is not taken over by another API key", async () => {
    const call = await answeredCall();
    expect(await keys().reclaim(repeatOf(call, { apiKeyId: newId() }), ANSWER)).toBe(false);
  });
});

describe("the response of a sync call that its caller has received", () => {
  async function answeredSync(texts: string[]) {
    const call = newCall();
    await keys().claim(call);
    const message = newMessage({ mode: "sync", callInstance: instance });
    const { messageId, ticketId } = await db.store.messages.accept(project, message, call.messageId);
    expect(messageId).toBe(call.messageId);
    await openAndFinish(db.store, answeredRun(await claimNow(db.store, project, ticketId), texts));
    const outcome = await db.store.replies.readForCall(project, messageId, instance);
    return { call, ticketId, replies: outcome?.replies ?? [] };
  }

  const buffered = async (ticketId: string) =>
    textsOf((await db.store.replies.readBuffer(project, ticketId, 0, LIMITS)).replies);

  test("is stored, its replies are marked as delivered and its call is ended, atomically", async () => {
    const { call, ticketId, replies } = await answeredSync(["one", "two", "three"]);
    expect(textsOf(replies)).toEqual(["one", "two", "three"]);
    const replyIds = replies.slice(0, 2).map(({ id }) => id);
    await keys().storeResponse(call, ANSWER, { messageId: call.messageId, replyIds });
    expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, ANSWER));
    // Replies that the response does not contain are in the buffer from then on, and no others, even if the process
    // crashes.
    expect(await buffered(ticketId)).toEqual(["three"]);
    await db.killInstance(instance);
    expect(await buffered(ticketId)).toEqual(["three"]);
  });

  test("has its replies marked as delivered even if the key was taken over meanwhile", async () => {
    const { call, ticketId, replies } = await answeredSync(["answer"]);
    await db.killInstance(instance);
    await keys().claim(repeatOf(call, { instance: other }));
    await keys().storeResponse(call, ANSWER, { messageId: call.messageId, replyIds: replies.map(({ id }) => id) });
    expect(await keys().claim(repeatOf(call))).toEqual({ kind: "busy" });
    expect(await buffered(ticketId)).toEqual([]);
  });

  test("ends no call and delivers nothing of another project", async () => {
    const { call, ticketId, replies } = await answeredSync(["answer"]);
    const forged = newCall({ project: await db.newProject() });
    await keys().claim(forged);
    await keys().storeResponse(forged, ANSWER, { messageId: call.messageId, replyIds: replies.map(({ id }) => id) });
    const outcome = await db.store.replies.readForCall(project, call.messageId, instance);
    expect(textsOf(outcome?.replies ?? [])).toEqual(["answer"]);
    expect(await buffered(ticketId)).toEqual([]);
  });
});

describe(`a key that is older than ${IDEMPOTENCY_HOURS} hours`, () => {
  test("is a new key, also for another body, and even if an old call still has it", async () => {
    const call = newCall();
    await keys().claim(call);
    await makeOld(call, 1);
    const again = repeatOf(call, { bodyHash: hashOf("another body") });
    expect(await keys().claim(again)).toEqual(MINE(again, false));
    expect(await keys().claim(repeatOf(again))).toEqual({ kind: "busy" });
    // The old call has lost it.
    await keys().storeResponse(call, ANSWER);
    await keys().release(call);
    expect(await keys().claim(repeatOf(again))).toEqual({ kind: "busy" });
    await keys().storeResponse(again, ANSWER);
    expect(await keys().claim(repeatOf(again))).toEqual(ANSWERED(again, ANSWER));
  });

  test("loses its response", async () => {
    const call = newCall();
    await keys().claim(call);
    await keys().storeResponse(call, ANSWER);
    await makeOld(call, -1);
    expect(await keys().claim(repeatOf(call))).toEqual(ANSWERED(call, ANSWER));
    await makeOld(call, 1);
    const again = repeatOf(call);
    expect(await keys().claim(again)).toEqual(MINE(again, false));
    // Its 24 hours restart too.
    expect(await keys().deleteExpired(1_000)).toBe(0);
    expect(await keys().claim(repeatOf(again))).toEqual({ kind: "busy" });
  });

  test("is a new key for exactly one of many concurrent calls", async () => {
    const call = newCall();
    await keys().claim(call);
    await keys().storeResponse(call, ANSWER);
    await makeOld(call, 1);
    const claims = await Promise.all(Array.from({ length: 20 }, () => keys().claim(repeatOf(call))));
    expect(claims.filter(({ kind }) => kind === "mine").length).toBe(1);
    expect(claims.filter(({ kind }) => kind === "busy").length).toBe(19);
  });

  test("is deleted, and no newer one", async () => {
    const [old, young] = [newCall(), newCall()];
    for (const call of [old, young]) {
      await keys().claim(call);
      await keys().storeResponse(call, ANSWER);
    }
    await makeOld(old, 1);
    await makeOld(young, -1);
    expect(await keys().deleteExpired(1_000)).toBe(1);
    expect(await keys().deleteExpired(1_000)).toBe(0);
    const rows = await db.sql<{ key: string }>("SELECT key FROM idempotency_keys WHERE key = ANY ($1)", [
      [old.key, young.key],
    ]);
    expect(rows).toEqual([{ key: young.key }]);
  });

  test("can be claimed while it is being deleted", async () => {
    for (let round = 0; round < 20; round++) {
      const call = newCall();
      await keys().claim(call);
      await makeOld(call, 1);
      const repeat = repeatOf(call);
      const [claim] = await Promise.all([
        keys().claim(repeat),
        keys().deleteExpired(1_000),
        keys().deleteExpired(1_000),
      ]);
      expect(claim).toEqual(MINE(repeat, false));
      expect(await keys().claim(repeatOf(call))).toEqual({ kind: "busy" });
    }
  });
});
