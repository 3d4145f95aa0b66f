import { z } from "zod";
import { createBreaker } from "@svc/outbound";
import type { Breaker } from "@svc/outbound";
import { count, fewValues, observe } from "@svc/telemetry";
import { asProjectId } from "@svc/store";
import type { ProjectId, Store } from "@svc/store";
import type { Log } from "@svc/log";
import { estimateTokens } from "./ask-once.ts";
import type { CallUsage } from "./ask-once.ts";
import { openCallBounds, DEFAULT_CALL_POLICY } from "./language-model.ts";
import type {
  CallPolicy,
  ChatRequest,
  ChatResult,
  LanguageModel,
  OpenedModels,
  ModelUsage,
  ModelProviderConfig,
  ModelsConfig,
} from "./language-model.ts";
import { chatWithModel } from "./chat-with-model.ts";
import type { ModelTarget } from "./chat-with-model.ts";
import { ModelError } from "./model-error.ts";
import type { ModelErrorKind } from "./model-error.ts";
import { createProjectLimits } from "./project-limits.ts";
import type { ProjectLimits } from "./project-limits.ts";

/** No project: the call is not recorded. */
const NO_PROJECT = asProjectId("00000000-0000-0000-0000-000000000000");

/** Model name of an agent that uses no model. */
const NO_MODEL = "none";

/** Prefix of the ids of Ollama's models, whatever the provider's name is. */
const OLLAMA = "ollama";

/**
 * Well-known provider names. If such a provider is not configured, its models fail instead of falling back to another
 * provider.
 */
const PROVIDER_NAMES: ReadonlySet<string> = new Set(["openai", "anthropic", OLLAMA]);

/** Maximum number of models with cached quirks; agents may name any number. */
const MAX_MODELS = 1_000;

/** Errors of a provider as a whole; after several consecutive ones it is not called for a while. */
const PROVIDER_ERROR_KINDS: ReadonlySet<ModelErrorKind> = new Set([
  "unreachable",
  "timeout",
  "cut",
  "unauthorized",
  "rate_limited",
  "provider_fault",
]);

/** Errors of a model for any request while its provider works: it is missing, or not capable enough. */
const MODEL_ERROR_KINDS: ReadonlySet<ModelErrorKind> = new Set([
  "unknown_model",
  "invalid_output",
  "empty",
  "tool_loop",
]);

/** A timeout shorter than this and than most of the usual timeout is no evidence against the provider. */
const FAIR_TIMEOUT_MS = 5_000;
const FAIR_SHARE = 0.9;

const PER_MILLION = 1_000_000;

/** Dependencies of language models. */
export interface LanguageModelsDeps {
  log: Log;
  /** Reads limits and records calls. */
  store: { modelCalls: Pick<Store["modelCalls"], "findAllowance" | "insert"> };
  /** Overrides of the defaults. */
  policy?: Partial<CallPolicy>;
}

/** Calls in progress and their records, of models that may be replaced meanwhile. */
interface ModelCalls {
  /** Runs a call within its bounds, which also end when this is closed. */
  run<Result>(bounds: ReturnType<typeof openCallBounds>, call: () => Promise<Result>): Promise<Result>;
  /** Waits for this record of a call when this is closed. */
  addRecord(written: Promise<void>): void;
  /** Aborts the calls, and resolves once they are recorded. */
  close(): Promise<void>;
}

/** Tracks the calls of one configuration, or of several that replace each other. */
export function trackModelCalls(): ModelCalls {
  /** Calls in progress, each with a function that aborts it. */
  const calls = new Map<Promise<unknown>, (reason: Error) => void>();
  const writing = new Set<Promise<void>>();
  let isClosed = false;
  return {
    async run(bounds, start) {
      if (isClosed) bounds.end(closedError());
      const call = start();
      calls.set(call, bounds.end);
      try {
        return await call;
      } finally {
        calls.delete(call);
        bounds.release();
      }
    },
    addRecord(written) {
      writing.add(written);
      void written.finally(() => writing.delete(written));
    },
    async close() {
      isClosed = true;
      for (const end of calls.values()) end(closedError());
      await Promise.allSettled(calls.keys());
      await Promise.all(writing);
    },
  };
}

/**
 * Opens the models of a configuration. Makes no request and loads no client library before the first call. A provider
 * that fails several times in a row is not called for a while; one line is logged when this begins and one when it
 * recovers. Each call is recorded after it has ended, without delaying its answer. `close` closes `calls`.
 */
export function openLanguageModels(
  config: ModelsConfig,
  deps: LanguageModelsDeps,
  calls: ModelCalls = trackModelCalls(),
): OpenedModels {
  const { log, store } = deps;
  const policy: CallPolicy = { ...DEFAULT_CALL_POLICY, ...deps.policy };
  const limits = createProjectLimits(store, policy);
  const models = new Map<string, LanguageModel>();
  const watch = watchModels(config.providers, policy, log);
  // The client library logs to the console what a model or a provider does not support.
  globalThis.AI_SDK_LOG_WARNINGS = false;

  /** Recording must not fail the answer: an error here is only logged. */
  function record(project: ProjectId, call: ModelCall): void {
    limits.use(project, call.inputTokens + call.outputTokens);
    const written = store.modelCalls.insert(project, call).catch((error: unknown) => {
      log.warn({ error, model: call.model }, "failed to record a language model call");
    });
    calls.addRecord(written);
  }

  function chat<Output>(target: ModelTarget, asked: ChatRequest<Output>): Promise<ChatResult<Output>> {
    const bounds = openCallBounds(asked.signal);
    const { signal } = bounds;
    return calls.run(bounds, () => chatWithin(target, asked, { signal, policy, limits, watch, log, record }));
  }

  return {
    forAgent(agent) {
      const wanted = agent.model ?? config.defaultModel;
      if (wanted === null || wanted === NO_MODEL) return null;
      const target = targetOf(config, wanted);
      if (target === null) return unconfiguredModel(wanted, watch);
      const known = models.get(target.id);
      if (known !== undefined) return known;
      if (models.size >= MAX_MODELS) models.clear();
      const model: LanguageModel = { id: target.id, chat: (request) => chat(target, request) };
      models.set(target.id, model);
      return model;
    },

    health: () => watch.health(),

    async findProblem(signal) {
      if (config.defaultModel === null || config.defaultModel === NO_MODEL) return null;
      const target = targetOf(config, config.defaultModel);
      return target === null ? unknownProvider(config.defaultModel) : findModelError(target, { policy, signal });
    },

    close: () => calls.close(),
  };
}

type ModelCall = Parameters<Store["modelCalls"]["insert"]>[1];

/** Dependencies of a call. */
interface CallDeps {
  policy: CallPolicy;
  limits: ProjectLimits;
  watch: ModelWatch;
  log: Log;
  record: (project: ProjectId, call: ModelCall) => void;
}

/** Calls within the limits of the project and records the call, whether it succeeds or fails. */
async function chatWithin<Output>(
  target: ModelTarget,
  asked: ChatRequest<Output>,
  { signal, policy, limits, watch, log, record }: CallDeps & { signal: AbortSignal },
): Promise<ChatResult<Output>> {
  const { caller } = asked;
  const tokens = estimateTokens(asked) + (asked.maxOutputTokens ?? policy.maxOutputTokens);
  const tally: CallUsage = { inputTokens: 0, outputTokens: 0, toolCalls: 0, hasHandedOut: false };
  const began = performance.now();
  let problem: string | null = null;
  try {
    const output = await limits.run(caller.project, { signal, tokens }, () => {
      // Time spent waiting for the turn counts against the timeout.
      const timeoutMs = Math.ceil((asked.timeoutMs ?? target.timeoutMs) - (performance.now() - began));
      if (timeoutMs < 1) throw new ModelError("busy", "the call waited too long for the project's concurrency limit");
      return watch.chat(target, { ...asked, signal, timeoutMs }, tally);
    });
    return { output, usage: usageOf(target, tally) };
  } catch (error) {
    problem = error instanceof ModelError ? error.fault : "aborted";
    log.debug({ model: target.id, purpose: caller.purpose, fault: problem, error }, "language model call failed");
    throw error;
  } finally {
    const { model, ...used } = usageOf(target, tally);
    const ms = performance.now() - began;
    noteFigures(caller.purpose, { model: figureName(model), ...used }, { ms, fault: problem });
    record(caller.project, { ticketId: caller.ticketId, purpose: caller.purpose, model, ...used, ms, fault: problem });
  }
}

/** Tracks the results of calls, to stop calling a failing provider for a while. */
interface ModelWatch {
  /** Calls a model, and reports the result to the provider's breaker. */
  chat<Output>(target: ModelTarget, request: ChatRequest<Output>, tally: CallUsage): Promise<Output>;
  /** Records an error of a model while its provider works. */
  noteTrouble(model: string, error: ModelError): void;
  health: OpenedModels["health"];
}

function watchModels(providers: readonly ModelProviderConfig[], policy: CallPolicy, log: Log): ModelWatch {
  /** Models with errors. */
  const troubles = new Map<string, Breaker>();
  const breakers = new Map(providers.map(({ name }) => [name, openBreaker({ provider: name })]));

  /** A model without usable output is still called: its breaker never opens. */
  function openBreaker(labels: { provider: string } | { model: string }): Breaker {
    const isProvider = "provider" in labels;
    const [failing, works] = isProvider
      ? ["language model provider failing", "language model provider available again"]
      : ["language model returns no usable answers", "language model returns usable answers again"];
    return createBreaker({
      maxFailures: policy.maxFailures,
      restMs: isProvider ? policy.restMs : 0,
      onOpen: (reason) => log.warn(labels, `${failing}: ${reason}; agents quote their knowledge bases instead`),
      onClose: () => log.info(labels, works),
    });
  }

  function noteTrouble(model: string, error: ModelError): void {
    if (troubles.size >= MAX_MODELS) troubles.clear();
    const trouble = troubles.get(model) ?? openBreaker({ model });
    troubles.set(model, trouble);
    trouble.fail(error.message);
  }

  async function chat<Output>(target: ModelTarget, request: ChatRequest<Output>, tally: CallUsage): Promise<Output> {
    const breaker = breakers.get(target.provider.name);
    if (breaker?.allows() === false) {
      const reason = breaker.restReason() ?? "see the log";
      throw new ModelError("resting", `the provider is paused after repeated failures: ${reason}`);
    }
    try {
      const output = await chatWithModel(target, request, { policy, tally });
      breaker?.succeed();
      troubles.get(target.id)?.succeed();
      return output;
    } catch (error) {
      if (error instanceof ModelError && MODEL_ERROR_KINDS.has(error.fault)) noteTrouble(target.id, error);
      if (error instanceof ModelError && blamesProvider(error, target, request.timeoutMs)) {
        breaker?.fail(error.message);
      } else if (error instanceof ModelError && !PROVIDER_ERROR_KINDS.has(error.fault)) {
        // The provider responded, though without usable output. A call with little time is no evidence either way.
        breaker?.succeed();
      }
      throw error;
    }
  }

  return {
    chat,
    noteTrouble,
    health() {
      const ofProviders = providers.map(({ name }) => ({ name, fault: breakers.get(name)?.restReason() ?? null }));
      const inTrouble = [...troubles].map(([name, trouble]) => ({ name, fault: trouble.restReason() }));
      return [...ofProviders, ...inTrouble.filter(({ fault: error }) => error !== null)];
    },
  };
}

/**
 * Returns the provider of that name. If none is named `ollama`, returns the one that may be Ollama by its API and
 * address; hosted ones are not called without encryption.
 */
function providerCalled(config: ModelsConfig, named: string): ModelProviderConfig | undefined {
  const found = config.providers.find(({ name }) => name === named);
  if (found !== undefined || named !== OLLAMA) return found;
  return config.providers.find(({ api, baseUrl }) => api === "openai" && baseUrl.startsWith("http:"));
}

/** Finds a model by its id in the catalogue, or by its name at the first provider; null if there is none. */
function targetOf(config: ModelsConfig, model: string): ModelTarget | null {
  const [named = "", ...rest] = model.split(":");
  const byName = rest.length > 0 ? providerCalled(config, named) : undefined;
  if (byName === undefined && rest.length > 0 && PROVIDER_NAMES.has(named)) return null;
  const provider = byName ?? config.providers[0];
  if (provider === undefined) return null;
  const name = byName === undefined ? model : rest.join(":");
  const id = `${provider.name}:${name}`;
  const prices = new Map(Object.entries(config.prices));
  const price = prices.get(id) ?? prices.get(name) ?? null;
  return { id, provider, name, price, timeoutMs: config.timeoutMs, learned: new Set() };
}

function unknownProvider(id: string): ModelError {
  const [named = ""] = id.split(":");
  return new ModelError("unknown_model", `no model provider named ${named} is configured`);
}

/** Creates a model of a provider that is not configured: every call fails, and the ticket shows why. */
function unconfiguredModel(id: string, watch: ModelWatch): LanguageModel {
  return {
    id,
    chat() {
      const error = unknownProvider(id);
      watch.noteTrouble(id, error);
      return Promise.reject(error);
    },
  };
}

/** Agents may name any number of models, and each would create metrics of its own. */
const figureName = fewValues(50);

function noteFigures(
  purpose: string,
  { model, inputTokens, outputTokens, costUsd }: ModelUsage,
  { ms, fault: error }: { ms: number; fault: string | null },
): void {
  count("svc_model_calls_total", { model, purpose, outcome: error ?? "ok" });
  observe("svc_model_call_duration_seconds", { model }, ms / 1_000);
  count("svc_model_tokens_total", { model, direction: "input" }, inputTokens);
  count("svc_model_tokens_total", { model, direction: "output" }, outputTokens);
  if (costUsd !== null) count("svc_model_cost_usd_total", { model }, costUsd);
}

const closedError = () => new Error("the service is shutting down");

/** Returns whether an error is evidence against the provider: one of a call with little time is not. */
function blamesProvider({ fault: error }: ModelError, target: ModelTarget, timeoutMs = target.timeoutMs): boolean {
  const fairMs = Math.min(FAIR_TIMEOUT_MS, target.timeoutMs * FAIR_SHARE);
  return PROVIDER_ERROR_KINDS.has(error) && (error !== "timeout" || timeoutMs >= fairMs);
}

function usageOf({ id, price }: ModelTarget, { inputTokens, outputTokens }: CallUsage): ModelUsage {
  const costUsd = price === null ? null : (inputTokens * price.input + outputTokens * price.output) / PER_MILLION;
  return { model: id, inputTokens, outputTokens, costUsd };
}

/**
 * Sends a minimal question to a model to check whether it works; returns null or the error. It ignores the breaker and
 * is not recorded. Rejects with the signal's reason when it is aborted.
 */
async function findModelError(
  target: ModelTarget,
  { policy, signal }: { policy: CallPolicy; signal: AbortSignal },
): Promise<ModelError | null> {
  const tally = { inputTokens: 0, outputTokens: 0, toolCalls: 0, hasHandedOut: false };
  const request = {
    caller: { project: NO_PROJECT, ticketId: null, purpose: "answer" },
    system: "You check that you can answer. Answer in JSON.",
    messages: [{ role: "user", text: "How many days has a week?" }],
    schema: z.object({ days: z.number() }),
    schemaName: "answer",
    signal,
  } as const;
  try {
    await chatWithModel(target, request, { policy, tally });
    return null;
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
}
