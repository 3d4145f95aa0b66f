import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { addDocument, ensureKb, searchWithEmbeddings } from "@svc/knowledge";
import { pipelineService } from "@svc/pipeline";
import { closeResources, loadConfig, openResources } from "@svc/runtime";
import type { Resources } from "@svc/runtime";
import { createTestDatabase, createTestQueueBackend, startEmbeddingServer, testLog, waitFor } from "@svc/testing";
import type { EmbeddingServer, TestDatabase, TestQueueBackend } from "@svc/testing";

let database: TestDatabase;
let queueBackend: TestQueueBackend;
let server: EmbeddingServer;
let resources: Resources;

beforeAll(async () => {
  [database, queueBackend, server] = await Promise.all([
    createTestDatabase(),
    createTestQueueBackend(),
    startEmbeddingServer({ synonyms: [["car", "cars", "automobile"]] }),
  ]);
  const config = loadConfig({
    DATABASE_URL: database.url,
    ...(queueBackend.redisUrl === undefined ? {} : { REDIS_URL: queueBackend.redisUrl }),
    SVC_QUEUE_PREFIX: queueBackend.prefix,
    SVC_SECRET_KEY: "embeddings-secret-key-of-48-characters-012345678",
    SVC_EMBEDDINGS_BASE_URL: server.baseUrl,
    SVC_EMBEDDINGS_MODEL: "test-model",
    SVC_EMBEDDINGS_API_KEY: "sk-of-the-endpoint",
  });
  resources = await openResources(config, { app: "pipeline", log: testLog() });
});
afterAll(async () => {
  await closeResources(resources);
  await server.close();
  await queueBackend.stop();
  await database.drop();
});

test("a pipeline with an endpoint embeds what is added, so that it is found by its meaning, and stops while that hangs", async () => {
  const { store, embeddings, log } = resources;
  const { project } = await store.projects.ensure("default");
  const { kb } = await ensureKb({ store }, project.id, "manual");
  const add = (key: string, text: string) =>
    addDocument({ store, log }, project.id, kb.id, { key, text, mime: "text/plain" });
  const find = async (query: string) => {
    const search = { query, kbIds: [kb.id], limit: 1 };
    return (await searchWithEmbeddings({ store, embeddings }, project.id, search)).hits.map(({ text }) => text);
  };

  const service = await pipelineService(resources).start();
  await add("cars", "Our cars leave the garage clean.");
  await waitFor(async () => (await find("automobile"))[0] === "Our cars leave the garage clean.", {
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
