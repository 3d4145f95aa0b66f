import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { addDocument, ensureKb, openEmbeddings, readModelFolder } from "@svc/knowledge";
import type { Embeddings } from "@svc/knowledge";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, startEmbeddingServer, testLog, writeEmbeddingModel } from "@svc/testing";
import type { EmbeddingServer, TestDatabase } from "@svc/testing";
import { checkEmbeddings } from "./check-embeddings.ts";

let database: TestDatabase;
let store: Store;
let server: EmbeddingServer;
let embeddings: Embeddings;

beforeAll(async () => {
  [database, server] = await Promise.all([createTestDatabase(), startEmbeddingServer()]);
  const log = testLog();
  store = openStore({ url: database.url, secretKey: "a key of a test that seals nothing", log });
  embeddings = openEmbeddings({ baseUrl: server.baseUrl, model: "nomic", store, log, firstRetryMs: 1 });
  const { project } = await store.projects.ensure("default");
  const { kb } = await ensureKb({ store }, project.id, "manual");
  await addDocument({ store, log }, project.id, kb.id, { key: "a", text: "Cars.", mime: "text/plain" });
});
afterAll(async () => {
  await embeddings.close();
  await server.close();
  await store.close();
  await database.drop();
});

test("says nothing where no endpoint is configured", async () => {
  expect(await checkEmbeddings(store, null)).toEqual([]);
});

test("says how many passages have an embedding, and who makes the others", async () => {
  expect(await checkEmbeddings(store, embeddings)).toEqual([
    {
      name: "Embeddings",
      status: "ok",
      detail: "nomic: 0 of 1 passages have an embedding with 512 dimensions",
      advice: expect.stringContaining("pipeline"),
    },
  ]);
});

test("says what is loaded from a folder, and warns when it does not work", async () => {
  const dir = await mkdtemp(join(tmpdir(), "svc-model-"));
  try {
    writeEmbeddingModel(dir, { meanings: [["car"], ["tree"]] });
    const folder = readModelFolder(dir);
    const check = async () => {
      const local = openEmbeddings({ folder, store, log: testLog(), firstRetryMs: 1, firstRestMs: 1 });
      try {
        return await checkEmbeddings(store, local);
      } finally {
        await local.close();
      }
    };
    const loaded = `${folder.model} from ${dir} (onnx/model.onnx, 1 MB, pooling mean, the first 512 tokens of a text)`;
    expect(await check()).toMatchObject([
      { status: "ok", detail: `${loaded}: 0 of 1 passages have an embedding with 3 dimensions` },
    ]);
    await writeFile(join(dir, "onnx/model.onnx"), "cut off");
    expect(await check()).toMatchObject([
      {
        status: "warn",
        detail: expect.stringContaining("the model does not work: it cannot be loaded"),
        advice: expect.stringContaining("SVC_EMBEDDINGS_DIR"),
      },
    ]);
  } finally {
    await rm(dir, { recursive: true });
  }
});

test("warns with the reason and what to do when the endpoint does not work", async () => {
  server.answerWith({ status: 404, body: '{"error":{"message":"model \\"nomic\\" not found"}}' });
  expect(await checkEmbeddings(store, embeddings)).toEqual([
    {
      name: "Embeddings",
      status: "warn",
      detail: expect.stringContaining("does not work: it returned 404"),
      advice: expect.stringContaining("SVC_EMBEDDINGS_MODEL"),
    },
  ]);
});
