import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { addDocument, ensureKb } from "@svc/knowledge";
import { testLog } from "@svc/testing";
import { Client } from "pg";
import { openTestKnowledge } from "./open-test-knowledge.ts";
import { readIndexErrors } from "./read-index-errors.ts";
import type { TestKnowledge } from "./open-test-knowledge.ts";

const LONG = Array.from(
  { length: 40 },
  (_, index) => `Paragraph ${index} is about nothing in particular, at length.`,
).join("\n\n");

let knowledge: TestKnowledge;
let client: Client;

beforeAll(async () => {
  knowledge = await openTestKnowledge();
  client = new Client({ connectionString: knowledge.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await knowledge.close();
});

/** Returns the stored statistics of the knowledge base, and the same statistics counted from its rows. */
async function bookkeeping() {
  const { rows } = await client.query<Record<string, unknown>>(
    `SELECT
       (SELECT row_to_json(k) FROM (SELECT document_count, chunk_count, term_total FROM kbs WHERE id = $1) k) AS stated,
       json_build_object('document_count', (SELECT count(*) FROM documents WHERE kb_id = $1),
         'chunk_count', (SELECT count(*) FROM chunks WHERE kb_id = $1),
         'term_total', (SELECT coalesce(sum(term_count), 0) FROM chunks WHERE kb_id = $1)) AS counted`,
    [knowledge.kbId],
  );
  return rows[0] ?? {};
}

async function expectTrueBooks(): Promise<void> {
  const books = await bookkeeping();
  expect(books["stated"]).toEqual(books["counted"]);
  expect(await readIndexErrors(client, knowledge.kbId)).toEqual([]);
}

describe("addDocument", () => {
  test("a document can be found as soon as it is added", async () => {
    const added = await knowledge.add("first.md", "# Zebras\n\nZebras have stripes.", {
      url: "https://example.com/zebras",
    });
    expect(added).toEqual({ documentId: expect.any(String), status: "added", chunks: 1 });
    const { hits } = await knowledge.search("stripes of a zebra");
    expect(hits).toEqual([
      {
        documentId: added.documentId,
        kbId: knowledge.kbId,
        ordinal: 0,
        chunkId: expect.any(String),
        title: "Zebras",
        url: "https://example.com/zebras",
        headingPath: ["Zebras"],
        text: "Zebras have stripes.",
        markdown: true,
        score: expect.any(Number),
      },
    ]);
  });

  test("the title is the given one, otherwise the first heading, otherwise the key", async () => {
    await knowledge.add("title-1.md", "# Heading\n\ntext", { title: " Given " });
    await knowledge.add("title-2.md", "intro\n\n## Heading\n\ntext");
    await knowledge.add("title-3.txt", "# no heading in plain text", { mime: "text/plain" });
    const documents = await knowledge.store.documents.list(knowledge.project, knowledge.kbId);
    const titles = Object.fromEntries(documents.map(({ key, title }) => [key, title]));
    expect(titles).toMatchObject({ "title-1.md": "Given", "title-2.md": "Heading", "title-3.txt": "title-3.txt" });
  });

  test("an unchanged document keeps its passages and their ids", async () => {
    const first = await knowledge.add("same.md", "# Same\n\nThe word quokka stands here.");
    const before = await knowledge.search("quokka");
    expect(await knowledge.add("same.md", "# Same\n\nThe word quokka stands here.")).toEqual({
      ...first,
      status: "unchanged",
    });
    expect(await knowledge.search("quokka")).toEqual(before);
  });

  test.each([
    ["its text", "# T\n\nNow about the axolotl.", {}],
    ["its title", "# T\n\nAbout the wombat.", { title: "The wombat" }],
    ["its address", "# T\n\nAbout the wombat.", { url: "https://example.com/new" }],
  ])("a document with %s changed is replaced under the same id", async (what, text, more) => {
    const first = await knowledge.add(`changed ${what}`, "# T\n\nAbout the wombat.");
    const second = await knowledge.add(`changed ${what}`, text, more);
    expect(second).toEqual({ documentId: first.documentId, status: "changed", chunks: 1 });
  });

  test("nothing of a replaced document is found", async () => {
    await knowledge.add("replaced.md", `# Old\n\nPlatypus.\n\n${LONG}`);
    await knowledge.add("replaced.md", "# New\n\nEchidna.");
    expect((await knowledge.search("platypus")).hits).toEqual([]);
    expect((await knowledge.search("echidna")).hits).toHaveLength(1);
  });

  test("the counts for the ranking are correct after any changes, including concurrent ones", async () => {
    const texts = [`# One\n\nalpha beta beta\n\n${LONG}`, "# Two\n\nbeta gamma", `# Three\n\n${LONG}\n\ngamma delta`];
    const writes = Array.from({ length: 24 }, (_, index) =>
      knowledge.add(`busy-${index % 4}.md`, texts[index % 3] ?? ""),
    );
    await Promise.all(writes);
    await expectTrueBooks();
  });

  test("a search sees the old or the new document, never a mixture", async () => {
    const version = (word: string) =>
      Array.from({ length: 30 }, (_, index) => `## Part ${index}\n\n${word} in part ${index}.`).join("\n\n");
    await knowledge.add("whole.md", version("tamarin"));
    const progress = { isDone: false };
    const writing = (async () => {
      for (const word of ["capuchin", "tamarin", "capuchin", "tamarin"]) await knowledge.add("whole.md", version(word));
    })().finally(() => {
      progress.isDone = true;
    });
    try {
      while (!progress.isDone) {
        const { hits } = await knowledge.search("tamarin capuchin", 100);
        const words = new Set(hits.map(({ text }) => text.split(" ", 1)[0]));
        expect([hits.length, words.size]).toEqual([30, 1]);
      }
    } finally {
      await writing;
    }
  });

  test("a document of many passages is added completely", async () => {
    const parts = Array.from({ length: 450 }, (_, index) => `## Part ${index}\n\nunique${index} stands here`).join(
      "\n\n",
    );
    expect(await knowledge.add("many.md", parts)).toMatchObject({ chunks: 450 });
    for (const index of [0, 199, 200, 449]) expect((await knowledge.search(`unique${index}`)).hits).toHaveLength(1);
    await expectTrueBooks();
  });

  test.each([
    ["emoji only", "😀😀😀"],
    ["punctuation only", "?! … ---"],
    ["one word of 100,000 letters", "a".repeat(100_000)],
    ["right-to-left text", "# כותרת\n\nשלום עולם"],
    ["Japanese", "# 設定\n\nパスワードを変更する方法。"],
    ["quotes and backslashes", "{\"a\", 'b', \\c, $1, {NULL}}"],
  ])("accepts %s", async (name, text) => {
    expect(await knowledge.add(`odd ${name}`, text)).toMatchObject({ status: "added" });
    await expectTrueBooks();
  });

  test("a language without a stemmer in this version of Postgres is indexed word by word", async () => {
    // Postgres has a stemmer for Estonian since version 18.
    await knowledge.add(
      "et.md",
      "# Juhend\n\nParooli saab muuta seadetes. Kui parool on kadunud, kirjutage meile palun.",
    );
    expect((await knowledge.search("seadetes")).hits).toHaveLength(1);
  });

  test("a knowledge base of another project is not found, and nothing is written", async () => {
    const { project: other } = await knowledge.store.projects.ensure("other");
    const deps = { store: knowledge.store, log: testLog() };
    await expect(
      addDocument(deps, other.id, knowledge.kbId, { key: "stolen.md", text: "text", mime: "text/plain" }),
    ).rejects.toMatchObject({ code: "not_found" });
    expect(await knowledge.store.documents.list(other.id, knowledge.kbId)).toEqual([]);
  });

  test("a rejected document changes nothing", async () => {
    await knowledge.add("kept.md", "# Kept\n\nnarwhal");
    await expect(knowledge.add("kept.md", "\u0000\u0001\u0002")).rejects.toMatchObject({ code: "invalid_request" });
    expect((await knowledge.search("narwhal")).hits).toHaveLength(1);
  });

  test("more passages than a real document has are rejected", async () => {
    await expect(knowledge.add("attack.md", "# a\n\nb\n\n".repeat(25_001))).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining("the maximum is 25000. Split it into several documents."),
    });
  });
});

describe("ensureKb", () => {
  test("creates a knowledge base once, also concurrently; names are separate per project", async () => {
    const { store, project } = knowledge;
    const results = await Promise.all([1, 2, 3].map(() => ensureKb({ store }, project, "shared name")));
    expect(new Set(results.map(({ kb }) => kb.id)).size).toBe(1);
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    const { project: other } = await store.projects.ensure("other");
    expect((await ensureKb({ store }, other.id, "shared name")).kb.id).not.toBe(results[0]?.kb.id);
  });

  test.each(["", "  ", "a".repeat(201), "a\u0000"])("rejects the name %j", async (name) => {
    const { store, project } = knowledge;
    await expect(ensureKb({ store }, project, name)).rejects.toMatchObject({ code: "invalid_request" });
  });
});
