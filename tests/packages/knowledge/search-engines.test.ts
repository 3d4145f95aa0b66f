import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { addDocument, createPgvectorEngine, createSearchEngine, ensureKb } from "@svc/knowledge";
import type { SearchEngine } from "@svc/knowledge";
import { openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import {
  createTestDatabase,
  findInstalledPostgres,
  migrateTestDatabase,
  queryDatabase,
  startInstalledPostgres,
  testLog,
  waitFor,
} from "@svc/testing";

const MODEL = { model: "test-model", dimensions: 3 };
const FIRST_ID = "00000000-0000-0000-0000-000000000000";
/** Passages by their text, with their embeddings. */
const MEANINGS: Record<string, number[]> = {
  "The red car is fast.": [1, 0, 0],
  "The landau has four wheels.": [0.8, 0.6, 0],
  "Pay the invoice within a week.": [0, 1, 0],
  "The car park is closed.": [0, 0, 1],
};
const LIKE_CAR = Float32Array.from([1, 0, 0]);

/** A database to search. */
interface Ground {
  url: string;
  close(): Promise<void>;
}

async function installedGround(binDir: string): Promise<Ground> {
  const server = await startInstalledPostgres(binDir);
  await migrateTestDatabase(server.url);
  return { url: server.url, close: () => server.stop() };
}

async function bundledGround(): Promise<Ground> {
  const database = await createTestDatabase();
  return { url: database.url, close: () => database.drop() };
}

const binDir = await findInstalledPostgres();
const version = binDir === null ? "" : basename(dirname(binDir));
/** Location of the extension in Debian's packages, and in custom builds with Debian's PostgreSQL. */
const hasPgvector = existsSync(`/usr/share/postgresql/${version}/extension/vector.control`);
const options = (store: Store) => ({ store, log: testLog(), model: MODEL.model, freshMs: 0 });

const engines: {
  name: string;
  open: (store: Store) => SearchEngine;
  ground: () => Promise<Ground>;
  skips: boolean;
  whole: string;
}[] = [
  {
    name: "memory",
    // Without pgvector, it compares in memory only.
    open: (store) => createSearchEngine(options(store)),
    ground: bundledGround,
    skips: false,
    whole: "what words found",
  },
  {
    name: hasPgvector ? "pgvector" : "pgvector, which no installed PostgreSQL has",
    open: (store) => createPgvectorEngine(options(store)),
    ground: () => installedGround(binDir ?? ""),
    skips: !hasPgvector,
    whole: "all",
  },
];

for (const { name, open, ground: openGround, skips, whole } of engines) {
  (skips ? describe.skip : describe)(`the search engine ${name}`, () => {
    let ground: Ground;
    let store: Store;
    let engine: SearchEngine;
    let project: ProjectId;
    let kbId: string;
    const ids = new Map<string, string>();
    const idOf = (text: string) => ids.get(text) ?? "";
    const textOf = (id: string) => [...ids].find(([, known]) => known === id)?.[0];

    /** Creates a knowledge base with these passages, one per document, and embeds all that have an embedding. */
    async function fill(of: ProjectId, texts: string[], model = MODEL): Promise<string> {
      const { kb } = await ensureKb({ store }, of, `kb-${Math.random()}`);
      for (const text of texts) await put(of, kb.id, text);
      await embed(model);
      return kb.id;
    }
    async function put(of: ProjectId, kb: string, text: string): Promise<void> {
      await addDocument({ store, log: testLog() }, of, kb, { key: text, title: "Note", text, mime: "text/plain" });
    }
    async function embed(model = MODEL): Promise<void> {
      await store.chunkEmbeddings.announceModel(model);
      const chunks = await store.chunkEmbeddings.claim(model, FIRST_ID, 100);
      for (const { chunkId, text } of chunks) if (!ids.has(text)) ids.set(text, chunkId);
      const embeddings = chunks.flatMap(({ chunkId, text }) => {
        const meaning = MEANINGS[text];
        return meaning === undefined ? [] : [{ chunkId, embedding: Float32Array.from(meaning) }];
      });
      await store.chunkEmbeddings.save(model.model, embeddings);
    }
    const compare = (kbIds: string[], chunkIds: string[] = [], limit = 10) =>
      engine.compareMeanings(project, { kbIds, embedding: LIKE_CAR, chunkIds, limit });

    beforeAll(async () => {
      ground = await openGround();
      store = openStore({ url: ground.url, secretKey: "a key of a test that seals nothing", log: testLog() });
      engine = open(store);
      project = (await store.projects.ensure("one")).project.id;
      await store.chunkEmbeddings.prepareVectors(MODEL.dimensions);
      kbId = await fill(project, Object.keys(MEANINGS));
    });
    afterAll(async () => {
      await engine.close();
      await store.close();
      await ground.close();
    });

    test("finds passages by keywords, in each group of knowledge bases separately", async () => {
      const other = await fill(project, ["A car in another base."]);
      const found = await engine.findByWords(project, { query: "car", kbGroups: [[kbId], [other], []], limit: 5 });
      expect(found.map(({ hits }) => hits.map(({ text }) => text).toSorted())).toEqual([
        ["The car park is closed.", "The red car is fast."],
        ["A car in another base."],
        [],
      ]);
    });

    test("finds the closest passages by meaning, closest first, with their cosines", async () => {
      const { closest, cosines } = await compare([kbId], [], 2);
      expect(closest.map(textOf)).toEqual(["The red car is fast.", "The landau has four wheels."]);
      expect(closest.map((id) => cosines.get(id)?.toFixed(4))).toEqual(["1.0000", "0.8000"]);
    });

    test("always compares passages found by keywords, unless they have no embedding", async () => {
      const bare = await fill(project, ["Not embedded."]);
      const wanted = [idOf("The car park is closed."), idOf("Not embedded.")];
      const { cosines } = await compare([kbId, bare], wanted, 1);
      expect(cosines.get(wanted[0] ?? "")).toBeCloseTo(0, 5);
      expect(cosines.has(wanted[1] ?? "")).toBe(false);
    });

    test("finds nothing of other projects and of other knowledge bases", async () => {
      const stranger = (await store.projects.ensure("two")).project.id;
      const theirs = await fill(stranger, ["The landau has four wheels."]);
      expect((await compare([theirs])).closest).toEqual([]);
      const [words] = await engine.findByWords(project, { query: "landau", kbGroups: [[theirs]], limit: 5 });
      expect(words?.hits).toEqual([]);
      const one = await fill(project, ["Pay the invoice within a week."]);
      expect((await compare([one])).closest).toHaveLength(1);
    });

    test("includes an added passage, and no deleted one", async () => {
      const changing = await fill(project, ["The landau has four wheels."]);
      await waitFor(async () => (await compare([changing])).closest.length === 1, { what: "the first passage" });
      await put(project, changing, "The red car is fast.");
      await embed();
      await waitFor(async () => (await compare([changing])).closest.length === 2, { what: "the added passage" });
      for (const { id } of await store.documents.list(project, changing)) {
        await store.documents.remove(project, changing, id);
      }
      await waitFor(async () => (await compare([changing])).closest.length === 0, { what: "the deletion" });
    });

    test(`compares ${whole} of a knowledge base of more than 20,000 passages, and so does the engine of the product`, async () => {
      await queryDatabase(ground.url, `UPDATE kbs SET chunk_count = 20001 WHERE id = '${kbId}'`);
      const search = { kbIds: [kbId], embedding: LIKE_CAR, chunkIds: [idOf("The car park is closed.")], limit: 2 };
      const found = [];
      for (const one of [engine, createSearchEngine(options(store))]) {
        found.push((await one.compareMeanings(project, search)).closest.map(textOf));
        if (one !== engine) await one.close();
      }
      const closest =
        whole === "all" ? ["The red car is fast.", "The landau has four wheels."] : ["The car park is closed."];
      expect(found).toEqual([closest, closest]);
    });
  });
}
