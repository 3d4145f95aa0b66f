import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createEmbedder, readModelFolder } from "@svc/knowledge";
import type { Embedder } from "@svc/knowledge";
import { collectLog, waitFor, writeEmbeddingModel } from "@svc/testing";
import type { EmbeddingModelOptions } from "@svc/testing";

/** Enough words that the embedding table is stored separately, like the weights of a real model. */
const OTHERS = Array.from({ length: 40 }, (_, index) => [`word${index}`]);
const MEANINGS = [["car", "cars", "automobile"], ["tree"], ["a", "the"], ...OTHERS];
const never = new AbortController().signal;
const ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function makeFolder(options: Partial<EmbeddingModelOptions> & { name?: string } = {}): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "svc-model-"));
  ends.push(() => rm(root, { recursive: true }));
  const dir = join(root, options.name ?? "test-model");
  writeEmbeddingModel(dir, { meanings: MEANINGS, ...options });
  return dir;
}

function open(dir: string, options: { firstRestMs?: number } = {}): { embedder: Embedder; texts(): string[] } {
  const { log, lines } = collectLog();
  // On a busy machine loading may take longer than a customer would wait.
  const times = { queryDeadlineMs: 15_000, firstRetryMs: 1 };
  const embedder = createEmbedder({ ...times, ...options, folder: readModelFolder(dir), log });
  ends.unshift(() => embedder.close());
  return { embedder, texts: () => lines().map(({ msg = "" }) => msg) };
}

function cosine(a: Float32Array | null | undefined, b: Float32Array | null | undefined): number {
  if (a == null || b == null) throw new Error("there is no embedding");
  return a.reduce((sum, number, position) => sum + number * (b[position] ?? 0), 0);
}

describe("a model in a folder", () => {
  test("embeds passages in order and queries, as vectors of length 1, so that similar meanings are close", async () => {
    const { embedder } = open(await makeFolder());
    const [car, automobile, tree, unknown] = await embedder.embedTexts(["car", "Automobile", "tree", "zebra"], never);
    const query = await embedder.embedQuery("cars");
    expect(cosine(query, query)).toBeCloseTo(1, 5);
    expect(cosine(car, automobile)).toBeCloseTo(1, 5);
    expect(cosine(query, car)).toBeCloseTo(1, 5);
    expect(cosine(car, tree)).toBeLessThan(0.2);
    expect(cosine(car, unknown)).toBeLessThan(0.5);
  });

  test("is pooled as configured in its folder, or as known for the model's name", async () => {
    const mean = open(await makeFolder({ name: "multilingual-e5-small" }));
    const first = open(await makeFolder({ name: "bge-small-en-v1.5" }));
    const isMean = { "1_Pooling/config.json": { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false } };
    const stated = open(await makeFolder({ name: "bge-small-en-v1.5", files: isMean }));
    const likeness = async ({ embedder }: { embedder: Embedder }) => {
      const [car, tree] = await embedder.embedTexts(["car", "tree"], never);
      return cosine(car, tree);
    };
    // The first token is the same in every text.
    expect(await likeness(first)).toBeCloseTo(1, 5);
    expect(await likeness(mean)).toBeLessThan(0.2);
    expect(await likeness(stated)).toBeLessThan(0.2);
  });

  test("reads the beginning of a text that exceeds the model's limit, and its last token", async () => {
    const files = { "tokenizer_config.json": { model_max_length: 4 } };
    const { embedder } = open(await makeFolder({ files }));
    const [cut, short] = await embedder.embedTexts([`car car ${"tree ".repeat(1_000)}`, "car car"], never);
    expect(cosine(cut, short)).toBeCloseTo(1, 5);
  });

  test.each([
    ["multilingual-e5-small", {}, "query: ", "passage: "],
    ["e5", { "config.json": { _name_or_path: "intfloat/multilingual-e5-small" } }, "query: ", "passage: "],
    ["gte-small", {}, "", ""],
    ["own", { "config_sentence_transformers.json": { prompts: { query: "Q: ", document: "D: " } } }, "Q: ", "D: "],
  ])("named %s adds the prefixes of its training", async (name, files, query, document) => {
    expect(readModelFolder(await makeFolder({ name, files })).prompts).toEqual({ query, document });
  });

  test("has a name that changes with its weights and options, and with nothing else", async () => {
    const nameOf = async (options: Parameters<typeof makeFolder>[0]) =>
      readModelFolder(await makeFolder(options)).model;
    const name = await nameOf({});
    expect(name).toMatch(/^test-model@[0-9a-f]{12}$/);
    expect(await nameOf({ files: { "README.md": "more" } })).toBe(name);
    expect(await nameOf({ meanings: [...MEANINGS, ["house"]] })).not.toBe(name);
    expect(await nameOf({ files: { "1_Pooling/config.json": { pooling_mode_cls_token: true } } })).not.toBe(name);
  });

  test("with missing files reports them, and what to do", async () => {
    const errorOf = (dir: string) => () => readModelFolder(dir);
    expect(errorOf("/nowhere/at-all")).toThrow("/nowhere/at-all is not a readable folder");
    const empty = { "onnx/model.onnx": null, "tokenizer.json": null, "tokenizer_config.json": null };
    expect(errorOf(await makeFolder({ files: empty }))).toThrow(
      /lacks onnx\/model_quantized\.onnx or onnx\/model\.onnx, tokenizer\.json, tokenizer_config\.json; copy all files/,
    );
    expect(errorOf(await makeFolder({ files: { "config.json": "<html>" } }))).toThrow("config.json is not JSON");
    expect(errorOf(await makeFolder({ files: { "onnx/model.onnx_data": "" } }))).toThrow("second file");
    const weighted = { "1_Pooling/config.json": { pooling_mode_weightedmean_tokens: true } };
    expect(errorOf(await makeFolder({ files: weighted }))).toThrow("pooling_mode_weightedmean_tokens");
  });

  test.each([
    [
      "damaged weights",
      { files: { "onnx/model.onnx": "no model" } },
      "cannot be loaded (its weights are not a valid ONNX model",
    ],
    ["a damaged tokenizer", { files: { "tokenizer.json": "{" } }, "tokenizer.json is not JSON"],
    ["an input of another kind of model", { extraInput: "pixel_values" }, 'requires the input "pixel_values"'],
  ])("with %s falls back to keyword search and reports the reason", async (_, options, reason) => {
    const { embedder, texts } = open(await makeFolder(options));
    await expect(embedder.embedTexts(["car"], AbortSignal.timeout(500))).rejects.toThrow();
    expect(await embedder.embedQuery("car")).toBeNull();
    expect(texts()).toContainEqual(expect.stringContaining(reason));
  });

  test("is loaded again once its weights have been repaired", async () => {
    const dir = await makeFolder();
    const { embedder } = open(dir, { firstRestMs: 1 });
    await writeFile(join(dir, "onnx/model.onnx"), "no model");
    expect(await embedder.embedQuery("car")).toBeNull();
    writeEmbeddingModel(dir, { meanings: MEANINGS });
    await waitFor(() => embedder.embedQuery("car"), { what: "the embedding", timeoutMs: 20_000 });
  });

  test("gives a query priority over waiting passages", async () => {
    const { embedder } = open(await makeFolder());
    await embedder.embedTexts(["car"], never);
    const order: string[] = [];
    const passages = embedder.embedTexts(
      Array.from({ length: 32 }, () => "tree ".repeat(500)),
      never,
    );
    await Promise.all([
      passages.then(() => order.push("passages")),
      embedder.embedQuery("car").then(() => order.push("query")),
    ]);
    expect(order).toEqual(["query", "passages"]);
  });

  test("aborts work that is no longer needed, and stops with its embedder", async () => {
    const { embedder } = open(await makeFolder());
    const aborting = new AbortController();
    const embedding = embedder.embedTexts(["car"], aborting.signal);
    aborting.abort(new Error("not wanted"));
    await expect(embedding).rejects.toThrow("not wanted");
    const asked = embedder.embedQuery("car");
    await embedder.close();
    expect(await asked).toBeNull();
    expect(await embedder.embedQuery("tree")).toBeNull();
  });
});
