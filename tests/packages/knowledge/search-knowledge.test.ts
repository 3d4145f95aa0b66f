import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { addDocument, ensureKb, searchKnowledge } from "@svc/knowledge";
import { openStore } from "@svc/store";
import { testLog } from "@svc/testing";
import { newMessage } from "../store/open-test-store.ts";
import { openTestKnowledge } from "./open-test-knowledge.ts";
import type { TestKnowledge } from "./open-test-knowledge.ts";

const MANUAL = `# Manual

## Resetting a password

Open the settings and choose Security. A mail with a link is sent.

## Backups

Backups are made each night. A backup can be restored for thirty days. The password of a backup cannot be reset.

## Opening hours

We are there from nine to five.

## Who are we?

A small team in Lisbon.
`;

const HANDBUCH = `# Handbuch

## Rechnungen

Rechnungen werden am Anfang des Monats verschickt. Die Zahlung erfolgt innerhalb von vierzehn Tagen. Wenn Sie eine
Rechnung nicht bezahlen können, schreiben Sie uns bitte.
`;

let knowledge: TestKnowledge;

beforeAll(async () => {
  knowledge = await openTestKnowledge();
  await knowledge.add("manual.md", MANUAL);
  await knowledge.add("handbuch.md", HANDBUCH);
  for (let index = 0; index < 20; index += 1) {
    await knowledge.add(
      `filler-${index}.md`,
      `# Filler ${index}\n\nThe settings of filler number ${index} are of no interest.`,
    );
  }
});

afterAll(() => knowledge.close());

const headingsOf = async (query: string): Promise<string[]> => {
  const { hits } = await knowledge.search(query);
  return hits.map(({ headingPath }) => headingPath.at(-1) ?? "");
};

describe("searchKnowledge", () => {
  test("finds the passage about a question, and ranks matches in headings above mentions in the text", async () => {
    expect((await headingsOf("How do I reset my password?"))[0]).toBe("Resetting a password");
    expect((await headingsOf("restore from backup"))[0]).toBe("Backups");
  });

  test("finds other forms of a word, with the stemmer of the document's language", async () => {
    expect((await headingsOf("restoring"))[0]).toBe("Backups");
    expect((await headingsOf("Wann wird die Rechnung verschickt?"))[0]).toBe("Rechnungen");
    expect((await headingsOf("Zahlungen"))[0]).toBe("Rechnungen");
  });

  test("a rare word counts more than a common one", async () => {
    expect((await headingsOf("settings security"))[0]).toBe("Resetting a password");
  });

  test("a question of stop words only finds the heading with the same question", async () => {
    expect((await headingsOf("who are we"))[0]).toBe("Who are we?");
  });

  test("the score of a good match is close to the best possible one, that of an off-topic question far below", async () => {
    const shareOf = async (query: string): Promise<number> => {
      const { hits, bestPossible } = await knowledge.search(query);
      for (const hit of hits) expect(hit.score).toBeLessThanOrEqual(bestPossible);
      return (hits[0]?.score ?? 0) / bestPossible;
    };
    expect(await shareOf("reset password")).toBeGreaterThan(0.5);
    expect(await shareOf("Which mountain in Nepal has the most snow in the night?")).toBeLessThan(0.2);
  });

  test("returns the rarity of each word of the query, unknown words first", async () => {
    const { words } = await knowledge.search("settings password zzz");
    const weights = Object.fromEntries(words.map(({ word, weight }) => [word, weight]));
    expect(Object.keys(weights)).toEqual(["settings", "password", "zzz"]);
    expect(weights["zzz"]).toBeGreaterThan(weights["password"] ?? Infinity);
    expect(weights["password"]).toBeGreaterThan(weights["settings"] ?? Infinity);
  });

  test("further forms of a word change nothing", async () => {
    const one = await knowledge.search("backup restore");
    const many = await knowledge.search("backup restore backups restoring");
    expect(many.bestPossible).toBe(one.bestPossible);
    expect(many.hits).toEqual(one.hits);
    expect(many.words.map(({ weight }) => weight > 0)).toEqual([true, true, false, false]);
  });

  test("returns the best passages first, up to the limit, and the same each time", async () => {
    const { hits } = await knowledge.search("settings", 7);
    expect(hits).toHaveLength(7);
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).sort((a, b) => b - a));
    expect((await knowledge.search("settings", 7)).hits).toEqual(hits);
  });

  test("searches the given knowledge bases of the project and no others", async () => {
    const { store, project, kbId } = knowledge;
    const { project: other } = await store.projects.ensure("other");
    const { kb: second } = await ensureKb({ store }, project, "second");
    const { kb: foreign } = await ensureKb({ store }, other.id, "manual");
    const deps = { store, log: testLog() };
    const text = "# P\n\nThe password of the second base.";
    await addDocument(deps, project, second.id, { key: "a", text, mime: "text/markdown" });
    await addDocument(deps, other.id, foreign.id, {
      key: "a",
      text: "# P\n\nThe password of others.",
      mime: "text/markdown",
    });
    const textsOf = async (kbIds: string[], who = project) =>
      (await searchKnowledge({ store }, who, { query: "password", kbIds, limit: 10 })).hits.map(({ text }) => text);
    expect(await textsOf([second.id])).toEqual(["The password of the second base."]);
    expect((await textsOf([kbId, second.id, foreign.id])).toSorted()).toEqual(
      [...(await textsOf([kbId])), ...(await textsOf([second.id]))].toSorted(),
    );
    expect(await textsOf([foreign.id])).toEqual([]);
    expect(await textsOf([kbId, second.id], other.id)).toEqual([]);
    expect(await textsOf(["no id", "'", ""])).toEqual([]);
  });

  test.each([
    ["nothing", ""],
    ["punctuation", "?!.,;:-–—…"],
    ["operators", "AND OR NOT & | ! <-> :* ( )"],
    ["quotes and backslashes", `'"\\' OR 1=1; -- {a,b} $1 %s \\x00`],
    ["wildcards and comments", "% _ %% password% ; -- /* */ \\ | ! :* *"],
    ["emoji", "😀👍🏽"],
    ["stop words only", "the of and to in is it"],
    ["many misspelt words", Array.from({ length: 200 }, (_, index) => `paswrod${"abcdefghij"[index % 10]}x`).join(" ")],
    ["50,000 characters without a space", "設定パスワード変更方法".repeat(4_545)],
    ["NUL and lone surrogates", "password\u0000 \uD800 \uDC00"],
    ["one word of 50,000 letters", "a".repeat(50_000)],
    ["50,000 characters of words", "password reset backup ".repeat(2_273).slice(0, 50_000)],
    [
      "10,000 different words",
      Array.from({ length: 10_000 }, (_, index) => `w${index}`)
        .join(" ")
        .slice(0, 50_000),
    ],
    ["50,000 opening brackets", "(".repeat(50_000)],
    ["50,000 apostrophes", "a'".repeat(25_000)],
  ])("a query of %s returns hits or none, never an error", async (_, query) => {
    const { hits, bestPossible } = await knowledge.search(query);
    expect(hits.length).toBeLessThanOrEqual(5);
    expect(Number.isFinite(bestPossible)).toBe(true);
  });

  test("finds the rare word in a long query", async () => {
    const noise = Array.from({ length: 300 }, (_, index) => `unheard${index} settings`).join(" ");
    expect((await headingsOf(`${noise} Lisbon`))[0]).toBe("Who are we?");
  });

  test("a knowledge base without documents returns nothing", async () => {
    const { kb } = await ensureKb(knowledge, knowledge.project, "empty");
    const search = { query: "password", kbIds: [kb.id], limit: 5 };
    expect(await searchKnowledge(knowledge, knowledge.project, search)).toEqual({
      hits: [],
      bestPossible: 0,
      passageCount: 0,
      words: [],
      languages: [],
    });
  });
});

test("a process finds what another one has just added, replaced or deleted, also in a new language", async () => {
  const other = openStore({ url: knowledge.url, secretKey: "k".repeat(32), log: testLog() });
  try {
    const { kb } = await ensureKb({ store: knowledge.store }, knowledge.project, "shared");
    const put = (name: string, text: string) =>
      addDocument({ store: other, log: testLog() }, knowledge.project, kb.id, {
        key: name,
        text,
        mime: "text/markdown",
      });
    const textsOf = async (query: string) => {
      const { hits } = await searchKnowledge({ store: knowledge.store }, knowledge.project, {
        query,
        kbIds: [kb.id],
        limit: 5,
      });
      return hits.map(({ text }) => text);
    };
    expect(await textsOf("parcel")).toEqual([]);
    await put("one", "The parcel arrives on Monday.");
    expect(await textsOf("parcel")).toEqual(["The parcel arrives on Monday."]);
    await put("one", "The parcel arrives on Friday.");
    await put("two", "Another parcel is late.");
    expect((await textsOf("parcel")).toSorted()).toEqual(["Another parcel is late.", "The parcel arrives on Friday."]);
    await put("drei", "Die Rechnungen werden am Anfang des Monats verschickt, und die Zahlung erfolgt danach.");
    expect(await textsOf("Wann wird die Rechnung verschickt?")).toHaveLength(1);
    await knowledge.store.kbs.remove(knowledge.project, { id: kb.id });
    expect(await textsOf("parcel")).toEqual([]);
  } finally {
    await other.close();
  }
});

test("the languages of a knowledge base are those of its documents, and change when documents are deleted", async () => {
  const { store, project } = knowledge;
  const { kb } = await ensureKb({ store }, project, "languages");
  const add = (key: string, text: string) =>
    addDocument({ store, log: testLog() }, project, kb.id, { key, text, mime: "text/markdown" });
  const languages = async () => (await store.kbs.findAll(project, [kb.id]))[0]?.languages;
  await add("handbuch.md", HANDBUCH.repeat(8));
  expect(await languages()).toEqual(["de"]);
  const manual = await add("manual.md", MANUAL);
  expect(await languages()).toEqual(["de", "en"]);
  await store.documents.remove(project, kb.id, manual.documentId);
  expect(await languages()).toEqual(["de"]);
});

describe("the cache of a process", () => {
  const monday = "The parcel arrives on Monday by bicycle.";
  const friday = "The parcel arrives on Friday by bicycle.";

  /** Creates a knowledge base, and returns functions that change, claim and search; `search` counts what it reads. */
  async function openCounted(name: string) {
    const { store } = knowledge;
    const { project: own } = await store.projects.ensure(name);
    const project = own.id;
    const { kb } = await ensureKb({ store }, project, "manual");
    const put = (text: string) =>
      addDocument({ store, log: testLog() }, project, kb.id, { key: "one", text, mime: "text/markdown" });
    const reads = { postings: 0, passages: 0 };
    const chunks: typeof store.chunks = {
      ...store.chunks,
      readPostings: (...args) => {
        reads.postings += 1;
        return store.chunks.readPostings(...args);
      },
      read: (...args) => {
        reads.passages += 1;
        return store.chunks.read(...args);
      },
    };
    async function search(query: string, kbVersions: Record<string, string> = {}) {
      const before = { ...reads };
      const searched = { query, kbIds: [kb.id], limit: 5, kbVersions };
      const { hits } = await searchKnowledge({ store: { kbs: store.kbs, chunks } }, project, searched);
      const { postings, passages } = reads;
      return {
        texts: hits.map(({ text }) => text),
        reads: { postings: postings - before.postings, passages: passages - before.passages },
      };
    }
    /** Claims a new message; returns the versions of knowledge bases that come with it. */
    async function claim() {
      const { ticketId } = await store.messages.accept(project, newMessage({ chatId: randomUUID() }));
      const claimed = await store.messages.claimConcurrently(project, ticketId, 0);
      if (claimed === null || !("opened" in claimed)) throw new Error("the message was not claimed");
      return claimed.opened?.kbVersions ?? {};
    }
    const remove = async () => {
      const [document] = await store.chunks.listDocuments([kb.id]);
      await store.documents.remove(project, kb.id, document?.id ?? "");
    };
    return { project, kbId: kb.id, put, remove, search, claim };
  }

  test("a repeated search for the same words reads no postings until a document changes", async () => {
    const { put, search } = await openCounted("recalled");
    await put(monday);
    expect(await search("parcel")).toEqual({ texts: [monday], reads: { postings: 1, passages: 1 } });
    expect(await search("parcel bicycle")).toEqual({ texts: [monday], reads: { postings: 1, passages: 1 } });
    expect(await search("bicycle parcel")).toEqual({ texts: [monday], reads: { postings: 0, passages: 1 } });
    await put(friday);
    expect(await search("bicycle parcel")).toEqual({ texts: [friday], reads: { postings: 1, passages: 2 } });
    expect(await search("bicycle")).toEqual({ texts: [friday], reads: { postings: 0, passages: 1 } });
  });

  test("a search for a claimed message reads nothing that is cached, and finds the documents of its claim or later ones", async () => {
    const { put, remove, search, claim } = await openCounted("claimed");
    await put(monday);
    const first = await claim();
    expect(await search("parcel bicycle", first)).toEqual({ texts: [monday], reads: { postings: 1, passages: 1 } });
    expect(await search("bicycle parcel", first)).toEqual({ texts: [monday], reads: { postings: 0, passages: 0 } });
    await put(friday);
    // A message that was claimed after the change does not find what was cached before it.
    const second = await claim();
    expect(await search("bicycle parcel", second)).toEqual({ texts: [friday], reads: { postings: 1, passages: 2 } });
    expect(await search("parcel bicycle", second)).toEqual({ texts: [friday], reads: { postings: 0, passages: 0 } });
    expect((await search("bicycle parcel", first)).texts).toEqual([friday]);
    await remove();
    const third = await claim();
    expect((await search("bicycle parcel", third)).texts).toEqual([]);
  });

  test("a claim has the versions of the project's own knowledge bases that are not deleted", async () => {
    const { store } = knowledge;
    const { project, kbId, claim } = await openCounted("own");
    const deleted = await store.kbs.ensure(project, "deleted");
    await openCounted("foreign");
    expect(Object.keys(await claim()).toSorted()).toEqual([kbId, deleted.kb.id].toSorted());
    await store.kbs.remove(project, { id: deleted.kb.id, versions: null });
    expect(Object.keys(await claim())).toEqual([kbId]);
  });
});
