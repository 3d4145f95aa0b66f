import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { ARTICLE_LIMITS } from "@svc/contracts";
import { newId } from "@svc/store";
import type { ArticleRecord, ProjectId } from "@svc/store";
import { openTestStore } from "./open-test-store.ts";
import type { TestStore } from "./open-test-store.ts";

const ANN = "operator:ann";

let db: TestStore;
let project: ProjectId;
let kbId: string;
let article: ArticleRecord;

async function insertArticle(): Promise<ArticleRecord> {
  const text = { title: "Iceland", text: "We ship there.", actor: ANN };
  const made = await db.store.articles.insert(project, { kbId, gapId: null, keyOf: (id) => `article:${id}`, ...text });
  if (made === null) throw new Error("failed to create the article");
  return made;
}

const save = (text: string, versions: readonly number[] | null = null) => {
  const version = { title: "Iceland", text, actor: ANN };
  return db.store.articles.update(project, { id: article.id, versions }, { text: version, inReview: false });
};

const insertDocument = async () => {
  const [row] = await db.sql<{ id: string }>(
    `INSERT INTO documents (id, project_id, kb_id, key, title, mime, content_hash, size_bytes, language, status)
     VALUES ($1, $2, $3, gen_random_uuid()::text, 'Iceland', 'text/markdown', '\\x00', 1, 'en', 'ready') RETURNING id`,
    [newId(), project, kbId],
  );
  return row?.id ?? "";
};

beforeAll(async () => {
  db = await openTestStore();
});

beforeEach(async () => {
  project = await db.newProject();
  const kb = await db.store.kbs.insert(project, `kb ${newId()}`);
  kbId = kb?.id ?? "";
  article = await insertArticle();
});

afterAll(() => db.close());

test("only one of two operators who save the same version at once succeeds", async () => {
  const outcomes = await Promise.all([save("One.", [article.version]), save("Two.", [article.version])]);
  expect(outcomes.map((outcome) => outcome?.changed).toSorted()).toEqual([false, true]);
  const versions = await db.store.articles.listVersions(project, article.id);
  expect(versions.map(({ number }) => number)).toEqual([2, 1]);
});

test("concurrent saves of any version are all stored, each with its own number", async () => {
  await Promise.all(Array.from({ length: 10 }, (_, index) => save(`Text ${index}.`)));
  const versions = await db.store.articles.listVersions(project, article.id);
  expect(versions.map(({ number }) => number)).toEqual(Array.from({ length: 11 }, (_, index) => 11 - index));
});

test("the newest versions are kept, and the published one whatever its age", async () => {
  await db.store.articles.setPublished(project, { id: article.id, number: 1, documentId: await insertDocument() });
  const { versionsMaxCount } = ARTICLE_LIMITS;
  for (let number = 2; number <= versionsMaxCount + 2; number += 1) await save(`Text ${number}.`);
  const numbers = (await db.store.articles.listVersions(project, article.id)).map(({ number }) => number);
  expect([numbers.length, numbers[0], numbers.at(-2), numbers.at(-1)]).toEqual([versionsMaxCount + 1, 102, 3, 1]);
});

test("an edit of a published article is a draft, and without its document nothing is published", async () => {
  const documentId = await insertDocument();
  await db.store.articles.setPublished(project, { id: article.id, number: 1, documentId });
  expect(await db.store.articles.find(project, article.id)).toMatchObject({ status: "published", documentId });
  await save("We ship there in ten days.");
  const edited = { status: "draft", revision: 2, publishedRevision: 1 };
  expect(await db.store.articles.find(project, article.id)).toMatchObject(edited);
  await db.store.documents.remove(project, kbId, documentId);
  const unpublished = { status: "draft", publishedRevision: null, documentId: null };
  expect(await db.store.articles.find(project, article.id)).toMatchObject(unpublished);
});

test("a version saved while another one was being published stays a draft", async () => {
  await save("Newer.");
  await db.store.articles.setPublished(project, { id: article.id, number: 1, documentId: await insertDocument() });
  const expected = { status: "draft", publishedRevision: 1 };
  expect(await db.store.articles.find(project, article.id)).toMatchObject(expected);
});

test("another project finds, changes and deletes nothing of an article", async () => {
  const stranger = await db.newProject();
  const { articles } = db.store;
  const imageId = await articles.insertImage(project, article.id, {
    mime: "image/gif",
    content: Buffer.from("GIF89a"),
  });
  const target = { id: article.id };
  expect(await articles.find(stranger, article.id)).toBeNull();
  expect(await articles.update(stranger, target, { text: null, inReview: true })).toBeNull();
  expect(await articles.remove(stranger, target)).toBe(false);
  expect(await articles.listVersions(stranger, article.id)).toEqual([]);
  expect(await articles.findVersion(stranger, article.id, 1)).toBeNull();
  expect(await articles.findImage(stranger, article.id, imageId ?? "")).toBeNull();
  expect(await articles.listPage(stranger, { limit: 10 })).toEqual([]);
  const foreign = { kbId, gapId: null, keyOf: () => "x", title: "x", text: "x", actor: ANN };
  expect(await articles.insert(stranger, foreign)).toBeNull();
  expect(await articles.find(project, article.id)).toEqual(article);
});

test("an article is deleted with its versions, its images and their stored bytes", async () => {
  const content = Buffer.alloc(1_000);
  await db.store.articles.insertImage(project, article.id, { mime: "image/png", content });
  const bytesOf = async () =>
    (
      await db.sql<{ bytes: number }>("SELECT sum(bytes)::int AS bytes FROM stored_bytes WHERE project_id = $1", [
        project,
      ])
    )[0]?.bytes;
  expect(await bytesOf()).toBe(1_000 + Buffer.byteLength(article.text));
  expect(await db.store.articles.remove(project, { id: article.id })).toBe(true);
  expect(await bytesOf()).toBe(0);
});

test("an article is deleted with the document that was published last, whatever version the caller has read", async () => {
  const documentId = await insertDocument();
  await db.store.articles.setPublished(project, { id: article.id, number: 1, documentId });
  expect(await db.store.articles.remove(project, { id: article.id, versions: [article.version] })).toBe(false);
  expect(await db.sql("SELECT 1 FROM documents WHERE id = $1", [documentId])).toHaveLength(1);
  expect(await db.store.articles.remove(project, { id: article.id })).toBe(true);
  expect(await db.sql("SELECT 1 FROM documents WHERE id = $1", [documentId])).toEqual([]);
  expect(await db.store.articles.setPublished(project, { id: article.id, number: 1, documentId })).toBe(false);
});

test("images of a deleted knowledge base are not found, and are removed in steps with its articles", async () => {
  const image = { mime: "image/gif", content: Buffer.from("GIF89a") };
  for (let count = 0; count < 21; count += 1) await db.store.articles.insertImage(project, article.id, image);
  const imageId = await db.store.articles.insertImage(project, article.id, image);
  await db.store.kbs.remove(project, { id: kbId });
  expect(await db.store.articles.findImage(project, article.id, imageId ?? "")).toBeNull();
  const countImages = () => db.sql("SELECT 1 FROM article_images WHERE article_id = $1", [article.id]);
  await db.store.kbs.purge();
  expect(await countImages()).toHaveLength(2);
  while (await db.store.kbs.purge());
  expect(await db.sql("SELECT 1 FROM articles WHERE kb_id = $1", [kbId])).toEqual([]);
});

test("a correction of the published document is a published version, and a later draft stays among the versions", async () => {
  const documentId = await insertDocument();
  await db.store.articles.setPublished(project, { id: article.id, number: 1, documentId });
  await save("A draft.");
  const key = `article:${article.id}`;
  const correct = (text: string) => text.replace("there", "to Iceland");
  await db.store.articles.recordCorrection(project, { kbId, key, documentId, actor: ANN, correct });
  const corrected = { text: "We ship to Iceland.", status: "published", revision: 3, publishedRevision: 3 };
  expect(await db.store.articles.find(project, article.id)).toMatchObject(corrected);
  expect(await db.store.articles.findVersion(project, article.id, 2)).toMatchObject({ text: "A draft." });
  await db.store.articles.recordCorrection(project, { kbId, key: "page.md", documentId, actor: ANN, correct });
  expect(await db.store.articles.listVersions(project, article.id)).toHaveLength(3);
});
