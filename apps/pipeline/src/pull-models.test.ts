import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { openModelCatalogue } from "@svc/agents";
import type { ModelCatalogue } from "@svc/agents";
import { MODEL_LIMITS, ServiceError } from "@svc/contracts";
import { openStore } from "@svc/store";
import type { ModelPullRecord, Store } from "@svc/store";
import {
  DISK_FULL,
  UNKNOWN_MODEL,
  createTestDatabase,
  linesOfPull,
  startFakeOllama,
  testLog,
  waitFor,
} from "@svc/testing";
import type { FakeOllama, TestDatabase } from "@svc/testing";
import type { Queues } from "@svc/queue";
import type { Work } from "@svc/work";
import { pullModels } from "./pull-models.ts";

const MODEL = "ollama:tiny:1b";
const never = new Promise<void>(() => undefined);

let database: TestDatabase;
let store: Store;
let ollama: FakeOllama;
let catalogue: ModelCatalogue;
/** The process under test. */
let works: Work<void>;

beforeAll(async () => {
  database = await createTestDatabase();
  store = openStore({ url: database.url, secretKey: "a key of a test that seals nothing", log: testLog() });
});
afterAll(async () => {
  await store.close();
  await database.drop();
});
beforeEach(async () => {
  ollama = await startFakeOllama();
  const providers = [{ name: "ollama", api: "openai" as const, baseUrl: ollama.baseUrl }];
  catalogue = openModelCatalogue({ providers, defaultModel: null, timeoutMs: 1_000, prices: {} });
  works = open();
});
afterEach(async () => {
  await works.stop();
  await store.modelPulls.cancel(MODEL);
  await ollama.close();
});

/** Creates the work of one process. */
function open(
  change: { store?: Store; catalogue?: ModelCatalogue } = {},
  options: Parameters<typeof pullModels>[1] = { delaysMs: [0] },
): Work<void> {
  // Only sweeps use the queues.
  return pullModels({ store, queues: {} as Queues, log: testLog(), catalogue, ...change }, options);
}

/** Pulls models until none are waiting. */
const work = () => works.process();

async function found(): Promise<ModelPullRecord> {
  const record = await store.modelPulls.find(MODEL);
  if (record === null) throw new Error("nothing was asked for");
  return record;
}

test("a requested model is pulled, and its progress can be read", async () => {
  await store.modelPulls.begin(MODEL);
  await work();
  expect(await found()).toMatchObject({ state: "done", status: "success", completedBytes: 1e6, totalBytes: 1e6 });
  expect(ollama.installed().map(({ name }) => name)).toEqual(["tiny:1b"]);
  await work();
  expect(ollama.pulls).toHaveLength(1);
});

test.each([
  ["disk_full", DISK_FULL, /Free disk space/],
  ["not_found", UNKNOWN_MODEL, /The model tiny:1b does not exist/],
] as const)("%s ends a pull at its first try, with what to do", async (code, lines, detail) => {
  ollama.pullWith(() => lines);
  await store.modelPulls.begin(MODEL);
  await work();
  expect(await found()).toMatchObject({ state: "failed", failure: { code, detail: expect.stringMatching(detail) } });
  expect(ollama.pulls).toHaveLength(1);
});

test("a pull continues after each dropped connection as long as it makes progress", async () => {
  const lines = (index: number) => [...linesOfPull(1_000, 20).slice(0, 3 + index), "cut" as const];
  ollama.pullWith((_name, index) => (index < 2 * MODEL_LIMITS.pullMaxTries ? lines(index) : linesOfPull(1_000)));
  await store.modelPulls.begin(MODEL);
  await work();
  expect(await found()).toMatchObject({ state: "done" });
  expect(ollama.pulls).toHaveLength(2 * MODEL_LIMITS.pullMaxTries + 1);
});

test("a pull without progress fails after five attempts", async () => {
  ollama.pullWith(() => [...linesOfPull().slice(0, 3), "cut"]);
  await store.modelPulls.begin(MODEL);
  await work();
  expect(await found()).toMatchObject({ state: "failed", failure: { code: "pull_failed" } });
  // The first attempt made progress, the others did not.
  expect(ollama.pulls.length).toBeLessThanOrEqual(MODEL_LIMITS.pullMaxTries + 1);
});

test("progress of an earlier attempt neither counts for a later one nor is lost", async () => {
  const far = [...linesOfPull().slice(0, 3), "cut" as const];
  ollama.pullWith((_name, index) => (index % 2 === 0 ? far : [...linesOfPull().slice(0, 1), "cut"]));
  await store.modelPulls.begin(MODEL);
  await work();
  expect(await found()).toMatchObject({ state: "failed", completedBytes: 500_000, totalBytes: 1_000_000 });
  expect(ollama.pulls.length).toBeLessThanOrEqual(MODEL_LIMITS.pullMaxTries + 1);
});

test("a pull that never ends fails at its time limit", async () => {
  ollama.pullWith(() => [...linesOfPull().slice(0, 3), { wait: never }]);
  await store.modelPulls.begin(MODEL);
  await open({}, { delaysMs: [0], maxMs: 300 }).process();
  const detail = expect.stringMatching(/within 24 hours\. Pull it again/);
  expect(await found()).toMatchObject({ state: "failed", failure: { code: "pull_failed", detail } });
  await waitFor(() => ollama.pulls.every(({ isOpen }) => !isOpen), { what: "Ollama to be hung up on" });
});

test("a cancelled pull is aborted at Ollama, and stays cancelled", async () => {
  ollama.pullWith(() => [...linesOfPull().slice(0, 3), { wait: never }]);
  await store.modelPulls.begin(MODEL);
  const working = work();
  await waitFor(async () => (await found()).totalBytes !== null, { what: "the pull to be on its way" });
  await store.modelPulls.cancel(MODEL);
  await working;
  await waitFor(() => ollama.pulls.every(({ isOpen }) => !isOpen), { what: "Ollama to be hung up on" });
  expect(await found()).toMatchObject({ state: "cancelled" });
});

test("a process that stops releases the pull, and another one continues it", async () => {
  let goOn: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  ollama.pullWith(() => [...linesOfPull().slice(0, 3), { wait: gate }, ...linesOfPull().slice(3)]);
  await store.modelPulls.begin(MODEL);
  const first = work();
  await waitFor(() => ollama.pulls.length === 1, { what: "the pull to begin" });
  await works.stop();
  await first;
  expect(await found()).toMatchObject({ state: "running" });
  goOn();
  await open().process();
  expect(await found()).toMatchObject({ state: "done" });
  expect(ollama.pulls).toHaveLength(2);
});

test("a pull is retried while Ollama is unavailable", async () => {
  let asked = 0;
  const flaky: ModelCatalogue = {
    ...catalogue,
    pull(id, options) {
      asked += 1;
      const gone = openModelCatalogue({
        providers: [{ name: "ollama", api: "openai", baseUrl: "http://127.0.0.1:9/v1" }],
        defaultModel: null,
        timeoutMs: 1_000,
        prices: {},
      });
      return (asked < 3 ? gone : catalogue).pull(id, options);
    },
  };
  await store.modelPulls.begin(MODEL);
  await open({ catalogue: flaky }).process();
  expect(await found()).toMatchObject({ state: "done" });
  expect(asked).toBe(3);
});

test("a model that was pulled during an outage of the store is recorded when it recovers, and not pulled twice", async () => {
  let writes = 0;
  const finish: Store["modelPulls"]["finish"] = (claim, end) =>
    ++writes <= 2
      ? Promise.reject(new ServiceError("unavailable", "The database is unreachable. Retry."))
      : store.modelPulls.finish(claim, end);
  const interrupted = { ...store, modelPulls: { ...store.modelPulls, finish } };
  await store.modelPulls.begin(MODEL);
  await open({ store: interrupted }, {}).process();
  expect(await found()).toMatchObject({ state: "done" });
  expect(ollama.pulls).toHaveLength(1);
});
