import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { addDocument, addDocuments } from "@svc/knowledge";
import { STORAGE_LIMITS, newId, storageWarnings } from "@svc/store";
import type { ProjectId, Store, StorageLimits, StoredKind } from "@svc/store";
import { testLog } from "@svc/testing";
import fc from "fast-check";
import { answeredRun, claimNow, newMessage, openAndFinish, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});

afterAll(async () => {
  await db.close();
});

const file = (bytes: number) => ({ filename: "a.bin", mime: "application/octet-stream", content: Buffer.alloc(bytes) });

async function insertFile(project: ProjectId, ticketId: string, bytes: number, store = db.store): Promise<string> {
  const id = await store.widgetFiles.insert(project, { ...file(bytes), ticketId });
  if (id === null) throw new Error("the file was not stored");
  return id;
}

/** Accepts a message of the widget with files of these sizes. */
async function sendFiles(project: ProjectId, bytes: readonly number[], text = "") {
  const chatId = newId();
  const message = newMessage({ channelId: "widget", chatId, text: text === "" ? "x" : text });
  const { ticketId, messageId } = await db.store.messages.accept(project, message);
  const fileIds = [];
  for (const size of bytes) fileIds.push(await insertFile(project, ticketId, size));
  await db.store.widgetFiles.assign(project, ticketId, messageId, fileIds);
  const attachments = fileIds.map((id) => ({
    type: "text/plain",
    url: `/api/v1/admin/tickets/${ticketId}/files/${id}`,
    name: id,
  }));
  await db.sql("UPDATE messages SET attachments = $2 WHERE id = $1", [messageId, JSON.stringify(attachments)]);
  return { ticketId, messageId, fileIds };
}

async function kindsOf(project: ProjectId): Promise<Partial<Record<StoredKind, number>>> {
  const { kinds } = await db.store.storedBytes.readProject(project);
  return Object.fromEntries(Object.entries(kinds).filter(([, bytes]) => bytes !== 0));
}

/** Returns the bytes in the tables, counted again. */
async function recount(project: ProjectId): Promise<Record<string, number>> {
  const rows = await db.sql<{ kind: string; bytes: string }>(
    `SELECT kind, sum(bytes) AS bytes FROM (
       SELECT 'visitorFiles' AS kind, octet_length(content) AS bytes FROM widget_files WHERE project_id = $1
       UNION ALL SELECT 'operatorFiles', octet_length(content) FROM operator_files WHERE project_id = $1
       UNION ALL SELECT 'replyFiles', octet_length(content) FROM replies WHERE project_id = $1 AND content IS NOT NULL
       UNION ALL SELECT 'hookBodies', octet_length(content) FROM hook_bodies WHERE project_id = $1
       UNION ALL SELECT 'documents', size_bytes FROM ingests WHERE project_id = $1
       UNION ALL SELECT 'documents', octet_length(text) FROM chunks WHERE project_id = $1
       UNION ALL SELECT 'texts', octet_length(text) FROM messages WHERE project_id = $1
     ) stored GROUP BY kind HAVING sum(bytes) <> 0`,
    [project],
  );
  return Object.fromEntries(rows.map(({ kind, bytes }) => [kind, Number(bytes)]));
}

const hookBody = (bytes: number) => ({
  id: newId(),
  contentType: "application/json",
  headers: {},
  content: Buffer.alloc(bytes),
});
const IGNORED = {
  outcome: "ignored",
  faults: [],
  eventId: null,
  messageId: null,
  ticketId: null,
  chatId: null,
  userId: null,
} as const;

async function newHook(project: ProjectId): Promise<string> {
  const hook = await db.store.hooks.insert(project, {
    name: newId(),
    preset: null,
    auth: { type: "path" },
    secret: db.store.sealer.seal("a secret"),
    mapping: { text: "{{$.text}}" },
    filter: [],
    createdBy: "test",
  });
  if (hook === null) throw new Error("the hook was not made");
  return hook.id;
}

async function newKb(project: ProjectId): Promise<string> {
  const kb = await db.store.kbs.ensure(project, newId());
  return kb.kb.id;
}

const ingestOf = (bytes: number) => ({
  kind: "text" as const,
  key: newId(),
  name: "a.txt",
  title: null,
  url: null,
  mime: "text/plain",
  bytes: Buffer.alloc(bytes),
  sourceHash: Buffer.from(newId()),
});

describe("stored bytes of a project", () => {
  test("count every kind, including files of messages", async () => {
    const project = await db.newProject();
    const { ticketId } = await sendFiles(project, [100, 20], "four");
    await db.store.operatorFiles.insert(project, ticketId, file(30));
    await db.store.hooks.addBody(project, await newHook(project), { ...hookBody(40), result: IGNORED });
    await db.store.ingests.queueDocuments(project, await newKb(project), [ingestOf(50)]);
    const claimed = await claimNow(db.store, project, ticketId);
    const run = answeredRun(claimed, []);
    const item = { type: "attachment" as const, filename: "a.xlsx", mime: "text/plain", content: Buffer.alloc(60) };
    await openAndFinish(db.store, { ...run, replies: [{ item, author: "agent" }] });
    expect(await kindsOf(project)).toEqual({
      visitorFiles: 120,
      operatorFiles: 30,
      hookBodies: 40,
      documents: 50,
      replyFiles: 60,
      texts: 4,
    });
    expect(await kindsOf(project)).toEqual(await recount(project));
    await db.store.erasures.erase(project, ticketId);
    expect(await kindsOf(project)).toEqual({ hookBodies: 40, documents: 50 });
  });

  test("always match the tables, regardless of the order of writes, deletions and aggregation", async () => {
    const project = await db.newProject();
    const hookId = await newHook(project);
    const kbId = await newKb(project);
    const tickets: string[] = [];
    const size = fc.integer({ min: 0, max: 300 });
    const step = fc.oneof(
      fc.record({ do: fc.constant("send" as const), size }),
      fc.record({ do: fc.constant("hook" as const), size }),
      fc.record({ do: fc.constant("ingest" as const), size }),
      fc.record({ do: fc.constantFrom("erase" as const, "expire" as const, "sweep" as const, "fold" as const), size }),
    );
    const STEPS: Record<
      "send" | "hook" | "ingest" | "erase" | "expire" | "sweep" | "fold",
      (bytes: number) => Promise<unknown>
    > = {
      send: async (bytes) => tickets.push((await sendFiles(project, [bytes, bytes + 1])).ticketId),
      hook: (bytes) => db.store.hooks.addBody(project, hookId, { ...hookBody(bytes), result: IGNORED }),
      ingest: (bytes) => db.store.ingests.queueDocuments(project, kbId, [ingestOf(bytes)]),
      erase: () => db.store.erasures.erase(project, tickets.shift() ?? newId()),
      expire: async () => {
        await db.sql("UPDATE widget_files SET created_at = now() - interval '1 year' WHERE project_id = $1", [project]);
        await db.sql("UPDATE projects SET file_purge_at = now() WHERE id = $1", [project]);
        return db.store.widgetFiles.expire();
      },
      sweep: (bytes) => insertFile(project, newId(), bytes + 1).then(() => db.store.widgetFiles.removeUnused()),
      fold: () => db.store.storedBytes.fold(),
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        await Promise.all(steps.map((one) => STEPS[one.do](one.size)));
        expect(await kindsOf(project)).toEqual(await recount(project));
      }),
      { numRuns: 15 },
    );
    await db.store.storedBytes.fold();
    const [rows] = await db.sql<{ count: string }>(
      "SELECT count(*) FROM (SELECT 1 FROM stored_bytes GROUP BY project_id, kind HAVING count(*) > 1) many",
    );
    expect(rows?.count).toBe("0");
  });
});

describe("a storage limit", () => {
  const KB = 1_024;
  const limited = (change: Partial<StorageLimits>): Store => db.openAnother({ ...STORAGE_LIMITS, ...change });

  test("of a project rejects visitors' files at half of it, and everything else at all of it", async () => {
    const [project, other] = [await db.newProject(), await db.newProject()];
    const store = limited({ projectMaxBytes: 10 * KB });
    await insertFile(project, newId(), 5 * KB, store);
    await expect(insertFile(project, newId(), 1, store)).rejects.toMatchObject({
      code: "storage_full",
      message: expect.stringContaining("Storage of this project for files of visitors is full: 5 KB of 5 KB are used."),
    });
    const kept = { id: newId(), messageId: newId(), ticketId: newId(), ...file(1) };
    await expect(store.widgetFiles.insertForMessage(project, kept)).rejects.toMatchObject({ code: "storage_full" });
    const { ticketId } = await store.messages.accept(project, newMessage({ text: "a" }));
    await store.operatorFiles.insert(project, ticketId, file(4 * KB));
    await expect(store.operatorFiles.insert(project, ticketId, file(2 * KB))).rejects.toMatchObject({
      code: "storage_full",
    });
    const kbId = await newKb(project);
    await expect(store.ingests.queueDocuments(project, kbId, [ingestOf(2 * KB)])).rejects.toMatchObject({
      code: "storage_full",
    });
    // Texts are accepted as long as they alone do not fill it, and another project has its own limit.
    await store.storedBytes.checkRoom(project, "texts", 5 * KB);
    await expect(store.storedBytes.checkRoom(project, "texts", 10 * KB)).rejects.toMatchObject({
      code: "storage_full",
    });
    await insertFile(other, newId(), 5 * KB, store);
  });

  test("of a project rejects documents that are added together, and none of them is stored", async () => {
    const project = await db.newProject();
    const store = limited({ projectMaxBytes: 10 * KB });
    const kbId = await newKb(project);
    const deps = { store, log: testLog() };
    const textOf = (key: string) => ({
      key,
      title: key,
      mime: "text/plain",
      text: `${key} has some words. `.repeat(300),
    });
    await expect(addDocuments(deps, project, kbId, [textOf("one"), textOf("two")])).rejects.toMatchObject({
      code: "storage_full",
    });
    expect(await kindsOf(project)).toEqual({});
    await addDocument(deps, project, kbId, textOf("one"));
    await expect(addDocument(deps, project, kbId, textOf("two"))).rejects.toMatchObject({
      code: "storage_full",
      message: expect.stringContaining("Storage of this project is full"),
    });
    expect((await kindsOf(project)).documents).toBeLessThanOrEqual(10 * KB);
  });

  test("applies while the disk of the database is full: files are rejected with the reason, and the store reports it", async () => {
    const project = await db.newProject();
    const store = db.openAnother();
    const { ticketId } = await store.messages.accept(project, newMessage({ text: "a" }));
    // PostgreSQL reports a full disk with this code; an actually full disk would stop the other tests.
    await db.sql(
      `CREATE FUNCTION fail_as_full() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`,
    );
    await db.sql("CREATE TRIGGER full_disk BEFORE INSERT ON operator_files EXECUTE FUNCTION fail_as_full()");
    try {
      await expect(store.operatorFiles.insert(project, ticketId, file(1))).rejects.toMatchObject({
        code: "unavailable",
      });
    } finally {
      await db.sql("DROP FUNCTION fail_as_full CASCADE");
    }
    const reason = { code: "storage_full", message: "The disk of the database is full. Retry later." };
    await expect(insertFile(project, ticketId, 1, store)).rejects.toMatchObject(reason);
    await expect(store.storedBytes.checkRoom(project, "documents", 1)).rejects.toMatchObject(reason);
    expect(await store.findProblem()).toMatch(/disk/);
    await insertFile(project, ticketId, 1);
  });

  test("is free again after files are removed, erased or expired", async () => {
    const project = await db.newProject();
    const store = limited({ projectMaxBytes: 10 * KB });
    const isFull = () =>
      store.storedBytes.checkRoom(project, "visitorFiles", KB).then(
        () => false,
        () => true,
      );
    const { ticketId } = await sendFiles(project, [5 * KB]);
    expect(await isFull()).toBe(true);
    await store.erasures.erase(project, ticketId);
    expect(await isFull()).toBe(false);
    const { fileIds } = await sendFiles(project, [5 * KB]);
    expect(await isFull()).toBe(true);
    await db.sql("UPDATE widget_files SET created_at = now() - interval '91 days' WHERE id = ANY ($1)", [fileIds]);
    await db.sql("UPDATE projects SET file_purge_at = '-infinity' WHERE id = $1", [project]);
    expect(await store.widgetFiles.expire()).toEqual({ project, expired: 1, isMore: false });
    expect(await isFull()).toBe(false);
  });

  test("of a conversation and of its day counts files of messages", async () => {
    const project = await db.newProject();
    const store = limited({ conversationMaxBytes: 3 * KB, visitorDayMaxBytes: 2 * KB });
    const { ticketId } = await sendFiles(project, [2 * KB]);
    await expect(insertFile(project, ticketId, 1, store)).rejects.toMatchObject({
      code: "storage_full",
      message: expect.stringContaining("at most 2 KB are stored within 24 hours"),
    });
    await insertFile(project, newId(), 1, store);
    await db.sql("UPDATE widget_files SET created_at = now() - interval '2 days' WHERE ticket_id = $1", [ticketId]);
    await insertFile(project, ticketId, KB, store);
    await expect(insertFile(project, ticketId, 1, store)).rejects.toMatchObject({
      message: expect.stringContaining("at most 3 KB together are stored"),
    });
  });

  test("is exceeded by concurrent uploads by no more than their own bytes", async () => {
    const project = await db.newProject();
    const store = limited({ projectMaxBytes: 10 * KB });
    const inFlight = 3;
    for (let round = 0; round < 5; round++) {
      await Promise.allSettled(Array.from({ length: inFlight }, () => insertFile(project, newId(), KB, store)));
    }
    const { visitorFiles = 0 } = await kindsOf(project);
    expect(visitorFiles).toBeGreaterThanOrEqual(5 * KB);
    expect(visitorFiles).toBeLessThanOrEqual((5 + inFlight) * KB);
  });

  test("of the installation is shared by all projects, and warnings name limits that are nearly reached", async () => {
    const project = await db.newProject();
    await insertFile(project, newId(), 9 * KB);
    const { totalBytes } = await db.store.storedBytes.read();
    const store = limited({ installationMaxBytes: totalBytes, projectMaxBytes: 20 * KB });
    await expect(store.storedBytes.checkRoom(project, "documents", 1)).rejects.toMatchObject({
      message: expect.stringContaining("Storage of this installation is full"),
    });
    const warnings = storageWarnings(await store.storedBytes.read());
    expect(warnings).toContainEqual(expect.stringMatching(/^The installation stores /));
    expect(warnings).toContainEqual(expect.stringMatching(/^Project .* \(files of visitors\) stores 9 KB of 10 KB$/));
  });
});

describe("expired files", () => {
  const expireNow = async (project: ProjectId, fileIds: string[]) => {
    await db.sql("UPDATE widget_files SET created_at = now() - interval '91 days' WHERE id = ANY ($1)", [fileIds]);
    await db.sql("UPDATE projects SET file_purge_at = '-infinity' WHERE id = $1", [project]);
    return db.store.widgetFiles.expire();
  };

  test("stay listed in their conversation, and their contents are deleted", async () => {
    const project = await db.newProject();
    const { ticketId, messageId, fileIds } = await sendFiles(project, [10, 20]);
    const [old = "", young = ""] = fileIds;
    expect(await expireNow(project, [old])).toMatchObject({ expired: 1 });
    expect(await db.store.widgetFiles.find(project, ticketId, old)).toBeNull();
    expect(await db.store.widgetFiles.find(project, ticketId, young)).toMatchObject({ filename: "a.bin" });
    const [message] = await db.sql<{ attachments: object[] }>("SELECT attachments FROM messages WHERE id = $1", [
      messageId,
    ]);
    expect(message?.attachments).toEqual([
      { type: "text/plain", name: old, expired: true },
      { type: "text/plain", name: young, url: expect.stringContaining(young) },
    ]);
    const [entry] = await db.store.visitors.listAfter(project, ticketId, 0, 10);
    expect(entry).toMatchObject({
      attachments: expect.arrayContaining([
        { fileId: old, filename: "a.bin", mime: "application/octet-stream", sizeBytes: 0, expired: true },
      ]),
    });
  });

  test("are deleted once an hour, and immediately after the retention was changed; null keeps files", async () => {
    const project = await db.newProject();
    const { fileIds } = await sendFiles(project, [10]);
    await db.store.projects.update(project, { fileRetentionDays: null });
    expect((await expireNow(project, fileIds))?.project).not.toBe(project);
    await db.store.projects.update(project, { fileRetentionDays: 365 });
    await db.sql("UPDATE projects SET file_purge_at = 'infinity' WHERE id <> $1", [project]);
    expect(await db.store.widgetFiles.expire()).toEqual({ project, expired: 0, isMore: false });
    expect(await db.store.widgetFiles.expire()).toBeNull();
    await db.store.projects.update(project, { fileRetentionDays: 30 });
    expect(await db.store.widgetFiles.expire()).toEqual({ project, expired: 1, isMore: false });
  });
});
