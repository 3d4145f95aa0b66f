import { Worker } from "node:worker_threads";
import { afterEach, expect, test } from "@jest/globals";
import { collectLog, waitFor } from "@svc/testing";
import type { ModelFolder } from "./read-model-folder.ts";
import { runLocalModel } from "./run-local-model.ts";
import type { LocalModel, LocalModelOptions } from "./run-local-model.ts";

/** A worker thread that embeds like the real one, crashes at "crash" and never responds to "hang". */
const WORKER = `
  const { parentPort } = require("node:worker_threads");
  parentPort.on("message", (text) => {
    if (text === "crash") throw new Error("out of memory");
    if (text === "exit") process.exit(7);
    if (text === "hang") return;
    parentPort.postMessage(
      text === "refuse"
        ? { kind: "refused", reason: "bad token" }
        : { kind: "embedded", embedding: Float32Array.of(text === "NaN" ? NaN : 3, 4) },
    );
  });
  parentPort.postMessage({ kind: "loaded" });
`;

const FOLDER: ModelFolder = {
  dir: "/models/test",
  model: "test@0",
  prompts: { query: "", document: "" },
  weights: "onnx/model.onnx",
  weightsBytes: 1,
  pooling: "mean",
  maxTokens: 512,
};

const models: LocalModel[] = [];

afterEach(async () => {
  await Promise.all(models.splice(0).map((model) => model.close()));
});

function run(options: Partial<LocalModelOptions> = {}) {
  const { log, lines } = collectLog();
  const workers: Worker[] = [];
  const model = runLocalModel(FOLDER, {
    log,
    firstRestMs: 1,
    startWorker() {
      const worker = new Worker(WORKER, { eval: true });
      workers.push(worker);
      return worker;
    },
    ...options,
  });
  models.push(model);
  const signal = new AbortController().signal;
  const ask = (texts: string[], timeoutMs = 20_000) => model.request(texts, { timeoutMs, signal });
  const warnings = () => lines().flatMap(({ level, msg }) => (level === "warn" ? [msg] : []));
  return { model, ask, workers, warnings };
}

test.each([
  ["crashes", "crash", "its worker thread crashed (out of memory)"],
  ["exits", "exit", "its worker thread ended with code 7"],
  ["hangs", "hang", "it took longer than 0.05 s for a text"],
])("a worker thread that %s rejects what waits for it, says so once, and is replaced", async (_, text, reason) => {
  const { ask, workers, warnings } = run({ runMs: text === "hang" ? 50 : 20_000 });
  const failed = { message: reason, isRefusal: false };
  await Promise.all([
    expect(ask([text])).rejects.toMatchObject(failed),
    expect(ask(["behind it"])).rejects.toMatchObject(failed),
  ]);
  expect(warnings()).toEqual([expect.stringContaining(reason)]);
  const embeddings = await waitFor(() => ask(["car"]).catch(() => null), { what: "another worker thread" });
  expect(embeddings).toEqual([Float32Array.of(0.6, 0.8)]);
  expect(workers).toHaveLength(2);
});

test("a worker thread that was lost is not replaced before its rest is over, which doubles", async () => {
  const { ask, workers } = run({ firstRestMs: 60_000 / 2 ** 1 });
  await expect(ask(["crash"])).rejects.toMatchObject({ retryAfterMs: 30_000 });
  await expect(ask(["car"])).rejects.toThrow("crashed (out of memory)");
  expect(workers).toHaveLength(1);

  const other = run({ firstRestMs: 20 });
  await expect(other.ask(["crash"])).rejects.toMatchObject({ retryAfterMs: 20 });
  const again = () =>
    other.ask(["crash"]).catch((error: { retryAfterMs: number }) => error.retryAfterMs === 40 || null);
  await waitFor(again, { what: "a rest twice as long" });
});

test("a text that the model refuses costs no worker thread, nor does one whose embedding is no number", async () => {
  const { ask, workers, warnings } = run();
  await expect(ask(["refuse"])).rejects.toMatchObject({
    isRefusal: true,
    message: expect.stringContaining("bad token"),
  });
  await expect(ask(["NaN"])).rejects.toMatchObject({ isRefusal: false });
  expect(await ask(["car", "tree"])).toHaveLength(2);
  expect([workers.length, warnings()]).toEqual([1, []]);
});

test("a request that takes too long rejects, and the ones behind it get their embeddings", async () => {
  const { ask } = run({ runMs: 300 });
  await expect(ask(["hang"], 20)).rejects.toThrow("it did not embed a text within 20 ms");
  await waitFor(() => ask(["car"]).catch(() => null), { what: "an embedding" });
});

test("a worker thread ends when nothing is asked for some time, unless its model is kept loaded", async () => {
  const hasEnded = (worker: Worker | undefined) => new Promise((resolve) => worker?.once("exit", resolve));
  const idle = run({ idleMs: 10 });
  await idle.ask(["car"]);
  await hasEnded(idle.workers[0]);
  expect(await idle.ask(["car"])).toHaveLength(1);
  expect([idle.workers.length, idle.warnings()]).toEqual([2, []]);

  const kept = run({ idleMs: 10 });
  kept.model.keepLoaded();
  for (let round = 0; round < 3; round += 1) {
    await kept.ask(["car"]);
    await hasEnded((await idleFor(10)).workers[0]);
  }
  expect(kept.workers).toHaveLength(1);

  /** Another model whose worker thread has ended after as much idle time. */
  async function idleFor(idleMs: number) {
    const other = run({ idleMs });
    await other.ask(["car"]);
    return other;
  }
});
