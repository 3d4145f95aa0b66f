import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createFileReader, ingestFile, removeDocument } from "@svc/knowledge";
import type { FileReader, FileToIngest } from "@svc/knowledge";
import { testLog } from "@svc/testing";
import { makePdf } from "./make-pdf.ts";
import { openTestKnowledge } from "./open-test-knowledge.ts";
import type { TestKnowledge } from "./open-test-knowledge.ts";

let knowledge: TestKnowledge;
let reader: FileReader;
/** Names of the files that were really read. */
let read: string[];

beforeAll(async () => {
  knowledge = await openTestKnowledge();
  const real = createFileReader();
  reader = {
    read(file, signal) {
      read.push(file.name);
      return real.read(file, signal);
    },
    close: () => real.close(),
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

test("a file is read, found, and shown as what it was", async () => {
  const pdf = await makePdf([(page) => page.text("The word okapi stands in a PDF.")]);
  expect(await ingest("okapi.pdf", pdf, { url: "https://example.com/okapi.pdf" })).toMatchObject({ status: "added" });
  expect(await documentOf("okapi.pdf")).toMatchObject({
    mime: "application/pdf",
    sizeBytes: pdf.byteLength,
    url: "https://example.com/okapi.pdf",
  });
  expect((await knowledge.search("okapi")).hits).toHaveLength(1);
});

test("the same bytes again are left as they are without being read", async () => {
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

test("other bytes that say the same are left as they are, and known from then on", async () => {
  const first = await ingest("text.html", "<h1>Text</h1><p>It says the same.</p>");
  const second = "<h1>Text</h1>\n\n<!-- changed --><p>It says the same.</p>";
  expect(await ingest("text.html", second)).toEqual({ ...first, status: "unchanged" });
  expect(read).toEqual(["text.html"]);
  await ingest("text.html", second);
  expect(read).toEqual([]);
});

test("a text that was put under its key by other means is replaced again", async () => {
  await ingest("both.md", "# Both\n\nfrom a file");
  await knowledge.add("both.md", "# Both\n\nfrom elsewhere");
  expect(await ingest("both.md", "# Both\n\nfrom a file")).toMatchObject({ status: "changed" });
});

test("a file that cannot be read changes nothing", async () => {
  await ingest("kept.pdf", await makePdf([(page) => page.text("The aardvark stays.")]));
  await expect(ingest("kept.pdf", "%PDF-1.7 broken")).rejects.toMatchObject({ code: "invalid_request" });
  expect((await knowledge.search("aardvark")).hits).toHaveLength(1);
});

test("a removed document is not found any more, and can be added again", async () => {
  const { store, project, kbId } = knowledge;
  const { documentId } = await ingest("gone.md", "# Gone\n\nThe word kiwi stands here.");
  const { project: other } = await store.projects.ensure("other");
  expect(await removeDocument({ store }, other.id, kbId, documentId)).toBe(false);
  expect(await removeDocument({ store }, project, kbId, documentId)).toBe(true);
  expect(await removeDocument({ store }, project, kbId, documentId)).toBe(false);
  expect((await knowledge.search("kiwi")).hits).toEqual([]);
  expect(await ingest("gone.md", "# Gone\n\nThe word kiwi stands here.")).toMatchObject({ status: "added" });
  expect((await knowledge.search("kiwi")).hits).toHaveLength(1);
});
