import type { LanguageModel as SdkModel, ModelMessage, ToolSet } from "ai";
import { openCallBounds } from "./language-model.ts";
import type { ChatTool } from "./language-model.ts";
import { ModelError, modelErrorOf } from "./model-error.ts";

/** Usage of a call so far, recorded whether it succeeds or fails. */
export interface CallUsage {
  inputTokens: number;
  outputTokens: number;
  /** Number of tool calls carried out. */
  toolCalls: number;
  /** True once a part of the answer was passed on, so that no other answer may replace it. */
  hasHandedOut: boolean;
}

/** A request to a model, with the rounds of its tools. */
export interface Question {
  model: SdkModel;
  apiKey: string | undefined;
  system: string;
  messages: ModelMessage[];
  /** JSON Schema of the answer. */
  schema: object;
  schemaName: string;
  tools: readonly ChatTool[];
  maxRounds: number;
  maxOutputTokens: number;
  signal: AbortSignal;
  /** Called with the text of the answer so far. */
  onText(text: string): Promise<void>;
}

/** Maximum number of tool calls per question, in all rounds. A model in a loop may also call several at once. */
const MAX_TOOL_CALLS = 20;

/** Maximum length of an answer, in characters; far above what the token limit allows. */
const MAX_TEXT_CHARS = 100_000;

/** Approximate characters per token, for providers that do not count. */
const CHARS_PER_TOKEN = 4;

/** Maximum plausible number of tokens of one round; a larger count is an error of the provider. */
const MAX_TOKENS = 1_000_000_000;

/** Converts the tools for the client library. `mayCall` counts calls, and returns whether another one is allowed. */
async function toolSetOf(question: Question, mayCall: () => boolean): Promise<ToolSet> {
  const { jsonSchema, tool } = await import("ai");
  return Object.fromEntries(
    question.tools.map((offered) => [
      offered.name,
      tool({
        description: offered.description,
        inputSchema: jsonSchema(offered.parameters),
        execute: (input: unknown, { toolCallId }) =>
          mayCall()
            ? offered.execute(input, { callId: toolCallId, signal: question.signal })
            : "No more tools can be called. Answer with what you know.",
      }),
    ]),
  );
}

/** Starts the request; the stream has the model's text, reasoning and tool calls, round by round. */
async function openStream(question: Question, tally: CallUsage, signal: AbortSignal) {
  const { Output, stepCountIs, streamText } = await import("ai");
  const { maxRounds } = question;
  let round = 0;
  // The model would not read the result of a tool in the last round.
  const mayCall = () => round < maxRounds && tally.toolCalls < MAX_TOOL_CALLS && ++tally.toolCalls > 0;
  return streamText({
    model: question.model,
    system: question.system,
    messages: question.messages,
    output: {
      ...Output.text(),
      responseFormat: Promise.resolve({ type: "json", schema: question.schema, name: question.schemaName }),
    },
    tools: await toolSetOf(question, mayCall),
    stopWhen: stepCountIs(maxRounds),
    prepareStep: ({ stepNumber }) => {
      round = stepNumber + 1;
      return {};
    },
    maxOutputTokens: question.maxOutputTokens,
    // Retries are made below the client library, where the remaining time is known.
    maxRetries: 0,
    abortSignal: signal,
    // The stream reports the error as well; without this handler the library writes it to the console.
    onError: () => undefined,
  }).fullStream;
}

/**
 * Calls a model once and returns the text of its last round. Rejects with a `ModelError`, or with the signal's reason
 * as soon as it is aborted, without waiting for the model or a tool. Adds to `tally`.
 */
export async function askOnce(question: Question, tally: CallUsage): Promise<string> {
  const { signal, apiKey } = question;
  const bounds = openCallBounds(signal);
  const reader = (await openStream(question, tally, bounds.signal)).getReader();
  const ended = endOf(bounds.signal);
  const readPart = async () => {
    try {
      return await Promise.race([reader.read(), ended]);
    } catch (error) {
      signal.throwIfAborted();
      throw modelErrorOf(error, apiKey);
    }
  };
  let text = "";
  // Includes reasoning and tool calls.
  let writtenChars = 0;
  let finish = "";
  try {
    for (;;) {
      const { done, value: part } = await readPart();
      if (done) break;
      switch (part.type) {
        case "start-step":
          text = "";
          writtenChars = 0;
          finish = "";
          break;
        case "reasoning-delta":
          writtenChars += part.text.length;
          break;
        case "tool-input-delta":
          writtenChars += part.delta.length;
          break;
        case "text-delta":
          text += part.text;
          writtenChars += part.text.length;
          if (text.length > MAX_TEXT_CHARS) throw new ModelError("too_long", "the answer exceeds the maximum length");
          await question.onText(text);
          break;
        case "finish-step":
          finish = part.finishReason;
          addUsage(tally, question, { writtenChars, ...part.usage });
          break;
        case "error":
          throw modelErrorOf(part.error, apiKey);
        default:
      }
    }
  } catch (error) {
    // Providers report no usage for an interrupted answer.
    if (writtenChars > 0 && finish === "") addUsage(tally, question, { writtenChars });
    reader.cancel(error).catch(() => undefined);
    signal.throwIfAborted();
    // The client library keeps the connection open until it is cancelled.
    bounds.end(error);
    throw error;
  } finally {
    bounds.release();
  }
  return checkFinish(finish, text);
}

/** Returns the text of a complete answer; throws a `ModelError` otherwise. */
function checkFinish(finish: string, text: string): string {
  const error = FINISH_ERRORS[finish]?.(text) ?? null;
  if (error !== null) throw error;
  if (text.trim() === "") throw new ModelError("empty", "the model returned an empty answer");
  return text;
}

/** Finish reasons that may be errors, and their errors. */
const FINISH_ERRORS: Readonly<Record<string, (text: string) => ModelError | null>> = {
  "tool-calls": () => new ModelError("tool_loop", "the model kept calling tools and gave no answer"),
  "content-filter": () => new ModelError("refused", "the model refused to answer"),
  error: () => new ModelError("cut", "the provider failed while the model was answering"),
  length: (text) =>
    /[}\]]\s*(?:```)?\s*$/.test(text) ? null : new ModelError("too_long", "the answer exceeds the maximum length"),
};

/** Estimates the tokens of a question. */
export function estimateTokens({ system, messages }: { system: string; messages: readonly object[] }): number {
  return Math.ceil((system.length + JSON.stringify(messages).length) / CHARS_PER_TOKEN);
}

/** Adds the usage that a provider reports, or an estimate. */
function addUsage(
  tally: CallUsage,
  question: Question,
  used: { writtenChars: number; inputTokens?: number | undefined; outputTokens?: number | undefined },
): void {
  tally.inputTokens += countOf(used.inputTokens) ?? estimateTokens(question);
  tally.outputTokens += countOf(used.outputTokens) ?? Math.ceil(used.writtenChars / CHARS_PER_TOKEN);
}

/** Returns a provider's count; undefined if it is not a valid count. */
function countOf(tokens: number | undefined): number | undefined {
  return Number.isSafeInteger(tokens) && tokens !== undefined && tokens >= 0 && tokens <= MAX_TOKENS
    ? tokens
    : undefined;
}

/** Rejects with the signal's reason when it is aborted. */
function endOf(signal: AbortSignal): Promise<never> {
  const ended = new Promise<never>((_, reject) => {
    const end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  // It is not awaited if the answer is complete first.
  ended.catch(() => undefined);
  return ended;
}
