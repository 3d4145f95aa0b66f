import type { z } from "zod";
import type { ProjectId } from "@svc/store";
import type { ModelError } from "./model-error.ts";

/** Which API a provider speaks: that of OpenAI, as most servers do, or that of Anthropic. */
export type ModelApi = "openai" | "anthropic";

/** A server with language models. */
export interface ModelProviderConfig {
  /** Begins the ids of its models in the catalogue. */
  name: string;
  api: ModelApi;
  /** As in `http://localhost:11434/v1`. */
  baseUrl: string;
  apiKey?: string;
}

const ANTHROPIC_HOST = "api.anthropic.com";
const OLLAMA_PORT = "11434";

/** Returns the provider at a URL: its API by its host unless given, and called `ollama` if it has Ollama's port. */
export function modelProviderOf(at: { baseUrl: string; api?: ModelApi | undefined; apiKey?: string | undefined }) {
  const { hostname, port } = new URL(at.baseUrl);
  const api = at.api ?? (hostname === ANTHROPIC_HOST ? "anthropic" : "openai");
  const name = api === "openai" && port === OLLAMA_PORT ? "ollama" : api;
  const provider: ModelProviderConfig = { name, api, baseUrl: at.baseUrl };
  return at.apiKey === undefined ? provider : { ...provider, apiKey: at.apiKey };
}

/** US dollars for a million tokens. */
export interface ModelPrice {
  input: number;
  output: number;
}

/** The language models of an installation. */
export interface ModelsConfig {
  /** The first is that of models which are named without a provider. */
  providers: readonly ModelProviderConfig[];
  /** What agents use that name no model; null: those use none. */
  defaultModel: string | null;
  /** How long an answer may take in all. */
  timeoutMs: number;
  /** By id in the catalogue, or by name at any provider. */
  prices: Readonly<Record<string, ModelPrice>>;
}

/** How providers are asked: how long is waited for what, how often, and how much is taken. */
export interface CallManners {
  /** For the first byte of an answer, thinking included. The time for everything may end it before. */
  firstByteMs: number;
  /** Between two pieces of an answer. */
  silenceMs: number;
  /** Tries of one request in all, the first one included. */
  maxTries: number;
  /** Before the second try, about; twice that before the third. */
  firstRetryMs: number;
  /** Of one answer, as it is read. */
  maxAnswerBytes: number;
  /** Of one answer, where the request does not say. */
  maxOutputTokens: number;
  /** How long a call waits for its turn where its project has too many on their way. */
  turnMs: number;
  /** How long a provider is left alone after `maxFailures` failures in a row. */
  restMs: number;
  maxFailures: number;
}

/**
 * A local server may load its model before the first byte; a hosted one needs some seconds at most. 4,096 tokens are about
 * three pages of text and, with what is sent around each token, about 1.5 MB.
 */
export const DEFAULT_MANNERS: CallManners = {
  firstByteMs: 60_000,
  silenceMs: 15_000,
  maxTries: 3,
  firstRetryMs: 300,
  maxAnswerBytes: 4_000_000,
  maxOutputTokens: 4_096,
  turnMs: 2_000,
  restMs: 15_000,
  maxFailures: 3,
};

/** What ends a call: its caller, its timeout, or the process that makes it. */
interface CallBounds {
  readonly signal: AbortSignal;
  /** True when it was the time that has ended it. */
  isLate(): boolean;
  end: (reason: unknown) => void;
  /** Lets go of the signal that was given and of the timer. Safe to call twice. */
  release(): void;
}

/** What a model is asked for; shown with its tokens on the ticket. */
export type ModelPurpose = "answer" | "triage" | "notes";

/** Whom a call is made for: limits, tokens and costs are counted by it. */
export interface ModelCaller {
  project: ProjectId;
  /** Null where no ticket is worked on. */
  ticketId: string | null;
  purpose: ModelPurpose;
}

/** Something that was said, or that is asked now. */
export interface ChatMessage {
  role: "user" | "assistant";
  text: string;
}

/** A tool that a model may call while it writes an answer. */
export interface ChatTool {
  /** `[a-zA-Z0-9_-]{1,64}`, unique in its call. */
  name: string;
  description: string;
  /** JSON Schema of its arguments: an object. */
  parameters: Record<string, unknown>;
  /**
   * Does it and says what came of it, in text for the model. Gets arguments as the model sent them, not yet checked.
   * Rejects only with the reason of the signal: an error is a result too.
   */
  execute(input: unknown, options: { callId: string; signal: AbortSignal }): Promise<string>;
}

/** What a model is asked. */
export interface ChatRequest<Output> {
  caller: ModelCaller;
  /** What holds for the whole call: rules, and nothing that a customer, a document or a tool has written. */
  system: string;
  messages: readonly ChatMessage[];
  /** What the answer has to be: sent along as JSON Schema, and checked when it comes. */
  schema: z.ZodType<Output>;
  /** The name of that schema, for providers that want one: `[a-z_]+`. */
  schemaName: string;
  tools?: readonly ChatTool[];
  /** Maximum number of requests: one, and one more after each round of tool calls. 1 by default. */
  maxRounds?: number;
  /** 4,096 by default. */
  maxOutputTokens?: number;
  /** For everything: retries, tools, the last byte. At most, and by default, what is configured. */
  timeoutMs?: number;
  signal: AbortSignal;
  /**
   * What of the answer has come so far, as far as it can be read: fields and list entries may be missing or cut. What
   * was handed out is of the answer that `chat` resolves with, unless `mayRestart` is true.
   */
  onPartial?(partial: unknown): void;
  /**
   * Whether the model may be asked once more after something was handed out, because its answer broke off or does not
   * fit: `onPartial` then hears the other answer from its beginning. False where it is left out.
   */
  mayRestart?: boolean;
}

/** Tokens and money. */
export interface ModelUsage {
  /** Id in the catalogue, as in `openai:gpt-4o-mini`. */
  model: string;
  inputTokens: number;
  outputTokens: number;
  /** Null where no price is configured. Tokens are estimated from the texts where the provider does not count. */
  costUsd: number | null;
}

/** What a model answered. */
export interface ChatResult<Output> {
  output: Output;
  usage: ModelUsage;
}

/** A language model at a provider: one for all callers. */
export interface LanguageModel {
  /** Id in the catalogue: the name of its provider, a colon, its name there. */
  readonly id: string;
  /**
   * Asks the model. Rejects with a `ModelError` when it gives no usable answer in time, whatever is wrong with it, and
   * with the reason of `signal` when that is aborted.
   */
  chat<Output>(request: ChatRequest<Output>): Promise<ChatResult<Output>>;
}

/** The models of this process. */
export interface LanguageModels {
  /**
   * The model that an agent works with: the one it names, else that of the configuration. Null for an agent that wants
   * none (`none`), and where none is named. One of a provider that is not configured only says so.
   */
  forAgent(agent: { model: string | null }): Promise<LanguageModel | null>;
  /** The configuration as it is now; null while there is none, and agents quote. */
  config(): Promise<ModelsConfig | null>;
  /** State of each provider, by the results of the last calls, and each model without usable output. */
  health(): ModelHealth[];
  /**
   * Asks the model of the configuration one tiny question: null when it answers, or when there is none, else what is
   * wrong. Rejects with the reason of the signal when that is aborted.
   */
  findProblem(signal: AbortSignal): Promise<ModelError | null>;
  /** Ends what is on its way, and resolves when that is written down. */
  close(): Promise<void>;
}

/** The models of one configuration. */
export interface OpenedModels extends Pick<LanguageModels, "health" | "findProblem" | "close"> {
  /** As `LanguageModels.forAgent`, for this configuration. */
  forAgent(agent: { model: string | null }): LanguageModel | null;
}

/** How a provider or a model is doing. */
export interface ModelHealth {
  /** That of the provider, or the id of the model. */
  name: string;
  /**
   * Why a provider is left alone at present, or what is wrong with a model, in words for operators; null while all is
   * well.
   */
  fault: string | null;
}

/**
 * Bounds a call by a signal and, where one is given, a time in milliseconds; `release` it when it has ended. What
 * `AbortSignal.any` makes instead stays with its sources for good, such as the signal of a process.
 */
export function openCallBounds(given: AbortSignal, timeoutMs?: number): CallBounds {
  const ending = new AbortController();
  let isLate = false;
  const end = () => ending.abort(given.reason);
  const whenLate = () => {
    isLate = !ending.signal.aborted;
    ending.abort(new Error(`a call has not ended within ${timeoutMs} ms`));
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(whenLate, timeoutMs);
  if (given.aborted) end();
  else given.addEventListener("abort", end, { once: true });
  return {
    signal: ending.signal,
    isLate: () => isLate,
    end: (reason) => ending.abort(reason),
    release() {
      clearTimeout(timer);
      given.removeEventListener("abort", end);
    },
  };
}
