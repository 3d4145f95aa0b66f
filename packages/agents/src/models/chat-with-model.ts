import type { ModelMessage, LanguageModel as SdkModel } from "ai";
import { askOnce } from "./ask-once.ts";
import type { CallTally } from "./ask-once.ts";
import { openCallBounds } from "./language-model.ts";
import { createModelFetch } from "./create-model-fetch.ts";
import { ModelError } from "./model-error.ts";
import type { ModelErrorKind } from "./model-error.ts";
import type { CallManners, ChatRequest, ModelPrice, ModelProviderConfig, ModelApi } from "./language-model.ts";
import type { LearnedQuirks } from "./create-model-fetch.ts";

/** What models think aloud, before their answer. */
const THOUGHTS = /^\s*<think(?:ing)?>[\s\S]*?(?:<\/think(?:ing)?>|$)/i;

/** JSON that comes in a fence, which need not be closed yet. */
const FENCE = /```(?:json)?[ \t]*\n?([\s\S]*?)(?:```|$)/i;

/** The SDK's model for a name at a provider. The provider's package is loaded when it is first needed. */
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
    // An empty key rather than none: the SDK would look for one in the environment, which one place alone reads.
    return createAnthropic({ baseURL: baseUrl, apiKey, fetch }).languageModel(name);
  },
};

/** The model that is asked, and how. */
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
 * Errors that a retry may resolve: models do not always respond alike, and connections break. Requests that fail
 * before anything of an answer has come are tried again below.
 */
const MENDABLE: ReadonlySet<ModelErrorKind> = new Set(["cut", "empty", "invalid_output"]);
const MAX_TRIES = 2;

/** A second try that has less time than this is not begun. */
const LEAST_TRY_MS = 1_000;

/** Characters of a wrong answer that the model is shown again. */
const SHOWN_CHARS = 4_000;

const MAX_ERRORS_SHOWN = 3;

/** An answer that does not fit its schema, and what to say of it. */
interface Misfit {
  text: string;
  faults: string;
}

/**
 * Asks a model, with the rounds of its tools, until its answer fits the schema: twice at most, and only once when a
 * tool was called, or text was streamed that cannot be withdrawn. Rejects with a `ModelError` when there is no usable
 * answer in time, and with the reason of the signal when that is aborted. Counts in `tally`.
 */
export async function chatWithModel<Output>(
  target: ModelTarget,
  request: ChatRequest<Output>,
  { manners, tally }: { manners: CallManners; tally: CallTally },
): Promise<Output> {
  const timeoutMs = Math.min(request.timeoutMs ?? target.timeoutMs, target.timeoutMs);
  const deadlineAt = performance.now() + timeoutMs;
  const bounds = openCallBounds(request.signal, timeoutMs);
  const { apiKey } = target.provider;
  const modelFetch = createModelFetch({ apiKey, learned: target.learned, deadlineAt, manners });
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
        maxOutputTokens: request.maxOutputTokens ?? manners.maxOutputTokens,
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
    throw new ModelError("invalid_output", "the answer does not match the requested format");
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
        const isFinal = isHeard || tally.toolCalls > 0 || tries >= MAX_TRIES || !MENDABLE.has(error.fault);
        if (isFinal || performance.now() + LEAST_TRY_MS > deadlineAt) throw error;
      }
    }
  } finally {
    bounds.release();
  }
}

/** What was said, and after an answer that did not fit: that answer, and what is wrong with it. */
function messagesOf<Output>({ messages }: ChatRequest<Output>, misfit: Misfit | null): ModelMessage[] {
  const said = messages.map(({ role, text }): ModelMessage => ({ role, content: text }));
  if (misfit === null) return said;
  const ask = `This is not the JSON that was asked for (${misfit.faults}). Answer again, with that JSON and nothing else.`;
  return [...said, { role: "assistant", content: misfit.text }, { role: "user", content: ask }];
}

/** Of a long answer only so much more is worth reading it again from its beginning. */
const WORTH_READING = 1.02;
const LONG_CHARS = 2_000;

/** Reads what has come of the JSON and hands it out, when there is more of it than before. */
async function partialReader<Output>(
  { onPartial }: Pick<ChatRequest<Output>, "onPartial">,
  tally: CallTally,
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

/** A value as JSON; what is nested so deeply that it cannot be written is no answer. */
function writeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ModelError("invalid_output", "the answer is nested too deeply", { cause: error });
  }
}

/** Makes the SDK's model for a name at a provider; nothing is asked yet. */
function createSdkModel(
  provider: ModelProviderConfig,
  name: string,
  fetch: typeof globalThis.fetch,
): Promise<SdkModel> {
  return MAKERS[provider.api](provider, name, fetch);
}

/**
 * The JSON of an answer from its beginning on, as far as it has come: models that were not bound to JSON put it in a
 * fence, or words before it. Empty where none has begun.
 */
export function jsonPartOf(text: string): string {
  if (text.startsWith("{")) return text;
  const said = text.replace(THOUGHTS, "");
  const start = said.search(/[[{]/);
  if (start === -1) return "";
  const fence = FENCE.exec(said);
  return fence !== null && fence.index < start ? (fence[1] ?? "").trim() : said.slice(start);
}

/** The value of an answer's JSON, whatever words stand around it; undefined where it is none. */
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
