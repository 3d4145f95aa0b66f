import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { newId, openStore } from "@svc/store";
import type { DueDelivery, NewMessage, ProjectId, RunOutcome, Store } from "@svc/store";
import { testLog, waitFor } from "@svc/testing";
import { Client } from "pg";
import {
  answeredRun,
  claimNow,
  newMessage,
  openAndFinish,
  openTestStore,
  reviveLetter,
  SECRET_KEY,
} from "./open-test-store.ts";
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

/** A committed message of mode webhook. */
interface Sent {
  messageId: string;
  ticketId: string;
  /** Id of the final callback, as returned to the sender. */
  deliveryId: string;
}

/** Commits a message with a callback URL. */
async function send(chatId: string, timeoutMs = 30_000, change: Partial<NewMessage> = {}): Promise<Sent> {
  const deliveryId = newId();
  const callback = {
    url: "http://127.0.0.1:1/hook",
    deliveryId,
    apiKeyId: null,
    sealedSecret: store.sealer.seal("the key of the sender"),
    timeoutMs,
  };
  const accepted = await store.messages.accept(project, newMessage({ chatId, mode: "webhook", callback, ...change }));
  return { messageId: accepted.messageId, ticketId: accepted.ticketId, deliveryId };
}

const HELD = { state: "held", stage: "review", status: "open" } as const;
const FAILED = { state: "failed", stage: "failed", status: "open", failure: "gave up" } as const;

/** Finishes the oldest waiting message of a chat. */
async function finish(
  { ticketId }: Sent,
  texts: string[],
  change: Partial<Omit<RunOutcome, "message">> = {},
): Promise<void> {
  const claimed = await claimNow(store, project, ticketId);
  expect(await openAndFinish(store, answeredRun(claimed, texts, change))).not.toBeNull();
}

const settle = ({ ticketId }: Pick<Sent, "ticketId">, on = store) => on.callbacks.settle([{ project, ticketId }]);

/** Makes the timeout callback of a message due. */
async function timeOut({ messageId }: Sent): Promise<void> {
  await db.sql("UPDATE callbacks SET timeout_at = now() WHERE message_id = $1 AND timeout_at IS NOT NULL", [messageId]);
  await store.callbacks.markTimeouts(1_000);
}

interface Made {
  id: string;
  type: string;
  texts: string[];
}

/** Returns the callbacks of a chat in order, with the texts of their replies. */
const madeIn = (ticketId: string) =>
  db.sql<Made>(
    `SELECT d.id, d.type, coalesce((SELECT array_agg(r.text ORDER BY r.seq) FROM replies r
       WHERE r.id = ANY (d.reply_ids)), '{}') AS texts
     FROM deliveries d WHERE d.ticket_id = $1 ORDER BY d.place`,
    [ticketId],
  );

const idsOf = (made: DueDelivery[]) => made.map(({ deliveryId }) => deliveryId);

describe("an answered message", () => {
  test("gets one callback with its replies, with the id that its sender got, however often callbacks are created", async () => {
    const sent = await send("answered");
    await finish(sent, ["one", "two"]);
    expect(await settle(sent)).toEqual([{ project, ticketId: sent.ticketId, deliveryId: sent.deliveryId, tries: 0 }]);
    expect(await settle(sent)).toEqual([]);
    expect(await madeIn(sent.ticketId)).toEqual([
      { id: sent.deliveryId, type: "message.completed", texts: ["one", "two"] },
    ]);
  });

  test("has one callback for each reply, even if its conversation is given twice", async () => {
    const sent = await send("named twice");
    await finish(sent, ["the answer"]);
    await settle(sent);
    await db.sql("UPDATE callbacks SET has_news = true, told = NULL WHERE message_id = $1", [sent.messageId]);
    const ref = { project, ticketId: sent.ticketId };
    expect(await store.callbacks.settle([ref, ref])).toHaveLength(1);
    expect(await madeIn(sent.ticketId)).toHaveLength(2);
  });

  test("has one callback also when it has no reply", async () => {
    const sent = await send("no reply");
    await finish(sent, []);
    await settle(sent);
    expect(await madeIn(sent.ticketId)).toEqual([{ id: sent.deliveryId, type: "message.completed", texts: [] }]);
  });

  test("gets another callback for each reply after the final one", async () => {
    const sent = await send("later replies");
    await finish(sent, ["the answer"]);
    await settle(sent);
    await db.sql(
      `INSERT INTO replies (id, project_id, ticket_id, seq, in_reply_to, author, type, text, markdown)
       VALUES ($1, $2, $3, 100, $4, 'operator', 'message', 'one thing more', false)`,
      [newId(), project, sent.ticketId, sent.messageId],
    );
    await db.sql("UPDATE callbacks SET has_news = true, news_at = now() WHERE message_id = $1", [sent.messageId]);
    const [later] = await settle(sent);
    expect(later?.deliveryId).not.toBe(sent.deliveryId);
    expect(await madeIn(sent.ticketId)).toMatchObject([
      { id: sent.deliveryId, texts: ["the answer"] },
      { id: later?.deliveryId, type: "message.completed", texts: ["one thing more"] },
    ]);
  });
});

describe("a message that is not answered immediately", () => {
  test("gets a callback for the review with the handoff text, with another id than the final one", async () => {
    const sent = await send("reviewed");
    await finish(sent, ["a person looks"], HELD);
    expect(idsOf(await settle(sent))).not.toContain(sent.deliveryId);
    expect(await madeIn(sent.ticketId)).toMatchObject([{ type: "message.in_review", texts: ["a person looks"] }]);
  });

  test("gets one at its timeout, and then the final one", async () => {
    const sent = await send("late", 60_000);
    expect(await settle(sent)).toEqual([]);
    await timeOut(sent);
    await settle(sent);
    await timeOut(sent);
    await settle(sent);
    await finish(sent, ["after all"]);
    await settle(sent);
    expect(await madeIn(sent.ticketId)).toMatchObject([
      { type: "message.timeout", texts: [] },
      { id: sent.deliveryId, type: "message.completed", texts: ["after all"] },
    ]);
  });

  test("gets none at its timeout if its sender got another one before", async () => {
    const sent = await send("held in time", 60_000);
    await finish(sent, [], HELD);
    await settle(sent);
    await timeOut(sent);
    await settle(sent);
    expect(await madeIn(sent.ticketId)).toMatchObject([{ type: "message.in_review" }]);
  });

  test("gets one when it becomes a dead letter, and the final one after a retry", async () => {
    const sent = await send("dead letter");
    await finish(sent, [], FAILED);
    await settle(sent);
    expect(await reviveLetter(store, project, sent.messageId)).toBe(true);
    await settle(sent);
    await finish(sent, ["it works again"]);
    await settle(sent);
    expect(await madeIn(sent.ticketId)).toMatchObject([
      { type: "message.failed", texts: [] },
      { id: sent.deliveryId, type: "message.completed", texts: ["it works again"] },
    ]);
  });
});

describe("several messages of a chat", () => {
  test("get their callbacks in the order of the messages, whichever is requested", async () => {
    const chatId = "in order";
    const sent = [await send(chatId), await send(chatId), await send(chatId)] as const;
    for (const [index, message] of sent.entries()) await finish(message, [`answer ${index}`]);
    await settle(sent[2]);
    expect(await madeIn(sent[0].ticketId)).toMatchObject(
      sent.map(({ deliveryId }, index) => ({ id: deliveryId, texts: [`answer ${index}`] })),
    );
  });

  test("get each callback once and in order, also from concurrent workers", async () => {
    const others = [db.openAnother(), db.openAnother()];
    const chats = Array.from({ length: 10 }, (_, chat) => `at once ${chat}`);
    const everySent = await Promise.all(
      chats.map(async (chatId) => [await send(chatId), await send(chatId), await send(chatId)]),
    );
    const settling: Promise<DueDelivery[]>[] = [];
    await Promise.all(
      everySent.map(async (sent) => {
        for (const message of sent) {
          await finish(message, [message.messageId]);
          for (const on of [store, ...others]) {
            settling.push(settle(message, on));
          }
        }
      }),
    );
    const made = (await Promise.all(settling)).flat();
    // Each was returned to exactly one caller, which announces it.
    expect(idsOf(made).toSorted()).toEqual(
      everySent
        .flat()
        .map(({ deliveryId }) => deliveryId)
        .toSorted(),
    );
    for (const sent of everySent) {
      expect(await madeIn(sent[0]?.ticketId ?? "")).toEqual(
        sent.map(({ deliveryId, messageId }) => ({ id: deliveryId, type: "message.completed", texts: [messageId] })),
      );
    }
  });

  test("report a change that commits while they wait for its lock, in the order of the chat", async () => {
    const [first, second] = [await send("changing"), await send("changing")];
    await finish(first, ["one"]);
    await finish(second, ["two"]);
    const client = new Client({ connectionString: db.url });
    await client.connect();
    let made: Promise<DueDelivery[]>;
    try {
      await client.query("BEGIN");
      await client.query("UPDATE messages SET state = 'rejected' WHERE id = $1", [first.messageId]);
      await client.query("UPDATE callbacks SET has_news = true, news_at = now() WHERE message_id = $1", [
        first.messageId,
      ]);
      made = settle(first);
      const isWaiting = async () =>
        (await db.sql("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"))
          .length > 0;
      await waitFor(isWaiting, { what: "the wait for the lock" });
      await client.query("COMMIT");
    } finally {
      await client.end();
    }
    expect(idsOf(await made)).toEqual([first.deliveryId, second.deliveryId]);
    expect(await madeIn(first.ticketId)).toMatchObject([
      { id: first.deliveryId, type: "message.rejected" },
      { id: second.deliveryId, type: "message.completed" },
    ]);
  });

  test("are all created for a chat with more messages than were announced", async () => {
    const sent = [await send("three"), await send("three"), await send("three")];
    for (const message of sent) await finish(message, ["answer"]);
    expect(idsOf(await settle(sent[0] ?? { ticketId: "" }))).toEqual(sent.map(({ deliveryId }) => deliveryId));
  });

  test("are locked in one order in batches with other chats, so that batches do not deadlock", async () => {
    const sent = await Promise.all(Array.from({ length: 60 }, (_, chat) => send(`batch ${chat}`)));
    await Promise.all(sent.map((message) => finish(message, ["answer"])));
    const refs = sent.map(({ ticketId }) => ({ project, ticketId }));
    const other = db.openAnother();
    const made = await Promise.all([
      store.callbacks.settle(refs),
      other.callbacks.settle(refs.toReversed()),
      store.callbacks.eraseOldSecrets(1_000),
      other.callbacks.settle(refs),
    ]);
    expect(idsOf([made[0], made[1], made[3]].flat()).toSorted()).toEqual(
      sent.map(({ deliveryId }) => deliveryId).toSorted(),
    );
  });
});

describe("creating callbacks", () => {
  test("creates none for another project", async () => {
    const sent = await send("of the owner");
    await finish(sent, ["answer"]);
    const stranger = await db.newProject();
    const { ticketId, messageId, deliveryId } = sent;
    expect(await store.callbacks.settle([{ project: stranger, ticketId }])).toEqual([]);
    expect(await store.callbacks.findDeliveryId(stranger, messageId)).toBeNull();
    expect(await store.callbacks.findDeliveryId(project, messageId)).toBe(deliveryId);
  });

  test("creates none for messages without a callback URL", async () => {
    const sent = await send("async", 30_000, { mode: "async", callback: null });
    await finish(sent, ["answer"]);
    expect(await settle(sent)).toEqual([]);
    expect(await store.callbacks.findDeliveryId(project, sent.messageId)).toBeNull();
    expect(await store.callbacks.settle([])).toEqual([]);
  });

  test("reads only the requested chats, however many are open", async () => {
    // Messages that wait for review stay open for days.
    await db.sql(
      `INSERT INTO callbacks (message_id, project_id, ticket_id, url, delivery_id, told, is_final_made)
       SELECT gen_random_uuid(), $1, gen_random_uuid(), 'http://127.0.0.1:1/', gen_random_uuid(),
         CASE WHEN n % 2 = 0 THEN 'message.in_review' ELSE 'message.completed' END, n % 2 = 1
       FROM generate_series(1, 20000) n`,
      [project],
    );
    const sent = await send("one of many");
    await finish(sent, ["answer"]);
    const countReads = async () => {
      const rows = await db.sql<{ reads: number }>(
        `SELECT (coalesce(idx_tup_fetch, 0) + seq_tup_read)::integer AS reads
         FROM pg_stat_user_tables WHERE relname = 'callbacks'`,
      );
      return rows[0]?.reads ?? 0;
    };
    const before = await countReads();
    const app = "svc-counted";
    const own = openStore({ url: db.url, secretKey: SECRET_KEY, log: testLog(), app });
    const refs = [{ project, ticketId: sent.ticketId }];
    const times = 20;
    for (let time = 0; time < times; time++) {
      await own.callbacks.settle(refs);
      await own.callbacks.findUnsettled(1_000);
      await own.callbacks.markTimeouts(1_000);
      await own.callbacks.settle([...refs, { project, ticketId: newId() }]);
    }
    // PostgreSQL reports a connection's reads when it closes.
    await own.close();
    const isGone = async () =>
      (await db.sql("SELECT 1 FROM pg_stat_activity WHERE application_name = $1", [app])).length === 0;
    await waitFor(isGone, { what: "the connection to end" });
    expect(await countReads()).toBeLessThan(before + times * 20);
  });
});

describe("the sweeper finds", () => {
  const ticketsFound = async () => {
    const found = await store.callbacks.findUnsettled(1_000);
    return found.filter((ref) => ref.project === project).map(({ ticketId }) => ticketId);
  };
  /** Skips the time in which the sweeper leaves a message to the job of its event. */
  const age = ({ messageId }: Sent) =>
    db.sql("UPDATE callbacks SET news_at = news_at - interval '3 seconds' WHERE message_id = $1", [messageId]);

  test.each([
    ["answered", {}],
    ["held for review", HELD],
    ["failed", FAILED],
  ] as const)(
    "a message that is %s without an announcement, after the time reserved for its own job",
    async (_, change) => {
      const sent = await send(`unsettled ${JSON.stringify(change)}`);
      expect(await ticketsFound()).toEqual([]);
      await finish(sent, [], change);
      expect(await ticketsFound()).toEqual([]);
      await age(sent);
      expect(await ticketsFound()).toEqual([sent.ticketId]);
      await settle(sent);
      expect(await ticketsFound()).toEqual([]);
    },
  );

  test("a message that has timed out immediately, and once over all replicas", async () => {
    const sent = await send("out of time", 60_000);
    const mark = async () => {
      const marked = await Promise.all([store, db.openAnother()].map((on) => on.callbacks.markTimeouts(1_000)));
      return marked.flat().filter((ref) => ref.project === project);
    };
    expect(await mark()).toEqual([]);
    await db.sql("UPDATE callbacks SET timeout_at = now() WHERE message_id = $1", [sent.messageId]);
    expect(await mark()).toEqual([{ project, ticketId: sent.ticketId }]);
    expect(await mark()).toEqual([]);
    // The process that marked it has crashed before it finished.
    await age(sent);
    expect(await ticketsFound()).toEqual([sent.ticketId]);
    expect(await settle(sent)).toHaveLength(1);
    expect(await mark()).toEqual([]);
    expect(await ticketsFound()).toEqual([]);
  });

  test("a message that had a callback and has changed since", async () => {
    const sent = await send("moved on");
    await finish(sent, [], FAILED);
    await settle(sent);
    await age(sent);
    expect(await ticketsFound()).toEqual([]);
    await reviveLetter(store, project, sent.messageId);
    expect(await ticketsFound()).toEqual([]);
    await finish(sent, ["answer"]);
    await age(sent);
    expect(await ticketsFound()).toEqual([sent.ticketId]);
  });

  test("at most the requested number of chats", async () => {
    for (const chat of [1, 2, 3]) {
      const sent = await send(`limited ${chat}`);
      await finish(sent, []);
      await age(sent);
    }
    expect(await store.callbacks.findUnsettled(2)).toHaveLength(2);
    expect(await ticketsFound()).toHaveLength(3);
  });
});

const sealedOf = async ({ messageId }: Sent) => {
  const rows = await db.sql<{ sealed: string | null }>(
    "SELECT sealed_secret AS sealed FROM callbacks WHERE message_id = $1",
    [messageId],
  );
  return rows[0]?.sealed;
};

test("a sender's encrypted key is deleted after 30 days, and not before", async () => {
  const [young, old] = [await send("young secret"), await send("old secret")];
  for (const [sent, days] of [
    [young, 29],
    [old, 31],
  ] as const) {
    await db.sql("UPDATE callbacks SET created_at = now() - make_interval(days => $2) WHERE message_id = $1", [
      sent.messageId,
      days,
    ]);
  }
  expect(await store.callbacks.eraseOldSecrets(1_000)).toBe(1);
  expect(await sealedOf(young)).toEqual(expect.any(String));
  expect(await sealedOf(old)).toBeNull();
  expect(await store.callbacks.eraseOldSecrets(1_000)).toBe(0);
});

test("a sender's encrypted key is deleted when it is revoked, and no other", async () => {
  const makeKey = async () => {
    const key = await store.apiKeys.insert({
      name: "sender",
      prefix: "svc_1234",
      hash: Buffer.from(newId()),
      scopes: ["messages:write"],
      project,
      createdBy: "test",
      expiresAt: null,
    });
    return key?.id ?? "";
  };
  const [live, revoked] = [await makeKey(), await makeKey()];
  const [kept, erased] = [await send("live key"), await send("revoked key")];
  for (const [{ messageId }, key] of [
    [kept, live],
    [erased, revoked],
  ] as const) {
    await db.sql("UPDATE callbacks SET api_key_id = $2 WHERE message_id = $1", [messageId, key]);
  }
  expect(await store.callbacks.eraseRevokedSecrets(1_000)).toBe(0);
  await store.apiKeys.revoke(revoked);
  expect(await store.callbacks.eraseRevokedSecrets(1_000)).toBe(1);
  expect([await sealedOf(kept), await sealedOf(erased)]).toEqual([expect.any(String), null]);
});

test("an old key that is in use is deleted the next time, without waiting", async () => {
  const sent = await send("old and locked");
  await db.sql("UPDATE callbacks SET created_at = now() - interval '31 days' WHERE message_id = $1", [sent.messageId]);
  const client = new Client({ connectionString: db.url });
  await client.connect();
  try {
    await client.query("BEGIN");
    await client.query("SELECT 1 FROM callbacks WHERE message_id = $1 FOR UPDATE", [sent.messageId]);
    expect(await store.callbacks.eraseOldSecrets(1_000)).toBe(0);
  } finally {
    await client.end();
  }
  expect(await store.callbacks.eraseOldSecrets(1_000)).toBe(1);
});
