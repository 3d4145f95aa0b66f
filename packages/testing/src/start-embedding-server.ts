import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startWebhookReceiver } from "./start-webhook-receiver.ts";
import type { FullAnswer, ReceivedRequest, ReceiverAnswer } from "./start-webhook-receiver.ts";

/** Options of the model. */
export interface EmbeddingModelOptions {
  /** The words that the model knows, one list per meaning; all other words share another meaning. */
  meanings: readonly (readonly string[])[];
  /** Files that are added or replaced; null removes one. */
  files?: Readonly<Record<string, object | string | null>>;
  /** Name of an additional input of the model. */
  extraInput?: string;
}

const SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"];

/**
 * Writes a folder with a tiny sentence-embedding model, in the layout of transformers.js: a real ONNX graph that looks
 * up the tokens of a text in a table, and a WordPiece tokenizer. Words of the same list of `meanings` have the same
 * vector, orthogonal to all others. The vectors of its special tokens are shorter and similar.
 */
export function writeEmbeddingModel(dir: string, options: EmbeddingModelOptions): void {
  const { meanings, extraInput } = options;
  const words = [...new Set(meanings.flat())];
  const vocabulary = Object.fromEntries([...SPECIAL, ...words].map((word, id) => [word, id]));
  const dimensions = meanings.length + 1;
  const rows = [
    ...SPECIAL.map(() => [dimensions - 1, 0.1] as const),
    ...words.map((word) => [meanings.findIndex((meaning) => meaning.includes(word)), 1] as const),
  ];
  const table = new Float32Array(rows.length * dimensions);
  for (const [row, [position, number]] of rows.entries()) table[row * dimensions + position] = number;
  const files: Record<string, object | string | null> = {
    "config.json": { model_type: "bert", max_position_embeddings: 512 },
    "tokenizer.json": tokenizerOf(vocabulary),
    "tokenizer_config.json": { tokenizer_class: "BertTokenizer", model_max_length: 512, unk_token: "[UNK]" },
    "onnx/model.onnx": modelOf(table, { rowCount: rows.length, dimensions, extraInput }),
    ...options.files,
  };
  for (const [name, content] of Object.entries(files)) {
    if (content === null) continue;
    const path = join(dir, name);
    mkdirSync(dirname(path), { recursive: true });
    const isRaw = typeof content === "string" || content instanceof Uint8Array;
    writeFileSync(path, isRaw ? content : JSON.stringify(content));
  }
}

function tokenizerOf(vocabulary: Readonly<Record<string, number>>): object {
  const special = (content: string) => ({ id: vocabulary[content], content, special: true });
  const token = (id: string) => ({ SpecialToken: { id, type_id: 0 } });
  return {
    version: "1.0",
    added_tokens: SPECIAL.map(special),
    normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, lowercase: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
    post_processor: {
      type: "TemplateProcessing",
      single: [token("[CLS]"), { Sequence: { id: "A", type_id: 0 } }, token("[SEP]")],
      pair: [],
      special_tokens: Object.fromEntries(
        ["[CLS]", "[SEP]"].map((id) => [id, { id, ids: [vocabulary[id]], tokens: [id] }]),
      ),
    },
    decoder: { type: "WordPiece", prefix: "##", cleanup: true },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
      vocab: vocabulary,
    },
  };
}

/** Numbers of ONNX's types and of the fields of its messages, from onnx.proto. */
const FLOAT = 1;
const INT64 = 7;

/** Returns an ONNX model whose output is the table's row of each token. */
function modelOf(
  table: Float32Array,
  { rowCount, dimensions, extraInput }: { rowCount: number; dimensions: number; extraInput: string | undefined },
): Buffer {
  const inputs = ["input_ids", "attention_mask", "token_type_ids", ...(extraInput === undefined ? [] : [extraInput])];
  const tensor = message(
    ...[rowCount, dimensions].map((dimension) => field(1, dimension)),
    field(2, FLOAT),
    field(8, "table"),
    field(9, Buffer.from(table.buffer)),
  );
  const gather = message(field(1, "table"), field(1, "input_ids"), field(2, "last_hidden_state"), field(4, "Gather"));
  const graph = message(
    field(1, gather),
    field(2, "graph"),
    field(5, tensor),
    ...inputs.map((name) => field(11, valueOf(name, INT64, ["batch", "sequence"]))),
    field(12, valueOf("last_hidden_state", FLOAT, ["batch", "sequence", dimensions])),
  );
  const version = { ir: 8, operators: 17 };
  return message(field(1, version.ir), field(7, graph), field(8, message(field(2, version.operators))));
}

function valueOf(name: string, type: number, dimensions: readonly (string | number)[]): Buffer {
  const shape = message(
    ...dimensions.map((dimension) => field(1, message(field(typeof dimension === "number" ? 1 : 2, dimension)))),
  );
  return message(field(1, name), field(2, message(field(1, message(field(1, type), field(2, shape))))));
}

const message = (...fields: Buffer[]) => Buffer.concat(fields);

/** Encodes a field of a protobuf message: a number as a varint, anything else with its length. */
function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === "number") return Buffer.concat([varint(number << 3), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function varint(number: number): Buffer {
  const bytes: number[] = [];
  let rest = number;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

/** A received request for embeddings. */
export interface EmbeddingServerRequest {
  model: string;
  input: string[];
  headers: Record<string, string>;
}

/** An OpenAI-compatible server for embeddings. */
export interface EmbeddingServer {
  /** URL to configure, such as http://127.0.0.1:20123/v1. */
  readonly baseUrl: string;
  readonly port: number;
  /** Returns the requests so far, in order of arrival. */
  requests(): EmbeddingServerRequest[];
  /** Sets the response to all later requests, as a value or a function; null: embeddings. */
  answerWith(answer: ReceiverAnswer | null | ((request: EmbeddingServerRequest) => ReceiverAnswer | null)): void;
  /** Frees the port. Idempotent. */
  close(): Promise<void>;
}

/** Options of the server. */
export interface EmbeddingServerOptions {
  port?: number;
  /** Dimension of an embedding; 512 by default. */
  dimensions?: number;
  /** Words with the same meaning, one list per meaning. */
  synonyms?: readonly (readonly string[])[];
  /** Longer inputs are rejected, as by Ollama. */
  maxChars?: number;
  /** Format of embeddings; "float" by default. */
  format?: "float" | "base64";
  /** Returns embeddings in another order than requested, numbered. */
  isShuffled?: boolean;
}

/**
 * Starts a real HTTP server on 127.0.0.1 that implements `POST /v1/embeddings` like OpenAI and Ollama. Embeddings are
 * computed from the words of a text: texts with common words, or words of the same list of `synonyms`, are similar,
 * others are not. Deterministic. A test file that does not close it fails.
 */
export async function startEmbeddingServer(options: EmbeddingServerOptions = {}): Promise<EmbeddingServer> {
  const { port, dimensions = 512, synonyms = [], maxChars = Number.POSITIVE_INFINITY } = options;
  const { format = "float", isShuffled = false } = options;
  const meanings = new Map(synonyms.flatMap((words) => words.map((word) => [word, words[0] ?? word] as const)));
  let choose: (request: EmbeddingServerRequest) => ReceiverAnswer | null = () => null;

  function embed(text: string): number[] {
    const numbers = Array.from({ length: dimensions }, () => 0);
    for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
      const position = hash(meanings.get(word) ?? word) % dimensions;
      numbers[position] = (numbers[position] ?? 0) + 1;
    }
    return numbers;
  }

  function answer({ model, input }: EmbeddingServerRequest): FullAnswer {
    if (input.some((text) => text.length > maxChars)) {
      return toJson(400, { error: { message: "the input length exceeds the context length", type: "api_error" } });
    }
    const data = input.map((text, index) => ({ object: "embedding", index, embedding: write(embed(text), format) }));
    return toJson(200, { object: "list", model, data: isShuffled ? data.toReversed() : data, usage: {} });
  }

  const receiver = await startWebhookReceiver({
    ...(port === undefined ? {} : { port }),
    answer: (received) => {
      const request = readRequest(received);
      if (request === null) return toJson(400, { error: { message: "this is no request for embeddings" } });
      return choose(request) ?? answer(request);
    },
  });

  return {
    baseUrl: receiver.url("/v1"),
    port: receiver.port,
    requests: () => receiver.requests.flatMap((received) => readRequest(received) ?? []),
    answerWith(chosen) {
      choose = typeof chosen === "function" ? chosen : () => chosen;
    },
    close: () => receiver.close(),
  };
}

function readRequest({ method, path, headers, json }: ReceivedRequest): EmbeddingServerRequest | null {
  const { model, input } = (json ?? {}) as { model?: unknown; input?: unknown };
  const isRight = method === "POST" && path === "/v1/embeddings" && headers["content-type"] === "application/json";
  if (!isRight || typeof model !== "string" || !Array.isArray(input)) return null;
  if (!input.every((text) => typeof text === "string" && text !== "")) return null;
  return { model, input: input as string[], headers };
}

function toJson(status: number, body: object): FullAnswer {
  return { status, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}

function write(numbers: readonly number[], format: "float" | "base64"): readonly number[] | string {
  if (format === "float") return numbers;
  const bytes = Buffer.alloc(numbers.length * 4);
  for (const [position, number] of numbers.entries()) bytes.writeFloatLE(number, position * 4);
  return bytes.toString("base64");
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x81_1c_9d_c5;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93) >>> 0;
  return value;
}
