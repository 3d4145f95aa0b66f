import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { addDocuments, ensureKb, reindexOutdated, searchKnowledge } from "@svc/knowledge";
import { openStore } from "@svc/store";
import { testLog } from "@svc/testing";
import { Client } from "pg";
import { openTestKnowledge } from "./open-test-knowledge.ts";
import type { TestKnowledge } from "./open-test-knowledge.ts";
import { readIndexErrors } from "./read-index-errors.ts";

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

/** Creates an empty knowledge base, and returns functions for tests. */
async function openKb(name: string) {
  const { store, project } = knowledge;
  const deps = { store, log: testLog() };
  const { kb } = await ensureKb(deps, project, name);
  const addAll = (texts: Record<string, string>) =>
    addDocuments(
      deps,
      project,
      kb.id,
      Object.entries(texts).map(([key, text]) => ({ key, text, mime: "text/markdown" })),
    );
  const find = async (query: string, limit = 5) =>
    (await searchKnowledge({ store }, project, { query, kbIds: [kb.id], limit })).hits;
  const textsOf = async (query: string) => (await find(query)).map(({ text }) => text);
  return { kb, deps, project, addAll, find, textsOf };
}

/** Returns this many short passages, each with a unique word. */
const passages = (count: number, word: string): string =>
  Array.from({ length: count }, (_, index) => `## ${index}\n\n${word} ${word}${index}`).join("\n\n");

describe("addDocuments", () => {
  test("adds many documents together, reports the result of each, and an invalid one affects no other", async () => {
    const { addAll, deps, project, kb, find } = await openKb("many at once");
    const texts = Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => [`${index}.md`, `narwhal number${index}`]),
    );
    const first = await addAll({ ...texts, "bad.md": "\u0000\u0001\u0002" });
    expect(first).toHaveLength(121);
    expect(first.slice(0, 120)).toEqual(
      Array.from({ length: 120 }, () => ({ documentId: expect.any(String), status: "added", chunks: 1 })),
    );
    expect(first[120]).toMatchObject({ status: "refused", error: { code: "invalid_request" } });
    const second = await addAll({ ...texts, "7.md": "walrus" });
    expect(second.map(({ status }) => status)).toEqual(
      Array.from({ length: 120 }, (_, index) => (index === 7 ? "changed" : "unchanged")),
    );
    expect(await find("number7")).toEqual([]);
    for (const word of ["number0", "number119", "walrus"]) expect(await find(word)).toHaveLength(1);
    const mime = "text/markdown";
    const twice = await addDocuments(deps, project, kb.id, [
      { key: "twice.md", text: "first", mime },
      { key: "twice.md", text: "second", mime },
    ]);
    expect(twice.map(({ status }) => status)).toEqual(["added", "changed"]);
    expect(await find("second")).toHaveLength(1);
    expect(await readIndexErrors(client, kb.id)).toEqual([]);
  });

  test("a knowledge base of another project is not found", async () => {
    const { store, kbId } = knowledge;
    const { project: other } = await store.projects.ensure("other");
    const adding = addDocuments({ store, log: testLog() }, other.id, kbId, [
      { key: "a.md", text: "a", mime: "text/markdown" },
    ]);
    await expect(adding).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("the index of a knowledge base", () => {
  test("grows with its documents, however often they are replaced", async () => {
    const { addAll, kb, find } = await openKb("replaced often");
    await addAll({ "kept.md": passages(100, "kept") });
    for (let round = 0; round < 8; round += 1) {
      await addAll({
        "large.md": passages(1_500, `round${round % 2 === 0 ? "even" : "odd"}`),
        [`${round}.md`]: "small",
      });
    }
    expect(await readIndexErrors(client, kb.id)).toEqual([]);
    const { rows } = await client.query<{ next: number; blocks: number }>(
      "SELECT next_chunk_number AS next, cardinality(blocks) AS blocks FROM kbs WHERE id = $1",
      [kb.id],
    );
    expect(rows[0]?.next).toBeGreaterThan(12_000);
    expect(rows[0]?.blocks).toBeLessThanOrEqual(2);
    expect(await find("kept99")).toHaveLength(1);
    expect(await find("roundodd1499")).toHaveLength(1);
    expect(await find("roundeven", 2_000)).toEqual([]);
    expect(await find("small", 100)).toHaveLength(8);
  });

  test("has nothing of a removed document", async () => {
    const { addAll, deps, project, kb, find } = await openKb("removed");
    const [first] = await addAll({ "one.md": passages(20, "tapir"), "two.md": passages(20, "tapir") });
    if (first === undefined || first.status === "refused") throw new Error("the document was refused");
    await deps.store.documents.remove(project, kb.id, first.documentId);
    expect(await find("tapir", 100)).toHaveLength(20);
    expect(await readIndexErrors(client, kb.id)).toEqual([]);
  });
});

describe("words in different spellings", () => {
  test.each([
    ["German", "Die Prüfung der Größe ist für die Kunden wichtig.", ["Prufung", "prüfungen", "grosse"]],
    ["French", "Les paramètres sont réinitialisés et le compte est bloqué.", ["parametres", "reinitialise", "bloque"]],
    ["Portuguese", "A configuração não está nas definições.", ["configuracao", "configuração", "definicoes"]],
    ["Czech", "Změna hesla se provádí v nastavení účtu.", ["zmena", "nastaveni", "uctu"]],
    ["Greek", "Η αλλαγή του κωδικού γίνεται στις ρυθμίσεις.", ["αλλαγη", "ρυθμισεις"]],
  ])("%s is found with accents and without", async (language, text, queries) => {
    const { addAll, textsOf } = await openKb(`accents ${language}`);
    const plain = text.normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC");
    await addAll({ "accents.md": text, "plain.md": plain });
    for (const query of queries) expect((await textsOf(query)).toSorted()).toEqual([text, plain].toSorted());
  });

  test.each([
    ["Japanese", "パスワードを変更する方法は設定にあります。", "パスワードの変更"],
    ["Chinese", "您可以在设置中更改密码。", "更改密码"],
    ["Thai", "คุณสามารถเปลี่ยนรหัสผ่านได้ในการตั้งค่า", "รหัสผ่าน"],
    ["Korean", "설정에서 비밀번호를 변경할 수 있습니다.", "설정에서"],
  ])("%s, which puts few or no spaces between words", async (language, text, query) => {
    const { addAll, textsOf } = await openKb(`unspaced ${language}`);
    await addAll({ "found.md": text, "other.md": "営業時間は九時からです。请联系我们。" });
    expect((await textsOf(query))[0]).toBe(text);
  });

  test("a misspelled word finds the intended one, ranked after exact matches", async () => {
    const { addAll, textsOf, find } = await openKb("misspelt");
    await addAll({
      "a.md": "The authentication of users.",
      "b.md": "An invoice is sent each month.",
      "c.md": "A receipt is sent at once.",
      "d.md": "The recieve buffer.",
    });
    for (const query of ["authentcation", "autehntication", "authenticatoin", "athentcation"])
      expect(await textsOf(query)).toEqual(["The authentication of users."]);
    expect(await textsOf("invioce")).toEqual(["An invoice is sent each month."]);
    expect(await textsOf("recieve")).toEqual(["The recieve buffer."]);
    expect(await find("xylophone")).toEqual([]);
    const { store, project } = knowledge;
    const { kb } = await openKb("misspelt");
    const shareOf = async (query: string) => {
      const { hits, bestPossible, words } = await searchKnowledge({ store }, project, {
        query,
        kbIds: [kb.id],
        limit: 1,
      });
      return { share: (hits[0]?.score ?? 0) / bestPossible, words: words.map(({ word }) => word) };
    };
    const [right, wrong] = [await shareOf("invoice"), await shareOf("invioce")];
    expect(wrong.words).toEqual(["invoice"]);
    expect(wrong.share).toBeLessThan(right.share);
  });

  test("without the extension pg_trgm, words with one error are still found", async () => {
    const bare = await openTestKnowledge();
    const owner = new Client({ connectionString: bare.url });
    await owner.connect();
    try {
      await owner.query("DROP EXTENSION pg_trgm CASCADE");
      await bare.add("a.md", "The authentication of users.");
      expect((await bare.search("authentcation")).hits).toHaveLength(1);
      expect((await bare.search("athentcation")).hits).toEqual([]);
    } finally {
      await owner.end();
      await bare.close();
    }
  });
});

describe("reindexOutdated", () => {
  test("documents of an older version are found again, even with concurrent replicas", async () => {
    const { addAll, deps, kb, find } = await openKb("outdated");
    await addAll(
      Object.fromEntries(Array.from({ length: 70 }, (_, index) => [`${index}.md`, passages(8, `okapi${index}x`)])),
    );
    const found = await find("okapi69x", 100);
    // The state that the migration leaves for existing documents.
    await client.query("DELETE FROM kb_postings WHERE kb_number = (SELECT number FROM kbs WHERE id = $1)", [kb.id]);
    await client.query("UPDATE kbs SET blocks = '{}', next_chunk_number = 0 WHERE id = $1", [kb.id]);
    await client.query(
      "UPDATE documents SET first_chunk_number = NULL, index_version = 0, term_count = 0 WHERE kb_id = $1",
      [kb.id],
    );
    expect(await find("okapi69x")).toEqual([]);
    const replica = openStore({ url: knowledge.url, secretKey: "a key of a test that seals nothing", log: deps.log });
    try {
      const counts = await Promise.all([reindexOutdated(deps), reindexOutdated({ ...deps, store: replica })]);
      expect(counts.reduce((sum, { documents }) => sum + documents, 0)).toBe(70);
    } finally {
      await replica.close();
    }
    expect(await find("okapi69x", 100)).toEqual(found);
    expect(await readIndexErrors(client, kb.id)).toEqual([]);
    expect(await reindexOutdated(deps)).toEqual({ documents: 0 });
  });

  test("ends when it is aborted", async () => {
    const { deps } = await openKb("aborted");
    expect(await reindexOutdated(deps, { signal: AbortSignal.abort() })).toEqual({ documents: 0 });
  });
});

test("a row far down a long table is also found by the words of its header", async () => {
  const { addAll, deps, project, kb } = await openKb("tables");
  const rows = Array.from({ length: 400 }, (_, row) => `| bracket${row} | ${row} | in stock |`);
  await addAll({
    "parts.md": ["# Parts", "", "| Part | Thickness | State |", "| --- | --- | --- |", ...rows].join("\n"),
  });
  const query = { query: "thickness of bracket399", kbIds: [kb.id], limit: 1 };
  const { hits, bestPossible, words } = await searchKnowledge(deps, project, query);
  expect(words.map(({ word }) => word)).toEqual(["thickness", "bracket399"]);
  expect(hits[0]?.text).toContain("| bracket399 |");
  expect(hits[0]?.score).toBeGreaterThan(0.4 * bestPossible);
});

test("a passage has the page of its document on which it begins", async () => {
  const { project, kbId, store } = knowledge;
  const pages = ["gibbons", "lemurs", "lorises"].map((animal) => `## Page\n\nThis page is about ${animal}.\n\n`);
  const pageStarts = pages.map((_, index) => pages.slice(0, index).join("").length);
  await addDocuments({ store, log: testLog() }, project, kbId, [
    { key: "paged.pdf", text: pages.join(""), mime: "text/markdown", pageStarts },
  ]);
  expect((await knowledge.search("lemurs")).hits[0]?.page).toBe(2);
  await knowledge.add("unpaged.md", "aardvark");
  expect((await knowledge.search("aardvark")).hits[0]).not.toHaveProperty("page");
});
