import type { ProjectId } from "@svc/store";
import type { z } from "zod";
import type { ModelError } from "./model-error.ts";

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
  forAgent(agent: { model: string | null }): LanguageModel | null;
  /** State of each provider, by the results of the last calls, and each model without usable output. */
  health(): ModelHealth[];
  /**
   * Asks the model of the configuration one tiny question: null when it answers, or when there is none, else what is
   * wrong. Rejects with the reason of the signal when that is aborted.
   */
  findFault(signal: AbortSignal): Promise<ModelError | null>;
  /** Ends what is on its way, and resolves when that is written down. */
  close(): Promise<void>;
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
