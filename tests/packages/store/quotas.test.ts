import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Quotas, UsageDay } from "@svc/contracts";
import { addDocument } from "@svc/knowledge";
import { newId } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { testLog, waitFor } from "@svc/testing";
import { newMessage, openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;

beforeAll(async () => {
  db = await openTestStore();
});
afterAll(() => db.close());

async function limitedProject(quotas: Partial<Quotas>): Promise<ProjectId> {
  const project = await db.store.projects.insert({ name: `limited-${newId()}`, quotas });
  if (project === null) throw new Error("the project was not created");
  return project.id;
}

const today = () => new Date().toISOString().slice(0, 10);

async function usageOf(project: ProjectId, days = 1): Promise<UsageDay[]> {
  const from = new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
  return db.store.quotas.listDays({ from, to: today(), project, limit: 100 });
}

const document = (key: string, text = "# Parcels\n\nThey leave at three.") =>
  ({ key, text, mime: "text/markdown" }) as const;

async function newKb(project: ProjectId): Promise<string> {
  return (await db.store.kbs.ensure(project, newId())).kb.id;
}

test("usage counts each accepted message once, also with retries and concurrent aggregation, and keeps the count after an erasure", async () => {
  const project = await db.newProject();
  const id = newId();
  const message = newMessage({ text: "four" });
  const { ticketId } = await db.store.messages.accept(project, message, id);
  await db.store.messages.accept(project, message, id);
  await Promise.all([1, 2, 3].map(() => db.store.messages.accept(project, newMessage({ text: "" }))));
  expect(await usageOf(project)).toMatchObject([{ messages: 4, storedBytes: 4, documents: 0, modelTokens: 0 }]);
  await Promise.all([db.store.storedBytes.fold(), db.store.storedBytes.fold()]);
  await db.store.erasures.erase(project, ticketId);
  expect(await usageOf(project)).toMatchObject([{ messages: 4, storedBytes: 0 }]);
  await db.store.storedBytes.fold();
  expect(await usageOf(project)).toMatchObject([{ messages: 4, storedBytes: 0 }]);
});

test("usage has each day with its counts and its bytes at the end, and only new documents", async () => {
  const project = await db.newProject();
  await db.sql("UPDATE projects SET created_at = now() - interval '5 days' WHERE id = $1", [project]);
  await db.store.messages.accept(project, newMessage({ text: "12345" }));
  await db.sql("UPDATE stored_bytes SET day = day - 2 WHERE project_id = $1", [project]);
  const kbId = await newKb(project);
  const deps = { store: db.store, log: testLog() };
  await addDocument(deps, project, kbId, document("a.md"));
  await addDocument(deps, project, kbId, document("a.md", "# Parcels\n\nThey leave at four."));
  await db.store.modelCalls.insert(project, {
    ticketId: null,
    purpose: "answer",
    model: "m",
    inputTokens: 10,
    outputTokens: 2,
    costUsd: null,
    ms: 1,
    fault: null,
  });
  const days = await usageOf(project, 4);
  await db.store.storedBytes.fold();
  expect(await usageOf(project, 4)).toEqual(days);
  expect(days.map(({ messages, documents, modelTokens }) => [messages, documents, modelTokens])).toEqual([
    [0, 1, 12],
    [0, 0, 0],
    [1, 0, 0],
    [0, 0, 0],
  ]);
  const stored = days.map(({ storedBytes }) => storedBytes);
  expect(stored.slice(1)).toEqual([5, 5, 0]);
  expect(stored[0]).toBe((await db.store.storedBytes.readProject(project)).totalBytes);
});

test("a daily limit of messages rejects the next one with the end of the period, but not a retry of an accepted one", async () => {
  const project = await limitedProject({ messagesPerDay: 2 });
  const id = newId();
  const message = newMessage();
  await db.store.messages.accept(project, message, id);
  await db.store.messages.accept(project, newMessage());
  const tomorrow = new Date(new Date().setUTCHours(24, 0, 0, 0));
  const next = db.store.messages.accept(project, newMessage());
  await expect(next).rejects.toMatchObject({
    code: "quota_exceeded",
    quota: { name: "messagesPerDay", limit: 2, used: 2, resetsAt: tomorrow.toISOString() },
    headers: { "Retry-After": expect.stringMatching(/^\d+$/) },
  });
  expect(await db.store.messages.accept(project, message, id)).toMatchObject({ messageId: id, seq: 1 });
  // Another process reads committed counts.
  await expect(db.openAnother().messages.accept(project, newMessage())).rejects.toMatchObject({
    code: "quota_exceeded",
  });
  expect(await usageOf(project)).toMatchObject([{ messages: 2 }]);
});

test("a daily limit applies to the next message, also in a process that cached none, until it is removed", async () => {
  const project = await db.newProject();
  await Promise.all([1, 2].map(() => db.store.messages.accept(project, newMessage())));
  const other = db.openAnother();
  await other.projects.update(project, { quotas: { messagesPerDay: 3 } });
  const accepted = await Promise.allSettled([1, 2].map(() => db.store.messages.accept(project, newMessage())));
  expect(accepted.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await other.projects.update(project, { quotas: { messagesPerDay: null } });
  const isAccepted = () =>
    db.store.messages.accept(project, newMessage()).then(
      () => true,
      () => false,
    );
  await waitFor(isAccepted, { what: "a message without a limit" });
  await db.store.messages.accept(project, newMessage());
  expect(await usageOf(project)).toMatchObject([{ messages: 5 }]);
});

test("a limit of documents rejects a new document, also a queued one, and accepts an update", async () => {
  const project = await limitedProject({ documents: 1 });
  const kbId = await newKb(project);
  const deps = { store: db.store, log: testLog() };
  await addDocument(deps, project, kbId, document("a.md"));
  await addDocument(deps, project, kbId, document("a.md", "# Parcels\n\nThey leave at four."));
  const rejection = { code: "storage_quota_exceeded", quota: { name: "documents", limit: 1, used: 1, resetsAt: null } };
  await expect(addDocument(deps, project, kbId, document("b.md"))).rejects.toMatchObject(rejection);
  const waiting = {
    kind: "text" as const,
    key: "c.txt",
    name: "c.txt",
    title: null,
    url: null,
    mime: "text/plain",
    bytes: Buffer.from("text"),
    sourceHash: Buffer.from(newId()),
  };
  const queue = (key: string) => db.store.ingests.queueDocuments(project, kbId, [{ ...waiting, key }]);
  await expect(queue("c.txt")).rejects.toMatchObject(rejection);
  await queue("a.md");
  expect(await usageOf(project)).toMatchObject([{ documents: 1 }]);
});

test("a limit of storage rejects what would exceed it, with the usage", async () => {
  const project = await limitedProject({ storageMb: 1 });
  const file = { filename: "a.bin", mime: "application/octet-stream", content: Buffer.alloc(700 * 1024) };
  await db.store.storedBytes.checkRoom(project, "documents", 700 * 1024);
  await db.store.widgetFiles.insert(project, { ...file, ticketId: newId() });
  await expect(db.store.widgetFiles.insert(project, { ...file, ticketId: newId() })).rejects.toMatchObject({
    code: "storage_quota_exceeded",
    quota: { name: "storageMb", limit: 1, used: 0.7, resetsAt: null },
  });
  // Messages are accepted as long as texts alone do not fill the limit.
  await db.store.storedBytes.checkRoom(project, "texts", 700 * 1024);
});

test("a limit of sockets counts those of all processes, and the maximum of the day is kept", async () => {
  const { store } = db;
  const [one, other] = [db.openAnother(), db.openAnother()];
  const project = await store.projects
    .findByName("default")
    .then((found) => found ?? store.projects.insert({ name: "default" }));
  if (project === null) throw new Error("no project");
  await store.projects.update(project.id, { quotas: { sockets: 5 } });
  const report = (process: typeof one, sockets: number) =>
    process.channelStates.report([{ id: "widget", state: "running", since: new Date(), error: null, sockets }]);
  await report(one, 2);
  await report(other, 2);
  await report(one, 3);
  await report(one, 0);
  await other.quotas.checkSockets(project.id, 4);
  await report(one, 3);
  const third = db.openAnother();
  await expect(third.quotas.checkSockets(project.id, 0)).rejects.toMatchObject({
    code: "quota_exceeded",
    quota: { name: "sockets", limit: 5, used: 5, resetsAt: null },
    headers: { "Retry-After": "30" },
  });
  expect(await usageOf(project.id)).toMatchObject([{ sockets: 5 }]);
});

test("omitted limits are unchanged, and null removes one", async () => {
  const project = await limitedProject({ messagesPerDay: 2, sockets: 1 });
  await db.store.projects.update(project, { quotas: { sockets: null, documents: 3 } });
  const changed = await db.store.projects.find(project);
  expect(changed?.quotas).toEqual({ messagesPerDay: 2, documents: 3, storageMb: null, sockets: null });
});
