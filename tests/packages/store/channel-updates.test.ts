import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { NewChannelUpdate, ProjectId, Store } from "@svc/store";
import { openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let store: Store;
let project: ProjectId;
let lastBot = 1_000;

beforeAll(async () => {
  db = await openTestStore();
  store = db.store;
  project = await db.newProject();
});

afterAll(() => db.close());

const nextBot = () => ++lastBot;

/** Returns an update of a chat; `ticketId` identifies the chat. */
function update(updateId: number, ticketId: string, more: Partial<NewChannelUpdate> = {}): NewChannelUpdate {
  return {
    updateId,
    origin: { ticketId, chatId: `chat ${ticketId}`, userId: `user ${ticketId}` },
    body: JSON.stringify({ update_id: updateId, text: "a\u0000b\ud800" }),
    excerpt: `text ${updateId}`,
    albumId: null,
    ...more,
  };
}

const insert = (botId: number, ...updates: NewChannelUpdate[]) =>
  store.channelUpdates.insertMany(project, botId, updates);
const heads = async (botId: number, busy: string[] = [], limit = 10) =>
  (await store.channelUpdates.listHeads(botId, busy, limit)).map(({ updateId }) => updateId);
const settle = (botId: number, ...ids: number[]) => store.channelUpdates.finish(botId, ids, "accepted");
const dueNow = (botId: number) => db.sql("UPDATE messenger_updates SET next_at = now() WHERE bot_id = $1", [botId]);

describe("updates of the messenger", () => {
  test("are stored once, however often and by any replica, and keep their message", async () => {
    const [bot, ticket] = [nextBot(), newId()];
    expect(await insert(bot, update(5, ticket), update(5, ticket), update(3, ticket))).toBe(2);
    const [before] = await store.channelUpdates.listHeads(bot, [], 10);
    const other = db.openAnother();
    const counts = await Promise.all(
      [store, other].map((each) =>
        each.channelUpdates.insertMany(project, bot, [update(3, ticket), update(4, ticket), update(5, ticket)]),
      ),
    );
    expect(counts.toSorted((one, other) => one - other)).toEqual([0, 1]);
    expect((await store.channelUpdates.listHeads(bot, [], 10))[0]).toEqual(before);
    expect(before).toMatchObject({ updateId: 3, messageId: expect.any(String), body: expect.stringContaining("3") });
    expect(await insert(nextBot(), update(3, ticket))).toBe(1);
  });

  test("wait in the order of their numbers within each conversation", async () => {
    const [bot, one, other] = [nextBot(), newId(), newId()];
    await insert(bot, update(12, one), update(11, other), update(13, other), update(10, one));
    expect(await heads(bot)).toEqual([10, 11]);
    expect(await heads(bot, [one])).toEqual([11]);
    expect(await heads(bot, [], 1)).toEqual([10]);
    await settle(bot, 10);
    expect(await heads(bot)).toEqual([11, 12]);
    await settle(bot, 11, 12, 13);
    expect(await heads(bot)).toEqual([]);
  });

  test("without a conversation are only recorded as received", async () => {
    const bot = nextBot();
    await insert(bot, update(1, "", { origin: null }));
    expect(await heads(bot)).toEqual([]);
    expect(await insert(bot, update(1, newId()))).toBe(0);
    expect(await db.sql("SELECT state, body FROM messenger_updates WHERE bot_id = $1", [bot])).toEqual([
      { state: "ignored", body: null },
    ]);
  });

  test("lose their content once they are processed", async () => {
    const [bot, ticket] = [nextBot(), newId()];
    await insert(bot, update(1, ticket));
    await settle(bot, 1);
    expect(
      await db.sql("SELECT state, chat_id, user_id, body, excerpt FROM messenger_updates WHERE bot_id = $1", [bot]),
    ).toEqual([{ state: "accepted", chat_id: null, user_id: null, body: null, excerpt: null }]);
  });

  test("that are deferred block only their own conversation", async () => {
    const [bot, one, other] = [nextBot(), newId(), newId()];
    await insert(bot, update(1, one), update(2, one), update(3, other));
    const later = { delayMs: 60_000, failure: "away" };
    await store.channelUpdates.retryLater({ botId: bot, updateId: 1 }, { ...later, counts: false });
    expect(await heads(bot)).toEqual([3]);
    await store.channelUpdates.retryLater({ botId: bot, updateId: 1 }, { ...later, counts: true });
    await dueNow(bot);
    expect(await store.channelUpdates.listHeads(bot, [], 10)).toMatchObject([
      { updateId: 1, tries: 1 },
      { updateId: 3, tries: 0 },
    ]);
  });

  test("of one album are combined, and later parts are separate", async () => {
    const [bot, ticket, albumId] = [nextBot(), newId(), "a-1"];
    await insert(bot, update(1, ticket, { albumId }), update(2, ticket, { albumId }), update(3, ticket));
    expect(await heads(bot)).toEqual([]);
    await dueNow(bot);
    expect(await heads(bot)).toEqual([1]);
    const join = async (updateId: number) =>
      (await store.channelUpdates.joinAlbum({ botId: bot, updateId })).map((part) => part.updateId);
    expect(await join(1)).toEqual([1, 2]);
    await insert(bot, update(4, ticket, { albumId }));
    expect(await join(1)).toEqual([1, 2]);
    await settle(bot, 1, 2);
    expect(await heads(bot)).toEqual([3]);
    await settle(bot, 3);
    await dueNow(bot);
    expect(await heads(bot)).toEqual([4]);
    expect(await join(4)).toEqual([4]);
  });

  test("that are dead letters are listed in their project and can be retried, an album as a whole", async () => {
    const [bot, ticket, own] = [nextBot(), newId(), await db.newProject()];
    const parts = [update(1, ticket, { albumId: "a" }), update(2, ticket, { albumId: "a" })];
    await store.channelUpdates.insertMany(own, bot, parts);
    await store.channelUpdates.joinAlbum({ botId: bot, updateId: 1 });
    await store.channelUpdates.markDead(bot, [1, 2], "broken");
    const dead = await store.channelUpdates.listDead(own, 10);
    expect(dead).toEqual([
      expect.objectContaining({ ticketId: ticket, chatId: `chat ${ticket}`, text: "text 1", failure: "broken" }),
    ]);
    expect(await store.channelUpdates.listDead(project, 10)).toEqual([]);
    const messageId = dead[0]?.messageId ?? "";
    expect(await store.channelUpdates.retryDead(project, messageId)).toBe(false);
    expect(await store.channelUpdates.retryDead(own, messageId)).toBe(true);
    expect(await store.channelUpdates.retryDead(own, messageId)).toBe(false);
    expect(await store.channelUpdates.listHeads(bot, [], 10)).toMatchObject([{ updateId: 1, tries: 0 }]);
    expect(await store.channelUpdates.joinAlbum({ botId: bot, updateId: 1 })).toHaveLength(2);
  });

  test("are deleted when they can no longer be sent again, dead letters after a month", async () => {
    const [bot, ticket] = [nextBot(), newId()];
    await insert(bot, update(1, ticket), update(2, ticket), update(3, ticket), update(4, ticket));
    await settle(bot, 1, 2);
    await store.channelUpdates.markDead(bot, [3], "broken");
    await db.sql(
      "UPDATE messenger_updates SET settled_at = now() - interval '3 days' WHERE bot_id = $1 AND update_id IN (2, 3)",
      [bot],
    );
    await store.channelUpdates.prune();
    const left = () =>
      db.sql("SELECT update_id::integer AS id FROM messenger_updates WHERE bot_id = $1 ORDER BY 1", [bot]);
    expect(await left()).toEqual([{ id: 1 }, { id: 3 }, { id: 4 }]);
    await db.sql(
      `UPDATE messenger_updates SET settled_at = settled_at - interval '31 days',
         received_at = received_at - interval '31 days' WHERE bot_id = $1`,
      [bot],
    );
    expect(await store.channelUpdates.prune()).toEqual({ unanswered: 2, isMore: false });
    expect(await left()).toEqual([]);
  });

  test("find the message for a message of Telegram, the newest one if it was corrected", async () => {
    const accept = (text: string, messageId: number) =>
      store.messages.accept(project, {
        channelId: "messenger",
        chatId: "find",
        userId: null,
        text,
        timestampMs: 1,
        attachments: null,
        channelMeta: { telegram: { messageId } },
        mode: null,
        callInstance: null,
        callback: null,
      });
    const { ticketId } = await accept("one", 71);
    await accept("two", 72);
    await accept("one, corrected", 71);
    expect(await store.channelUpdates.findMessage(project, ticketId, 71)).toEqual({
      text: "one, corrected",
      channelMeta: { telegram: { messageId: 71 } },
    });
    expect(await store.channelUpdates.findMessage(project, ticketId, 73)).toBeNull();
  });

  test("without a conversation are found, exported and erased by their user and their chat", async () => {
    const [bot, ticket, own] = [nextBot(), newId(), await db.newProject()];
    await store.channelUpdates.insertMany(own, bot, [update(1, ticket), update(2, newId())]);
    const owners = {
      user: { userIds: [`user ${ticket}`], chatId: null, updatesChatId: null, ticketIds: [] },
      chat: { userIds: [], chatId: null, updatesChatId: `chat ${ticket}`, ticketIds: [] },
    };
    for (const owner of Object.values(owners)) {
      const kinds: string[] = [];
      for await (const { kind, records } of store.erasures.readLoose(own, owner)) {
        kinds.push(...records.map(() => kind));
      }
      expect(kinds).toEqual(["messengerUpdates"]);
    }
    expect(await store.erasures.eraseLoose(own, owners.user)).toMatchObject({ messengerUpdates: 1 });
    expect(await store.erasures.eraseLoose(own, owners.chat)).toMatchObject({ messengerUpdates: 0 });
    expect(await heads(bot)).toEqual([2]);
  });
});

describe("a lease", () => {
  const take = (name: string, holder: string, ms = 60_000) => store.serviceLeases.claim(name, holder, ms);

  test("has one holder, which may renew it, until it expires or is released", async () => {
    const [name, one, other] = [newId(), newId(), newId()];
    const taken = await Promise.all([take(name, one), take(name, other)]);
    expect(taken.filter(Boolean)).toHaveLength(1);
    const [holder, stranger] = taken[0] ? [one, other] : [other, one];
    expect(await take(name, holder)).toBe(true);
    await store.serviceLeases.release(name, stranger);
    expect(await take(name, stranger)).toBe(false);
    await store.serviceLeases.release(name, holder);
    expect(await take(name, stranger, -1)).toBe(true);
    expect(await take(name, holder)).toBe(true);
    expect(await take(name, stranger)).toBe(false);
  });
});
