import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { addDocument, ensureKb, searchKnowledge } from "@svc/knowledge";
import { pipelineService } from "@svc/pipeline";
import { closeResources, loadConfig, openResources } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import {
  createTestDatabase,
  createTestQueueBackend,
  startEmbeddingServer,
  testLog,
  waitFor,
  writeEmbeddingModel,
} from "@svc/testing";
import type { EmbeddingServer, TestDatabase, TestQueueBackend } from "@svc/testing";

let database: TestDatabase;
let queueBackend: TestQueueBackend;
let server: EmbeddingServer;
let resources: Resources;
let modelDir: string;

beforeAll(async () => {
  [database, queueBackend, server] = await Promise.all([
    createTestDatabase(),
    createTestQueueBackend(),
    startEmbeddingServer({ synonyms: [["car", "cars", "landau"]] }),
  ]);
  modelDir = await mkdtemp(join(tmpdir(), "svc-model-"));
});
afterEach(() => closeResources(resources));
afterAll(async () => {
  await rm(modelDir, { recursive: true });
  await server.close();
  await queueBackend.stop();
  await database.drop();
});

async function open(env: Record<string, string>): Promise<Resources> {
  const config = loadConfig({
    DATABASE_URL: database.url,
    ...(queueBackend.redisUrl === undefined ? {} : { REDIS_URL: queueBackend.redisUrl }),
    SVC_QUEUE_PREFIX: queueBackend.prefix,
    SVC_SECRET_KEY: "embeddings-secret-key-of-48-characters-012345678",
    ...env,
  });
  resources = await openResources(config, { app: "pipeline", log: testLog() });
  return resources;
}

test("a pipeline with an endpoint embeds added texts, so that search finds them by meaning, and stops while the endpoint hangs", async () => {
  const { store, embeddings, log } = await open({
    SVC_EMBEDDINGS_BASE_URL: server.baseUrl,
    SVC_EMBEDDINGS_MODEL: "test-model",
    SVC_EMBEDDINGS_API_KEY: "sk-of-the-endpoint",
  });
  const { project } = await store.projects.ensure("default");
  const { kb } = await ensureKb({ store }, project.id, "manual");
  const add = (key: string, text: string) =>
    addDocument({ store, log }, project.id, kb.id, { key, text, mime: "text/plain" });
  const find = async (query: string) => {
    const search = { query, kbIds: [kb.id], limit: 1 };
    return (await searchKnowledge({ store, embeddings }, project.id, search)).hits.map(({ text }) => text);
  };

  const service = await pipelineService(resources).start();
  await add("cars", "Our cars leave the garage clean.");
  await waitFor(async () => (await find("landau"))[0] === "Our cars leave the garage clean.", {
    what: "the passage to be found by its meaning",
    timeoutMs: 20_000,
  });
  expect(new Set(server.requests().map(({ headers }) => headers["authorization"]))).toEqual(
    new Set(["Bearer sk-of-the-endpoint"]),
  );

  server.answerWith("hang");
  await add("trees", "Birch trees grow in the garden.");
  const isAsked = () => server.requests().some(({ input }) => input.some((text) => text.includes("Birch")));
  await waitFor(isAsked, { what: "the endpoint to be asked", timeoutMs: 20_000 });
  await service.stop();
  expect(await find("birch")).toEqual(["Birch trees grow in the garden."]);
});

test("a pipeline with a local model embeds all passages again, and search finds them by meaning without any server", async () => {
  writeEmbeddingModel(modelDir, {
    meanings: [
      ["vans", "minibus"],
      ["trees", "birch"],
    ],
  });
  const { store, embeddings, log } = await open({ SVC_EMBEDDINGS_DIR: modelDir });
  const { project } = await store.projects.ensure("default");
  const { kb } = await ensureKb({ store }, project.id, "manual");
  const service = await pipelineService(resources).start();
  await addDocument({ store, log }, project.id, kb.id, { key: "vans", text: "Vans.", mime: "text/plain" });
  const search = { query: "minibus", kbIds: [kb.id], limit: 1 };
  const found = await waitFor(
    async () => (await searchKnowledge({ store, embeddings }, project.id, search)).hits[0] ?? null,
    { what: "the passage to be found by its meaning", timeoutMs: 30_000 },
  );
  expect(found).toMatchObject({ text: "Vans.", score: 0, similarity: expect.any(Number) });
  expect(found.similarity).toBeGreaterThan(0.9);
  await waitFor(
    async () => {
      const { passages, embedded } = await store.chunkEmbeddings.count(embeddings?.embedder.model ?? "");
      return passages > 1 && embedded === passages;
    },
    { what: "the passages of the former model to be embedded again", timeoutMs: 30_000 },
  );
  await service.stop();
});
