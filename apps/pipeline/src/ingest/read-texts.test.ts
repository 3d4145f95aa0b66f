import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createFileReader, ensureKb } from "@svc/knowledge";
import type { FileReader } from "@svc/knowledge";
import type { Queues } from "@svc/queue";
import { openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { createTestDatabase, testLog } from "@svc/testing";
import type { TestDatabase } from "@svc/testing";
import { ingestDocuments } from "./ingest-documents.ts";

let database: TestDatabase;
let store: Store;
let reader: FileReader;
let project: ProjectId;
let kbId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "a key of a test that seals nothing", log: testLog() });
  reader = createFileReader();
  project = (await store.projects.ensure("default")).project.id;
  kbId = (await ensureKb({ store }, project, "manual")).kb.id;
});

afterAll(async () => {
  await reader.close();
  await store.close();
  await database.drop();
});

/** Submits a text, has it read, and returns its document with its passages. */
async function read(key: string, text: string, mime: string) {
  const fetcher = {
    fetch: () => Promise.reject(new Error("nothing is to be fetched")),
    close: () => Promise.resolve(),
  };
  const ingest = { kind: "text" as const, key, name: key, title: null, url: null, mime };
  const [queued] = await store.ingests.queueDocuments(project, kbId, [
    { ...ingest, bytes: Buffer.from(text), sourceHash: Buffer.from(key) },
  ]);
  await ingestDocuments({ store, queues: {} as Queues, log: testLog(), reader, fetcher }).process();
  const document = await store.documents.find(project, kbId, queued?.documentId ?? "");
  const chunks = await store.chunks.list(project, [queued?.documentId ?? ""]);
  return { document, texts: chunks.map((chunk) => chunk.text) };
}

test("a text is read like a file: its front matter is the title, and no link runs code", async () => {
  const markdown = "---\ntitle: The manual\n---\n\nPress [here](javascript:alert%281%29) to begin.";
  const { document, texts } = await read("manual", markdown, "text/markdown");
  expect(document).toMatchObject({ status: "ready", title: "The manual", mime: "text/markdown" });
  expect(texts).toEqual(["Press here to begin."]);
});

test("a plain text keeps its declared type, whatever its first bytes or the end of its key", async () => {
  for (const text of ["%PDF- is how such a file begins.", "ID3 tags name a song.", "<html> begins a page."]) {
    expect(await read(`${text.slice(0, 4)}.html`, text, "text/plain")).toMatchObject({
      document: { status: "ready", mime: "text/plain" },
      texts: [text],
    });
  }
});

test("binary data in a text, and a text that cannot be split, fail for good", async () => {
  expect(await read("binary", "\u0001\u0002\u0003 text", "text/plain")).toMatchObject({
    document: { status: "failed", error: expect.stringContaining("is binary data") },
  });
  const crumbs = Array.from({ length: 26_000 }, (_, index) => `# ${index}\n\ntext`).join("\n\n");
  expect(await read("crumbs", crumbs, "text/markdown")).toMatchObject({
    document: { status: "failed", error: expect.stringContaining("Split it into several documents") },
  });
});

test("reads a horizontal rule of millions of characters", async () => {
  expect(await read("rule", `A rule:\n\n${"_".repeat(3_000_000)}`, "text/markdown")).toMatchObject({
    document: { status: "ready" },
  });
});
