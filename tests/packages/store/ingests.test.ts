import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { KB_LIMITS } from "@svc/contracts";
import type { ClaimedIngest, DocumentPutter, NewIngest, ProjectId, Store } from "@svc/store";
import { newId } from "@svc/store";
import { Client } from "pg";
import { openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

let db: TestStore;
let store: Store;
let project: ProjectId;
let kbId: string;

beforeAll(async () => {
  db = await openTestStore();
  store = db.store;
});

afterAll(async () => {
  await db.close();
});

beforeEach(async () => {
  // Ingests left by one test must not be claimed by the next.
  await db.sql("DELETE FROM ingests");
  project = await db.newProject();
  kbId = (await store.kbs.ensure(project, "manual")).kb.id;
});

const hashOf = (text: string | Uint8Array) => createHash("sha256").update(text).digest();

/** Returns a submitted file. */
function newFile(key: string, text: string | Uint8Array, change: Partial<NewIngest> = {}): NewIngest {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const facts = { kind: "file" as const, key, name: key, title: null, url: null, mime: null };
  return { ...facts, bytes, sourceHash: hashOf(bytes), ...change };
}

const newPage = (url: string): NewIngest =>
  newFile(url, "", { kind: "page", name: url, url, bytes: null, sourceHash: null });

async function queueOne(ingest: NewIngest) {
  const [queued] = await store.ingests.queueDocuments(project, kbId, [ingest]);
  if (queued === undefined) throw new Error("nothing was queued");
  return queued;
}

async function claimNow(from: Store = store, canFetch = true): Promise<ClaimedIngest> {
  const claim = await from.ingests.claim({ canFetch });
  if (claim === null) throw new Error("there is nothing to claim");
  return claim;
}

/** Makes the lease look as if its worker had not renewed it in time. */
const expireLease = (id: string) =>
  db.sql("UPDATE ingests SET lease_until = now() - interval '1 s' WHERE id = $1", [id]);

const NO_POSTINGS = { terms: [], ends: new Uint32Array(), units: new Uint32Array(), words: [] };
const NO_CHUNKS = { chunks: [], version: 1, post: () => Promise.resolve(NO_POSTINGS) };

/** Replaces the queued document with one without passages. */
function putText(claim: ClaimedIngest, text: string) {
  return async (documents: DocumentPutter) => {
    const document = {
      key: claim.key,
      title: text,
      url: null,
      mime: "text/plain",
      sizeBytes: text.length,
      contentHash: hashOf(text),
      language: "en",
      textSearchConfig: "english",
    };
    const prepared = await store.documents.prepare(document, NO_CHUNKS);
    const { documentId } = await documents.putPrepared(claim.project, claim.kbId, prepared);
    const source = { hash: claim.sourceHash ?? hashOf(text), mime: "application/pdf", sizeBytes: claim.sizeBytes };
    await documents.recordSource(claim.project, { id: documentId, contentHash: document.contentHash }, source);
  };
}

async function findDocument(id: string) {
  const document = await store.documents.find(project, kbId, id);
  if (document === null) throw new Error("the document is not there");
  return document;
}

describe("a submitted document", () => {
  test("is queued immediately, with its bytes stored in chunks", async () => {
    const bytes = Buffer.alloc(9 * 1024 * 1024, "abc");
    const { documentId, isNew } = await queueOne(newFile("large.pdf", bytes, { mime: "application/pdf" }));
    expect(isNew).toBe(true);
    expect(await findDocument(documentId)).toMatchObject({
      key: "large.pdf",
      title: "large.pdf",
      mime: "application/pdf",
      sizeBytes: bytes.length,
      status: "queued",
      language: null,
      chunkCount: 0,
    });
    const claim = await claimNow();
    expect(claim).toMatchObject({ project, kbId, kind: "file", documentId, attempts: 1, sizeBytes: bytes.length });
    expect((await store.ingests.readBytes(claim))?.equals(bytes)).toBe(true);
  });

  test("is one document without new work if submitted twice, while waiting or after it was read", async () => {
    const first = await queueOne(newFile("same.txt", "same"));
    expect(await queueOne(newFile("same.txt", "same"))).toEqual({ ...first, isNew: false });
    const claim = await claimNow();
    expect(await store.ingests.finish(claim, putText(claim, "same"))).toBe(true);
    expect(await queueOne(newFile("same.txt", "same"))).toEqual({
      documentId: first.documentId,
      ingestId: null,
      isNew: false,
    });
    expect(await store.ingests.claim({ canFetch: true })).toBeNull();
  });

  test("is not duplicated if it is a waiting page, and is fetched again if it was read", async () => {
    const first = await queueOne(newPage("https://example.com/a"));
    expect(await queueOne(newPage("https://example.com/a"))).toEqual({ ...first, isNew: false });
    const claim = await claimNow();
    await store.ingests.finish(claim, putText(claim, "page"));
    expect((await queueOne(newPage("https://example.com/a"))).isNew).toBe(true);
  });

  test("is only added to a knowledge base of its own project", async () => {
    const stranger = await db.newProject();
    await expect(store.ingests.queueDocuments(stranger, kbId, [newFile("a", "a")])).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(
      store.ingests.queueSitemap(stranger, kbId, { url: "https://example.com/", maxPages: 1 }),
    ).rejects.toMatchObject({ code: "not_found" });
    const { documentId } = await queueOne(newFile("a", "a"));
    expect(await store.documents.find(stranger, kbId, documentId)).toBeNull();
    expect(await store.documents.remove(stranger, kbId, documentId)).toBe(false);
    expect(await store.documents.listPage(stranger, kbId, { limit: 10 })).toEqual([]);
  });

  test("is rejected as a whole while too many documents of its project wait", async () => {
    await queueOne(newFile("waits.txt", "waits"));
    await db.sql("UPDATE ingests SET size_bytes = $1", [KB_LIMITS.queuedMaxBytes - 5]);
    await expect(
      store.ingests.queueDocuments(project, kbId, [newFile("a", "ab"), newFile("b", "defg")]),
    ).rejects.toMatchObject({ code: "rate_limited", message: expect.stringContaining("1024 MB") });
    expect(await store.documents.listPage(project, kbId, { limit: 10 })).toHaveLength(1);
    const other = await db.newProject();
    const { kb } = await store.kbs.ensure(other, "manual");
    expect(await store.ingests.queueDocuments(other, kb.id, [newFile("a", "abcdefg")])).toHaveLength(1);
  });

  test("is accepted in concurrent batches of different order", async () => {
    const files = ["a", "b", "c", "d"].map((key) => newFile(key, key));
    const calls = [files, files.toReversed(), files, files.toReversed()];
    const answers = await Promise.all(calls.map((call) => store.ingests.queueDocuments(project, kbId, call)));
    expect(new Set(answers.flat().map(({ documentId }) => documentId)).size).toBe(4);
    expect(answers.flat().filter(({ isNew }) => isNew)).toHaveLength(4);
  });
});

describe("a worker", () => {
  test("claims exclusively, and single documents before the pages of a sitemap", async () => {
    await store.ingests.queueSitemap(project, kbId, { url: "https://example.com/", maxPages: 5 });
    await queueOne(newFile("b.txt", "b"));
    const another = db.openAnother();
    expect((await claimNow(another)).kind).toBe("file");
    expect(await claimNow()).toMatchObject({ kind: "sitemap", maxPages: 5, documentId: null });
    expect(await store.ingests.claim({ canFetch: true })).toBeNull();
  });

  test("that may not fetch gets no page", async () => {
    await queueOne(newPage("https://example.com/slow"));
    expect(await store.ingests.claim({ canFetch: false })).toBeNull();
    expect((await claimNow()).kind).toBe("page");
  });

  test("renews its leases one by one, so that it does not wait for new submissions of the same documents", async () => {
    for (const key of ["a", "b"]) await queueOne(newFile(key, key));
    const claims = [await claimNow(), await claimNow()];
    const [first, second] = claims;
    const other = new Client({ connectionString: db.url });
    await other.connect();
    try {
      await other.query("BEGIN");
      await other.query("DELETE FROM ingests WHERE id = $1", [second?.id]);
      const renewed = store.ingests.renewLeases(claims);
      await other.query("DELETE FROM ingests WHERE id = $1", [first?.id]);
      await other.query("ROLLBACK");
      expect((await renewed).size).toBe(2);
    } finally {
      await other.end();
    }
  });

  test("gets the documents of all projects in turn, however many of one wait", async () => {
    const own = { project, kbId };
    for (const key of ["a", "b", "c", "d"]) await queueOne(newFile(key, key));
    const others: ProjectId[] = [];
    for (const _ of [1, 2]) {
      project = await db.newProject();
      kbId = (await store.kbs.ensure(project, "manual")).kb.id;
      others.push(project);
      await queueOne(newFile("only.txt", "only"));
    }
    const worker = db.openAnother();
    const served: string[] = [];
    for (const _ of [1, 2, 3, 4, 5, 6]) served.push((await claimNow(worker)).project);
    expect(new Set(served.slice(0, 3))).toEqual(new Set([own.project, ...others]));
    expect(served.slice(3)).toEqual([own.project, own.project, own.project]);
  });

  test("that fetches serves every project, even beside a faster one that may not fetch", async () => {
    const projects: ProjectId[] = [];
    for (const ingests of [[newPage("https://a.example/")], [], [newPage("https://c.example/")]]) {
      project = await db.newProject();
      projects.push(project);
      kbId = (await store.kbs.ensure(project, "manual")).kb.id;
      const files = ["a", "b", "c", "d", "e", "f"].map((key) => newFile(key, key));
      await store.ingests.queueDocuments(project, kbId, ingests.length > 0 ? ingests : files);
    }
    const worker = db.openAnother();
    const fetched: string[] = [];
    for (const _ of [1, 2, 3]) {
      expect((await claimNow(worker, false)).project).toBe(projects[1]);
      fetched.push((await claimNow(worker)).project);
    }
    expect(new Set(fetched)).toEqual(new Set(projects));
  });

  test("does not count an attempt that was undone, nor one whose lease expired, and changes nothing after that", async () => {
    await queueOne(newFile("a.txt", "a"));
    const undo = { delayMs: 0, failure: null, counts: false };
    await store.ingests.retryLater(await claimNow(), undo);
    const late = await claimNow();
    expect(late).toMatchObject({ attempts: 1, lapses: 0 });
    await expireLease(late.id);
    const claim = await claimNow();
    expect(claim).toMatchObject({ attempts: 1, lapses: 1, crashes: 0 });
    await store.ingests.retryLater(late, undo);
    expect(await store.ingests.renewLeases([claim])).toEqual(new Set([claim.leaseId]));
    expect(await db.sql("SELECT attempts FROM ingests")).toEqual([{ attempts: 1 }]);
  });

  test("keeps its lease while it renews it; if it does not, another worker claims the work", async () => {
    await queueOne(newFile("a.txt", "a"));
    const first = await claimNow();
    expect(await store.ingests.renewLeases([first])).toEqual(new Set([first.leaseId]));
    await expireLease(first.id);
    const second = await claimNow();
    expect(second).toMatchObject({ id: first.id, attempts: 1 });
    expect(await store.ingests.renewLeases([first, second])).toEqual(new Set([second.leaseId]));
  });

  test("that has lost its lease changes nothing", async () => {
    const { documentId } = await queueOne(newFile("a.txt", "a"));
    const late = await claimNow();
    await expireLease(late.id);
    const claim = await claimNow();
    expect(await store.ingests.finish(late, putText(late, "late"))).toBe(false);
    expect(await store.ingests.fail(late, "late")).toBe(false);
    await store.ingests.retryLater(late, { delayMs: 60_000, failure: "late", counts: true });
    expect(await findDocument(documentId)).toMatchObject({ status: "queued", title: "a.txt" });
    expect(await store.ingests.finish(claim, putText(claim, "in time"))).toBe(true);
    expect(await findDocument(documentId)).toMatchObject({ status: "ready", title: "in time" });
    expect(await db.sql("SELECT 1 FROM ingest_parts WHERE ingest_id = $1", [claim.id])).toEqual([]);
  });

  test("whose document is submitted again meanwhile does not store the old one", async () => {
    const { documentId } = await queueOne(newFile("a.txt", "old"));
    const old = await claimNow();
    await queueOne(newFile("a.txt", "new"));
    expect(await store.ingests.finish(old, putText(old, "old"))).toBe(false);
    const claim = await claimNow();
    expect((await store.ingests.readBytes(claim))?.toString()).toBe("new");
    expect(await store.ingests.readBytes(old)).toBeNull();
    expect(await store.ingests.finish(claim, putText(claim, "new"))).toBe(true);
    expect((await findDocument(documentId)).title).toBe("new");
  });

  test("whose document is deleted meanwhile does not restore it", async () => {
    const { documentId } = await queueOne(newFile("a.txt", "a"));
    const claim = await claimNow();
    expect(await store.documents.remove(project, kbId, documentId)).toBe(true);
    expect(await store.ingests.finish(claim, putText(claim, "a"))).toBe(false);
    expect(await store.documents.listPage(project, kbId, { limit: 10 })).toEqual([]);
    expect(await store.documents.remove(project, kbId, documentId)).toBe(false);
  });

  test("that fails in its final transaction changes nothing", async () => {
    const { documentId } = await queueOne(newFile("a.txt", "a"));
    const claim = await claimNow();
    const put = putText(claim, "a");
    const failing = store.ingests.finish(claim, async (documents) => {
      await put(documents);
      throw new Error("lost in the middle");
    });
    await expect(failing).rejects.toThrow("lost in the middle");
    expect((await findDocument(documentId)).status).toBe("queued");
    expect(await store.ingests.renewLeases([claim])).toEqual(new Set([claim.leaseId]));
  });

  test("releases work for later, without counting an attempt that must not count", async () => {
    const { documentId } = await queueOne(newFile("a.txt", "a"));
    await store.ingests.retryLater(await claimNow(), { delayMs: 0, failure: null, counts: false });
    const claim = await claimNow();
    expect(claim.attempts).toBe(1);
    expect(await findDocument(documentId)).toMatchObject({ status: "queued", error: null });
    await store.ingests.retryLater(claim, { delayMs: 60_000, failure: "the site is away", counts: true });
    expect(await findDocument(documentId)).toMatchObject({ status: "queued", error: "the site is away" });
    expect(await store.ingests.claim({ canFetch: true })).toBeNull();
    await db.sql("UPDATE ingests SET next_at = now() WHERE id = $1", [claim.id]);
    expect((await claimNow()).attempts).toBe(2);
  });
});

describe("a document that was read", () => {
  test("shows its source until another text is stored", async () => {
    const { documentId } = await queueOne(newFile("a.pdf", "bytes of a PDF"));
    const claim = await claimNow();
    await store.ingests.finish(claim, putText(claim, "text"));
    expect(await findDocument(documentId)).toMatchObject({ mime: "application/pdf", sizeBytes: 14, language: "en" });
    await putText({ ...claim, sizeBytes: 1 }, "another")({ ...store.documents, recordSource: () => Promise.resolve() });
    expect(await findDocument(documentId)).toMatchObject({ mime: "text/plain", sizeBytes: 7 });
    expect(
      await store.documents.findBySource(project, kbId, { key: "a.pdf", hash: hashOf("bytes of a PDF") }),
    ).toBeNull();
  });

  test("is unchanged while its next version waits, and if that cannot be read", async () => {
    const { documentId } = await queueOne(newFile("a.txt", "first"));
    const first = await claimNow();
    await store.ingests.finish(first, putText(first, "first"));
    await queueOne(newFile("a.txt", "second"));
    expect(await findDocument(documentId)).toMatchObject({ status: "queued", title: "first" });
    expect(await store.ingests.fail(await claimNow(), "it is damaged")).toBe(true);
    expect(await findDocument(documentId)).toMatchObject({ status: "failed", error: "it is damaged", title: "first" });
    // A failed document is read again when it is submitted again.
    expect((await queueOne(newFile("a.txt", "second"))).isNew).toBe(true);
    expect(await findDocument(documentId)).toMatchObject({ status: "queued", error: null });
  });

  test("is counted once if it could not be read first and was then stored by other means", async () => {
    await queueOne(newFile("a.txt", "bad"));
    const claim = await claimNow();
    await store.ingests.fail(claim, "it is damaged");
    await putText(claim, "good")(store.documents);
    expect((await store.kbs.findAll(project, [kbId]))[0]?.documentCount).toBe(1);
  });

  test("is counted once, and not after its removal", async () => {
    const counts = async () => {
      const [row] = await db.sql<{ stated: number; counted: number }>(
        `SELECT document_count AS stated, (SELECT count(*)::integer FROM documents WHERE kb_id = $1) AS counted
         FROM kbs WHERE id = $1`,
        [kbId],
      );
      return row;
    };
    const { documentId } = await queueOne(newFile("a.txt", "a"));
    for (const text of ["a", "b"]) {
      await queueOne(newFile("a.txt", text));
      const claim = await claimNow();
      await store.ingests.finish(claim, putText(claim, text));
    }
    expect(await counts()).toEqual({ stated: 1, counted: 1 });
    await store.documents.remove(project, kbId, documentId);
    expect(await counts()).toEqual({ stated: 0, counted: 0 });
  });
});

describe("a sitemap", () => {
  const pages = ["https://example.com/a", "https://example.com/b", "https://example.com/c"];

  async function importOf(importId: string) {
    return store.imports.find(project, kbId, importId);
  }

  test("creates documents to read, each once, and shows their progress", async () => {
    const { importId } = await store.ingests.queueSitemap(project, kbId, { url: "https://example.com/", maxPages: 9 });
    expect(await importOf(importId)).toMatchObject({ status: "queued", found: null });
    expect(await store.ingests.finishSitemap(await claimNow(), [...pages, "https://example.com/a"])).toBe(true);
    expect(await importOf(importId)).toMatchObject({ status: "running", found: 3, done: 0, failed: 0 });
    for (const [index] of pages.entries()) {
      const claim = await claimNow();
      if (index === 0) await store.ingests.fail(claim, "there is no text");
      else await store.ingests.finish(claim, putText(claim, claim.key));
    }
    expect(await importOf(importId)).toMatchObject({ status: "ready", found: 3, done: 2, failed: 1, error: null });
    expect(await store.kbs.findState(project, kbId)).toMatchObject({
      documentCount: 3,
      queuedCount: 0,
      failedCount: 1,
    });
    const failed = await store.documents.listPage(project, kbId, { limit: 10, status: "failed" });
    expect(failed.map(({ key }) => key)).toEqual([pages[0]]);
    expect(await store.imports.find(await db.newProject(), kbId, importId)).toBeNull();
  });

  test("has correct counts even if pages are deleted, submitted separately or listed by another sitemap", async () => {
    const sitemap = { url: "https://example.com/", maxPages: 9 };
    const { importId } = await store.ingests.queueSitemap(project, kbId, sitemap);
    await store.ingests.finishSitemap(await claimNow(), [...pages, "https://example.com/d"]);
    const [deleted] = await store.documents.listPage(project, kbId, { limit: 1, q: "/a" });
    await store.documents.remove(project, kbId, deleted?.id ?? "");
    await queueOne(newFile("https://example.com/b", "replaced"));
    expect(await importOf(importId)).toMatchObject({ status: "running", found: 4, done: 0, failed: 0, skipped: 2 });
    const other = await store.ingests.queueSitemap(project, kbId, sitemap);
    const replaced = await claimNow();
    expect(replaced.kind).toBe("file");
    await db.sql("UPDATE ingests SET next_at = now() + interval '1 h' WHERE kind = 'page'");
    await store.ingests.finishSitemap(await claimNow(), ["https://example.com/c"]);
    await store.ingests.finish(replaced, putText(replaced, "replaced"));
    await db.sql("UPDATE ingests SET next_at = now()");
    for (const _ of [1, 2]) {
      const claim = await claimNow();
      await store.ingests.finish(claim, putText(claim, claim.key));
    }
    expect(await importOf(importId)).toMatchObject({ status: "ready", found: 4, done: 1, failed: 0, skipped: 3 });
    expect(await importOf(other.importId)).toMatchObject({ status: "ready", found: 1, done: 1, failed: 0, skipped: 0 });
  });

  test("is deleted 30 days after its end, and not while any page waits", async () => {
    const ids: string[] = [];
    for (const _ of [1, 2, 3]) {
      const { importId } = await store.ingests.queueSitemap(project, kbId, { url: "https://e.example/", maxPages: 9 });
      ids.push(importId);
      await store.ingests.finishSitemap(await claimNow(), ids.length === 3 ? pages : []);
    }
    const [old, recent, waiting] = ids;
    await db.sql(
      `UPDATE imports SET created_at = now() - interval '40 days',
         updated_at = now() - CASE WHEN id = $1 THEN interval '29 days' ELSE interval '31 days' END`,
      [recent],
    );
    expect(await store.imports.purge()).toBe(false);
    const left = await store.imports.list(project, kbId, { limit: 10 });
    expect(left.map(({ id }) => id)).toEqual([waiting, recent]);
    expect(await importOf(old ?? "")).toBeNull();
  });

  test("that cannot be read shows the reason", async () => {
    const { importId } = await store.ingests.queueSitemap(project, kbId, { url: "https://example.com/", maxPages: 9 });
    await store.ingests.fail(await claimNow(), "there is no sitemap");
    expect(await importOf(importId)).toMatchObject({ status: "failed", error: "there is no sitemap", found: null });
  });

  test("does not change a waiting document that was submitted separately", async () => {
    const { documentId } = await queueOne(newFile(pages[0] ?? "", "uploaded"));
    await store.ingests.queueSitemap(project, kbId, { url: "https://example.com/", maxPages: 9 });
    const upload = await claimNow();
    expect(await store.ingests.finishSitemap(await claimNow(), pages)).toBe(true);
    expect(await store.ingests.finish(upload, putText(upload, "uploaded"))).toBe(true);
    expect((await findDocument(documentId)).title).toBe("uploaded");
  });
});

describe("the sweeper", () => {
  test("gets unclaimed work, once, and again after a while", async () => {
    const { ingestId } = await queueOne(newFile("a.txt", "a"));
    expect(await store.ingests.claimDue(10)).toEqual([]);
    await db.sql("UPDATE ingests SET due_at = now()");
    expect(await store.ingests.claimDue(10)).toEqual([{ project, ingestId, attempts: 0 }]);
    expect(await store.ingests.claimDue(10)).toEqual([]);
    await claimNow();
    await db.sql("UPDATE ingests SET due_at = now()");
    expect(await store.ingests.claimDue(10)).toEqual([]);
    await db.sql("UPDATE ingests SET lease_until = now() - interval '1 s'");
    expect(await store.ingests.claimDue(10)).toHaveLength(1);
  });
});

describe("a deleted knowledge base", () => {
  test("is immediately unavailable to agents, searches, uploads and workers, and its name is free", async () => {
    const agent = await store.agents.insert(project, { name: newId(), kbIds: [kbId] });
    await queueOne(newFile("a.txt", "a"));
    expect(await store.kbs.remove(project, { id: kbId, versions: [99] })).toBe(false);
    expect(await store.kbs.remove(await db.newProject(), { id: kbId })).toBe(false);
    expect(await store.kbs.remove(project, { id: kbId, versions: [1] })).toBe(true);
    expect(await store.kbs.remove(project, { id: kbId })).toBe(false);
    expect(await store.kbs.findAll(project, [kbId])).toEqual([]);
    expect(await store.kbs.list(project)).toEqual([]);
    expect(await store.kbs.findState(project, kbId)).toBeNull();
    expect(await store.ingests.claim({ canFetch: true })).toBeNull();
    expect(await store.agents.find(project, agent.id)).toMatchObject({ kbIds: [], version: agent.version + 1 });
    await expect(queueOne(newFile("b.txt", "b"))).rejects.toMatchObject({ code: "not_found" });
    expect((await store.kbs.ensure(project, "manual")).created).toBe(true);
  });

  test("blocks no name", async () => {
    const { kb } = await store.kbs.ensure(project, `deleted ${kbId}`);
    expect(await store.kbs.remove(project, { id: kbId })).toBe(true);
    expect(await store.kbs.list(project)).toMatchObject([{ id: kb.id }]);
    const [row] = await db.sql<{ name: string }>("SELECT name FROM kbs WHERE id = $1", [kbId]);
    expect(row?.name.length).toBeGreaterThan(KB_LIMITS.nameMaxChars);
  });

  test("is emptied in steps until nothing is left", async () => {
    const files = Array.from({ length: 45 }, (_, index) => newFile(`file-${index}`, `text ${index}`));
    await store.ingests.queueDocuments(project, kbId, files);
    const claim = await claimNow();
    await store.ingests.finish(claim, putText(claim, "read"));
    const worker = await claimNow();
    await store.kbs.remove(project, { id: kbId });
    let steps = 0;
    while (await store.kbs.purge()) steps += 1;
    expect(steps).toBeGreaterThan(4);
    expect(await db.sql("SELECT 1 FROM kbs WHERE id = $1", [kbId])).toEqual([]);
    expect(await db.sql("SELECT 1 FROM documents WHERE kb_id = $1", [kbId])).toEqual([]);
    expect(await db.sql("SELECT 1 FROM ingests WHERE kb_id = $1", [kbId])).toEqual([]);
    expect(await store.ingests.finish(worker, putText(worker, "late"))).toBe(false);
  });
});
