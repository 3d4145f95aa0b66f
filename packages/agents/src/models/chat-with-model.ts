import type { ModelMessage, LanguageModel as SdkModel } from "ai";
import { askOnce } from "./ask-once.ts";
import type { CallUsage } from "./ask-once.ts";
import { openCallBounds } from "./language-model.ts";
import { createModelFetch } from "./create-model-fetch.ts";
import { ModelError } from "./model-error.ts";
import type { ModelErrorKind } from "./model-error.ts";
import type { CallPolicy, ChatRequest, ModelPrice, ModelProviderConfig, ModelApi } from "./language-model.ts";
import type { LearnedQuirks } from "./create-model-fetch.ts";

/** Matches a model's reasoning before its answer. */
const THOUGHTS = /^\s*<think(?:ing)?>[\s\S]*?(?:<\/think(?:ing)?>|$)/i;

/** Matches JSON in a code fence, which may not be closed yet. */
const FENCE = /```(?:json)?[ \t]*\n?([\s\S]*?)(?:```|$)/i;

/** Creates the SDK's model for a name at a provider. The provider's package is loaded on first use. */
type ModelMaker = (provider: ModelProviderConfig, name: string, fetch: typeof globalThis.fetch) => Promise<SdkModel>;

const MAKERS: Record<ModelApi, ModelMaker> = {
  async openai({ name: provider, baseUrl, apiKey }, name, fetch) {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    return createOpenAICompatible({
      name: provider,
      baseURL: baseUrl,
      ...(apiKey === undefined ? {} : { apiKey }),
      includeUsage: true,
      supportsStructuredOutputs: true,
      fetch,
    }).chatModel(name);
  },
  async anthropic({ baseUrl, apiKey = "" }, name, fetch) {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    // Without a key, the SDK would read one from the environment; all configuration is read in one place.
    return createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(name);
  },
};

/** The model to call, and its settings. */
export interface ModelTarget {
  id: string;
  provider: ModelProviderConfig;
  /** Its name at the provider. */
  name: string;
  price: ModelPrice | null;
  timeoutMs: number;
  learned: LearnedQuirks;
}

/**
 * Errors that a retry may resolve: outputs vary, and connections drop. Requests that fail before any output are retried
 * below.
 */
const RETRYABLE_ERRORS: ReadonlySet<ModelErrorKind> = new Set(["cut", "empty", "invalid_output"]);
const MAX_TRIES = 2;

/** Minimum remaining time for a second attempt, in milliseconds. */
const LEAST_TRY_MS = 1_000;

/** Number of characters of an invalid answer that the retry shows to the model. */
const SHOWN_CHARS = 4_000;

const MAX_ERRORS_SHOWN = 3;

/** An answer that does not match its schema, and the error message. */
interface Misfit {
  text: string;
  faults: string;
}

/**
 * Calls a model, with the rounds of its tools, until its answer matches the schema: at most twice, and only once if a
 * tool was called or streamed text cannot be withdrawn. Rejects with a `ModelError` without a usable answer in time,
 * and with the signal's reason when it is aborted. Adds to `tally`.
 */
export async function chatWithModel<Output>(
  target: ModelTarget,
  request: ChatRequest<Output>,
  { policy, tally }: { policy: CallPolicy; tally: CallUsage },
): Promise<Output> {
  const timeoutMs = Math.min(request.timeoutMs ?? target.timeoutMs, target.timeoutMs);
  const deadlineAt = performance.now() + timeoutMs;
  const bounds = openCallBounds(request.signal, timeoutMs);
  const { apiKey } = target.provider;
  const modelFetch = createModelFetch({ apiKey, learned: target.learned, deadlineAt, policy });
  let misfit: Misfit | null = null;

  async function tryOnce(): Promise<Output> {
    const { zodSchema } = await import("ai");
    const text = await askOnce(
      {
        model: await createSdkModel(target.provider, target.name, modelFetch),
        apiKey,
        system: request.system,
        messages: messagesOf(request, misfit),
        schema: await zodSchema(request.schema).jsonSchema,
        schemaName: request.schemaName,
        tools: request.tools ?? [],
        maxRounds: request.maxRounds ?? 1,
        maxOutputTokens: request.maxOutputTokens ?? policy.maxOutputTokens,
        signal: bounds.signal,
        onText: await partialReader(request, tally),
      },
      tally,
    );
    const checked = request.schema.safeParse(readJsonOutput(text));
    if (checked.success) return checked.data;
    const errors = checked.error.issues.slice(0, MAX_ERRORS_SHOWN).map(({ path, message }) => {
      const position = path.join(".");
      return position === "" ? message : `${position}: ${message}`;
    });
    misfit = { text: text.slice(0, SHOWN_CHARS), faults: errors.join("; ") };
    throw new ModelError(
      "invalid_output",
      "the answer does not match the requested format; use a model that can return JSON by a schema, often a larger one",
    );
  }

  try {
    for (let tries = 1; ; tries += 1) {
      try {
        return await tryOnce();
      } catch (error) {
        request.signal.throwIfAborted();
        if (bounds.isLate()) {
          throw new ModelError("timeout", `no answer within ${timeoutMs} ms`, { cause: error });
        }
        if (!(error instanceof ModelError)) throw error;
        const isHeard = tally.hasHandedOut && request.mayRestart !== true;
        const isFinal = isHeard || tally.toolCalls > 0 || tries >= MAX_TRIES || !RETRYABLE_ERRORS.has(error.fault);
        if (isFinal || performance.now() + LEAST_TRY_MS > deadlineAt) throw error;
      }
    }
  } finally {
    bounds.release();
  }
}

/** Returns the messages, followed by an invalid answer and its error if there is one. */
function messagesOf<Output>({ messages }: ChatRequest<Output>, misfit: Misfit | null): ModelMessage[] {
  const said = messages.map(({ role, text }): ModelMessage => ({ role, content: text }));
  if (misfit === null) return said;
  const ask = `This is not the JSON that was asked for (${misfit.faults}). Answer again, with that JSON and nothing else.`;
  return [...said, { role: "assistant", content: misfit.text }, { role: "user", content: ask }];
}

/** Growth of a long partial answer that is worth parsing it again. */
const WORTH_READING = 1.02;
const LONG_CHARS = 2_000;

/** Parses the partial JSON and passes it on when it has grown. */
async function partialReader<Output>(
  { onPartial }: Pick<ChatRequest<Output>, "onPartial">,
  tally: CallUsage,
): Promise<(text: string) => Promise<void>> {
  if (onPartial === undefined) return () => Promise.resolve();
  const { parsePartialJson } = await import("ai");
  let last: string | undefined;
  let readChars = 0;
  return async (text) => {
    if (text.length > LONG_CHARS && text.length > readChars && text.length < readChars * WORTH_READING) return;
    readChars = text.length;
    const part = jsonPartOf(text);
    if (part === "") return;
    const { value } = await parsePartialJson(part);
    const now = writeJson(value);
    if (value === undefined || now === last) return;
    last = now;
    tally.hasHandedOut = true;
    onPartial(value);
  };
}

/** Serializes a value as JSON; undefined if it is nested too deeply. */
function writeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ModelError("invalid_output", "the answer is nested too deeply", { cause: error });
  }
}

/** Creates the SDK's model for a name at a provider; makes no request. */
function createSdkModel(
  provider: ModelProviderConfig,
  name: string,
  fetch: typeof globalThis.fetch,
): Promise<SdkModel> {
  return MAKERS[provider.api](provider, name, fetch);
}

/**
 * Returns the JSON of a partial answer: models without a JSON mode put it in a fence, or text before it. Empty if it
 * has not begun.
 */
export function jsonPartOf(text: string): string {
  if (text.startsWith("{")) return text;
  const said = text.replace(THOUGHTS, "");
  const start = said.search(/[[{]/);
  if (start === -1) return "";
  const fence = FENCE.exec(said);
  return fence !== null && fence.index < start ? (fence[1] ?? "").trim() : said.slice(start);
}

/** Returns the value of an answer's JSON, ignoring text around it; undefined if there is none. */
export function readJsonOutput(text: string): unknown {
  const part = jsonPartOf(text);
  const end = Math.max(part.lastIndexOf("}"), part.lastIndexOf("]"));
  for (const candidate of [text, part, part.slice(0, end + 1)]) {
    try {
      return JSON.parse(candidate) as unknown;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  return undefined;
}
