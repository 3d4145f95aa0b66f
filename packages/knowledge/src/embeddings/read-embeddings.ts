import { isRecord } from "@svc/primitives";
import { EmbeddingError } from "./embedding-error.ts";

/** More numbers than the embeddings of any model that is in use have. */
export const MAX_DIMENSIONS = 8_192;

/** Shorter than this an embedding points nowhere. */
const LEAST_LENGTH = 1e-12;

/**
 * Reads the answer of an OpenAI-compatible server to `POST /embeddings`: one embedding for each of `count` texts in
 * their order, of length 1, or null for one that is all zeros. Numbers may come as an array or as base64 of 32-bit
 * floats. Throws an `EmbeddingError` that says what is wrong with an answer that cannot be used.
 */
export function readEmbeddings(body: Buffer, count: number): (Float32Array | null)[] {
  const data = dataOf(parseJson(body));
  if (data.length !== count) throw new EmbeddingError(`it returned ${data.length} embeddings for ${count} texts`);
  const embeddings = Array.from<Float32Array | undefined>({ length: count });
  for (const [place, item] of data.entries()) {
    const index: unknown = isRecord(item) ? (item["index"] ?? place) : undefined;
    if (!isRecord(item) || typeof index !== "number" || !(index in embeddings) || embeddings[index] !== undefined) {
      throw new EmbeddingError("the indexes of its embeddings are not consecutive from 0");
    }
    embeddings[index] = numbersOf(item["embedding"]);
  }
  const dimensions = embeddings[0]?.length ?? 0;
  return embeddings.map((embedding) => {
    if (embedding?.length !== dimensions)
      throw new EmbeddingError("its embeddings have different numbers of dimensions");
    return normalize(embedding);
  });
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (cause) {
    throw new EmbeddingError("its response is not JSON; check that the URL ends like http://localhost:11434/v1", {
      cause,
    });
  }
}

function dataOf(answer: unknown): unknown[] {
  const data = isRecord(answer) ? answer["data"] : undefined;
  if (!Array.isArray(data)) throw new EmbeddingError('its response has no list "data", so it is not OpenAI-compatible');
  return data;
}

function numbersOf(value: unknown): Float32Array {
  const numbers = typeof value === "string" ? decodeBase64(value) : toNumbers(value);
  if (numbers.length === 0) throw new EmbeddingError("one of its embeddings is empty");
  if (numbers.length > MAX_DIMENSIONS) {
    throw new EmbeddingError(`an embedding of ${numbers.length} numbers is too long; the maximum is ${MAX_DIMENSIONS}`);
  }
  if (!numbers.every(Number.isFinite))
    throw new EmbeddingError("one of its embeddings contains a value that is not a number");
  return numbers;
}

function toNumbers(value: unknown): Float32Array {
  if (!Array.isArray(value)) throw new EmbeddingError("one of its embeddings is neither a list of numbers nor base64");
  // What is no number becomes one that is not finite, which is found afterwards.
  return Float32Array.from(value, (item: unknown) => (typeof item === "number" ? item : Number.NaN));
}

function decodeBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length % 4 !== 0) throw new EmbeddingError("one of its base64 embeddings is truncated");
  return Float32Array.from({ length: bytes.length / 4 }, (_, place) => bytes.readFloatLE(place * 4));
}

/** The vector of length 1 in the same direction, or null for one that has no direction. */
export function normalize(numbers: Float32Array): Float32Array | null {
  let squares = 0;
  for (const number of numbers) squares += number * number;
  const length = Math.sqrt(squares);
  return length < LEAST_LENGTH ? null : numbers.map((number) => number / length);
}
