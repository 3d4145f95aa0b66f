import { setTimeout as wait } from "node:timers/promises";
import { errorCode, withinMs, isRecord } from "@svc/primitives";
import { explainStatus, ModelError } from "./model-error.ts";
import type { RequestError } from "./model-error.ts";
import type { CallPolicy } from "./language-model.ts";

/** Request body of the OpenAI API. */
type RequestBody = Record<string, unknown>;

/** A feature of the API that some servers and models do not support. */
interface Quirk {
  /** Pattern of the error message. */
  pattern: RegExp;
  /** Returns the body without it, or the same body if it does not use it. */
  adapt(body: RequestBody): RequestBody;
}

/** Names of features that a provider does not support; requests to it omit them. */
export type LearnedQuirks = Set<string>;

/** Asks the model for JSON in the prompt, because the server has no JSON mode. */
const JSON_IN_TEXT =
  "Answer with one JSON value and nothing else: no words before or after it. It must conform to this JSON Schema:\n";

/** In the order in which they are tested. */
const QUIRKS: Readonly<Record<string, Quirk>> = {
  // Newer OpenAI models use this name for the output limit, and reject the name that all other servers use.
  maxCompletionTokens: {
    pattern: /max_completion_tokens/i,
    adapt: ({ max_tokens: bound, ...body }) => (bound === undefined ? body : { ...body, max_completion_tokens: bound }),
  },
  noUsage: {
    pattern: /stream_options|include_usage/i,
    adapt: (body) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== "stream_options")),
  },
  // llama.cpp does not support a schema together with tools; older servers support no schema at all.
  jsonInText: {
    pattern: /response_format|json_schema|json schema|structured output|grammar/i,
    adapt: withSchemaInText,
  },
};

/**
 * Quirks are recorded separately for requests with and without tools: some servers lack a feature in only one of them.
 */
const keyOf = (name: string, body: RequestBody) => `${name}${"tools" in body ? " with tools" : ""}`;

/** Limits of a response. */
interface BodyBounds {
  /** Time to the first byte. */
  firstByteMs: number;
  /** Maximum time between two chunks. */
  silenceMs: number;
  maxBytes: number;
  /** Aborts reading the body. */
  signal?: AbortSignal | null | undefined;
}

/** Maximum size of an error body, and time to read it. */
const ERROR_BYTES = 65_536;
const ERROR_MS = 2_000;

/** Minimum remaining time for an attempt, in milliseconds. */
const LEAST_TRY_MS = 250;

/** Statuses for unsupported features. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 415, 422, 500, 501]);

/** Content types that a streamed response never has. */
const NO_STREAM = /^(?:text\/html|application\/json)\b/i;

const NO_MODEL_SERVER = "the provider did not respond like a model API: check the URL (most end in /v1)";

/** A response, or a failed request. */
type Outcome = { response: Response } | { error: RequestError; refusal?: string };

/**
 * Creates the `fetch` of a client library for one call of a model. It retries, before any output was passed on, if that
 * may help and fits `deadlineAt` (as of `performance.now`). It follows no redirects, limits bodies, times out if no
 * data arrives, and remembers what the provider does not support. Every error is a `ModelError`; rejects with the
 * reason of the request's signal when it is aborted.
 */
export function createModelFetch(options: {
  apiKey: string | undefined;
  learned: LearnedQuirks;
  deadlineAt: number;
  policy: CallPolicy;
}): typeof fetch {
  const { apiKey, learned, deadlineAt, policy } = options;

  async function tryOnce(input: string | URL | Request, init: RequestInit): Promise<Outcome> {
    const began = performance.now();
    const firstByte = new AbortController();
    const late = new ModelError("timeout", `the provider has not responded within ${policy.firstByteMs} ms`);
    const timer = setTimeout(() => firstByte.abort(late), policy.firstByteMs);
    const signals = init.signal == null ? [firstByte.signal] : [init.signal, firstByte.signal];
    let response: Response;
    try {
      response = await fetch(input, { ...init, redirect: "manual", signal: AbortSignal.any(signals) });
    } catch (error) {
      init.signal?.throwIfAborted();
      if (firstByte.signal.aborted) return { error: { error: late, canRetry: false, retryAfterMs: null } };
      const unreachable = new ModelError("unreachable", `the provider is unreachable (${codeOf(error)})`, {
        cause: error,
      });
      return { error: { error: unreachable, canRetry: true, retryAfterMs: null } };
    } finally {
      clearTimeout(timer);
    }
    const { status, body } = response;
    if (!response.ok) {
      const said = await readError(body);
      const error = explainStatus(response, said, apiKey);
      return REFUSALS.has(status) ? { error, refusal: said } : { error };
    }
    const type = response.headers.get("content-type") ?? "";
    if (body === null || NO_STREAM.test(type)) {
      await body?.cancel();
      const error = new ModelError("invalid_output", NO_MODEL_SERVER);
      return { error: { error, canRetry: false, retryAfterMs: null } };
    }
    const firstByteMs = Math.max(1, policy.firstByteMs - (performance.now() - began));
    const { silenceMs, maxAnswerBytes: maxBytes } = policy;
    const watched = watchBody(body, { firstByteMs, silenceMs, maxBytes, signal: init.signal });
    return { response: new Response(watched, { status, headers: response.headers }) };
  }

  return async (input, init = {}) => {
    const text = typeof init.body === "string" ? init.body : null;
    for (let tries = 1; ;) {
      const asked = text === null ? init : { ...init, body: adaptRequest(text, learned) };
      const outcome = await tryOnce(input, asked);
      if ("response" in outcome) return outcome.response;
      const { error, refusal } = outcome;
      // A request that was rejected for an unsupported feature is repeated immediately without it.
      if (text !== null && refusal !== undefined && learnQuirk(text, refusal, learned)) continue;
      const pauseMs = error.retryAfterMs ?? backoffMs(tries, policy.firstRetryMs);
      const fits = performance.now() + pauseMs + LEAST_TRY_MS < deadlineAt;
      if (!error.canRetry || tries >= policy.maxTries || !fits) throw error.error;
      tries += 1;
      await wait(pauseMs, undefined, init.signal == null ? {} : { signal: init.signal });
    }
  };
}

/** Exponential backoff, half of it random, so that requests that failed together are not retried together. */
function backoffMs(tries: number, firstRetryMs: number): number {
  return firstRetryMs * 2 ** (tries - 1) * (0.5 + Math.random());
}

/** Returns the beginning of an error body; errors while reading it are ignored. */
async function readError(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return "";
  const bounds = { firstByteMs: ERROR_MS, silenceMs: ERROR_MS, maxBytes: ERROR_BYTES };
  const parts: Uint8Array[] = [];
  const ends = performance.now() + ERROR_MS;
  try {
    for await (const part of watchBody(body, bounds)) {
      parts.push(part);
      if (performance.now() > ends) break;
    }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Returns the code of a connection error, such as ECONNREFUSED. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = errorCode(cause);
  return code ?? "no connection";
}

/** Limits a response: it fails with a `ModelError` when it is interrupted, stalls or exceeds the maximum size. */
function watchBody(
  body: ReadableStream<Uint8Array>,
  { firstByteMs, silenceMs, maxBytes, signal }: BodyBounds,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  // Aborting a request whose response has started leaves its pending read waiting.
  signal?.addEventListener("abort", () => void reader.cancel(signal.reason).catch(() => undefined), { once: true });

  function breakOff(error: ModelError): never {
    // The connection is no longer used, so its errors do not matter.
    reader.cancel(error).catch(() => undefined);
    throw error;
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const waitMs = bytes === 0 ? firstByteMs : silenceMs;
      const read = await withinMs(readNext(reader), waitMs);
      if (read === undefined) {
        return breakOff(new ModelError("timeout", `the provider has sent nothing for ${Math.round(waitMs)} ms`));
      }
      if (read.done) return controller.close();
      bytes += read.value.byteLength;
      if (bytes > maxBytes) return breakOff(new ModelError("too_long", `the answer is longer than ${maxBytes} bytes`));
      controller.enqueue(read.value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

async function readNext(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
  } catch (error) {
    throw new ModelError("cut", "the connection dropped during the answer", { cause: error });
  }
}

/** Appends the schema to the rules of a call if the server does not enforce it. */
function withSchemaInText({ response_format: format, ...body }: RequestBody): RequestBody {
  const described = isRecord(format) && isRecord(format["json_schema"]) ? format["json_schema"]["schema"] : undefined;
  if (described === undefined) return format === undefined ? body : { ...body, response_format: format };
  const messages: unknown[] = Array.isArray(body["messages"]) ? body["messages"] : [];
  const [first, ...rest] = messages;
  const rules = `${JSON_IN_TEXT}${JSON.stringify(described)}`;
  const isSystem = isRecord(first) && first["role"] === "system" && typeof first["content"] === "string";
  const system = { role: "system", content: isSystem ? `${String(first["content"])}\n\n${rules}` : rules };
  return { ...body, messages: isSystem ? [system, ...rest] : [system, ...messages] };
}

/** Adapts the request to the features that this provider supports, as far as known. */
export function adaptRequest(text: string, learned: LearnedQuirks): string {
  if (learned.size === 0) return text;
  const body: unknown = JSON.parse(text);
  if (!isRecord(body)) return text;
  const names = Object.keys(QUIRKS).filter((name) => learned.has(keyOf(name, body)));
  return JSON.stringify(names.reduce((adapted, name) => QUIRKS[name]?.adapt(adapted) ?? adapted, body));
}

/** Learns from an error which feature the provider does not support; returns true if there is something new to try. */
export function learnQuirk(text: string, said: string, learned: LearnedQuirks): boolean {
  const body: unknown = JSON.parse(text);
  if (!isRecord(body)) return false;
  const before = adaptRequest(text, learned);
  for (const [name, { pattern }] of Object.entries(QUIRKS)) {
    const key = keyOf(name, body);
    if (!pattern.test(said) || learned.has(key)) continue;
    learned.add(key);
    if (adaptRequest(text, learned) !== before) return true;
    learned.delete(key);
  }
  return false;
}
