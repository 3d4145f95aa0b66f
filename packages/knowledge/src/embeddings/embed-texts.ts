import { setTimeout as delay } from "node:timers/promises";
import { cutText } from "@svc/text";
import { EmbeddingError } from "./request-embeddings.ts";
import type { EmbeddingRequest } from "./request-embeddings.ts";

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
