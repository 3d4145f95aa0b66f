import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { addDocument, ensureKb, openEmbeddings, searchKnowledge } from "@svc/knowledge";
import type { Embeddings } from "@svc/knowledge";
import { asProjectId, newId } from "@svc/store";
import type { ProjectId } from "@svc/store";
import { startEmbeddingServer, testLog, waitFor } from "@svc/testing";
import type { EmbeddingServer } from "@svc/testing";
import { openTestKnowledge } from "./open-test-knowledge.ts";
import type { TestKnowledge } from "./open-test-knowledge.ts";

const SYNONYMS = [
  ["car", "cars", "landau", "phaeton"],
  ["pay", "paying", "settle", "remittance"],
];
const FIRST_ID = "00000000-0000-0000-0000-000000000000";

let knowledge: TestKnowledge;
let server: EmbeddingServer;
const opened: Embeddings[] = [];

beforeAll(async () => {
  [knowledge, server] = await Promise.all([openTestKnowledge(), startEmbeddingServer({ synonyms: SYNONYMS })]);
});
afterEach(async () => {
  server.answerWith(null);
  await Promise.all(opened.splice(0).map((embeddings) => embeddings.close()));
});
afterAll(async () => {
  await knowledge.close();
  await server.close();
});

interface Change {
  model?: string;
  maxBytes?: number;
  keptMs?: number;
  queryDeadlineMs?: number;
}

function open(change: Change = {}): Embeddings {
  const { baseUrl } = server;
  const embeddings = openEmbeddings({
    store: knowledge.store,
    log: testLog(),
    baseUrl,
    model: "test-model",
    queryDeadlineMs: 5_000,
    freshMs: 0,
    ...change,
  });
  opened.push(embeddings);
  return embeddings;
}

/** Embeds all passages without an embedding, like a worker. */
async function embedAll({ embedder }: Embeddings): Promise<number> {
  const { chunkEmbeddings } = knowledge.store;
  const { signal } = new AbortController();
  const [probe] = await embedder.embedTexts(["probe"], signal);
  const model = { model: embedder.model, dimensions: probe?.length ?? 0 };
  await chunkEmbeddings.announceModel(model);
  const chunks = await chunkEmbeddings.claim(model, FIRST_ID, 1_000);
  const found = await embedder.embedTexts(
    chunks.map(({ text }) => text),
    signal,
  );
  return chunkEmbeddings.save(
    embedder.model,
    chunks.map(({ chunkId }, position) => ({ chunkId, embedding: found[position] ?? null })),
  );
}

/** Creates a knowledge base with these passages, one per document. */
async function newKb(texts: Record<string, string>, project: ProjectId = knowledge.project): Promise<string> {
  const { kb } = await ensureKb(knowledge, project, `kb-${newId()}`);
  for (const [key, text] of Object.entries(texts)) await put(kb.id, key, text, project);
  return kb.id;
}

function put(kbId: string, key: string, text: string, project: ProjectId = knowledge.project) {
  const deps = { store: knowledge.store, log: testLog() };
  return addDocument(deps, project, kbId, { key, title: "Guide", text, mime: "text/plain" });
}

async function search(
  embeddings: Embeddings | null,
  kbIds: string[],
  query: string,
  { limit = 5, project = knowledge.project } = {},
) {
  const { store } = knowledge;
  return searchKnowledge({ store, embeddings }, project, { query, kbIds, limit });
}

const textsOf = async (...args: Parameters<typeof search>) => (await search(...args)).hits.map(({ text }) => text);

const CARS = "Our cars leave the garage clean.";
const TREES = "Birch trees grow in the garden.";
const BILLS = "Bills can be settled by bank transfer.";

describe("a search by keywords and meaning", () => {
  test("finds a passage that has none of the words, with its source and without a score", async () => {
    const embeddings = open();
    const kbId = await newKb({ cars: CARS, trees: TREES });
    await embedAll(embeddings);
    expect(await textsOf(null, [kbId], "landau")).toEqual([]);
    const { hits } = await search(embeddings, [kbId], "landau");
    expect(hits[0]).toEqual({
      chunkId: expect.any(String),
      documentId: expect.any(String),
      kbId,
      title: "Guide",
      ordinal: 0,
      headingPath: [],
      text: CARS,
      markdown: false,
      score: 0,
      similarity: expect.any(Number),
    });
    const [first = 0, second = 0] = hits.map(({ similarity }) => similarity);
    expect(first).toBeGreaterThan(second);
    expect((await search(embeddings, [kbId], "landau", { limit: 1 })).hits).toHaveLength(1);
  });

  test("ranks passages found by both keywords and meaning first, and keeps their keyword scores", async () => {
    const embeddings = open();
    const kbId = await newKb({
      garden: "Garden phaeton museum.",
      garage: "Garden garden hose.",
      cars: "Cars.",
    });
    await embedAll(embeddings);
    const byWords = await search(null, [kbId], "garden landau");
    const byBoth = await search(embeddings, [kbId], "garden landau");
    expect(byBoth.hits[0]?.text).toBe("Garden phaeton museum.");
    expect(byBoth.hits.map(({ text }) => text)).toContain("Cars.");
    const scores = new Map(byWords.hits.map(({ chunkId, score }) => [chunkId, score]));
    for (const { chunkId, score } of byBoth.hits) expect(score).toBe(scores.get(chunkId) ?? 0);
    expect({ ...byBoth, hits: [] }).toEqual({ ...byWords, hits: [] });
  });

  test("is a keyword search while the endpoint fails, is slow or returns invalid data", async () => {
    const kbId = await newKb({ cars: CARS, trees: TREES, both: "Trees and cars." });
    await embedAll(open());
    const expected = await textsOf(null, [kbId], "trees garage");
    for (const answer of ["cut", "hang", { status: 200, body: "<html>" }] as const) {
      const embeddings = open({ queryDeadlineMs: 50 });
      server.answerWith(answer);
      expect(await textsOf(embeddings, [kbId], "trees garage")).toEqual(expected);
      server.answerWith(null);
    }
  });

  test("keeps the rank of a passage without an embedding", async () => {
    const embeddings = open();
    const kbId = await newKb({ cars: CARS });
    await embedAll(embeddings);
    await put(kbId, "new", "A garage, a garage, a garage.");
    expect(await textsOf(embeddings, [kbId], "garage")).toEqual(await textsOf(null, [kbId], "garage"));
  });

  test("compares only passages found by keywords if a knowledge base is too large for the cache", async () => {
    const kbId = await newKb({ cars: CARS, trees: TREES, phaeton: "The garage has a phaeton, an landau." });
    await embedAll(open());
    const embeddings = open({ maxBytes: 100 });
    expect(await textsOf(embeddings, [kbId], "landau")).toEqual(["The garage has a phaeton, an landau."]);
    const { hits } = await search(embeddings, [kbId], "garage landau");
    expect(hits.map(({ similarity }) => typeof similarity)).toEqual(["number", "number"]);
  });

  test("caches the most recently used knowledge bases, and does not evict one immediately for another", async () => {
    const [cars, others] = [await newKb({ cars: CARS }), await newKb({ cars: "Other cars." })];
    await embedAll(open());
    const roomForOne = { maxBytes: 4_000 };
    const patient = open({ ...roomForOne, keptMs: -1 });
    for (const [kbId, text] of [
      [cars, CARS],
      [others, "Other cars."],
      [cars, CARS],
    ] as const) {
      expect(await textsOf(patient, [kbId], "phaeton")).toEqual([text]);
    }
    const kept = open(roomForOne);
    expect(await textsOf(kept, [cars], "phaeton")).toEqual([CARS]);
    expect(await textsOf(kept, [others], "phaeton")).toEqual([]);
    expect(await textsOf(kept, [others], "cars")).toEqual(["Other cars."]);
    expect(await textsOf(kept, [cars], "phaeton")).toEqual([CARS]);
  });

  test("includes added and replaced documents, and no removed ones", async () => {
    const embeddings = open();
    const kbId = await newKb({ cars: CARS, trees: TREES });
    await embedAll(embeddings);
    expect((await textsOf(embeddings, [kbId], "phaeton"))[0]).toBe(CARS);
    await put(kbId, "cars", "A bicycle is not like that.");
    expect(await textsOf(embeddings, [kbId], "phaeton")).not.toContain(CARS);
    const { documentId } = await put(kbId, "bills", BILLS);
    await embedAll(embeddings);
    const isFound = async () => (await textsOf(embeddings, [kbId], "transfer of remittance bank")).includes(BILLS);
    await waitFor(isFound, { what: "the new passage" });
    const meant = async () => (await textsOf(embeddings, [kbId], "remittance")).length;
    await waitFor(async () => (await meant()) === 3, { what: "all passages to be compared" });
    await knowledge.store.documents.remove(knowledge.project, kbId, documentId);
    expect(await textsOf(embeddings, [kbId], "remittance")).not.toContain(BILLS);
    await waitFor(async () => (await meant()) === 2, { what: "the removed passage to be forgotten" });
  });

  test("uses only embeddings of its own model, and a new model has all embedded again", async () => {
    const [one, other] = [open(), open({ model: "other-model" })];
    const kbId = await newKb({ cars: CARS });
    await embedAll(one);
    expect(await textsOf(one, [kbId], "phaeton")).toEqual([CARS]);
    expect(await textsOf(other, [kbId], "phaeton")).toEqual([]);
    expect(await embedAll(other)).toBeGreaterThan(0);
    await waitFor(async () => (await textsOf(other, [kbId], "phaeton")).length > 0, { what: "the new embeddings" });
    await waitFor(async () => (await textsOf(one, [kbId], "phaeton")).length === 0, { what: "the old ones to go" });
  });

  test("finds nothing of another project, however the bases are named", async () => {
    const embeddings = open();
    const { project: stranger } = await knowledge.store.projects.ensure(`stranger-${newId()}`);
    const kbId = await newKb({ cars: CARS });
    const foreign = await newKb({ cars: "Foreign cars." }, stranger.id);
    await embedAll(embeddings);
    expect(await textsOf(embeddings, [kbId, foreign], "phaeton")).toEqual([CARS]);
    expect(await textsOf(embeddings, [foreign], "phaeton")).toEqual([]);
    const asStranger = { project: asProjectId(stranger.id) };
    expect(await textsOf(embeddings, [kbId, foreign, "no id", "'"], "phaeton", asStranger)).toEqual(["Foreign cars."]);
  });

  test.each([
    ["nothing", ""],
    ["punctuation", "?!.,"],
    ["50,000 characters", "landau ".repeat(4_545)],
    ["NUL and lone surrogates", "landau \u0000 \uD800"],
  ])("a query of %s returns hits or none, never an error", async (_, query) => {
    const kbId = await newKb({ cars: CARS });
    const { hits } = await search(open(), [kbId], query);
    expect(hits.length).toBeLessThanOrEqual(5);
    expect((await searchKnowledge(knowledge, knowledge.project, { query, kbIds: [kbId], limit: 5 })).hits).toEqual([]);
  });
});

describe("the embeddings of passages", () => {
  test("are returned as stored", async () => {
    const kbId = await newKb({ cars: CARS });
    const { chunkEmbeddings } = knowledge.store;
    const model = { model: `exact-${newId()}`, dimensions: 5 };
    await chunkEmbeddings.announceModel(model);
    const chunks = await chunkEmbeddings.claim(model, FIRST_ID, 1_000);
    const embedding = Float32Array.of(0.1, -0.2, 1e-20, 0.97, 0);
    await chunkEmbeddings.save(
      model.model,
      chunks.map(({ chunkId }) => ({ chunkId, embedding })),
    );
    const ids = await chunkEmbeddings.listEmbedded(knowledge.project, kbId, model);
    expect(ids).toHaveLength(1);
    expect(await chunkEmbeddings.read(knowledge.project, { kbIds: [kbId], chunkIds: ids }, model)).toEqual([
      { chunkId: ids[0], embedding },
    ]);
  });

  test("are read, listed and counted in their project only", async () => {
    const kbId = await newKb({ cars: CARS });
    await embedAll(open());
    const { chunkEmbeddings, projects } = knowledge.store;
    const { project: stranger } = await projects.ensure(`stranger-${newId()}`);
    const model = { model: "test-model", dimensions: 512 };
    const ids = await chunkEmbeddings.listEmbedded(knowledge.project, kbId, model);
    expect(await chunkEmbeddings.listEmbedded(stranger.id, kbId, model)).toEqual([]);
    expect(await chunkEmbeddings.read(stranger.id, { kbIds: [kbId], chunkIds: ids }, model)).toEqual([]);
    expect(await chunkEmbeddings.findChunks(stranger.id, [kbId], ids)).toEqual([]);
    const marks = { kbIds: [kbId], model: model.model, maxChunks: 20_000 };
    expect(await chunkEmbeddings.findMarks(stranger.id, marks)).toEqual([]);
    expect(await chunkEmbeddings.findMarks(knowledge.project, marks)).toMatchObject([{ kbId, embeddedCount: 1 }]);
  });
});
