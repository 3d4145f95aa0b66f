import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { EmbeddingError } from "./request-embeddings.ts";

/** How the vectors of a text's tokens are combined: mean, first or last. */
type Pooling = "mean" | "cls" | "last";

/**
 * A sentence-embedding model in a folder, as published for transformers.js. Plain data: it is sent to a worker thread.
 */
export interface ModelFolder {
  dir: string;
  /**
   * The model's name, and a fingerprint of everything its embeddings depend on: `intfloat/e5-small-v2@0f3a9c1b22d4`.
   */
  model: string;
  prompts: EmbeddingPrompts;
  /** The weights, as a path in `dir`. */
  weights: string;
  weightsBytes: number;
  pooling: Pooling;
  /** Longer texts are truncated. */
  maxTokens: number;
}

/** Weights in order of preference: a quantized model takes a quarter of the memory and less than half of the time. */
const WEIGHTS = ["model_quantized.onnx", "model_int8.onnx", "model_uint8.onnx", "model.onnx"].flatMap((name) => [
  join("onnx", name),
  name,
]);

const TOKENIZER = "tokenizer.json";
const TOKENIZER_CONFIG = "tokenizer_config.json";

/** More tokens than a passage has. The cost is quadratic, so models with a higher limit do not use it. */
const MAX_TOKENS = 512;

/** Supported poolings, by their sentence-transformers names. */
const POOLINGS: Readonly<Record<string, Pooling>> = {
  pooling_mode_mean_tokens: "mean",
  pooling_mode_cls_token: "cls",
  pooling_mode_lasttoken: "last",
};

/** Models without a `1_Pooling/config.json` that use the first token, by name. Others use the mean. */
const CLS_MODELS = /bge-|mxbai-embed|snowflake-arctic-embed|gte-(?:multilingual|modernbert|.*-v1\.5)/;
const LAST_TOKEN_MODELS = /qwen3-embedding/;

/** Number of samples of the weights in the fingerprint: reading all of them would delay every startup. */
const SAMPLES = 32;
const SAMPLE_BYTES = 65_536;

/** Digits of a fingerprint. */
const FINGERPRINT_CHARS = 12;

/** Matches a hub identifier rather than a path on the publisher's machine. */
const HUB_ID = /^[\w-]+\/[\w.-]+$/;

/**
 * Reads the metadata of a model folder: `tokenizer.json`, `tokenizer_config.json`, `config.json`, and if they exist
 * `1_Pooling/config.json`, `sentence_bert_config.json` and `config_sentence_transformers.json`. Reads only samples of
 * the weights. Throws an `EmbeddingError` that lists everything that is missing or damaged.
 */
export function readModelFolder(folder: string): ModelFolder {
  const dir = resolve(folder);
  if (!isFolder(dir)) throw new EmbeddingError(`${dir} is not a readable folder`);
  const weights = WEIGHTS.find((name) => existsSync(join(dir, name)));
  const missing = [
    ...(weights === undefined ? ["onnx/model_quantized.onnx or onnx/model.onnx"] : []),
    ...[TOKENIZER, TOKENIZER_CONFIG, "config.json"].filter((name) => !existsSync(join(dir, name))),
  ];
  if (weights === undefined || missing.length > 0) {
    throw new EmbeddingError(
      `${dir} lacks ${missing.join(", ")}; copy all files of a model published for transformers.js`,
    );
  }
  if (existsSync(join(dir, `${weights}_data`))) {
    throw new EmbeddingError(
      `${join(dir, weights)} stores its weights in a second file (${basename(weights)}_data); use a model in one file, such as onnx/model_quantized.onnx`,
    );
  }
  const config = readConfig(dir, "config.json");
  const tokenizer = readConfig(dir, TOKENIZER_CONFIG);
  const hubId = config["_name_or_path"];
  const name = typeof hubId === "string" && HUB_ID.test(hubId) ? hubId : basename(dir);
  // Either may contain the model's version.
  const names = `${name} ${basename(dir)}`.toLowerCase();
  const prompts = readPrompts(dir) ?? promptsOf(names);
  const pooling = readPooling(dir) ?? poolingOf(names);
  const maxTokens = Math.min(
    MAX_TOKENS,
    ...readLimits(config, tokenizer, readOptional(dir, "sentence_bert_config.json")),
  );

  const hash = createHash("sha256").update(JSON.stringify({ prompts, pooling, maxTokens }));
  hash.update(readFileSync(join(dir, TOKENIZER)));
  const weightsBytes = sample(join(dir, weights), hash);
  const fingerprint = hash.digest("hex").slice(0, FINGERPRINT_CHARS);
  return { dir, model: `${name}@${fingerprint}`, prompts, weights, weightsBytes, pooling, maxTokens };
}

/** Returns the tokenizer of a folder: its two files, parsed. Throws an `EmbeddingError` if one is damaged. */
export function readTokenizer(dir: string): { tokenizer: object; config: object } {
  return { tokenizer: readConfig(dir, TOKENIZER), config: readConfig(dir, TOKENIZER_CONFIG) };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function readConfig(dir: string, name: string): Record<string, unknown> {
  const path = join(dir, name);
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? "is not JSON" : `cannot be read (${String(cause)})`;
    throw new EmbeddingError(`${path} ${reason}; download it again from where the model is published`, { cause });
  }
  throw new EmbeddingError(
    `${path} does not contain a JSON object; download it again from where the model is published`,
  );
}

function readOptional(dir: string, name: string): Record<string, unknown> {
  return existsSync(join(dir, name)) ? readConfig(dir, name) : {};
}

/** Returns the prompts of sentence-transformers; null if the folder has none. */
function readPrompts(dir: string): EmbeddingPrompts | null {
  const { prompts } = readOptional(dir, "config_sentence_transformers.json");
  if (typeof prompts !== "object" || prompts === null) return null;
  const named = new Map<string, unknown>(Object.entries(prompts));
  const find = (...names: string[]) =>
    names.map((name) => named.get(name)).find((prompt) => typeof prompt === "string");
  const query = find("query");
  return query === undefined ? null : { query, document: find("document", "passage") ?? "" };
}

function readPooling(dir: string): Pooling | null {
  const name = join("1_Pooling", "config.json");
  if (!existsSync(join(dir, name))) return null;
  const config = readConfig(dir, name);
  const modes = Object.keys(config).filter((key) => key.startsWith("pooling_mode_") && config[key] === true);
  const pooling = POOLINGS[modes.join()];
  if (pooling !== undefined) return pooling;
  throw new EmbeddingError(
    `${join(dir, name)} uses a pooling mode that is not supported (${modes.join(", ") || "none"}); supported are the mean, the first and the last token`,
  );
}

function poolingOf(names: string): Pooling {
  if (LAST_TOKEN_MODELS.test(names)) return "last";
  return CLS_MODELS.test(names) ? "cls" : "mean";
}

/** Returns the token limits of the model's files. */
function readLimits(
  config: Record<string, unknown>,
  tokenizer: Record<string, unknown>,
  sentences: Record<string, unknown>,
): number[] {
  // Models of this family count positions from the padding token on, which uses two of them.
  const isRoberta = typeof config["model_type"] === "string" && config["model_type"].includes("roberta");
  const positions = config["max_position_embeddings"];
  const limits = [
    typeof positions === "number" && isRoberta ? positions - 2 : positions,
    tokenizer["model_max_length"],
    sentences["max_seq_length"],
  ];
  return limits.filter((limit): limit is number => typeof limit === "number" && limit > 0);
}

/** Adds the size and samples of a file to a hash; returns its size. */
function sample(path: string, hash: Hash): number {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    hash.update(String(size));
    const buffer = Buffer.alloc(SAMPLE_BYTES);
    for (let index = 0; index < SAMPLES; index += 1) {
      const length = readSync(file, buffer, 0, SAMPLE_BYTES, Math.floor((size / SAMPLES) * index));
      hash.update(buffer.subarray(0, length));
    }
    return size;
  } finally {
    closeSync(file);
  }
}

/** Prefixes that a model requires before a query and before a passage. */
export interface EmbeddingPrompts {
  query: string;
  document: string;
}

const NONE: EmbeddingPrompts = { query: "", document: "" };

const SEARCHING = { query: "Represent this sentence for searching relevant passages: ", document: "" };

/** Prefixes from the model cards, by model name. The first match wins. */
const PROMPTS: readonly (readonly [RegExp, EmbeddingPrompts])[] = [
  [/nomic-embed-text/, { query: "search_query: ", document: "search_document: " }],
  [
    /e5-mistral|e5-.*-instruct/,
    { query: "Instruct: Given a question, retrieve passages that answer it\nQuery: ", document: "" },
  ],
  [/\be5-/, { query: "query: ", document: "passage: " }],
  [/mxbai-embed-large/, SEARCHING],
  [/bge-(?:small|base|large)-en/, SEARCHING],
  [/snowflake-arctic-embed(?:2|-.*v2)/, { query: "query: ", document: "" }],
  [/snowflake-arctic-embed/, SEARCHING],
  [/embeddinggemma/, { query: "task: search result | query: ", document: "title: none | text: " }],
  [/qwen3-embedding/, { query: "Instruct: Given a question, retrieve passages that answer it\nQuery:", document: "" }],
];

/**
 * Returns the prefixes of a model; none for an unknown model. Models that were trained with prefixes still work without
 * them, but worse. Different prefixes give different embeddings: after a change of this list, the passages of the model
 * must be embedded again.
 */
export function promptsOf(model: string): EmbeddingPrompts {
  const name = model.toLowerCase();
  return PROMPTS.find(([pattern]) => pattern.test(name))?.[1] ?? NONE;
}

/** Minimum size of a tensor that is moved: shapes and axes must stay, and other small ones are not worth it. */
const MIN_BYTES = 1_024;

/** Field numbers of the messages in onnx.proto, and the value for external data. */
const GRAPH = 7;
const INITIALIZER = 5;
const RAW_DATA = 9;
const EXTERNAL_DATA = 13;
const DATA_LOCATION = 14;
const IS_EXTERNAL = 1;

/**
 * Moves the weights out of an ONNX model: returns the model with each large initializer referring to its offset in the
 * file (`external_data`) named `location`. Its results are the same. A runtime copies external weights once; weights
 * within the model are copied with the message, when parsed, and as tensors, in memory that WebAssembly never releases:
 * 590 instead of 1,030 MB for 280 MB of weights. Throws an `Error` for a file that is not a model.
 */
export function detachWeights(file: Buffer, location: string): Buffer {
  const detach = (weights: Buffer): Buffer => {
    if (weights.length < MIN_BYTES) return encode(RAW_DATA, weights);
    const position = { location, offset: weights.byteOffset - file.byteOffset, length: weights.length };
    const entries = Object.entries(position).map(([key, value]) =>
      encode(EXTERNAL_DATA, Buffer.concat([encode(1, Buffer.from(key)), encode(2, Buffer.from(String(value)))])),
    );
    return Buffer.concat([...entries, encode(DATA_LOCATION, IS_EXTERNAL)]);
  };
  const detachAll = (graph: Buffer) =>
    replace(graph, INITIALIZER, (tensor) => encode(INITIALIZER, replace(tensor, RAW_DATA, detach)));
  return replace(file, GRAPH, (graph) => encode(GRAPH, detachAll(graph)));
}

/** Copies a protobuf message, and replaces each field of this number, which contains bytes, by the result of `make`. */
function replace(message: Buffer, number: number, make: (body: Buffer) => Buffer): Buffer {
  const parts: Buffer[] = [];
  let position = 0;
  while (position < message.length) {
    const start = position;
    const tag = readVarint();
    const type = tag % 8;
    let body: Buffer | null = null;
    if (type === 0) readVarint();
    else if (type === 1) position += 8;
    else if (type === 5) position += 4;
    else if (type === 2) {
      const length = readVarint();
      body = message.subarray(position, position + length);
      position += length;
    } else position = Number.POSITIVE_INFINITY;
    if (position > message.length)
      throw new Error("its weights are not a valid ONNX model, or were not copied completely");
    parts.push(body !== null && Math.floor(tag / 8) === number ? make(body) : message.subarray(start, position));
  }
  return Buffer.concat(parts);

  /** Numbers above 2^53, which only negative ones are, are skipped. */
  function readVarint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[position] ?? 0;
      position += 1;
      value += (byte % 128) * factor;
      if (byte < 128) return value;
    }
  }
}

/** Encodes a field: bytes with their length, or a number as a varint. */
function encode(number: number, value: Buffer | number): Buffer {
  if (typeof value === "number") return Buffer.concat([varint(number * 8), varint(value)]);
  return Buffer.concat([varint(number * 8 + 2), varint(value.length), value]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
