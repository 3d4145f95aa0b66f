import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createFileReader, ingestFile } from "@svc/knowledge";
import type { FileReader, FileToIngest } from "@svc/knowledge";
import { testLog } from "@svc/testing";
import { makePdf } from "./make-pdf.ts";
import { openTestKnowledge } from "./open-test-knowledge.ts";
import type { TestKnowledge } from "./open-test-knowledge.ts";

let knowledge: TestKnowledge;
let reader: FileReader;
/** Names of the files that were actually read. */
let read: string[];

beforeAll(async () => {
  knowledge = await openTestKnowledge();
  const real = createFileReader();
  reader = {
    ...real,
    readDocument(file, signal) {
      read.push(file.name);
      return real.readDocument(file, signal);
    },
  };
});

afterAll(async () => {
  await reader.close();
  await knowledge.close();
});

async function ingest(key: string, bytes: string | Uint8Array, more: Partial<FileToIngest> = {}) {
  read = [];
  const { store, project, kbId } = knowledge;
  const file = { key, name: key, bytes: typeof bytes === "string" ? Buffer.from(bytes) : bytes, ...more };
  return ingestFile({ store, log: testLog(), reader }, project, kbId, file);
}

async function documentOf(key: string) {
  const [document] = await knowledge.store.documents.listPage(knowledge.project, knowledge.kbId, { limit: 1, q: key });
  return document;
}

test("a file is read, found, and listed with its type", async () => {
  const pdf = await makePdf([(page) => page.text("The word okapi stands in a PDF.")]);
  expect(await ingest("okapi.pdf", pdf, { url: "https://example.com/okapi.pdf" })).toMatchObject({ status: "added" });
  expect(await documentOf("okapi.pdf")).toMatchObject({
    mime: "application/pdf",
    sizeBytes: pdf.byteLength,
    url: "https://example.com/okapi.pdf",
  });
  expect((await knowledge.search("okapi")).hits).toHaveLength(1);
});

test("the same bytes are skipped without being read", async () => {
  const first = await ingest("same.html", "<h1>Same</h1><p>text</p>");
  expect(read).toEqual(["same.html"]);
  expect(await ingest("same.html", "<h1>Same</h1><p>text</p>")).toEqual({ ...first, status: "unchanged" });
  expect(read).toEqual([]);
});

test("another name, type or title of the same bytes is read again", async () => {
  await ingest("hints", "<h1>Hints</h1><p>text</p>");
  for (const more of [{ name: "hints.txt" }, { mime: "text/html" }, { title: "Other" }]) {
    await ingest("hints", "<h1>Hints</h1><p>text</p>", more);
    expect(read).toHaveLength(1);
  }
});

test("other bytes with the same text change nothing, and are skipped from then on", async () => {
  const first = await ingest("text.html", "<h1>Text</h1><p>It says the same.</p>");
  const second = "<h1>Text</h1>\n\n<!-- changed --><p>It says the same.</p>";
  expect(await ingest("text.html", second)).toEqual({ ...first, status: "unchanged" });
  expect(read).toEqual(["text.html"]);
  await ingest("text.html", second);
  expect(read).toEqual([]);
});

test("a text that was stored under its key by other means is replaced again", async () => {
  await ingest("both.md", "# Both\n\nfrom a file");
  await knowledge.add("both.md", "# Both\n\nfrom elsewhere");
  expect(await ingest("both.md", "# Both\n\nfrom a file")).toMatchObject({ status: "changed" });
});

test("an unreadable text is an error of the file; a horizontal rule of a million characters is not", async () => {
  expect(await ingest("rule.md", `# Rule\n\n${"_".repeat(3_000_000)}`)).toMatchObject({ status: "added" });
  const lines = Array.from({ length: 26_000 }, (_, index) => `# ${index}\n\ntext`);
  await expect(ingest("crumbs.md", lines.join("\n\n"))).rejects.toMatchObject({
    code: "invalid_request",
    message: expect.stringContaining("the maximum is 25000"),
  });
  expect(await ingest("behind.md", "# Behind\n\nIt is read all the same.")).toMatchObject({ status: "added" });
});

test("a stored file cancels the waiting ingest of its document, and is counted once", async () => {
  const { store, project, kbId } = knowledge;
  const before = (await store.kbs.findAll(project, [kbId]))[0]?.documentCount ?? 0;
  const bytes = Buffer.from("older");
  const waiting = { kind: "file" as const, key: "waits.md", name: "waits.md", title: null, url: null, mime: null };
  await store.ingests.queueDocuments(project, kbId, [{ ...waiting, bytes, sourceHash: Buffer.from("hash") }]);
  expect(await ingest("waits.md", "# Newer\n\nThe word quokka stands here.")).toMatchObject({ status: "added" });
  expect(await store.ingests.claim({ canFetch: true })).toBeNull();
  expect(await documentOf("waits.md")).toMatchObject({ status: "ready", title: "Newer" });
  expect((await store.kbs.findAll(project, [kbId]))[0]?.documentCount).toBe(before + 1);
});

test("the source of a text is recorded for that text only", async () => {
  const { store, project } = knowledge;
  const { documentId } = await ingest("noted.md", "# Noted\n\ntext");
  const hash = Buffer.from("of other bytes");
  await store.documents.recordSource(
    project,
    { id: documentId, contentHash: Buffer.from("of another text") },
    {
      hash,
      mime: "application/pdf",
      sizeBytes: 1,
    },
  );
  expect(await documentOf("noted.md")).toMatchObject({ mime: "text/markdown" });
});

test("a file that cannot be read changes nothing", async () => {
  await ingest("kept.pdf", await makePdf([(page) => page.text("The aardvark stays.")]));
  await expect(ingest("kept.pdf", "%PDF-1.7 broken")).rejects.toMatchObject({ code: "invalid_request" });
  expect((await knowledge.search("aardvark")).hits).toHaveLength(1);
});

test("a removed document is not found, and can be added again", async () => {
  const { store, project, kbId } = knowledge;
  const { documentId } = await ingest("gone.md", "# Gone\n\nThe word kiwi stands here.");
  const { project: other } = await store.projects.ensure("other");
  expect(await store.documents.remove(other.id, kbId, documentId)).toBe(false);
  expect(await store.documents.remove(project, kbId, documentId)).toBe(true);
  expect(await store.documents.remove(project, kbId, documentId)).toBe(false);
  expect((await knowledge.search("kiwi")).hits).toEqual([]);
  expect(await ingest("gone.md", "# Gone\n\nThe word kiwi stands here.")).toMatchObject({ status: "added" });
  expect((await knowledge.search("kiwi")).hits).toHaveLength(1);
});
