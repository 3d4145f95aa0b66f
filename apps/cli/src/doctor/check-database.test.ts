import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { followModels } from "@svc/agents";
import type { LanguageModels } from "@svc/agents";
import { addDocument, ensureKb, openEmbeddings, readModelFolder } from "@svc/knowledge";
import type { Embeddings } from "@svc/knowledge";
import { openStore } from "@svc/store";
import type { Store } from "@svc/store";
import { createTestDatabase, startEmbeddingServer, startFakeModel, testLog, writeEmbeddingModel } from "@svc/testing";
import type { EmbeddingServer, FakeModel, TestDatabase } from "@svc/testing";
import type { ApiState } from "../api-client.ts";
import { checkEmbeddings, checkModels, checkProcesses, judgePooler } from "./check-database.ts";

describe("the check of a connection pooler", () => {
  test.each([
    ["session", "session", false, "ok"],
    ["transaction", null, false, "ok"],
    ["transaction", "transaction", true, "warn"],
    ["transaction", "transaction", false, "fail"],
  ] as const)("in %s mode, direct: %s, Redis: %s is %s", (mode, direct, hasRedis, status) => {
    const check = judgePooler(mode, direct, hasRedis);
    expect(check).toMatchObject({ status, detail: expect.stringContaining(`in ${mode} mode`) });
    if (status !== "ok") expect(check.advice).toContain("DATABASE_DIRECT_URL");
  });
});

const gone = {
  app: "api",
  host: "a-host",
  pid: 7,
  startedAt: new Date(0),
  heardAt: new Date(0),
  memoryBytes: 127_000_000,
  memoryLimitBytes: 128_000_000,
};

const run = (apps: [string, number][], vanished: (typeof gone)[]) =>
  checkProcesses(
    { listVanished: () => Promise.resolve(vanished) },
    new Map(apps.map(([app, count]) => [app, { count, elsewhere: 0 }])),
  );

describe("the check of processes", () => {
  test("lists running processes", async () => {
    expect(await run([["api", 2]], [])).toEqual({
      name: "Processes",
      status: "ok",
      detail: "running: api 2",
    });
    expect(await run([], [])).toMatchObject({ status: "ok", detail: "none running" });
  });

  test("warns about processes killed for their memory use, and counts those that it does not list", async () => {
    const { status, detail, advice } = await run([], [gone, gone, gone, gone, gone]);
    expect(status).toBe("warn");
    expect(detail.split("\n")).toEqual([
      "none running",
      ...[1, 2, 3].map(() => expect.stringMatching(/^The api on a-host .*ran out of memory.*127 of 128 MB/)),
      "and 2 more within a day",
    ]);
    expect(advice).toContain("OOMKilled");
  });
});

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

test("shows nothing if no endpoint is configured", async () => {
  expect(await checkEmbeddings(store, null)).toEqual([]);
});

test("shows how many passages have an embedding, and what embeds the others", async () => {
  expect(await checkEmbeddings(store, embeddings)).toEqual([
    {
      name: "Embeddings",
      status: "ok",
      detail: "nomic: 0 of 1 passages have an embedding with 512 dimensions",
      advice: expect.stringContaining("pipeline"),
    },
  ]);
});

test("shows the model loaded from a folder, and warns if it does not work", async () => {
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

test("warns with the reason and advice if the endpoint does not work", async () => {
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

let modelServer: FakeModel;
const opened: LanguageModels[] = [];

function open(defaultModel: string | null): LanguageModels {
  const providers = [{ name: "openai", api: "openai", baseUrl: modelServer.baseUrl }] as const;
  const { models } = followModels(
    () => Promise.resolve({ providers, defaultModel, timeoutMs: 10_000, prices: {} }),
    // A check stores nothing and does not limit its request.
    {
      log: testLog(),
      store: { modelCalls: { findAllowance: () => Promise.reject(), insert: () => Promise.reject() } },
    },
  );
  opened.push(models);
  return models;
}

const unasked = () => Promise.reject(new Error("the running service was asked"));
const ours = (models: Extract<ApiState, { kind: "ours" }>["models"]): ApiState => ({
  kind: "ours",
  status: "pass",
  version: "1.0.0",
  details: [],
  models,
  channels: null,
});

beforeAll(async () => {
  modelServer = await startFakeModel(() => ({ days: 7 }));
});
afterAll(async () => {
  await Promise.all(opened.map((models) => models.close()));
  await modelServer.close();
});

test.each<[what: string, state: ApiState, status: string, detail: string]>([
  ["runs without any", ours(null), "ok", "none configured: agents quote"],
  [
    "has one",
    ours({ status: "pass", detail: "language models respond" }),
    "ok",
    "the running service: language models",
  ],
  ["has one that is away", ours({ status: "warn", detail: "agents quote; openai: away" }), "warn", "openai: away"],
  ["does not tell", ours("unknown"), "ok", "may have one"],
  ["is not running", { kind: "nothing" }, "ok", "may have one"],
])(
  "without a setting here it says so, and of a service that %s what it tells",
  async (_what, state, status, detail) => {
    expect(await checkModels(null, () => Promise.resolve(state))).toMatchObject([
      { name: "Models", status, detail: expect.stringContaining(detail) },
    ]);
  },
);

test("reports after one question that the model answers", async () => {
  expect(await checkModels(open("gpt-test"), unasked)).toEqual([
    { name: "Models", status: "ok", detail: "openai:gpt-test responds" },
  ]);
  expect(modelServer.requests()).toHaveLength(1);
});

test.each([null, "none"])("asks nothing if only agents name models: the setting is %j", async (defaultModel) => {
  const asked = modelServer.requests().length;
  expect(await checkModels(open(defaultModel), unasked)).toEqual([
    { name: "Models", status: "ok", detail: expect.stringContaining("SVC_LLM_MODEL") },
  ]);
  expect(modelServer.requests()).toHaveLength(asked);
});

test("warns with the reason and advice if the model does not answer", async () => {
  modelServer.failNext(401);
  expect(await checkModels(open("gpt-test"), unasked)).toEqual([
    {
      name: "Models",
      status: "warn",
      detail: "openai:gpt-test is not usable: the provider rejected the API key (401)",
      advice: expect.stringContaining("SVC_LLM_API_KEY"),
    },
  ]);
});
