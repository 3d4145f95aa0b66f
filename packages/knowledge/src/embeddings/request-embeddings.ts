import { setTimeout as delay } from "node:timers/promises";
import {
  createAddressGuard,
  excerptOf,
  guardedRequest,
  OutboundConnectionError,
  OutboundTimeoutError,
  ResponseTooLargeError,
} from "@svc/outbound";
import type { AddressGuard, OutboundResponse } from "@svc/outbound";
import { errorMessage, isRecord } from "@svc/primitives";
import { cutText } from "@svc/text";

/** Maximum dimension, above that of any model in use. */
const MAX_DIMENSIONS = 8_192;

/** Minimum length of an embedding with a direction. */
const LEAST_LENGTH = 1e-12;

/** A server or a model returned no usable embeddings: `message` explains why, for a log, and contains no key. */
export class EmbeddingError extends Error {
  /** True if the endpoint works but rejects these texts, most likely because one is too long. */
  readonly isRefusal: boolean;
  /** Delay that the endpoint requests, or null. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: { isRefusal?: boolean; retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "EmbeddingError";
    this.isRefusal = options.isRefusal ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** Configuration of a server that creates embeddings. */
export interface EmbeddingEndpoint {
  /** As in `http://localhost:11434/v1`. */
  baseUrl: string;
  model: string;
  /** Sent as a bearer token if present. */
  apiKey?: string;
}

/** Requests embeddings: from a server (`createEmbeddingRequest`), or from a model in this process (`runLocalModel`). */
export type EmbeddingRequest = (
  texts: readonly string[],
  /** A query is urgent, passages are not. */
  options: { timeoutMs: number; signal: AbortSignal; isQuery?: boolean },
) => Promise<(Float32Array | null)[]>;

/** Maximum size of a response, as a base and per text. */
const ANSWER_BYTES = 65_536;
const ANSWER_BYTES_PER_TEXT = 262_144;

const EXCERPT_CHARS = 200;

/** Statuses of servers that reject a text. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * Matches the message of servers that respond with 500 to a text that is too long (llama.cpp, some versions of Ollama).
 */
const TOO_LONG = /too (?:large|long)|exceed|maximum|context/i;

const HINTS: Readonly<Record<number, string>> = {
  401: "; check SVC_EMBEDDINGS_API_KEY",
  403: "; check SVC_EMBEDDINGS_API_KEY",
  404: "; check SVC_EMBEDDINGS_BASE_URL and that the server has the model of SVC_EMBEDDINGS_MODEL",
};

/**
 * Creates the function that requests embeddings from an OpenAI-compatible server (`POST {base}/embeddings` with model
 * and input): one for each text in order, of length 1, null for an all-zero one. It follows no redirects, limits
 * responses, and ends after `timeoutMs`, even if data is still arriving. The operator chose the address, so it need not
 * be public. Rejects with an `EmbeddingError`, or with the reason of `signal`.
 */
export function createEmbeddingRequest(endpoint: EmbeddingEndpoint): EmbeddingRequest {
  const url = urlOf(endpoint.baseUrl);
  const guard = guardFor(url);
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...(endpoint.apiKey === undefined ? {} : { authorization: `Bearer ${endpoint.apiKey}` }),
  };

  return async (texts, { timeoutMs, signal }) => {
    const body = JSON.stringify({ model: endpoint.model, input: texts });
    const maxResponseBytes = ANSWER_BYTES + texts.length * ANSWER_BYTES_PER_TEXT;
    let response: OutboundResponse;
    try {
      response = await guardedRequest(guard, {
        method: "POST",
        url,
        headers,
        body,
        timeoutMs,
        maxResponseBytes,
        signal,
      });
    } catch (error) {
      if (signal.aborted) throw error;
      throw new EmbeddingError(describeError(error), { cause: error });
    }
    if (response.status < 200 || response.status > 299) throw errorOf(response, endpoint);
    return readEmbeddings(response.body, texts.length);
  };
}

function urlOf(baseUrl: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/embeddings`;
  return url;
}

/** Creates a guard that allows this host, even if it is not public. */
function guardFor(url: URL): AddressGuard {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  return createAddressGuard({ allow: [host], allowLoopback: true, ownPorts: [] });
}

function describeError(error: unknown): string {
  if (error instanceof OutboundTimeoutError) return `no response within ${error.timeoutMs} ms`;
  if (error instanceof OutboundConnectionError) return `it is unreachable (${error.errorCode})`;
  if (error instanceof ResponseTooLargeError) return `its response is longer than ${error.maxResponseBytes} bytes`;
  return errorMessage(error);
}

function errorOf({ status, headers, body }: OutboundResponse, { apiKey }: EmbeddingEndpoint): EmbeddingError {
  if (status >= 300 && status < 400) {
    return new EmbeddingError("it redirects to another URL; set that one as SVC_EMBEDDINGS_BASE_URL");
  }
  const said = excerptOf(body.toString("utf8"), { secret: apiKey, maxChars: EXCERPT_CHARS });
  const retryAfterS = Number(headers["retry-after"] ?? Number.NaN);
  return new EmbeddingError(`it returned ${status}${said === "" ? "" : ` (${said})`}${HINTS[status] ?? ""}`, {
    isRefusal: REFUSALS.has(status) || (status >= 500 && TOO_LONG.test(said)),
    retryAfterMs: Number.isFinite(retryAfterS) && retryAfterS >= 0 ? retryAfterS * 1_000 : null,
  });
}

/**
 * Parses the response of an OpenAI-compatible server to `POST /embeddings`: one embedding for each of `count` texts in
 * order, of length 1, or null for one that is all zeros. Numbers may be an array or base64 of 32-bit floats. Throws an
 * `EmbeddingError` that says what is wrong with an unusable response.
 */
export function readEmbeddings(body: Buffer, count: number): (Float32Array | null)[] {
  const data = dataOf(parseJson(body));
  if (data.length !== count) throw new EmbeddingError(`it returned ${data.length} embeddings for ${count} texts`);
  const embeddings = Array.from<Float32Array | undefined>({ length: count });
  for (const [position, item] of data.entries()) {
    const index: unknown = isRecord(item) ? (item["index"] ?? position) : undefined;
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
  // An item that is not a number becomes NaN, which is detected afterwards.
  return Float32Array.from(value, (item: unknown) => (typeof item === "number" ? item : Number.NaN));
}

function decodeBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, "base64");
  if (bytes.length % 4 !== 0) throw new EmbeddingError("one of its base64 embeddings is truncated");
  return Float32Array.from({ length: bytes.length / 4 }, (_, position) => bytes.readFloatLE(position * 4));
}

/** Returns the vector of length 1 in the same direction, or null for a zero vector. */
export function normalize(numbers: Float32Array): Float32Array | null {
  let squares = 0;
  for (const number of numbers) squares += number * number;
  const length = Math.sqrt(squares);
  return length < LEAST_LENGTH ? null : numbers.map((number) => number / length);
}

/** Limits of a request: some servers accept at most 32 texts. */
const MAX_BATCH_TEXTS = 32;
const MAX_BATCH_CHARS = 48_000;

/** Maximum length of a text that is embedded: about 2,000 tokens, the limit of the usual models. */
const MAX_TEXT_CHARS = 6_000;

/** Minimum length to which a text is cut: every model accepts it. */
const LEAST_CHARS = 150;

const TRIES = 3;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;

/** Timeout of a request: a model on a slow processor takes a second per text, and may have to be loaded first. */
const TIMEOUT_MS = 60_000;

/** A text that every working server accepts. */
const PROBE = "test";

/** Times for tests; the constants above by default. */
interface EmbedTextsOptions {
  prompt: string;
  signal: AbortSignal;
  timeoutMs?: number;
  firstRetryMs?: number;
}

/**
 * Embeds texts in order, each after `prompt`, in requests of at most 32 texts and 48,000 characters. Errors of the
 * endpoint are retried up to three times, after 0.5 and 2 seconds or after the delay it requests. Rejected texts are
 * retried one by one, and shorter: null for a text that it rejects at any length while it accepts others. Rejects with
 * the last `EmbeddingError` if the endpoint does not work, and with the signal's reason.
 */
export async function embedTexts(
  request: EmbeddingRequest,
  texts: readonly string[],
  options: EmbedTextsOptions,
): Promise<(Float32Array | null)[]> {
  const cut = texts.map((text) => cutText(text, MAX_TEXT_CHARS));
  const embeddings: (Float32Array | null)[] = [];
  for (const batch of batchesOf(cut)) embeddings.push(...(await embedBatch(request, batch, options)));
  return embeddings;
}

function batchesOf(texts: readonly string[]): string[][] {
  const batches: string[][] = [];
  let chars = 0;
  for (const text of texts) {
    const batch = batches.at(-1);
    if (batch === undefined || batch.length >= MAX_BATCH_TEXTS || chars + text.length > MAX_BATCH_CHARS) {
      batches.push([text]);
      chars = text.length;
    } else {
      batch.push(text);
      chars += text.length;
    }
  }
  return batches;
}

async function embedBatch(
  request: EmbeddingRequest,
  texts: readonly string[],
  options: EmbedTextsOptions,
): Promise<(Float32Array | null)[]> {
  try {
    return await requestPatiently(request, texts, options);
  } catch (error) {
    if (!(error instanceof EmbeddingError) || !error.isRefusal) throw error;
    const [only = ""] = texts;
    if (texts.length === 1) return [await embedShorter(request, only, { ...options, refusal: error })];
    const middle = Math.ceil(texts.length / 2);
    return [
      ...(await embedBatch(request, texts.slice(0, middle), options)),
      ...(await embedBatch(request, texts.slice(middle), options)),
    ];
  }
}

/** Embeds as much of the beginning of a text as the endpoint accepts. */
async function embedShorter(
  request: EmbeddingRequest,
  text: string,
  options: EmbedTextsOptions & { refusal: EmbeddingError },
): Promise<Float32Array | null> {
  for (let chars = Math.floor(text.length / 2); chars >= LEAST_CHARS; chars = Math.floor(chars / 2)) {
    try {
      const [embedding = null] = await requestPatiently(request, [cutText(text, chars)], options);
      return embedding;
    } catch (error) {
      if (!(error instanceof EmbeddingError) || !error.isRefusal) throw error;
    }
  }
  // An endpoint that rejects even this rejects everything, so the text is not the cause.
  const [probe] = await requestPatiently(request, [PROBE], options);
  if (probe == null) throw options.refusal;
  return null;
}

/** Sends a request up to three times; a rejection is not retried. */
async function requestPatiently(
  request: EmbeddingRequest,
  texts: readonly string[],
  { prompt, signal, timeoutMs = TIMEOUT_MS, firstRetryMs = FIRST_RETRY_MS }: EmbedTextsOptions,
): Promise<(Float32Array | null)[]> {
  const prompted = texts.map((text) => prompt + text);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request(prompted, { timeoutMs, signal });
    } catch (error) {
      if (signal.aborted || !(error instanceof EmbeddingError) || error.isRefusal || attempt >= TRIES) throw error;
      const backoffMs = firstRetryMs * 4 ** (attempt - 1);
      await delay(Math.min(MAX_RETRY_MS, Math.max(backoffMs, error.retryAfterMs ?? 0)), undefined, { signal });
    }
  }
}
