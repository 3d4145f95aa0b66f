import type { z } from "zod";
import type { ProjectId } from "@svc/store";
import type { ModelError } from "./model-error.ts";

/** API of a provider: OpenAI's, as most servers have, or Anthropic's. */
export type ModelApi = "openai" | "anthropic";

/** A server with language models. */
export interface ModelProviderConfig {
  /** Prefix of the ids of its models in the catalogue. */
  name: string;
  api: ModelApi;
  /** As in `http://localhost:11434/v1`. */
  baseUrl: string;
  apiKey?: string;
}

const ANTHROPIC_HOST = "api.anthropic.com";
const OLLAMA_PORT = "11434";

/**
 * Returns the provider at a URL: its API follows from the host unless given, and its name is `ollama` on Ollama's port.
 */
export function modelProviderOf(at: { baseUrl: string; api?: ModelApi | undefined; apiKey?: string | undefined }) {
  const { hostname, port } = new URL(at.baseUrl);
  const api = at.api ?? (hostname === ANTHROPIC_HOST ? "anthropic" : "openai");
  const name = api === "openai" && port === OLLAMA_PORT ? "ollama" : api;
  const provider: ModelProviderConfig = { name, api, baseUrl: at.baseUrl };
  return at.apiKey === undefined ? provider : { ...provider, apiKey: at.apiKey };
}

/** Prices in US dollars per million tokens. */
export interface ModelPrice {
  input: number;
  output: number;
}

/** The language models of an installation. */
export interface ModelsConfig {
  /** The first one is the default for models without a provider. */
  providers: readonly ModelProviderConfig[];
  /** Default model of agents; null for none. */
  defaultModel: string | null;
  /** Timeout of an answer in total. */
  timeoutMs: number;
  /** By id in the catalogue, or by name for any provider. */
  prices: Readonly<Record<string, ModelPrice>>;
}

/** Timeouts, retries and limits of calls to providers. */
export interface CallPolicy {
  /** Timeout for the first byte of a response, reasoning included. The total timeout may end it earlier. */
  firstByteMs: number;
  /** Timeout between two chunks of a response. */
  silenceMs: number;
  /** Maximum number of attempts per request, including the first one. */
  maxTries: number;
  /** Approximate delay before the second attempt; doubled before the third. */
  firstRetryMs: number;
  /** Maximum size of a response, as received. */
  maxAnswerBytes: number;
  /** Maximum tokens of a response, if the request does not set a limit. */
  maxOutputTokens: number;
  /** Maximum time a call waits for its turn while its project is at its concurrency limit. */
  turnMs: number;
  /** Time a provider is not called after `maxFailures` consecutive failures. */
  restMs: number;
  maxFailures: number;
}

/**
 * A local server may load its model before the first byte; a hosted one needs a few seconds at most. 4,096 tokens are
 * about three pages of text and, with the protocol's overhead per token, about 1.5 MB.
 */
export const DEFAULT_CALL_POLICY: CallPolicy = {
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

/** Signal that ends a call: by its caller, its timeout, or the shutdown of its process. */
interface CallBounds {
  readonly signal: AbortSignal;
  /** True if the call timed out. */
  isLate(): boolean;
  end: (reason: unknown) => void;
  /** Removes the listener and the timer. Idempotent. */
  release(): void;
}

/** Purpose of a call; shown with its tokens on the ticket. */
type ModelPurpose = "answer" | "triage" | "notes";

/** Project and ticket of a call, which limits, tokens and costs are counted for. */
interface ModelCaller {
  project: ProjectId;
  /** Null if the call is not for a ticket. */
  ticketId: string | null;
  purpose: ModelPurpose;
}

/** An earlier message, or the current request. */
export interface ChatMessage {
  role: "user" | "assistant";
  text: string;
}

/** A tool that a model may call while it generates an answer. */
export interface ChatTool {
  /** `[a-zA-Z0-9_-]{1,64}`, unique in its call. */
  name: string;
  description: string;
  /** JSON Schema of its arguments: an object. */
  parameters: Record<string, unknown>;
  /**
   * Runs the tool and returns its result as text for the model. `input` is unvalidated. Rejects only with the signal's
   * reason: an error is a result too.
   */
  execute(input: unknown, options: { callId: string; signal: AbortSignal }): Promise<string>;
}

/** A request to a model. */
export interface ChatRequest<Output> {
  caller: ModelCaller;
  /** Rules of the whole call. Contains no text by a customer, a document or a tool. */
  system: string;
  messages: readonly ChatMessage[];
  /** Schema of the answer: sent as JSON Schema, and validated on receipt. */
  schema: z.ZodType<Output>;
  /** Name of that schema, for providers that require one: `[a-z_]+`. */
  schemaName: string;
  tools?: readonly ChatTool[];
  /** Maximum number of requests: one, and one more after each round of tool calls. 1 by default. */
  maxRounds?: number;
  /** 4,096 by default. */
  maxOutputTokens?: number;
  /** Timeout of everything: retries, tools, the last byte. The configured timeout is the maximum and the default. */
  timeoutMs?: number;
  signal: AbortSignal;
  /**
   * Called with the answer so far, as far as it can be parsed: fields and list entries may be missing or cut. It is
   * part of the answer that `chat` resolves with, unless `mayRestart` is true.
   */
  onPartial?(partial: unknown): void;
  /**
   * Whether the model may be called again after something was passed on, because its answer was interrupted or does not
   * match the schema: `onPartial` then receives the new answer from its beginning. False by default.
   */
  mayRestart?: boolean;
}

/** Tokens and costs. */
export interface ModelUsage {
  /** Id in the catalogue, as in `openai:gpt-4o-mini`. */
  model: string;
  inputTokens: number;
  outputTokens: number;
  /** Null if no price is configured. Tokens are estimated from the texts if the provider does not report them. */
  costUsd: number | null;
}

/** Result of a call. */
export interface ChatResult<Output> {
  output: Output;
  usage: ModelUsage;
}

/** A language model at a provider, shared by all callers. */
export interface LanguageModel {
  /** Id in the catalogue: the name of its provider, a colon, its name there. */
  readonly id: string;
  /**
   * Calls the model. Rejects with a `ModelError` without a usable answer in time, and with the reason of `signal` when
   * it is aborted.
   */
  chat<Output>(request: ChatRequest<Output>): Promise<ChatResult<Output>>;
}

/** The models of this process. */
export interface LanguageModels {
  /**
   * Returns the model of an agent: the one it names, or the default model. Null if the agent uses none (`none`), or if
   * neither is set. A model of a provider that is not configured fails every call with that reason.
   */
  forAgent(agent: { model: string | null }): Promise<LanguageModel | null>;
  /** Returns the current configuration; null if there is none, and agents quote. */
  config(): Promise<ModelsConfig | null>;
  /** State of each provider, by the results of the last calls, and each model without usable output. */
  health(): ModelHealth[];
  /**
   * Sends a minimal question to the default model. Returns null if it responds or if there is no default model,
   * otherwise the error. Rejects with the signal's reason when it is aborted.
   */
  findProblem(signal: AbortSignal): Promise<ModelError | null>;
  /** Aborts calls in progress, and resolves when they are recorded. */
  close(): Promise<void>;
}

/** The models of one configuration. */
export interface OpenedModels extends Pick<LanguageModels, "health" | "findProblem" | "close"> {
  /** As `LanguageModels.forAgent`, for this configuration. */
  forAgent(agent: { model: string | null }): LanguageModel | null;
}

/** Health of a provider or a model. */
interface ModelHealth {
  /** Name of the provider, or id of the model. */
  name: string;
  /** Why a provider is currently not called, or the error of a model, for operators; null if it works. */
  fault: string | null;
}

/**
 * Limits a call by a signal and an optional timeout in milliseconds; call `release` when it has ended. A signal made by
 * `AbortSignal.any` would stay attached to a long-lived source, such as the signal of a process.
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
