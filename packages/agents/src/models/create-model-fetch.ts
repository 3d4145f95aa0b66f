import { setTimeout as wait } from "node:timers/promises";
import { errorCode, withinMs, isRecord } from "@svc/primitives";
import { explainStatus, ModelError } from "./model-error.ts";
import type { RequestError } from "./model-error.ts";
import type { CallManners } from "./language-model.ts";

/** The body of a request as OpenAI's API has it. */
type RequestBody = Record<string, unknown>;

/** Something of the API that some servers and models do not know. */
interface Quirk {
  /** What a refusal says that means this. */
  pattern: RegExp;
  /** The body without it; the same body where it has nothing of it. */
  adapt(body: RequestBody): RequestBody;
}

/** What a provider was found not to know, by name; requests to it go without. */
export type LearnedQuirks = Set<string>;

/** How JSON in text is asked for: a model reads it, no server. */
const JSON_IN_TEXT =
  "Answer with one JSON value and nothing else: no words before or after it. It must conform to this JSON Schema:\n";

/** In the order in which they are looked for. */
const QUIRKS: Readonly<Record<string, Quirk>> = {
  // Newer models of OpenAI call the bound of an answer so, and refuse the name that all other servers know.
  maxCompletionTokens: {
    pattern: /max_completion_tokens/i,
    adapt: ({ max_tokens: bound, ...body }) => (bound === undefined ? body : { ...body, max_completion_tokens: bound }),
  },
  noUsage: {
    pattern: /stream_options|include_usage/i,
    adapt: (body) => Object.fromEntries(Object.entries(body).filter(([name]) => name !== "stream_options")),
  },
  // llama.cpp cannot bind an answer that may call tools instead; older servers know no schema at all.
  jsonInText: {
    pattern: /response_format|json_schema|json schema|structured output|grammar/i,
    adapt: withSchemaInText,
  },
};

/** A quirk counts for requests with tools, or for those without: some servers know a thing in one of them only. */
const keyOf = (name: string, body: RequestBody) => `${name}${"tools" in body ? " with tools" : ""}`;

/** What an answer may take. */
interface BodyBounds {
  /** From now to the first piece. */
  firstByteMs: number;
  /** From one piece to the next. */
  silenceMs: number;
  maxBytes: number;
  /** Gives the body up; it belongs to one call. */
  signal?: AbortSignal | null | undefined;
}

/** What of an error's text is read, and for how long. */
const ERROR_BYTES = 65_536;
const ERROR_MS = 2_000;

/** A try that has less time than this is not begun. */
const LEAST_TRY_MS = 250;

/** Statuses by which servers say that they do not know something of a request. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 415, 422, 500, 501]);

/** What the answer to a streamed question never is. */
const NO_STREAM = /^(?:text\/html|application\/json)\b/i;

/** An answer, or a request that failed. */
type Outcome = { response: Response } | { error: RequestError; refusal?: string };

/**
 * Makes what a client library calls a provider with in one call of a model. It tries again where that may help and fits
 * `deadlineAt` (as of `performance.now`): before anything of an answer was handed out. It follows no redirects, reads
 * bodies up to a limit, ends if nothing arrives, and remembers what the provider does not support. Every error is a
 * `ModelError`; rejects with the reason of the request's signal when that is aborted.
 */
export function createModelFetch(options: {
  apiKey: string | undefined;
  learned: LearnedQuirks;
  deadlineAt: number;
  manners: CallManners;
}): typeof fetch {
  const { apiKey, learned, deadlineAt, manners } = options;

  async function tryOnce(input: string | URL | Request, init: RequestInit): Promise<Outcome> {
    const began = performance.now();
    const firstByte = new AbortController();
    const late = new ModelError("timeout", `the provider has not responded within ${manners.firstByteMs} ms`);
    const timer = setTimeout(() => firstByte.abort(late), manners.firstByteMs);
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
      const error = new ModelError("invalid_output", "the provider did not return a text stream");
      return { error: { error, canRetry: false, retryAfterMs: null } };
    }
    const firstByteMs = Math.max(1, manners.firstByteMs - (performance.now() - began));
    const { silenceMs, maxAnswerBytes: maxBytes } = manners;
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
      // What was refused for something that the provider does not know is asked again without it, at once.
      if (text !== null && refusal !== undefined && learnQuirk(text, refusal, learned)) continue;
      const pauseMs = error.retryAfterMs ?? backoffMs(tries, manners.firstRetryMs);
      const fits = performance.now() + pauseMs + LEAST_TRY_MS < deadlineAt;
      if (!error.canRetry || tries >= manners.maxTries || !fits) throw error.error;
      tries += 1;
      await wait(pauseMs, undefined, init.signal == null ? {} : { signal: init.signal });
    }
  };
}

/** Twice as long each time, half of it by chance, so that those who failed together do not come back together. */
function backoffMs(tries: number, firstRetryMs: number): number {
  return firstRetryMs * 2 ** (tries - 1) * (0.5 + Math.random());
}

/** The beginning of an error's text; what cannot be read of it is not missed. */
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

/** The code of a connection error, such as ECONNREFUSED. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = errorCode(cause);
  return code ?? "no connection";
}

/** An answer with bounds: it breaks off with a `ModelError` when it is cut, falls silent or gets too long. */
function watchBody(
  body: ReadableStream<Uint8Array>,
  { firstByteMs, silenceMs, maxBytes, signal }: BodyBounds,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let bytes = 0;
  // A request that is aborted once its answer is there leaves a read of that answer waiting.
  signal?.addEventListener("abort", () => void reader.cancel(signal.reason).catch(() => undefined), { once: true });

  function breakOff(error: ModelError): never {
    // The connection is no longer read, so its errors do not matter.
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

/** The rules of a call with the schema after them, where the server is not asked to see to it. */
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

/** The request as this provider takes it, as far as that is known. */
export function adaptRequest(text: string, learned: LearnedQuirks): string {
  if (learned.size === 0) return text;
  const body: unknown = JSON.parse(text);
  if (!isRecord(body)) return text;
  const names = Object.keys(QUIRKS).filter((name) => learned.has(keyOf(name, body)));
  return JSON.stringify(names.reduce((adapted, name) => QUIRKS[name]?.adapt(adapted) ?? adapted, body));
}

/** Learns from a refusal of a request what the provider does not know; true when there is something new to try. */
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
