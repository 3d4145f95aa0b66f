import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { collectLog, startFakeModel, waitFor } from "@svc/testing";
import type { FakeModel } from "@svc/testing";
import { followModels } from "./follow-models.ts";
import type { ModelsConfig } from "./language-model.ts";

let server: FakeModel;
beforeAll(async () => {
  server = await startFakeModel();
});
afterAll(() => server.close());

const configOf = (defaultModel: string | null): ModelsConfig => ({
  providers: [{ name: "openai", api: "openai", baseUrl: server.baseUrl }],
  defaultModel,
  timeoutMs: 10_000,
  prices: {},
});

/** Models whose configuration the test changes. */
function open() {
  const { log, lines } = collectLog();
  let find: () => Promise<ModelsConfig | null> = () => Promise.resolve(null);
  const store = { modelCalls: { findAllowance: () => Promise.reject(), insert: () => Promise.reject() } };
  const followed = followModels(() => find(), { log, store });
  const setConfig = (config: ModelsConfig | null) => {
    find = () => Promise.resolve(config);
  };
  const fail = () => {
    find = () => Promise.reject(new Error("the database is away"));
  };
  return { ...followed, lines, setConfig, fail };
}

const idOf = async ({ models }: ReturnType<typeof open>) => (await models.forAgent({ model: null }))?.id ?? null;

test("each use takes the configuration of that moment", async () => {
  const followed = open();
  expect([await idOf(followed), (await followed.catalogue.list()).unreachable]).toEqual([null, []]);
  followed.setConfig(configOf("one"));
  expect(await idOf(followed)).toBe("openai:one");
  expect(followed.catalogue.idsOf("openai:one")).toEqual(["openai:one:latest"]);
  followed.setConfig(configOf("two"));
  expect(await idOf(followed)).toBe("openai:two");
  expect(await followed.models.config()).toEqual(configOf("two"));
  followed.setConfig(null);
  expect([await idOf(followed), followed.models.health()]).toEqual([null, []]);
  await followed.models.close();
});

test("an unchanged configuration keeps its models, with what was learned of them", async () => {
  const followed = open();
  followed.setConfig(configOf("one"));
  const first = await followed.models.forAgent({ model: null });
  followed.setConfig(configOf("one"));
  expect(await followed.models.forAgent({ model: null })).toBe(first);
  await followed.models.close();
});

test("if the configuration cannot be read, the last one is used, and the log says so", async () => {
  const followed = open();
  followed.setConfig(configOf("one"));
  await idOf(followed);
  followed.fail();
  expect(await idOf(followed)).toBe("openai:one");
  expect(JSON.stringify(followed.lines())).toContain("failed to read the model settings");
  await followed.models.close();
});

test("replaced models are not kept in memory", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: unknown = runInNewContext("gc");
  if (typeof collectGarbage !== "function") throw new Error("this Node.js cannot collect garbage on demand");
  const followed = open();
  followed.setConfig(configOf("one"));
  const replaced = new WeakRef((await followed.models.forAgent({ model: null })) ?? {});
  followed.setConfig(configOf("two"));
  expect(await idOf(followed)).toBe("openai:two");
  await waitFor(
    () => {
      collectGarbage();
      return replaced.deref() === undefined;
    },
    { what: "the garbage collection of the replaced models", timeoutMs: 10_000 },
  );
  await followed.models.close();
});
