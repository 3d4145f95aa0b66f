import type { LanguageModel as SdkModel, ModelMessage, ToolSet } from "ai";
import { openCallBounds } from "./language-model.ts";
import type { ChatTool } from "./language-model.ts";
import { ModelError, modelErrorOf } from "./model-error.ts";

/** What a call has used and done so far, whatever becomes of it. */
export interface CallTally {
  inputTokens: number;
  outputTokens: number;
  /** Tool calls that were carried out. */
  toolCalls: number;
  /** True when something of an answer was handed out, so that no other answer may take its place. */
  hasHandedOut: boolean;
}

/** What a model is asked in one go, with the rounds of its tools. */
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
  /** What the answer says so far. */
  onText(text: string): Promise<void>;
}

/** Tool calls of one question, whatever its rounds: models that loop call several at once, too. */
const MAX_TOOL_CALLS = 20;

/** Characters of an answer; far more than the most tokens give. */
const MAX_TEXT_CHARS = 100_000;

/** Approximate characters per token, for providers that do not count. */
const CHARS_PER_TOKEN = 4;

/** Tokens of one round; who says that there were more has not counted. */
const MAX_TOKENS = 1_000_000_000;

/** The tools as the client library takes them. `mayCall` counts, and says whether one more may be carried out. */
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

/** Starts the request; the stream has what the model writes, thinks and calls, round by round. */
async function openStream(question: Question, tally: CallTally, signal: AbortSignal) {
  const { Output, stepCountIs, streamText } = await import("ai");
  const { maxRounds } = question;
  let round = 0;
  // The result of a tool in the last round would not be read.
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
    // Requests are tried again below the client library, where the time that is left is known.
    maxRetries: 0,
    abortSignal: signal,
    // The error is a part of the stream, too; without this it is written to the console.
    onError: () => undefined,
  }).fullStream;
}

/**
 * Asks a model once and returns the text of its last round. Rejects with a `ModelError`, or with the reason of the
 * signal as soon as that is aborted, whatever the model or a tool does then. Counts in `tally`.
 */
export async function askOnce(question: Question, tally: CallTally): Promise<string> {
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
  // With what it thinks, and asks of tools.
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
    // Of an answer that breaks off no provider says what it took.
    if (writtenChars > 0 && finish === "") addUsage(tally, question, { writtenChars });
    reader.cancel(error).catch(() => undefined);
    signal.throwIfAborted();
    // The client library keeps the connection to the provider open until it is cancelled.
    bounds.end(error);
    throw error;
  } finally {
    bounds.release();
  }
  return checkFinish(finish, text);
}

/** Returns the text of an answer that is complete; throws a `ModelError` for any other. */
function checkFinish(finish: string, text: string): string {
  const error = FINISH_ERRORS[finish]?.(text) ?? null;
  if (error !== null) throw error;
  if (text.trim() === "") throw new ModelError("empty", "the model returned an empty answer");
  return text;
}

/** Finish reasons that may be errors, with their meaning. */
const FINISH_ERRORS: Readonly<Record<string, (text: string) => ModelError | null>> = {
  "tool-calls": () => new ModelError("tool_loop", "the model kept calling tools and gave no answer"),
  "content-filter": () => new ModelError("refused", "the model refused to answer"),
  error: () => new ModelError("cut", "the provider failed while the model was answering"),
  length: (text) =>
    /[}\]]\s*(?:```)?\s*$/.test(text) ? null : new ModelError("too_long", "the answer exceeds the maximum length"),
};

/** The tokens of a question, about. */
export function estimateTokens({ system, messages }: { system: string; messages: readonly object[] }): number {
  return Math.ceil((system.length + JSON.stringify(messages).length) / CHARS_PER_TOKEN);
}

/** Adds what a provider has counted, or an estimate. */
function addUsage(
  tally: CallTally,
  question: Question,
  used: { writtenChars: number; inputTokens?: number | undefined; outputTokens?: number | undefined },
): void {
  tally.inputTokens += countOf(used.inputTokens) ?? estimateTokens(question);
  tally.outputTokens += countOf(used.outputTokens) ?? Math.ceil(used.writtenChars / CHARS_PER_TOKEN);
}

/** What a provider has counted; undefined for what is no count. */
function countOf(tokens: number | undefined): number | undefined {
  return Number.isSafeInteger(tokens) && tokens !== undefined && tokens >= 0 && tokens <= MAX_TOKENS
    ? tokens
    : undefined;
}

/** Rejects when the signal is aborted, with its reason. */
function endOf(signal: AbortSignal): Promise<never> {
  const ended = new Promise<never>((_, reject) => {
    const end = () => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
  // It is no longer awaited if the answer was complete before.
  ended.catch(() => undefined);
  return ended;
}
