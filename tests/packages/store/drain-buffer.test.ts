import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { newId } from "@svc/store";
import type { DrainPage, ProjectId } from "@svc/store";
import {
  LIMITS,
  answeredRun,
  claimNow,
  exchange,
  newMessage,
  openTestStore,
  textReply,
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

const read = (ticketId: string, after = 0, limits = LIMITS) =>
  db.store.replies.readBuffer(project, ticketId, after, limits);

/** Acknowledges replies up to a cursor and reads the following ones, like each call of a reader with a cursor. */
async function drain(ticketId: string, cursor: number, limits = LIMITS): Promise<DrainPage> {
  await db.store.replies.acknowledge(project, ticketId, cursor);
  return read(ticketId, cursor, limits);
}

test("reading removes nothing: the same replies are returned until they are acknowledged", async () => {
  const { accepted } = await exchange(db.store, project, newMessage(), ["one", "two", "three"]);
  const { ticketId } = accepted;
  const first = await read(ticketId);
  expect(textsOf(first.replies)).toEqual(["one", "two", "three"]);
  expect(first).toMatchObject({ cursor: 4, more: false });
  expect(await read(ticketId)).toEqual(first);

  await db.store.replies.acknowledge(project, ticketId, 3);
  expect(textsOf((await read(ticketId)).replies)).toEqual(["three"]);
  await db.store.replies.acknowledge(project, ticketId, 3);
  expect(await drain(ticketId, first.cursor)).toEqual({ replies: [], cursor: first.cursor, more: false });
});

test("the cursor of a removing reader stays before replies that another reader has claimed and may lose", async () => {
  const { accepted } = await exchange(db.store, project, newMessage(), ["one", "two", "three"]);
  const { ticketId } = accepted;
  const instance = newId();
  await db.store.instances.beat(instance, "api");
  const takeId = newId();
  await db.store.replies.claimFromBuffer(project, ticketId, instance, { ...LIMITS, maxReplies: 1 }, takeId);
  const second = await db.store.replies.claimFromBuffer(project, ticketId, instance, LIMITS);
  expect(textsOf(second.replies)).toEqual(["two", "three"]);
  // A reader that continues with this cursor acknowledges nothing that the first reader did not get after all.
  await db.store.replies.release(project, ticketId, takeId);
  await db.store.replies.acknowledge(project, ticketId, second.cursor);
  expect(textsOf((await read(ticketId)).replies)).toEqual(["one"]);
});

test("an empty or unknown chat reads as empty and does not change the cursor", async () => {
  const { ticketId } = await db.store.messages.accept(project, newMessage());
  expect(await read(ticketId, 7)).toEqual({ replies: [], cursor: 7, more: false });
  expect(await read(newId(), 0)).toEqual({ replies: [], cursor: 0, more: false });
  expect(await db.store.replies.claimFromBuffer(project, newId(), newId(), LIMITS)).toMatchObject({ replies: [] });
});

for (const way of ["read", "take"] as const) {
  test(`${way}: a response contains at most the maximum number of replies, reports that there are more, and the next one continues`, async () => {
    const texts = Array.from({ length: 7 }, (_, index) => `reply ${index}`);
    const { accepted } = await exchange(db.store, project, newMessage(), texts);
    const instance = newId();
    await db.store.instances.beat(instance, "api");
    const limits = { ...LIMITS, maxReplies: 3 };
    const pages: DrainPage[] = [];
    for (let cursor = 0, more = true; more;) {
      const page =
        way === "read"
          ? await drain(accepted.ticketId, cursor, limits)
          : await db.store.replies.claimFromBuffer(project, accepted.ticketId, instance, limits);
      pages.push(page);
      await Promise.all(page.replies.map(({ id }) => db.store.replies.confirm(project, id)));
      ({ cursor, more } = page);
    }
    expect(pages.map(({ replies }) => replies.length)).toEqual([3, 3, 1]);
    expect(pages.map(({ more }) => more)).toEqual([true, true, false]);
    expect(pages.map(({ cursor }) => cursor)).toEqual([4, 7, 8]);
    expect(pages.flatMap(({ replies }) => textsOf(replies))).toEqual(texts);
  });

  test(`${way}: exactly as many replies as fit are not "more"`, async () => {
    const { accepted } = await exchange(db.store, project, newMessage(), ["one", "two"]);
    const limits = { ...LIMITS, maxReplies: 2 };
    const page =
      way === "read"
        ? await read(accepted.ticketId, 0, limits)
        : await db.store.replies.claimFromBuffer(project, accepted.ticketId, newId(), limits);
    expect(page).toMatchObject({ more: false, cursor: 3 });
    expect(page.replies.length).toBe(2);
  });

  test(`${way}: a response contains at most the maximum number of bytes, but always one reply, however large`, async () => {
    const { ticketId } = await db.store.messages.accept(project, newMessage());
    const claimed = await claimNow(db.store, project, ticketId);
    await db.store.tickets.open(project, claimed);
    const file = (filename: string, sizeBytes: number) => ({
      item: { type: "attachment" as const, filename, mime: "application/x", content: Buffer.alloc(sizeBytes) },
      author: "agent" as const,
    });
    await db.store.tickets.finish(
      project,
      answeredRun(claimed, [], {
        // In base64 the files take four thirds of their size: the second one does not fit beside the first.
        replies: [
          file("1", 60_000),
          file("2", 60_000),
          file("huge", 500_000),
          { item: textReply("x"), author: "agent" },
        ],
      }),
    );
    const limits = { ...LIMITS, maxBytes: 150_000 };
    const instance = newId();
    await db.store.instances.beat(instance, "api");
    const names: string[][] = [];
    for (let cursor = 0, more = true; more;) {
      const page =
        way === "read"
          ? await drain(ticketId, cursor, limits)
          : await db.store.replies.claimFromBuffer(project, ticketId, instance, limits);
      names.push(page.replies.map((reply) => (reply.type === "attachment" ? reply.filename : reply.text)));
      ({ cursor, more } = page);
    }
    expect(names).toEqual([["1"], ["2"], ["huge"], ["x"]]);
  });
}

test("a reader with a cursor gets every reply once while replies keep arriving", async () => {
  const chatId = "keeps coming";
  const { accepted } = await exchange(db.store, project, newMessage({ chatId }), ["reply 0"]);
  const got: string[] = [];
  let cursor = 0;
  for (let round = 1; round <= 10; round++) {
    const page = await drain(accepted.ticketId, cursor, { ...LIMITS, maxReplies: 2 });
    got.push(...textsOf(page.replies));
    ({ cursor } = page);
    await exchange(db.store, project, newMessage({ chatId }), [`reply ${round}`]);
  }
  got.push(...textsOf((await drain(accepted.ticketId, cursor)).replies));
  expect(got).toEqual(Array.from({ length: 11 }, (_, index) => `reply ${index}`));
});

test("acknowledging does not affect replies that are being delivered to others, or later ones", async () => {
  const chatId = "others";
  const instance = newId();
  await db.store.instances.beat(instance, "api");
  const { accepted } = await exchange(db.store, project, newMessage({ chatId }), ["taken", "read"]);
  await db.store.replies.claimFromBuffer(project, accepted.ticketId, instance, { ...LIMITS, maxReplies: 1 });
  await exchange(db.store, project, newMessage({ chatId }), ["later"]);
  await db.store.replies.acknowledge(project, accepted.ticketId, 3);
  await db.killInstance(instance);
  expect(textsOf((await read(accepted.ticketId)).replies)).toEqual(["taken", "later"]);
});

test("a reply that is buffered late is still delivered to a reader whose cursor is past its sequence number", async () => {
  const chatId = "late";
  const instance = newId();
  await db.store.instances.beat(instance, "api");
  const call = await exchange(db.store, project, newMessage({ chatId, mode: "sync", callInstance: instance }), [
    "of a call",
  ]);
  const { ticketId, messageId } = call.accepted;
  await exchange(db.store, project, newMessage({ chatId }), ["async"]);

  const got: string[] = [];
  let cursor = 0;
  const collect = async () => {
    const page = await drain(ticketId, cursor);
    got.push(...textsOf(page.replies));
    ({ cursor } = page);
  };
  await collect();
  // The caller disconnected before its response; the reply is in the buffer only now.
  await db.store.replies.endCall(project, messageId);
  await collect();
  await collect();
  expect(got.toSorted()).toEqual(["async", "of a call"]);
});
