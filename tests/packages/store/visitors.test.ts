import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { answeredRun, claimNow, exchange, newMessage, openTestStore } from "./open-test-store.ts";
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

const ofWidget = (change: Parameters<typeof newMessage>[0] = {}) => newMessage({ channelId: "widget", ...change });
/** Creates a chat with one message and two replies: sequence numbers 1 to 3. */
const answeredChat = async () => (await exchange(db.store, owner, ofWidget(), ["one", "two"])).accepted.ticketId;

describe("the message of a client's id", () => {
  test("is reserved once, also with concurrent calls, and has its sequence number once it is committed", async () => {
    const ticketId = newId();
    const stores = [db.store, db.openAnother()];
    const reserved = await Promise.all(
      Array.from({ length: 20 }, (_, index) => stores[index % 2]?.visitors.reserve(owner, ticketId, "m-1")),
    );
    const [first] = reserved;
    expect(new Set(reserved.map((one) => one?.messageId)).size).toBe(1);
    expect(reserved.every((one) => one?.seq === null)).toBe(true);

    const message = ofWidget();
    const { ticketId: other } = await db.store.messages.accept(owner, message);
    const { messageId } = await db.store.visitors.reserve(owner, other, "m-1");
    expect(messageId).not.toBe(first?.messageId);
    await db.store.messages.accept(owner, message, messageId);
    expect(await db.store.visitors.reserve(owner, other, "m-1")).toEqual({ messageId, seq: 2 });
  });
});

describe("a reserved id", () => {
  /** Makes ids look as if they were reserved this many hours ago; returns the remaining ones. */
  const age = (ticketId: string, hours: number) =>
    db.sql("UPDATE widget_messages SET created_at = now() - make_interval(hours => $2) WHERE ticket_id = $1", [
      ticketId,
      hours,
    ]);
  const idsOf = async (ticketId: string) =>
    (
      await db.sql<{ id: string }>(
        "SELECT client_message_id AS id FROM widget_messages WHERE ticket_id = $1 ORDER BY 1",
        [ticketId],
      )
    ).map(({ id }) => id);
  async function sweep(): Promise<void> {
    while (await db.store.visitors.removeReserved());
  }

  test("is removed after a day if its message has not arrived, unless it was requested again", async () => {
    const { visitors } = db.store;
    const message = ofWidget();
    const { ticketId } = await db.store.messages.accept(owner, message);
    const { messageId } = await visitors.reserve(owner, ticketId, "came");
    await db.store.messages.accept(owner, message, messageId);
    for (const id of ["never came", "tried again"]) await visitors.reserve(owner, ticketId, id);
    await age(ticketId, 23);
    await sweep();
    expect(await idsOf(ticketId)).toEqual(["came", "never came", "tried again"]);
    await age(ticketId, 25);
    const { messageId: again } = await visitors.reserve(owner, ticketId, "tried again");
    await sweep();
    expect(await idsOf(ticketId)).toEqual(["came", "tried again"]);
    expect(await visitors.reserve(owner, ticketId, "tried again")).toEqual({ messageId: again, seq: null });
    expect(await visitors.reserve(owner, ticketId, "came")).toEqual({ messageId, seq: 2 });
    await age(ticketId, 50);
    await sweep();
    expect(await idsOf(ticketId)).toEqual(["came"]);
  });
});

describe("the state of a chat", () => {
  test("is returned for many together, in the requested order, and only to its project", async () => {
    const [answered, empty] = [await answeredChat(), newId()];
    const { ticketId: waiting, messageId } = await db.store.messages.accept(owner, ofWidget());
    const nothing = { lastSeq: 0, writer: null, pending: null, state: "open", rating: null };
    expect(
      await db.store.visitors.readChatViews([
        { project: owner, ticketId: waiting },
        { project: owner, ticketId: empty },
        { project: stranger, ticketId: answered },
        { project: owner, ticketId: answered },
      ]),
    ).toEqual([
      { lastSeq: 1, writer: null, pending: { messageId, text: null }, state: "open", rating: null },
      nothing,
      nothing,
      { lastSeq: 3, writer: null, pending: null, state: "open", rating: null },
    ]);
    expect(await db.store.visitors.readChatViews([])).toEqual([]);
  });

  test("includes the oldest unanswered message, with its unfinished answer", async () => {
    const { ticketId, messageId } = await db.store.messages.accept(owner, ofWidget());
    const claimed = await claimNow(db.store, owner, ticketId);
    await db.store.tickets.open(owner, claimed);
    const { leaseId } = claimed;
    await db.store.unfinishedReplies.write(owner, { ticketId, messageId, leaseId, text: "So far" });
    const check = async () => (await db.store.visitors.readChatViews([{ project: owner, ticketId }]))[0];
    expect(await check()).toMatchObject({ pending: { messageId, text: "So far" } });
    await db.store.tickets.finish(owner, answeredRun(claimed, ["done"], { stage: "review" }));
    expect(await check()).toMatchObject({ lastSeq: 2, pending: null, state: "waiting" });
    await db.sql("UPDATE tickets SET stage = 'done', status = 'resolved' WHERE id = $1", [ticketId]);
    expect(await check()).toMatchObject({ state: "done" });
  });
});

describe("the conversations of a visitor", () => {
  test("are listed with the last message and whether it was read, newest first, and only to their project", async () => {
    const [older, newer, empty] = [await answeredChat(), await answeredChat(), newId()];
    await db.store.visitors.recordRead(owner, newer, 3);
    const list = (project: ProjectId) => db.store.visitors.listChats(project, [older, empty, newer]);
    expect(await list(owner)).toMatchObject([
      { place: 3, author: "agent", text: "two", isUnread: false },
      { place: 1, author: "agent", text: "two", isUnread: true },
    ]);
    expect(await list(stranger)).toEqual([]);
    await db.store.erasures.erase(owner, older);
    expect(await list(owner)).toMatchObject([{ place: 3 }]);
    const { ticketId } = await db.store.messages.accept(owner, ofWidget({ text: "x".repeat(500) }));
    expect(await db.store.visitors.listChats(owner, [ticketId])).toMatchObject([
      { author: "visitor", text: "x".repeat(200), markdown: false },
    ]);
  });
});

describe("messages and replies", () => {
  test("are listed by sequence number, with the client's id and files of a message, only to their project", async () => {
    const message = ofWidget({ text: "first" });
    const { ticketId } = await db.store.messages.accept(owner, message);
    await db.store.tickets.open(owner, await claimNow(db.store, owner, ticketId));
    const { messageId } = await db.store.visitors.reserve(owner, ticketId, "m-2");
    const file = { ticketId, filename: "a.txt", mime: "text/plain", content: Buffer.from("abc") };
    const fileId = await db.store.widgetFiles.insert(owner, file);
    await db.store.widgetFiles.assign(owner, ticketId, messageId, [fileId ?? ""]);
    await db.store.messages.accept(owner, { ...message, text: "second" }, messageId);
    const all = await db.store.visitors.listAfter(owner, ticketId, 0, 10);
    expect(all).toMatchObject([
      { kind: "message", seq: 1, text: "first", clientMessageId: null, attachments: [] },
      {
        kind: "message",
        seq: 2,
        text: "second",
        clientMessageId: "m-2",
        attachments: [{ fileId, filename: "a.txt", mime: "text/plain", sizeBytes: 3 }],
      },
    ]);
    expect(await db.store.visitors.listAfter(owner, ticketId, 1, 10)).toEqual(all.slice(1));
    expect(await db.store.visitors.listAfter(owner, ticketId, 0, 1)).toEqual(all.slice(0, 1));
    expect(await db.store.visitors.listAfter(stranger, ticketId, 0, 10)).toEqual([]);
  });

  test("are recorded as delivered in a range, once, and not in another project", async () => {
    const ticketId = await answeredChat();
    const delivered = async () =>
      (
        await db.sql<{ at: Date | null }>("SELECT delivered_at AS at FROM replies WHERE ticket_id = $1 ORDER BY seq", [
          ticketId,
        ])
      ).map(({ at }) => at);
    await db.store.visitors.confirm(stranger, ticketId, { after: 0, upTo: 3 });
    expect(await delivered()).toEqual([null, null]);
    await db.store.visitors.confirm(owner, ticketId, { after: 2, upTo: 3 });
    const [first, second] = await delivered();
    expect([first, second]).toEqual([null, expect.any(Date)]);
    const all = { after: 0, upTo: 3 };
    await Promise.all([all, all].map((positions) => db.store.visitors.confirm(owner, ticketId, positions)));
    expect(await delivered()).toEqual([expect.any(Date), second]);
  });
});

describe("a visitor's frames besides messages", () => {
  test("the read position never passes the end, never goes back, and exists only for existing chats", async () => {
    const ticketId = await answeredChat();
    const read = async () =>
      (await db.sql<{ seq: number }>("SELECT read_seq::int AS seq FROM visitors WHERE ticket_id = $1", [ticketId]))[0]
        ?.seq;
    await db.store.visitors.recordRead(stranger, ticketId, 1);
    expect(await read()).toBeUndefined();
    for (const [seq, noted] of [
      [2, 2],
      [1, 2],
      [1_000_000_000, 3],
    ] as const) {
      await db.store.visitors.recordRead(owner, ticketId, seq);
      expect(await read()).toBe(noted);
    }
    await db.store.visitors.recordRead(owner, newId(), 1);
  });

  test("ratings: the last one counts, and each different one adds an event", async () => {
    const ticketId = await answeredChat();
    const rate = (score: number, comment: string | null = null) =>
      db.store.visitors.rate(owner, ticketId, { score, comment });
    expect(await db.store.visitors.rate(stranger, ticketId, { score: 1, comment: null })).toBeNull();
    expect(await db.store.visitors.rate(owner, newId(), { score: 1, comment: null })).toBeNull();
    const rated = [await rate(2), await rate(2, "slow"), await rate(4), await rate(4)];
    expect(rated.map((one) => one?.hasNewScore)).toEqual([true, false, true, false]);
    expect(await db.store.visitors.readChatViews([{ project: owner, ticketId }])).toMatchObject([{ rating: 4 }]);
    const events = await db.sql<{ data: object }>(
      "SELECT data FROM ticket_events WHERE ticket_id = $1 AND actor = 'visitor' ORDER BY id",
      [ticketId],
    );
    expect(events.map(({ data }) => data)).toEqual([
      { decision: "rate", score: 2 },
      { decision: "rate", score: 2, comment: "slow" },
      { decision: "rate", score: 4 },
    ]);
  });
});
