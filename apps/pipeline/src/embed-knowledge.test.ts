import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { addDocument, createEmbedder, ensureKb } from "@svc/knowledge";
import { newId, openStore } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import { collectLog, createTestDatabase, startEmbeddingServer, testLog, waitFor } from "@svc/testing";
import type { EmbeddingServer, LogLine, TestDatabase } from "@svc/testing";
import { embedKnowledge } from "./embed-knowledge.ts";

const PACE = { pollMs: 20, firstWaitMs: 10, maxWaitMs: 20 };
const FIRST_ID = "00000000-0000-0000-0000-000000000000";

let database: TestDatabase;
let store: Store;
let server: EmbeddingServer;
let project: ProjectId;
/** A model that is unique to each test. */
let model: string;
const workers: { lines(level: LogLine["level"]): LogLine[]; stop(): Promise<void> }[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "a key of a test that seals nothing", log: testLog() });
  ({
    project: { id: project },
  } = await store.projects.ensure("default"));
});
beforeEach(async () => {
  server = await startEmbeddingServer();
  model = `model-${newId()}`;
});
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  await server.close();
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

/** Starts a replica's worker; the test can read its log. */
function startWorker(options: { model?: string; replica?: Store } = {}) {
  const { log, lines } = collectLog();
  const { baseUrl } = server;
  const embedder = createEmbedder({ baseUrl, model: options.model ?? model, log, firstRetryMs: 1 });
  const stopping = new AbortController();
  const ended = embedKnowledge({ store: options.replica ?? store, log, embedder }, stopping.signal, PACE);
  const worker = {
    lines: (level: LogLine["level"]) => lines().filter((line) => line.level === level),
    async stop() {
      stopping.abort();
      await ended;
      await embedder.close();
    },
  };
  workers.push(worker);
  return worker;
}

/** Adds a document with this number of passages and returns the total number of passages. */
async function addPassages(count: number, word = "word"): Promise<number> {
  const { kb } = await ensureKb({ store }, project, "manual");
  const sections = Array.from({ length: count }, (_, index) => `# Heading ${index}\n\nThe ${word} of number ${index}.`);
  await addDocument({ store, log: testLog() }, project, kb.id, {
    key: newId(),
    text: sections.join("\n\n"),
    mime: "text/markdown",
  });
  return (await store.chunkEmbeddings.count(model)).passages;
}

async function waitForAll(passages: number, refused = 0): Promise<void> {
  await waitFor(
    async () => {
      const found = await store.chunkEmbeddings.count(model);
      return found.embedded + found.refused === passages && found.refused === refused;
    },
    { what: `${passages} passages to be embedded`, timeoutMs: 20_000 },
  );
}

/** Texts of the passages in requests to the server, without probes. */
const asked = () => server.requests().flatMap(({ input }) => input.filter((text) => text !== "passage"));

describe("embedKnowledge", () => {
  test("embeds every passage with its headings, new documents soon, and nothing twice", async () => {
    const before = await addPassages(3);
    const worker = startWorker();
    await waitForAll(before);
    const passages = await addPassages(40, "novelty");
    await waitForAll(passages);
    expect(asked()).toHaveLength(passages);
    expect(asked()).toContain("Heading 0 › Heading 7\nThe novelty of number 7.");
    expect(worker.lines("info").map(({ msg }) => msg)).toContain("passages embedded");
    expect(worker.lines("warn")).toEqual([]);
  });

  test("several replicas share the work: each passage is embedded once", async () => {
    const passages = await addPassages(150);
    const replicas = [1, 2].map(() =>
      openStore({ url: database.url, secretKey: "a key of a test that seals nothing", log: testLog() }),
    );
    for (const replica of replicas) startWorker({ replica });
    await waitForAll(passages);
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    await Promise.all(replicas.map((replica) => replica.close()));
    expect(asked()).toHaveLength(passages);
  });

  test("waits while the endpoint is unavailable, and logs the outage and the recovery once each", async () => {
    const passages = await addPassages(1);
    server.answerWith({ status: 503, body: "" });
    const worker = startWorker();
    await waitFor(() => server.requests().length > 8, { what: "several tries" });
    server.answerWith(null);
    await waitForAll(passages);
    expect(worker.lines("warn").map(({ msg }) => msg)).toEqual([expect.stringContaining("it returned 503")]);
    await waitFor(() => worker.lines("info").some(({ msg }) => msg === "embedding resumed"), {
      what: "the line that it is back",
    });
  });

  test("takes over the passages of a replica that crashed", async () => {
    const passages = await addPassages(1);
    const dead = { model, dimensions: 512 };
    await store.chunkEmbeddings.announceModel(dead);
    const taken = await store.chunkEmbeddings.claim(dead, FIRST_ID, 1_000);
    expect(taken).toHaveLength(passages);
    startWorker();
    await waitFor(() => server.requests().length > 0, { what: "the worker to begin" });
    expect(await store.chunkEmbeddings.claim(dead, FIRST_ID, 1_000)).toEqual([]);
    // As if its lease of two minutes had expired.
    await store.chunkEmbeddings.release(
      model,
      taken.map(({ chunkId }) => chunkId),
    );
    await waitForAll(passages);
  });

  test("stops in the middle of a request and releases its passages", async () => {
    const passages = await addPassages(1);
    server.answerWith(({ input }) => (input[0] === "passage" ? null : "hang"));
    const worker = startWorker();
    await waitFor(() => asked().length > 0, { what: "a request for passages" });
    await worker.stop();
    const free = await store.chunkEmbeddings.claim({ model, dimensions: 512 }, FIRST_ID, 1_000);
    expect(free).toHaveLength(passages);
    expect(worker.lines("warn")).toEqual([]);
  });

  test("gives up a passage that the endpoint rejects or fails on, and no other", async () => {
    const before = await addPassages(3);
    const passages = await addPassages(2, "poison");
    const poison = { status: 500, body: "boom" };
    server.answerWith(({ input }) => (input.some((text) => text.includes("poison")) ? poison : null));
    const worker = startWorker();
    await waitForAll(passages, 2);
    const { embedded } = await store.chunkEmbeddings.count(model);
    expect(embedded).toBe(before);
    const count = asked().length;
    const more = await addPassages(1);
    await waitForAll(more, 2);
    expect(asked()).toHaveLength(count + 1);
    const given = worker.lines("warn").filter(({ msg }) => msg?.includes("passage cannot be embedded"));
    expect(given).toHaveLength(2);
  });

  test("the model of the replica that started last is used; a replica with another model pauses", async () => {
    const passages = await addPassages(2);
    const old = startWorker({ model: `old-${model}` });
    await waitFor(async () => (await store.chunkEmbeddings.count(`old-${model}`)).embedded === passages, {
      what: "the embeddings of the old model",
    });
    startWorker();
    await waitForAll(passages);
    await waitFor(() => old.lines("warn").some(({ msg }) => msg?.includes("a different model")), {
      what: "the old one to leave off",
    });
    const count = asked().length;
    await waitForAll(await addPassages(1));
    expect(asked()).toHaveLength(count + 1);
    expect((await store.chunkEmbeddings.count(`old-${model}`)).embedded).toBe(0);
  });

  test("blocks no concurrent replacement or deletion of documents", async () => {
    const { kb } = await ensureKb({ store }, project, `busy-${newId()}`);
    const log = testLog();
    const put = (key: string, round: number) => {
      const text = Array.from({ length: 5 }, (_, part) => `# ${part}\n\nThe text ${part} of round ${round}.`).join(
        "\n\n",
      );
      return addDocument({ store, log }, project, kb.id, { key, text, mime: "text/markdown" });
    };
    for (const _ of [1, 2]) startWorker();
    const writers = ["a", "b", "c"].map(async (key) => {
      for (let round = 0; round < 15; round += 1) {
        const { documentId } = await put(key, round);
        if (round % 3 === 2) await store.documents.remove(project, kb.id, documentId);
      }
      await put(key, 100);
    });
    await Promise.all(writers);
    await waitForAll((await store.chunkEmbeddings.count(model)).passages);
    expect(workers.flatMap(({ lines }) => lines("warn"))).toEqual([]);
  });

  test("ignores deleted knowledge bases", async () => {
    const { kb } = await ensureKb({ store }, project, `deleted-${newId()}`);
    const deps = { store, log: testLog() };
    await addDocument(deps, project, kb.id, { key: "a", text: "A secret of a deleted base.", mime: "text/plain" });
    await store.kbs.remove(project, { id: kb.id });
    const passages = await addPassages(1);
    startWorker();
    await waitForAll(passages);
    expect(asked().filter((text) => text.includes("secret"))).toEqual([]);
  });
});
