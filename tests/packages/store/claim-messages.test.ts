import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { LEASE_MS } from "@svc/store";
import type { ClaimedMessage, ProjectId } from "@svc/store";
import { waitFor } from "@svc/testing";
import { Client } from "pg";
import { answeredRun, claimNow, newMessage, openAndFinish, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(async () => {
  await db.close();
});

/** Accepts messages into one new chat, one after the other. */
async function fillChat(project: ProjectId, texts: string[]): Promise<string> {
  const chatId = `chat of ${texts.join()}`;
  let ticketId = "";
  for (const text of texts) ({ ticketId } = await db.store.messages.accept(project, newMessage({ chatId, text })));
  return ticketId;
}

test("a chat's messages are claimed oldest first, each after the previous one is finished", async () => {
  const project = await db.newProject();
  const ticketId = await fillChat(project, ["first", "second", "third"]);
  const order: string[] = [];
  for (let claimed = await db.store.messages.claim(project, ticketId); claimed !== null;) {
    order.push(claimed.text);
    expect(await db.store.messages.claim(project, ticketId)).toBeNull();
    await openAndFinish(db.store, answeredRun(claimed, ["ok"]));
    claimed = await db.store.messages.claim(project, ticketId);
  }
  expect(order).toEqual(["first", "second", "third"]);
});

test("a claim returns the whole message with its sequence number and the number of the attempt", async () => {
  const project = await db.newProject();
  const message = newMessage({ chatId: "whole", userId: "user-1", channelMeta: { origin: "test" } });
  const accepted = await db.store.messages.accept(project, message);
  expect(await db.store.messages.claim(project, accepted.ticketId)).toEqual({
    project,
    messageId: accepted.messageId,
    opened: null,
    ticketId: accepted.ticketId,
    leaseId: expect.any(String),
    seq: 1,
    channelId: "api",
    chatId: "whole",
    userId: "user-1",
    text: message.text,
    channelMeta: { origin: "test" },
    mode: "async",
    attempts: 1,
    crashes: 0,
    lapses: 0,
    hasCrashedAlone: false,
    trace: null,
    progress: null,
  });
});

test("exactly one of 50 concurrent claims on a chat from two processes succeeds each time", async () => {
  const project = await db.newProject();
  const another = db.openAnother();
  const texts = Array.from({ length: 8 }, (_, index) => `message ${index}`);
  const ticketId = await fillChat(project, texts);
  const order: string[] = [];
  while (order.length < texts.length) {
    const claims = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? db.store : another).messages.claim(project, ticketId),
      ),
    );
    const won = claims.filter((claim) => claim !== null);
    expect(won.length).toBe(1);
    for (const claimed of won) {
      order.push(claimed.text);
      expect(claimed.attempts).toBe(1);
      await openAndFinish(another, answeredRun(claimed, []));
    }
  }
  expect(order).toEqual(texts);
});

test("each message is processed once and in order by concurrent workers of two processes", async () => {
  const project = await db.newProject();
  const another = db.openAnother();
  const texts = Array.from({ length: 15 }, (_, index) => `message ${String(index).padStart(2, "0")}`);
  const tickets = await Promise.all(
    [1, 2, 3].map((chat) =>
      fillChat(
        project,
        texts.map((text) => `${chat}: ${text}`),
      ),
    ),
  );
  const runs = new Map<string, string[]>(tickets.map((ticketId) => [ticketId, []]));
  const done = () => [...runs.values()].every((order) => order.length >= texts.length);

  await Promise.all(
    [db.store, another, db.store, another, db.store, another].map(async (store, worker) => {
      for (let round = worker; !done(); round++) {
        const ticketId = tickets[round % tickets.length] ?? "";
        const claimed = await store.messages.claim(project, ticketId);
        if (claimed === null) continue;
        runs.get(ticketId)?.push(claimed.text);
        expect(await openAndFinish(store, answeredRun(claimed, ["answer"]))).not.toBeNull();
      }
    }),
  );
  for (const [index, ticketId] of tickets.entries()) {
    expect(runs.get(ticketId)).toEqual(texts.map((text) => `${index + 1}: ${text}`));
  }
});

test("different chats are claimed concurrently", async () => {
  const project = await db.newProject();
  const tickets = await Promise.all(Array.from({ length: 30 }, (_, index) => fillChat(project, [`side ${index}`])));
  const claims = await Promise.all(tickets.map((ticketId) => db.store.messages.claim(project, ticketId)));
  expect(claims.map((claim) => claim?.ticketId)).toEqual(tickets);
  expect(new Set(claims.map((claim) => claim?.leaseId)).size).toBe(30);
});

test("an expired lease is claimed by the next worker, and the attempt is not counted", async () => {
  const project = await db.newProject();
  const ticketId = await fillChat(project, ["abandoned"]);
  const first = await claimNow(db.store, project, ticketId);
  expect(await db.store.messages.claim(project, ticketId)).toBeNull();
  await db.expireLease(ticketId);
  const second = await claimNow(db.store, project, ticketId);
  expect(second).toMatchObject({ messageId: first.messageId, attempts: 1, crashes: 0, lapses: 1 });
  expect(second.leaseId).not.toBe(first.leaseId);
});

test("renewing extends exactly the leases that are still held, by the full duration", async () => {
  const project = await db.newProject();
  const [kept, lost] = [await fillChat(project, ["kept"]), await fillChat(project, ["lost"])];
  const leases = [await claimNow(db.store, project, kept), await claimNow(db.store, project, lost)];
  await db.expireLease(lost);
  await claimNow(db.store, project, lost);
  await db.sql("UPDATE chats SET lease_until = now() + interval '1 millisecond' WHERE ticket_id = $1", [kept]);

  expect(await db.store.chats.renewLeases(leases)).toEqual(new Set([leases[0]?.leaseId]));
  const rows = await db.sql(
    "SELECT lease_until - now() > $2 * interval '1 millisecond' AS full FROM chats WHERE ticket_id = $1",
    [kept, LEASE_MS / 2],
  );
  expect(rows).toEqual([{ full: true }]);
});

test("a released lease can be claimed immediately; releasing it twice does not release the next one", async () => {
  const project = await db.newProject();
  const ticketId = await fillChat(project, ["given back"]);
  const first = await claimNow(db.store, project, ticketId);
  await db.store.chats.releaseLease(first);
  const second = await claimNow(db.store, project, ticketId);
  await db.store.chats.releaseLease(first);
  expect(await db.store.messages.claim(project, ticketId)).toBeNull();
  expect(second.messageId).toBe(first.messageId);
});

test("the results of a run are stored for the next attempt, unless the worker has lost its lease", async () => {
  const project = await db.newProject();
  const ticketId = await fillChat(project, ["progress"]);
  const first = await claimNow(db.store, project, ticketId);
  await db.store.chats.saveProgress(project, first.messageId, first.leaseId, { triage: "done" });
  await db.expireLease(ticketId);
  const second = await claimNow(db.store, project, ticketId);
  expect(second.progress).toEqual({ triage: "done" });
  await db.store.chats.saveProgress(project, first.messageId, first.leaseId, { triage: "from the dead" });
  await db.expireLease(ticketId);
  expect((await claimNow(db.store, project, ticketId)).progress).toEqual({ triage: "done" });
});

test("a chat without a waiting message cannot be claimed", async () => {
  const project = await db.newProject();
  const ticketId = await fillChat(project, ["only one"]);
  await openAndFinish(db.store, answeredRun(await claimNow(db.store, project, ticketId), []));
  expect(await db.store.messages.claim(project, ticketId)).toBeNull();
  expect(await db.store.messages.claim(project, "00000000-0000-7000-8000-000000000000")).toBeNull();
});

test("a claim that waited for a slow worker's retry respects the delay of the retry", async () => {
  const project = await db.newProject();
  const ticketId = await fillChat(project, ["put off"]);
  const slow: ClaimedMessage = await claimNow(db.store, project, ticketId);
  await db.expireLease(ticketId);

  // The statement of retryLater in an open transaction: the claim sees the expired lease, and waits for the chat's row.
  const client = new Client({ connectionString: db.url });
  await client.connect();
  try {
    await client.query("BEGIN");
    await client.query("UPDATE chats SET lease_id = NULL, lease_until = NULL WHERE ticket_id = $1", [ticketId]);
    await client.query("UPDATE messages SET not_before = now() + interval '1 hour' WHERE id = $1", [slow.messageId]);
    const claim = db.store.messages.claim(project, ticketId);
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await waitFor(async () => (await db.sql(waiting)).length > 0, { what: "the claim to wait for the lock" });
    await client.query("COMMIT");
    expect(await claim).toBeNull();
  } finally {
    await client.end();
  }
});

test("a claim that opens the ticket is equivalent to opening it separately, and reads the last texts of the chat", async () => {
  const { store } = db;
  const project = await db.newProject();
  const meta = { first: 1, both: 1 };
  const first = await store.messages.accept(
    project,
    newMessage({ chatId: "opened", text: "hello", channelMeta: meta }),
  );
  const { ticketId } = first;
  const claimed = await claimNow(store, project, ticketId);
  const ticket = await store.tickets.open(project, claimed);
  await store.tickets.finish(project, answeredRun(claimed, ["one", "two"]));
  await store.messages.accept(project, newMessage({ chatId: "opened", text: "and now?", channelMeta: { both: 2 } }));

  const next = await store.messages.claimConcurrently(project, ticketId, 2);
  if (next === null || "groupLimit" in next) throw new Error("the message was not claimed");
  expect(next.opened).toEqual({
    ticket: { ...ticket, stage: "done", status: "pending", version: ticket.version + 2 },
    history: [
      { author: "agent", text: "one", sources: [] },
      { author: "agent", text: "two", sources: [] },
    ],
    kbVersions: {},
  });
  expect(await store.tickets.find(project, ticketId)).toEqual(next.opened?.ticket);
  const [row] = await db.sql("SELECT channel_meta FROM tickets WHERE id = $1", [ticketId]);
  expect(row).toEqual({ channel_meta: { first: 1, both: 2 } });
});

test("a message whose ticket cannot be opened is claimed without it, without affecting others", async () => {
  const { store } = db;
  const project = await db.newProject();
  await db.sql("ALTER TABLE tickets ADD CONSTRAINT no_poison CHECK (subject <> 'poison')");
  try {
    const claims = ["poison", "fine"].map(async (text) => {
      const { ticketId } = await store.messages.accept(project, newMessage({ chatId: `claimed ${text}`, text }));
      return store.messages.claimConcurrently(project, ticketId, 0);
    });
    expect(await Promise.all(claims)).toMatchObject([
      { text: "poison", attempts: 1, opened: null, openError: { code: "23514" } },
      { text: "fine", attempts: 1, opened: { ticket: { subject: "fine" } } },
    ]);
  } finally {
    await db.sql("ALTER TABLE tickets DROP CONSTRAINT no_poison");
  }
});

test("the subject of a ticket is the first line of its first message, trimmed, without bidirectional controls", async () => {
  const { store } = db;
  const project = await db.newProject();
  const spaces =
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";
  const texts: [text: string, subject: string][] = [
    [`${spaces}Grüße 🙂 '\\${spaces}`, "Grüße 🙂 '\\"],
    ["one\rtwo", "one"],
    ["one \r\n two", "one "],
    ["\u202e\u2066 gnp.exe\u2069", "gnp.exe"],
    ["🙂".repeat(200), "🙂".repeat(120)],
    ["   ", ""],
  ];
  for (const [text, subject] of texts) {
    const { ticketId } = await store.messages.accept(project, newMessage({ chatId: text.slice(0, 50), text }));
    const claimed = await store.messages.claimConcurrently(project, ticketId, 0);
    expect(claimed).toMatchObject({ opened: { ticket: { subject }, history: [] } });
  }
});
