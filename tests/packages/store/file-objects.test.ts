import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { STORAGE_LIMITS, newId, openObjectStore, openStore, putStoreCopy, takeStoreCopy } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { createTestDatabase, startS3Server, testLog } from "@svc/testing";
import type { S3Server } from "@svc/testing";
import { SECRET_KEY, newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let s3: S3Server;
/** A store that moves files to the object store. */
let store: Store;
let project: ProjectId;

beforeAll(async () => {
  [db, s3] = await Promise.all([openTestStore(), startS3Server()]);
  store = db.openAnother(STORAGE_LIMITS, s3.url);
});
beforeEach(async () => {
  project = await db.newProject();
});
afterAll(async () => {
  await db.close();
  await s3.close();
});

const CONTENT = Buffer.from(Array.from({ length: 1_500_000 }, (_, index) => (index * 7 + (index >> 8)) % 256));

/** Creates a file of a new conversation, with its message. */
async function newFile(content: Buffer = CONTENT) {
  const message = newMessage({ channelId: "widget" });
  const { ticketId, messageId } = await store.messages.accept(project, message);
  const fileId = await store.widgetFiles.insert(project, { ticketId, filename: "a.bin", mime: "image/png", content });
  if (fileId === null) throw new Error("the file was not stored");
  await store.widgetFiles.assign(project, ticketId, messageId, [fileId]);
  return { ticketId, fileId };
}

async function moveAll(): Promise<void> {
  while (await store.fileObjects.move());
}

async function removeAll(): Promise<void> {
  while (await store.fileObjects.remove());
}

const objectOf = async (fileId: string) => {
  const [row] = await db.sql<{ objectId: string | null; bytes: number }>(
    `SELECT object_id AS "objectId", octet_length(content) AS bytes FROM widget_files WHERE id = $1`,
    [fileId],
  );
  return row;
};

async function readOpened(ticketId: string, fileId: string, from: Store = store) {
  const file = await from.widgetFiles.open(project, ticketId, fileId);
  if (file === null) return null;
  const pieces: Buffer[] = [];
  for await (const piece of file.pieces) pieces.push(piece);
  return { filename: file.filename, mime: file.mime, sizeBytes: file.sizeBytes, content: Buffer.concat(pieces) };
}

test("a file is moved, reads the same as a whole and in parts, and counts the same bytes", async () => {
  const { ticketId, fileId } = await newFile();
  const before = await store.storedBytes.readProject(project);
  const whole = await store.widgetFiles.find(project, ticketId, fileId);
  await moveAll();
  expect(await objectOf(fileId)).toEqual({ objectId: expect.any(String), bytes: 0 });
  expect(await store.widgetFiles.find(project, ticketId, fileId)).toEqual(whole);
  expect(await readOpened(ticketId, fileId)).toEqual({
    filename: "a.bin",
    mime: "image/png",
    sizeBytes: CONTENT.length,
    content: CONTENT,
  });
  expect(await store.storedBytes.readProject(project)).toEqual(before);
  // Another conversation cannot open the file, wherever it is stored.
  expect(await store.widgetFiles.open(project, newId(), fileId)).toBeNull();
});

test("a download that started before its file was moved continues from the object", async () => {
  const { ticketId, fileId } = await newFile();
  const file = await store.widgetFiles.open(project, ticketId, fileId);
  const pieces: Buffer[] = [];
  for await (const piece of file?.pieces ?? []) {
    if (pieces.length === 0) await moveAll();
    pieces.push(piece);
  }
  expect(pieces.length).toBeGreaterThan(1);
  expect(Buffer.concat(pieces).equals(CONTENT)).toBe(true);
});

test("erased and expired files lose their objects, also after a crash before the deletion", async () => {
  const [erased, expired, kept] = [await newFile(), await newFile(), await newFile()];
  await moveAll();
  const names = await s3.listObjects();
  await store.erasures.erase(project, erased.ticketId);
  await db.sql("UPDATE widget_files SET created_at = now() - interval '1 year' WHERE id = $1", [expired.fileId]);
  await db.sql("UPDATE projects SET file_purge_at = now() WHERE id = $1", [project]);
  while ((await store.widgetFiles.expire()) !== null);
  // Claimed by a process that crashed: due again after its lease.
  await db.sql("UPDATE object_deletions SET due_at = now() - interval '1 second'");
  await removeAll();
  const left = await s3.listObjects();
  expect(names.length - left.length).toBe(2);
  expect(left).toContain((await objectOf(kept.fileId))?.objectId);
  expect(await db.sql("SELECT 1 FROM object_deletions")).toEqual([]);
  expect(await store.widgetFiles.open(project, expired.ticketId, expired.fileId)).toBeNull();
});

test("a file that is erased while it is moved leaves no object", async () => {
  const { ticketId, fileId } = await newFile();
  const id = newId();
  // Like `move`, with the erasure before its last step.
  await db.sql("INSERT INTO object_deletions (object_id, is_reserved) VALUES ($1, true)", [id]);
  await openObjectStore(s3.url).put(id, CONTENT);
  await store.erasures.erase(project, ticketId);
  expect(await s3.listObjects()).toContain(id);
  await removeAll();
  expect(await s3.listObjects()).not.toContain(id);
  expect(await objectOf(fileId)).toBeUndefined();
});

test("while the store is unreachable, files stay in PostgreSQL and moving fails as unavailable", async () => {
  const other = await startS3Server();
  const cut = db.openAnother(STORAGE_LIMITS, other.url);
  await cut.fileObjects.check();
  await other.close();
  const { ticketId, fileId } = await newFile();
  await expect(cut.fileObjects.move()).rejects.toMatchObject({ code: "unavailable" });
  await expect(cut.fileObjects.check()).rejects.toMatchObject({ code: "unavailable" });
  expect((await readOpened(ticketId, fileId, cut))?.content.equals(CONTENT)).toBe(true);
  const wrong = db.openAnother(STORAGE_LIMITS, s3.url.replace("S3RVER:S3RVER", "S3RVER:wrong"));
  await expect(wrong.fileObjects.check()).rejects.toThrow("responded with status 403");
  await moveAll();
});

test("an export and a backup contain the contents, and a restore leaves no object of the replaced data", async () => {
  const [{ ticketId, fileId }, lost] = [await newFile(), await newFile()];
  await moveAll();
  const exported: unknown[] = [];
  for await (const { kind, records } of store.erasures.read(project, ticketId)) {
    if (kind === "visitorFiles") exported.push(...records);
  }
  expect(exported).toEqual([expect.objectContaining({ id: fileId, content: CONTENT })]);
  expect(exported[0]).not.toHaveProperty("objectId");

  const target = await createTestDatabase();
  const { signal } = new AbortController();
  const log = testLog();
  const leftover = newId();
  try {
    const before = openStore({ url: target.url, secretKey: SECRET_KEY, log });
    await openObjectStore(s3.url).put(leftover, CONTENT);
    const replaced = await before.projects.ensure("replaced");
    const old = await before.widgetFiles.insert(replaced.project.id, {
      ticketId: newId(),
      filename: "old",
      mime: "text/plain",
      content: Buffer.from("old"),
    });
    const { Pool } = await import("pg");
    const pool = new Pool({ connectionString: target.url, max: 1 });
    await pool.query("UPDATE widget_files SET object_id = $2, object_bytes = 3 WHERE id = $1", [old, leftover]);
    await pool.end();
    await before.close();
    // As if its conversation were erased after the snapshot of the copy.
    await openObjectStore(s3.url).remove((await objectOf(lost.fileId))?.objectId ?? "");
    const from = { url: db.url, secretKey: SECRET_KEY, log, signal, objects: openObjectStore(s3.url) };
    await takeStoreCopy(from, ({ head, tables }) =>
      putStoreCopy(
        {
          url: target.url,
          secretKey: SECRET_KEY,
          log,
          signal,
          head,
          mayReplace: true,
          mayInterrupt: true,
          onTable: () => undefined,
        },
        tables(),
      ),
    );
    // The restored installation needs no object store to read its files.
    const alone = openStore({ url: target.url, secretKey: SECRET_KEY, log });
    expect((await alone.widgetFiles.find(project, ticketId, fileId))?.content.equals(CONTENT)).toBe(true);
    expect(await alone.widgetFiles.find(project, lost.ticketId, lost.fileId)).toBeNull();
    await alone.close();
    const restored = openStore({ url: target.url, secretKey: SECRET_KEY, log, filesUrl: s3.url });
    while (await restored.fileObjects.remove());
    await restored.close();
    expect(await s3.listObjects()).not.toContain(leftover);
  } finally {
    await target.drop();
  }
});
