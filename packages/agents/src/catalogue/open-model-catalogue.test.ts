import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { freePort, startFakeOllama, startWebhookReceiver } from "@svc/testing";
import type { FakeOllama, WebhookReceiver } from "@svc/testing";
import type { ModelProviderConfig } from "../models/language-model.ts";
import { openModelCatalogue, readOllamaName } from "./open-model-catalogue.ts";

test.each([
  ["llama3.2:3b", "llama3.2:3b"],
  ["llama3.2", "llama3.2:latest"],
  ["user/model", "user/model:latest"],
  ["hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M", "hf.co/bartowski/Llama-3.2-1B-Instruct-GGUF:Q4_K_M"],
  ["registry.ollama.ai/library/qwen3", "registry.ollama.ai/library/qwen3:latest"],
])("%s is a model's name, in full %s", (given, name) => {
  expect(readOllamaName(given)).toBe(name);
});

test.each([
  "",
  ":3b",
  "llama3.2:",
  "../../etc/passwd",
  "a/../b",
  "a//b",
  "/model",
  "model/",
  "a..b",
  "http://evil.example/a/b",
  "evil.example/a/b:tag",
  "169.254.169.254/latest/meta-data",
  "localhost:8080/a/b",
  "a/b/c/d",
  "model tag",
  "model\n:tag",
  "m\u0000del",
  "модель",
  "a".repeat(251),
])("%j is no name of a model that can be pulled", (given) => {
  expect(readOllamaName(given)).toBeNull();
});

const LLAMA = { name: "llama3.2:3b", sizeBytes: 2_019_393_189, contextWindow: 131_072 };
const KEY = "sk-a-secret-that-nobody-may-see";

let ollama: FakeOllama;
/** A server with models that is no Ollama. */
let hosted: WebhookReceiver;

beforeAll(async () => {
  ollama = await startFakeOllama([LLAMA]);
  hosted = await startWebhookReceiver();
});
beforeEach(() => ollama.setSilent(false));
afterAll(async () => {
  await ollama.close();
  await hosted.close();
});

/** Long enough that only a server that never responds exceeds it. */
const ANSWER_MS = 30_000;
const openFor = (answerMs: number, ...providers: ModelProviderConfig[]) =>
  openModelCatalogue({ providers, defaultModel: null, timeoutMs: 1_000, prices: {} }, { answerMs });
const open = (...providers: ModelProviderConfig[]) => openFor(ANSWER_MS, ...providers);
const ollamaProvider = (name = "ollama"): ModelProviderConfig => ({ name, api: "openai", baseUrl: ollama.baseUrl });
const hostedProvider = (api: ModelProviderConfig["api"] = "openai"): ModelProviderConfig => ({
  name: api,
  api,
  baseUrl: hosted.url("/v1"),
  apiKey: KEY,
});

/** Lets the hosted server list these, and know nothing else. */
function answerModels(data: unknown): void {
  hosted.answerWith(({ path }) =>
    path.startsWith("/v1/models") ? { status: 200, body: JSON.stringify({ data }) } : { status: 404 },
  );
}

test.each(["ollama", "openai"])(
  "an Ollama that is configured as %s tells what it has and what it could have",
  async (name) => {
    const { models, unreachable } = await open(ollamaProvider(name)).list();
    expect(unreachable).toEqual([]);
    expect(models.filter(({ installed }) => installed)).toEqual([
      {
        catalogId: `${name}:llama3.2:3b`,
        name: "llama3.2:3b",
        provider: name,
        local: true,
        sizeBytes: LLAMA.sizeBytes,
        installed: true,
        contextWindow: 131_072,
      },
    ]);
    const names = models.map((model) => model.name);
    expect(names.filter((other) => other === "llama3.2:3b")).toHaveLength(1);
    expect(models.find((model) => model.name === "llama3.2:1b")).toMatchObject({ installed: false, local: true });
  },
);

test("a hosted provider tells its models, by its own API and with its key", async () => {
  answerModels([
    { id: "gpt-4o-mini", object: "model" },
    { id: "qwen", max_model_len: 32_768 },
  ]);
  const { models } = await open(hostedProvider()).list();
  expect(models).toMatchObject([
    { catalogId: "openai:gpt-4o-mini", installed: true, sizeBytes: null, contextWindow: null },
    { catalogId: "openai:qwen", contextWindow: 32_768 },
  ]);
  const asked = hosted.requests.filter(({ path }) => path === "/v1/models");
  expect(asked.at(-1)?.headers["authorization"]).toBe(`Bearer ${KEY}`);

  answerModels([{ type: "model", id: "claude-test", display_name: "Claude Test" }]);
  const { models: ofAnthropic } = await open(hostedProvider("anthropic")).list();
  expect(ofAnthropic).toMatchObject([{ catalogId: "anthropic:claude-test", provider: "anthropic" }]);
  expect(hosted.requests.at(-1)?.headers).toMatchObject({ "x-api-key": KEY, "anthropic-version": "2023-06-01" });
});

test("names that are none are left out, whatever a provider sends", async () => {
  answerModels([
    null,
    7,
    { id: 7 },
    { id: "" },
    { id: "with space" },
    { id: "\u001b[2Jescape" },
    { id: "x".repeat(251) },
    { id: "fine", context_length: -1, meta: { size: "huge" } },
  ]);
  const { models } = await open(hostedProvider()).list();
  expect(models).toMatchObject([{ catalogId: "openai:fine", contextWindow: null, sizeBytes: null }]);
});

test.each<[string, Parameters<WebhookReceiver["answerWith"]>[0], RegExp]>([
  [
    "refuses the key",
    { status: 401, body: `your key ${KEY} is wrong` },
    /^openai rejected the API key\. Check SVC_LLM_/,
  ],
  ["fails", { status: 500, body: KEY }, /^openai returned status 500/],
  ["answers a page", { status: 200, body: "<html>" }, /did not return JSON/],
  ["redirects", { status: 302, headers: { Location: "http://127.0.0.1:9/" } }, /is unreachable/],
  ["cuts the line", "cut-midway", /is unreachable/],
  ["says nothing", "hang", /did not respond in time/],
  ["answers too much", { status: 200, body: Buffer.alloc(9 * 1024 * 1024, "[") }, /more than 8 MB/],
])("a provider that %s is told beside the models of the others, without a secret", async (_what, answer, detail) => {
  hosted.answerWith(answer);
  const answerMs = answer === "hang" ? 2_000 : ANSWER_MS;
  const { models, unreachable } = await openFor(answerMs, hostedProvider(), ollamaProvider()).list();
  expect(models.some(({ catalogId }) => catalogId === "ollama:llama3.2:3b")).toBe(true);
  expect(unreachable).toEqual([{ provider: "openai", detail: expect.stringMatching(detail) }]);
  expect(JSON.stringify(unreachable)).not.toContain(KEY);
});

test("an Ollama that is away is told with what to do", async () => {
  const baseUrl = `http://127.0.0.1:${await freePort()}/v1`;
  const { models, unreachable } = await open({ name: "ollama", api: "openai", baseUrl }).list();
  expect(models).toEqual([]);
  expect(unreachable).toEqual([
    {
      provider: "ollama",
      detail: expect.stringMatching(/^ollama is unreachable \(ECONNREFUSED\)\. Check SVC_OLLAMA/),
    },
  ]);
});

test("without any provider there are no models, and none can be pulled", async () => {
  const catalogue = openModelCatalogue(undefined);
  expect(await catalogue.list()).toEqual({ models: [], unreachable: [] });
  await expect(catalogue.findPullable("ollama:llama3.2:3b")).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("SVC_OLLAMA_BASE_URL"),
  });
});

test("a model is found by its name with or without the tag, and whatever its Ollama is called", async () => {
  ollama.install({ name: "qwen3:latest", sizeBytes: 5, contextWindow: 1 });
  const catalogue = open(hostedProvider(), ollamaProvider("openai2"));
  answerModels([]);
  expect(await catalogue.findPullable("ollama:qwen3")).toEqual({
    catalogId: "openai2:qwen3:latest",
    installedBytes: 5,
  });
  expect(await catalogue.findPullable("openai2:hf.co/a/b:Q4")).toEqual({
    catalogId: "openai2:hf.co/a/b:Q4",
    installedBytes: null,
  });
  expect(catalogue.idsOf("ollama:qwen3")).toEqual(["openai:qwen3:latest", "openai2:qwen3:latest"]);
});

test.each<[string, string, string, RegExp]>([
  ["of a hosted provider", "openai:gpt-4o-mini", "invalid_request", /only Ollama supports pulling/],
  ["of nobody", "nobody:model", "not_found", /start with ollama:/],
  ["without a provider", "llama", "invalid_request", /provider, a colon/],
  ["of a stranger's registry", "ollama:evil.example/a/b", "invalid_request", /not a valid model name/],
  ["that climbs", "ollama:../../x", "invalid_request", /not a valid model name/],
])("an id %s is refused with what to do", async (_what, id, code, detail) => {
  answerModels([]);
  const catalogue = open(hostedProvider(), ollamaProvider());
  await expect(catalogue.findPullable(id)).rejects.toMatchObject({ code, message: expect.stringMatching(detail) });
});

test("what may be an Ollama and does not answer is away, and is not called anything else", async () => {
  const baseUrl = `http://127.0.0.1:${await freePort()}/v1`;
  for (const name of ["ollama", "openai"]) {
    const catalogue = open({ name, api: "openai", baseUrl });
    await expect(catalogue.findPullable(`${name}:llama3.2:3b`)).rejects.toMatchObject({ code: "unavailable" });
  }
});
