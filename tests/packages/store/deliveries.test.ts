import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { ClaimedDelivery, DeliveryRequest, ProjectId, Store, AttemptResult } from "@svc/store";
import { waitFor } from "@svc/testing";
import { Client } from "pg";
import { LIMITS, answeredRun, claimNow, newMessage, openAndFinish, openTestStore, textsOf } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let store: Store;
let project: ProjectId;

beforeAll(async () => {
  db = await openTestStore();
  store = db.store;
});

afterAll(async () => {
  await db.close();
});

beforeEach(async () => {
  project = await db.newProject();
});

const URL = "http://127.0.0.1:1/hook?a=b";

/** A pending callback. */
interface Pending {
  id: string;
  messageId: string;
  ticketId: string;
}

/** Answers a webhook message of a chat, and creates its callback. */
async function addCallback(chatId: string, texts = ["answer"], apiKeyId: string | null = null): Promise<Pending> {
  const callback = {
    url: URL,
    deliveryId: newId(),
    apiKeyId,
    sealedSecret: store.sealer.seal("the key of the sender"),
    timeoutMs: 30_000,
  };
  const message = newMessage({ chatId, mode: "webhook", channelMeta: { order: 7 }, callback });
  const { messageId, ticketId } = await store.messages.accept(project, message);
  await openAndFinish(store, answeredRun(await claimNow(store, project, ticketId), texts));
  await store.callbacks.settle([{ project, ticketId }]);
  return { id: callback.deliveryId, messageId, ticketId };
}

/** Answers an async message of a chat. */
async function addBuffered(chatId: string, text: string): Promise<void> {
  const { ticketId } = await store.messages.accept(project, newMessage({ chatId, mode: "async" }));
  await openAndFinish(store, answeredRun(await claimNow(store, project, ticketId), [text]));
}

async function claim({ ticketId }: Pick<Pending, "ticketId">, on = store): Promise<ClaimedDelivery> {
  const claimed = await on.deliveries.claim(project, ticketId);
  if (claimed === null) throw new Error(`no callback to claim in the chat of ticket ${ticketId}`);
  return claimed;
}

/** Claims the next callback of a chat and begins its attempt. */
async function begin(pending: Pick<Pending, "ticketId">): Promise<DeliveryRequest> {
  const request = await store.deliveries.begin(await claim(pending));
  if (request === null) throw new Error("the attempt could not begin");
  return request;
}

const result = (next: AttemptResult["next"], change: Partial<AttemptResult> = {}): AttemptResult => ({
  durationMs: 12.4,
  status: next === "delivered" ? 200 : 500,
  error: next === "delivered" ? null : "the receiver responded with 500",
  next,
  ...change,
});

const finishNext = async (pending: Pick<Pending, "ticketId">, next: AttemptResult["next"]) =>
  store.deliveries.finishAttempt(await begin(pending), result(next));

const find = (id: string) => store.deliveries.find(project, id);

/** Makes the lease of a callback expire, as if its process had crashed. */
const expire = (id: string) =>
  db.sql("UPDATE deliveries SET lease_until = now() - interval '1 millisecond' WHERE id = $1", [id]);

/** Skips the delay before the next attempt of a callback. */
const hurry = (id: string) => db.sql("UPDATE deliveries SET next_at = now(), due_at = now() WHERE id = $1", [id]);

const buffered = async (ticketId: string, after = 0) =>
  textsOf((await store.replies.readBuffer(project, ticketId, after, LIMITS)).replies);

const sealedOf = async (messageId: string) =>
  (
    await db.sql<{ sealed: string | null }>("SELECT sealed_secret AS sealed FROM callbacks WHERE message_id = $1", [
      messageId,
    ])
  )[0]?.sealed;

describe("a claim", () => {
  test("returns all data of the request", async () => {
    const key = await store.apiKeys.insert({
      name: "sender",
      prefix: "svc_1234",
      hash: Buffer.from(newId()),
      scopes: ["messages:write"],
      project,
      createdBy: "test",
      expiresAt: null,
    });
    const { id, messageId, ticketId } = await addCallback("claimed", ["one", "two"], key?.id);
    const claimed = await begin({ ticketId });
    expect(claimed).toEqual({
      project,
      id,
      leaseId: expect.any(String),
      ticketId,
      messageId,
      type: "message.completed",
      url: URL,
      createdAt: expect.any(Date),
      replyIds: [expect.any(String), expect.any(String)],
      failures: 0,
      lapses: 0,
      attempt: 1,
      chatId: "claimed",
      meta: { order: 7 },
      replies: [expect.objectContaining({ text: "one" }), expect.objectContaining({ text: "two" })],
      sealedSecret: { sealed: expect.any(String) },
      coveredBy: null,
      isKeyRevoked: false,
      trace: null,
      webhook: null,
      event: null,
    });
    expect(claimed.sealedSecret && store.sealer.open(claimed.sealedSecret)).toBe("the key of the sender");
    await store.deliveries.postpone(claimed, 0);
    await store.apiKeys.revoke(key?.id ?? "");
    expect((await begin({ ticketId })).isKeyRevoked).toBe(true);
  });

  test("claims the oldest callback of the chat, which blocks the later ones until it has ended", async () => {
    const [first, second] = [await addCallback("held back"), await addCallback("held back")];
    const claimed = await claim(first);
    expect(claimed.id).toBe(first.id);
    expect(await store.deliveries.claim(project, first.ticketId)).toBeNull();
    await store.deliveries.finishAttempt(claimed, result({ delayMs: 60_000 }));
    expect(await store.deliveries.claim(project, first.ticketId)).toBeNull();
    await hurry(first.id);
    expect((await claim(first)).id).toBe(first.id);
    await expire(first.id);
    await finishNext(first, "delivered");
    expect((await claim(first)).id).toBe(second.id);
  });

  test("succeeds for only one of several concurrent workers", async () => {
    const others = [db.openAnother(), db.openAnother()];
    const chats = await Promise.all(
      Array.from({ length: 10 }, async (_, chat) => {
        const chatId = `contended ${chat}`;
        return [await addCallback(chatId), await addCallback(chatId), await addCallback(chatId)] as const;
      }),
    );
    const order = new Map<string, string[]>();
    const isOver = () => [...order.values()].flat().length === chats.length * 3;
    const work = async (on: Store, ticketId: string) => {
      while (!isOver()) {
        const claimed = await on.deliveries.claim(project, ticketId);
        if (claimed === null) continue;
        order.set(ticketId, [...(order.get(ticketId) ?? []), claimed.id]);
        await on.deliveries.finishAttempt(claimed, result("delivered"));
      }
    };
    await Promise.all(chats.flatMap(([{ ticketId }]) => [store, ...others].map((on) => work(on, ticketId))));
    for (const own of chats) expect(order.get(own[0].ticketId)).toEqual(own.map(({ id }) => id));
  });

  /** Makes claims while this change of deliveries is not committed, and commits it once one of them waits. */
  async function claimDuring(change: string, claims: () => Promise<unknown>): Promise<void> {
    const client = new Client({ connectionString: db.url });
    await client.connect();
    try {
      await client.query("BEGIN");
      await client.query(change);
      const made = claims();
      await waitFor(
        async () =>
          (
            await db.sql(
              "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
            )
          ).length > 0,
        { what: "a claim to wait" },
      );
      await client.query("COMMIT");
      await made;
    } finally {
      await client.end();
    }
  }

  test("that waits for another one claims the next callback, and never the same", async () => {
    const [first, second] = [await addCallback("waits"), await addCallback("waits")];
    let claimed: ClaimedDelivery | undefined;
    await claimDuring(`UPDATE deliveries SET state = 'delivered' WHERE id = '${first.id}'`, async () => {
      claimed = await claim(first);
    });
    expect(claimed?.id).toBe(second.id);
  });

  test("of several at once that wait claims one callback of each chat", async () => {
    const [first] = [await addCallback("waits together"), await addCallback("waits together")];
    const [other] = [await addCallback("waits beside"), await addCallback("waits beside")];
    const claimed: (string | undefined)[] = [];
    await claimDuring(`UPDATE deliveries SET due_at = now() WHERE id IN ('${first.id}', '${other.id}')`, () =>
      Promise.all(
        [first, other, first, other, first].map(async ({ ticketId }) => {
          claimed.push((await store.deliveries.claim(project, ticketId))?.id);
        }),
      ),
    );
    expect(claimed.filter((id) => id !== undefined).toSorted()).toEqual([first.id, other.id].toSorted());
  });

  test("is no attempt: a process that crashed before the request was sent leaves none", async () => {
    const pending = await addCallback("died before the request");
    await claim(pending);
    await expire(pending.id);
    expect(await find(pending.id)).toMatchObject({ state: "pending", attempts: [] });
    expect(await claim(pending)).toMatchObject({ failures: 0, attempt: 1, lapses: 1 });
  });

  test("after a crash during a request is the next attempt, at the same position in the schedule", async () => {
    const pending = await addCallback("crashed");
    const first = await begin(pending);
    await expire(pending.id);
    const second = await begin(pending);
    expect(second).toMatchObject({ id: first.id, failures: 0, attempt: 2 });
    await store.deliveries.finishAttempt(second, result("delivered"));
    expect((await find(pending.id))?.attempts).toEqual([
      { at: expect.any(String), status: null, ms: null, error: "interrupted" },
      { at: expect.any(String), status: 200, ms: 12, error: null },
    ]);
  });

  test("whose lease expires each time follows at growing intervals, until one of them is released", async () => {
    const pending = await addCallback("ends its process");
    const waits: number[] = [];
    for (let lapses = 0; lapses <= 9; lapses++) {
      expect(await claim(pending)).toMatchObject({ lapses, failures: 0, attempt: 1 });
      const [row] = await db.sql<{ wait: number }>(
        "SELECT extract(epoch FROM greatest(next_at - now(), '0'))::float8 AS wait FROM deliveries WHERE id = $1",
        [pending.id],
      );
      waits.push(Math.round((row?.wait ?? Number.NaN) / 10) * 10);
      await expire(pending.id);
      await hurry(pending.id);
    }
    expect(waits).toEqual([0, 0, 30, 120, 480, 1_920, 7_680, 21_600, 21_600, 21_600]);
    await store.deliveries.postpone(await claim(pending), 0);
    expect(await claim(pending)).toMatchObject({ lapses: 0, failures: 0, attempt: 1 });
  });

  test("of another project's chat finds nothing", async () => {
    const { ticketId } = await addCallback("of the owner");
    expect(await store.deliveries.claim(await db.newProject(), ticketId)).toBeNull();
  });
});

describe("a finished attempt", () => {
  test("that succeeded marks its replies as delivered and deletes the sender's key", async () => {
    const pending = await addCallback("received");
    await finishNext(pending, "delivered");
    expect(await find(pending.id)).toEqual({
      id: pending.id,
      type: "message.completed",
      ticketId: pending.ticketId,
      chatId: "received",
      messageId: pending.messageId,
      url: URL,
      state: "delivered",
      attempts: [{ at: expect.any(String), status: 200, ms: 12, error: null }],
      nextAt: null,
      createdAt: expect.any(String),
      webhookId: null,
      eventId: null,
    });
    expect(await sealedOf(pending.messageId)).toBeNull();
    expect(await buffered(pending.ticketId)).toEqual([]);
    expect(await store.deliveries.claim(project, pending.ticketId)).toBeNull();
  });

  test("keeps the sender's key if the callback was not the message's final one", async () => {
    const pending = await addCallback("not final");
    await db.sql("UPDATE callbacks SET delivery_id = $2 WHERE message_id = $1", [pending.messageId, newId()]);
    await finishNext(pending, "delivered");
    expect(await sealedOf(pending.messageId)).toEqual(expect.any(String));
  });

  test("that failed is retried, with the result of each attempt", async () => {
    const pending = await addCallback("failed");
    await finishNext(pending, { delayMs: 60_000 });
    const item = await find(pending.id);
    expect(item).toMatchObject({
      state: "pending",
      attempts: [{ status: 500, ms: 12, error: "the receiver responded with 500" }],
      nextAt: expect.any(String),
    });
    expect(Date.parse(item?.nextAt ?? "")).toBeGreaterThan(Date.parse(item?.attempts[0]?.at ?? "") + 59_000);
    expect(await store.deliveries.claim(project, pending.ticketId)).toBeNull();
    await hurry(pending.id);
    expect(await claim(pending)).toMatchObject({ failures: 1, attempt: 2 });
  });

  test("changes nothing if its lease is lost, but is recorded with the others", async () => {
    const pending = await addCallback("lost lease");
    const late = await begin(pending);
    await expire(pending.id);
    const holder = await begin(pending);
    await store.deliveries.finishAttempt(late, result("dead"));
    expect(await find(pending.id)).toMatchObject({ state: "pending", attempts: [{ status: 500 }, { status: null }] });
    await store.deliveries.postpone(late, 60_000);
    await store.deliveries.finishAttempt(holder, result("delivered"));
    await store.deliveries.finishAttempt(late, result({ delayMs: 0 }));
    expect(await find(pending.id)).toMatchObject({ state: "delivered", attempts: [{ status: 500 }, { status: 200 }] });
    expect(await buffered(pending.ticketId)).toEqual([]);
  });

  test("that was not sent is released and does not count", async () => {
    const pending = await addCallback("given back");
    await store.deliveries.postpone(await claim(pending), 60_000);
    expect(await store.deliveries.claim(project, pending.ticketId)).toBeNull();
    expect(await find(pending.id)).toMatchObject({ state: "pending", attempts: [] });
    await hurry(pending.id);
    expect(await claim(pending)).toMatchObject({ failures: 0, attempt: 1 });
  });

  test("that was recorded as started but not sent leaves no attempt", async () => {
    const pending = await addCallback("begun and given back");
    await store.deliveries.postpone(await begin(pending), 0);
    expect(await find(pending.id)).toMatchObject({ state: "pending", attempts: [] });
    expect(await begin(pending)).toMatchObject({ failures: 0, attempt: 1 });
  });

  test("shares statements with concurrent ones, each with its own replies, lease and result", async () => {
    const names = ["one", "two", "lost"];
    const pending = await Promise.all(names.map((name) => addCallback(`at the same moment ${name}`, [name])));
    const claims = await Promise.all(pending.map((one) => claim(one)));
    const requests = await Promise.all(claims.map((one) => store.deliveries.begin(one)));
    expect(requests).toMatchObject(names.map((text) => ({ replies: [{ text }] })));
    await expire(pending[2]?.id ?? "");
    const holder = await claim(pending[2] ?? { ticketId: "" });
    await Promise.all(claims.map((one) => store.deliveries.finishAttempt(one, result("delivered"))));
    const found = await Promise.all(pending.map(({ id }) => find(id)));
    expect(found.map((one) => one?.state)).toEqual(["delivered", "delivered", "pending"]);
    expect(await sealedOf(pending[0]?.messageId ?? "")).toBeNull();
    expect(await sealedOf(pending[2]?.messageId ?? "")).not.toBeNull();
    expect(await store.deliveries.begin(holder)).toMatchObject({ attempt: 2, replies: [{ text: "lost" }] });
  });

  test("does not begin if another worker has the lease", async () => {
    const pending = await addCallback("begins late");
    const late = await claim(pending);
    await expire(pending.id);
    const holder = await claim(pending);
    expect(await store.deliveries.begin(late)).toBeNull();
    expect(await store.deliveries.begin(holder)).toMatchObject({ attempt: 1 });
  });
});

describe("an attempt that was aborted after its request was sent", () => {
  test("is recorded, does not count, and can be repeated immediately", async () => {
    const pending = await addCallback("broken off");
    await store.deliveries.interrupt(await begin(pending), 34.6, "broken off");
    expect(await find(pending.id)).toMatchObject({
      state: "pending",
      attempts: [{ at: expect.any(String), status: null, ms: 35, error: "broken off" }],
    });
    expect(await claim(pending)).toMatchObject({ failures: 0, attempt: 2 });
  });

  test("does not change a callback that another process has claimed", async () => {
    const pending = await addCallback("broken off late");
    const late = await begin(pending);
    await expire(pending.id);
    const holder = await begin(pending);
    await store.deliveries.interrupt(late, 34, "broken off");
    expect(await store.deliveries.claim(project, pending.ticketId)).toBeNull();
    await store.deliveries.finishAttempt(holder, result("delivered"));
    expect(await find(pending.id)).toMatchObject({ state: "delivered", attempts: [{ ms: 34 }, { status: 200 }] });
  });
});

describe("a dead callback", () => {
  test("moves its replies to the buffer, in order, and never before", async () => {
    const pending = await addCallback("dead", ["one", "two", "three"]);
    const claimed = await claim(pending);
    expect(await buffered(pending.ticketId)).toEqual([]);
    await store.deliveries.finishAttempt(claimed, result({ delayMs: 0 }));
    expect(await buffered(pending.ticketId)).toEqual([]);
    await finishNext(pending, "dead");
    expect(await buffered(pending.ticketId)).toEqual(["one", "two", "three"]);
    expect(await find(pending.id)).toMatchObject({ state: "dead", nextAt: null });
    // It may be replayed, and must be signed then.
    expect(await sealedOf(pending.messageId)).toEqual(expect.any(String));
  });

  test("gives them new sequence numbers, so that a reader whose cursor is past the old ones gets them", async () => {
    const pending = await addCallback("overtaken", ["by callback", "by callback too"]);
    await addBuffered("overtaken", "by drain");
    const before = await store.replies.readBuffer(project, pending.ticketId, 0, LIMITS);
    expect(textsOf(before.replies)).toEqual(["by drain"]);
    await store.replies.acknowledge(project, pending.ticketId, before.cursor);
    await finishNext(pending, "dead");
    expect(await buffered(pending.ticketId, before.cursor)).toEqual(["by callback", "by callback too"]);
    await addBuffered("overtaken", "later");
    expect(await buffered(pending.ticketId, before.cursor)).toEqual(["by callback", "by callback too", "later"]);
  });

  test("and concurrent messages get distinct sequence numbers", async () => {
    const pendings: Pending[] = [];
    for (let count = 0; count < 8; count++) pendings.push(await addCallback("places", ["one", "two"]));
    const [{ ticketId }] = pendings as [Pending];
    const die = async () => {
      for (const pending of pendings) await finishNext(pending, "dead");
    };
    const talk = async () => {
      for (let count = 0; count < 8; count++) await addBuffered("places", "by drain");
    };
    await Promise.all([die(), talk()]);
    const rows = await db.sql<{ seq: number }>("SELECT seq::integer FROM replies WHERE ticket_id = $1", [ticketId]);
    expect(new Set(rows.map(({ seq }) => seq)).size).toBe(24);
    expect((await buffered(ticketId)).toSorted()).toEqual(
      [
        ...Array<string>(8).fill("by drain"),
        ...Array<string>(8).fill("one"),
        ...Array<string>(8).fill("two"),
      ].toSorted(),
    );
  });

  test("does not block later ones", async () => {
    const [first, second] = [await addCallback("gone on"), await addCallback("gone on")];
    await finishNext(first, "dead");
    expect((await claim(first)).id).toBe(second.id);
  });

  test("has its replies in the buffer for the same number of days as others, from its failure", async () => {
    const pending = await addCallback("kept");
    await db.sql("UPDATE replies SET created_at = now() - interval '8 days' WHERE ticket_id = $1", [pending.ticketId]);
    await finishNext(pending, "dead");
    expect(await buffered(pending.ticketId)).toEqual(["answer"]);
    await db.sql("UPDATE replies SET undeliverable_at = now() - interval '8 days' WHERE ticket_id = $1", [
      pending.ticketId,
    ]);
    expect(await buffered(pending.ticketId)).toEqual([]);
  });

  test("is counted, as is one that fails repeatedly", async () => {
    const failing = async () => store.deliveries.countFailing(2);
    const failingBefore = await failing();
    const pending = await addCallback("counted while it fails");
    await finishNext(pending, { delayMs: 0 });
    expect(await failing()).toBe(failingBefore);
    await finishNext(pending, { delayMs: 60_000 });
    expect(await failing()).toBe(failingBefore + 1);
    const before = await store.deliveries.countDead();
    await finishNext(await addCallback("counted"), "dead");
    expect(await store.deliveries.countDead()).toBe(before + 1);
  });
});

describe("a replay", () => {
  test("makes a dead callback pending with new attempts, and removes its replies from the buffer", async () => {
    const pending = await addCallback("replayed");
    await finishNext(pending, "dead");
    expect(await store.deliveries.replay(project, pending.id)).toEqual({
      project,
      ticketId: pending.ticketId,
      deliveryId: pending.id,
      tries: 0,
    });
    expect(await buffered(pending.ticketId)).toEqual([]);
    expect(await find(pending.id)).toMatchObject({ state: "pending", attempts: [{ status: 500 }] });
    expect(await claim(pending)).toMatchObject({ id: pending.id, failures: 0, attempt: 2 });
  });

  test("that succeeds marks the replies as delivered; one that dies again returns them to the buffer", async () => {
    const [received, dying] = [await addCallback("replay received"), await addCallback("replay dies")];
    for (const pending of [received, dying]) {
      await finishNext(pending, "dead");
      await store.deliveries.replay(project, pending.id);
    }
    await finishNext(received, "delivered");
    await finishNext(dying, "dead");
    expect(await buffered(received.ticketId)).toEqual([]);
    expect(await buffered(dying.ticketId)).toEqual(["answer"]);
  });

  test("does not return replies that were collected meanwhile", async () => {
    const pending = await addCallback("collected", ["one", "two"]);
    await finishNext(pending, "dead");
    const page = await store.replies.readBuffer(project, pending.ticketId, 0, { ...LIMITS, maxReplies: 1 });
    await store.replies.acknowledge(project, pending.ticketId, page.cursor);
    await store.deliveries.replay(project, pending.id);
    const claimed = await begin(pending);
    expect(textsOf(claimed.replies)).toEqual(["one", "two"]);
    await store.deliveries.finishAttempt(claimed, result("dead"));
    expect(await buffered(pending.ticketId)).toEqual(["two"]);
  });

  test("does not return replies that a reader has claimed, even if it loses them", async () => {
    const instance = newId();
    await store.instances.beat(instance, "api");
    const pending = await addCallback("in hands");
    await finishNext(pending, "dead");
    const takeId = newId();
    const { replies } = await store.replies.claimFromBuffer(project, pending.ticketId, instance, LIMITS, takeId);
    expect(textsOf(replies)).toEqual(["answer"]);
    await store.deliveries.replay(project, pending.id);
    await store.replies.release(project, pending.ticketId, takeId);
    expect(await buffered(pending.ticketId)).toEqual([]);
    await finishNext(pending, "dead");
    expect(await buffered(pending.ticketId)).toEqual(["answer"]);
  });

  test("of a delivered callback sends it again", async () => {
    const pending = await addCallback("received before");
    await finishNext(pending, "delivered");
    expect(await store.deliveries.replay(project, pending.id)).not.toBeNull();
    expect(textsOf((await begin(pending)).replies)).toEqual(["answer"]);
    expect(await buffered(pending.ticketId)).toEqual([]);
  });

  test("of a pending callback retries it now, and its attempts keep counting", async () => {
    const pending = await addCallback("replayed while pending");
    await finishNext(pending, { delayMs: 60_000 });
    await finishNext(await addCallback("unconcerned"), { delayMs: 60_000 });
    expect(await store.deliveries.replay(project, pending.id)).toMatchObject({ deliveryId: pending.id, tries: 1 });
    expect(await claim(pending)).toMatchObject({ failures: 1, attempt: 2 });
    // A delivery that is in progress stays with its worker.
    expect(await store.deliveries.replay(project, pending.id)).not.toBeNull();
    expect(await store.deliveries.claim(project, pending.ticketId)).toBeNull();
  });

  test("of an unknown or foreign callback changes nothing", async () => {
    const pending = await addCallback("not to be replayed");
    expect(await store.deliveries.replay(project, newId())).toBeNull();
    await finishNext(pending, "dead");
    const stranger = await db.newProject();
    expect(await store.deliveries.replay(stranger, pending.id)).toBeNull();
    expect(await store.deliveries.find(stranger, pending.id)).toBeNull();
    expect(await store.deliveries.listPage(stranger, { limit: 10 })).toEqual([]);
    expect(await find(pending.id)).toMatchObject({ state: "dead" });
  });
});

describe("the sweeper returns", () => {
  /** Sweeps concurrently on two replicas; returns all ids. */
  async function sweep(limit = 1_000): Promise<string[]> {
    const other = db.openAnother();
    const taken = await Promise.all([store.deliveries.claimDue(limit), other.deliveries.claimDue(limit)]);
    return taken
      .flat()
      .filter((due) => due.project === project)
      .map(({ deliveryId }) => deliveryId);
  }
  const makeDue = () => db.sql("UPDATE deliveries SET due_at = now() WHERE project_id = $1", [project]);

  test("an unclaimed callback, once, and again after a while", async () => {
    const pending = await addCallback("never taken");
    expect(await sweep()).toEqual([]);
    await makeDue();
    expect(await sweep()).toEqual([pending.id]);
    expect(await sweep()).toEqual([]);
    await makeDue();
    expect(await sweep()).toEqual([pending.id]);
  });

  test("none that is being attempted, until its process has crashed", async () => {
    const pending = await addCallback("being tried");
    await claim(pending);
    await makeDue();
    expect(await sweep()).toEqual([]);
    await expire(pending.id);
    expect(await sweep()).toEqual([pending.id]);
  });

  test("none before its next attempt is due, and none that has ended", async () => {
    const [waiting, received, dead] = [
      await addCallback("waits for its try"),
      await addCallback("is received"),
      await addCallback("is dead"),
    ];
    await finishNext(waiting, { delayMs: 60_000 });
    await finishNext(received, "delivered");
    await finishNext(dead, "dead");
    expect(await sweep()).toEqual([]);
    await hurry(waiting.id);
    expect(await sweep()).toEqual([waiting.id]);
  });

  test("only the next callback of each chat, however many it blocks, which wait as long as that one", async () => {
    const chat = [await addCallback("backlog"), await addCallback("backlog"), await addCallback("backlog")] as const;
    await makeDue();
    expect(await sweep()).toEqual([chat[0].id]);
    await finishNext(chat[0], { delayMs: 3_600_000 });
    for (const { id } of chat.slice(1)) await db.sql("UPDATE deliveries SET due_at = now() WHERE id = $1", [id]);
    expect(await sweep()).toEqual([]);
    const rows = await db.sql<{ isLater: boolean }>(
      `SELECT due_at > now() + interval '59 minutes' AS "isLater" FROM deliveries WHERE ticket_id = $1`,
      [chat[0].ticketId],
    );
    expect(rows).toEqual(chat.map(() => ({ isLater: true })));
    // When they are due, one after the other is found, even if no worker continues with the chat by itself.
    for (const { id, ticketId } of chat) {
      await db.sql("UPDATE deliveries SET next_at = now(), due_at = now() WHERE project_id = $1", [project]);
      expect(await sweep()).toEqual([id]);
      await finishNext({ ticketId }, "delivered");
    }
  });

  test("at most the requested number", async () => {
    const ids = [];
    for (let chat = 0; chat < 5; chat++) ids.push((await addCallback(`limited ${chat}`)).id);
    await db.sql("UPDATE deliveries SET due_at = now() + interval '1 day' WHERE project_id <> $1", [project]);
    await makeDue();
    const first = await sweep(2);
    expect(first).toHaveLength(4);
    expect([...first, ...(await sweep(2))].toSorted()).toEqual(ids.toSorted());
  });
});

test("the age of the oldest due callback is its wait; callbacks that are not due or blocked do not count", async () => {
  await db.sql("UPDATE deliveries SET state = 'dead' WHERE state = 'pending'");
  expect(await store.deliveries.oldestDueMs()).toBe(0);
  const [first, second] = [await addCallback("due"), await addCallback("due")];
  const ageBy = (id: string, seconds: number) =>
    db.sql(
      `UPDATE deliveries SET created_at = now() - make_interval(secs => $2), next_at = now() - make_interval(secs => $2),
         due_at = now() - make_interval(secs => $2) WHERE id = $1`,
      [id, seconds],
    );
  await ageBy(second.id, 9_000);
  await ageBy(first.id, 600);
  const age = await store.deliveries.oldestDueMs();
  expect(age).toBeGreaterThanOrEqual(600_000);
  expect(age).toBeLessThan(9_000_000);
  const claimed = await claim(first);
  expect(await store.deliveries.oldestDueMs()).toBe(0);
  await store.deliveries.finishAttempt(claimed, result({ delayMs: 60_000 }));
  expect(await store.deliveries.oldestDueMs()).toBe(0);
});

describe("the list", () => {
  test("is newest first, filtered by state, and paged without gaps", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 7; count++) {
      const pending = await addCallback(`listed ${count}`);
      ids.unshift(pending.id);
      if (count % 2 === 0) await finishNext(pending, "dead");
    }
    const pages: string[] = [];
    let before: string | undefined;
    for (;;) {
      const page = await store.deliveries.listPage(project, { limit: 3, before });
      if (page.length === 0) break;
      pages.push(...page.map(({ id }) => id));
      before = page.at(-1)?.id;
    }
    expect(pages).toEqual(ids);
    const dead = await store.deliveries.listPage(project, { limit: 10, state: "dead" });
    expect(dead.map(({ id }) => id)).toEqual(ids.filter((_, index) => index % 2 === 0));
    expect(await store.deliveries.listPage(project, { limit: 10, state: "delivered" })).toEqual([]);
  });
});
