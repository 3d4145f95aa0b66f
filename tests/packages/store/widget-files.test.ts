import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { WIDGET_LIMITS } from "@svc/contracts";
import { newId } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { newMessage, openTestStore } from "./open-test-store.ts";
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

async function insert(ticketId: string, name = "a.txt", content = Buffer.from(name)): Promise<string> {
  const id = await db.store.widgetFiles.insert(owner, { ticketId, filename: name, mime: "text/plain", content });
  if (id === null) throw new Error("the file was not kept");
  return id;
}

/** Makes files look as if they arrived this many hours ago. */
const age = (ids: string[], hours: number) =>
  db.sql("UPDATE widget_files SET created_at = now() - make_interval(hours => $2) WHERE id = ANY ($1)", [ids, hours]);

describe("files of a visitor", () => {
  test("are found only with their chat and project", async () => {
    const ticketId = newId();
    const id = await insert(ticketId);
    const { widgetFiles } = db.store;
    expect(await widgetFiles.find(owner, ticketId, id)).toEqual({
      filename: "a.txt",
      mime: "text/plain",
      content: Buffer.from("a.txt"),
    });
    expect(await widgetFiles.find(owner, newId(), id)).toBeNull();
    expect(await widgetFiles.find(stranger, ticketId, id)).toBeNull();
    expect(await widgetFiles.find(owner, ticketId, newId())).toBeNull();
  });

  test("are read in parts, each on demand, and end with an error if they are erased meanwhile", async () => {
    const ticketId = newId();
    const content = randomBytes(2_500_000);
    const id = await insert(ticketId, "large.bin", content);
    const openLarge = async () => {
      const file = await db.store.widgetFiles.open(owner, ticketId, id);
      if (file === null) throw new Error("the file was not found");
      return file;
    };
    const whole = await openLarge();
    const pieces: Buffer[] = [];
    for await (const piece of whole.pieces) pieces.push(piece);
    expect(whole).toMatchObject({ filename: "large.bin", mime: "text/plain", sizeBytes: content.length });
    expect(Buffer.concat(pieces).equals(content)).toBe(true);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(1_048_576);
    expect(await db.store.widgetFiles.open(stranger, ticketId, id)).toBeNull();

    const reader = (await openLarge()).pieces[Symbol.asyncIterator]();
    expect((await reader.next()).value).toHaveLength(1_048_576);
    await db.sql("DELETE FROM widget_files WHERE id = $1", [id]);
    await expect(reader.next()).rejects.toThrow("deleted while it was read");
  });

  test("are claimed by one message, all or none, in its order, and again by the same one", async () => {
    const ticketId = newId();
    const [first, second] = [await insert(ticketId, "1"), await insert(ticketId, "2")];
    const messageId = newId();
    const take = (ids: string[], message = messageId, project = owner, chat = ticketId) =>
      db.store.widgetFiles.assign(project, chat, message, ids);
    expect(await take([first, newId()])).toBeNull();
    expect(await take([first], messageId, stranger)).toBeNull();
    expect(await take([first], messageId, owner, newId())).toBeNull();
    const names = (files: { filename: string }[] | null) => files?.map(({ filename }) => filename);
    expect(names(await take([second, first]))).toEqual(["2", "1"]);
    expect(names(await take([second, first]))).toEqual(["2", "1"]);
    expect(await take([first], newId())).toBeNull();
  });

  test("are claimed by one of two concurrent messages", async () => {
    const ticketId = newId();
    const ids = [await insert(ticketId, "1"), await insert(ticketId, "2")];
    const another = db.openAnother();
    const taken = await Promise.all([
      db.store.widgetFiles.assign(owner, ticketId, newId(), ids),
      another.widgetFiles.assign(owner, ticketId, newId(), ids.toReversed()),
    ]);
    expect(taken.filter((files) => files !== null)).toHaveLength(1);
  });

  test("may wait for a message up to ten of the largest size per chat; those of messages do not count", async () => {
    const ticketId = newId();
    const content = Buffer.alloc(WIDGET_LIMITS.fileMaxBytes);
    const ids: string[] = [];
    for (let index = 0; index < 10; index++) ids.push(await insert(ticketId, "big", content));
    const small = { ticketId, filename: "x", mime: "text/plain", content: Buffer.from("x") };
    expect(await db.store.widgetFiles.insert(owner, small)).toBeNull();
    expect(await db.store.widgetFiles.insert(owner, { ...small, ticketId: newId() })).not.toBeNull();
    await db.store.widgetFiles.assign(owner, ticketId, newId(), ids.slice(0, 1));
    expect(await db.store.widgetFiles.insert(owner, small)).not.toBeNull();
  });

  test("may wait for a message up to a limit per project, whoever sends them; those of messages do not count", async () => {
    const project = await db.newProject();
    const send = (ticketId = newId()) => {
      const file = { ticketId, filename: "x", mime: "text/plain", content: Buffer.alloc(100) };
      return db.store.widgetFiles.insert(project, file, { chat: 1_000, project: 250 });
    };
    const ticketId = newId();
    const first = await send(ticketId);
    expect(await send()).not.toBeNull();
    expect(await send()).toBeNull();
    await db.store.widgetFiles.assign(project, ticketId, newId(), [first ?? ""]);
    expect(await send()).not.toBeNull();
    expect(await send()).toBeNull();
  });

  test("that no message refers to are removed after a day, shared among replicas; all others stay", async () => {
    const message = newMessage({ channelId: "widget" });
    const { ticketId, messageId } = await db.store.messages.accept(owner, message);
    const used = await insert(ticketId, "used");
    await db.store.widgetFiles.assign(owner, ticketId, messageId, [used]);
    // Claimed by a message that was never committed.
    const orphan = await insert(ticketId, "orphan");
    await db.store.widgetFiles.assign(owner, ticketId, newId(), [orphan]);
    const unused = await Promise.all(Array.from({ length: 120 }, (_, index) => insert(newId(), `${index}`)));
    const young = await insert(ticketId, "young");
    await age([used, orphan, ...unused], 25);
    await age([young], 23);
    const another = db.openAnother();
    const sweep = async ({ widgetFiles }: typeof another) => {
      while (await widgetFiles.removeUnused());
    };
    await Promise.all([sweep(db.store), sweep(another)]);
    await sweep(db.store);
    const left = await db.sql<{ id: string }>("SELECT id FROM widget_files WHERE id = ANY ($1)", [
      [used, orphan, young, ...unused],
    ]);
    expect(new Set(left.map(({ id }) => id))).toEqual(new Set([used, young]));
  });
});
