import { startWebhookReceiver } from "./start-webhook-receiver.ts";
import type { FullAnswer, ReceivedRequest, ReceiverAnswer } from "./start-webhook-receiver.ts";

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
