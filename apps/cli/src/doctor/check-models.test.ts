import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openLanguageModels } from "@svc/agents";
import type { LanguageModels } from "@svc/agents";
import { startFakeModel, testLog } from "@svc/testing";
import type { FakeModel } from "@svc/testing";
import type { ApiState } from "../api-client.ts";
import { checkModels } from "./check-models.ts";

let server: FakeModel;
const opened: LanguageModels[] = [];

function open(defaultModel: string | null): LanguageModels {
  const providers = [{ name: "openai", api: "openai", baseUrl: server.baseUrl }] as const;
  const models = openLanguageModels(
    { providers, defaultModel, timeoutMs: 10_000, prices: {} },
    // A look writes nothing down and asks for no limit.
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
  server = await startFakeModel(() => ({ days: 7 }));
});
afterAll(async () => {
  await Promise.all(opened.map((models) => models.close()));
  await server.close();
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

test("says that the model answers, after one question", async () => {
  expect(await checkModels(open("gpt-test"), unasked)).toEqual([
    { name: "Models", status: "ok", detail: "openai:gpt-test responds" },
  ]);
  expect(server.requests()).toHaveLength(1);
});

test.each([null, "none"])("asks nothing where agents alone name models: the setting is %j", async (defaultModel) => {
  const asked = server.requests().length;
  expect(await checkModels(open(defaultModel), unasked)).toEqual([
    { name: "Models", status: "ok", detail: expect.stringContaining("SVC_LLM_MODEL") },
  ]);
  expect(server.requests()).toHaveLength(asked);
});

test("warns with the reason and what to do when the model does not answer", async () => {
  server.failNext(401);
  expect(await checkModels(open("gpt-test"), unasked)).toEqual([
    {
      name: "Models",
      status: "warn",
      detail: "openai:gpt-test is not usable: the provider rejected the API key (401)",
      advice: expect.stringContaining("SVC_LLM_API_KEY"),
    },
  ]);
});
