import { asProjectId } from "@svc/store";
import type { Agent } from "@svc/contracts";
import type { AnswerModel, OnText, Passage, Search, SearchResult } from "../../../packages/agents/src/answer.ts";
import type { ChatRequest, LanguageModel } from "../../../packages/agents/src/models/language-model.ts";

/** Response of a scripted model, in the answer's schema; an error is thrown. */
export interface ScriptedAnswer {
  answered?: boolean;
  needsPerson?: boolean;
  claims?: { text: string; citations?: { passage: number; quote: string }[] }[];
}

export type ModelScript = (request: ChatRequest<unknown>) => ScriptedAnswer | Promise<ScriptedAnswer>;

const PROJECT = asProjectId("00000000-0000-7000-8000-000000000001");

/** Other responses of a scripted model: a second opinion about each claim, and other words for the question. */
export interface ScriptedOpinions {
  verdict?: "yes" | "no" | "unsure";
  queries?: readonly string[];
}

/** Maximum number of claims in a second opinion. */
const MAX_VERDICTS = 100;

/**
 * Creates a language model for tests that responds by a script, claim by claim, and records its requests. Without
 * `opinions` it is unsure of every claim and has no other words.
 */
export function scriptModel(
  script: ModelScript,
  { verdict = "unsure", queries = [] }: ScriptedOpinions = {},
): { model: LanguageModel; requests: ChatRequest<unknown>[] } {
  const requests: ChatRequest<unknown>[] = [];
  const usage = { model: "test:scripted", inputTokens: 10, outputTokens: 5, costUsd: null };
  const opinions: Record<string, object> = {
    query: { queries },
    verdicts: {
      verdicts: Array.from({ length: MAX_VERDICTS }, (_, index) => ({ claim: index + 1, difference: "", verdict })),
    },
  };
  const model: LanguageModel = {
    id: "test:scripted",
    async chat(request) {
      requests.push(request);
      const opinion = opinions[request.schemaName];
      if (opinion !== undefined) return { output: request.schema.parse(opinion), usage };
      const { answered = true, needsPerson = false, claims = [] } = await script(request);
      const full = claims.map(({ text, citations = [] }) => ({ text, citations }));
      for (let count = 1; count <= full.length; count += 1) {
        const text = full[count - 1]?.text ?? "";
        request.onPartial?.({
          answered,
          needsPerson,
          claims: [...full.slice(0, count - 1), { text: text.slice(0, text.length / 2) }],
        });
      }
      const output = request.schema.parse({ answered, needsPerson, claims: full });
      return { output, usage };
    },
  };
  return { model, requests };
}

/** Creates the model of an answer; the streamed text is collected in `heard`. */
export function answerModelOf(
  model: LanguageModel,
  more: Partial<AnswerModel> = {},
): { answerModel: AnswerModel; heard: () => string } {
  let text = "";
  const onText: OnText = (piece) => {
    text = text.slice(0, piece.offset) + piece.text;
  };
  const { signal } = new AbortController();
  return { answerModel: { model, project: PROJECT, ticketId: null, signal, onText, ...more }, heard: () => text };
}

/** An agent for tests. */
export const TEST_AGENT: Agent = {
  id: "a",
  name: "assistant",
  description: "",
  instructions: "",
  model: null,
  kbIds: ["kb"],
  examples: [],
  reviewPolicy: "auto_if",
  autoThreshold: 0.5,
  fixedReply: null,
  assignment: "none",
  tools: [],
  enabled: true,
  version: 1,
};

/** An agent for tests, with its name as its ID and without knowledge bases. */
export const testAgent = (name: string, change: Partial<Agent> = {}): Agent => ({
  ...TEST_AGENT,
  id: name,
  name,
  kbIds: [],
  ...change,
});

/** A passage for tests. */
export const testPassage = (change: Partial<Passage> = {}): Passage => ({
  documentId: "d",
  chunkId: "c",
  title: "Manual",
  headingPath: ["Manual", "Backups"],
  text: "Backups run every night at 2:00. They are kept for 30 days, then deleted.",
  markdown: true,
  score: 5,
  ...change,
});

/** Creates a search that returns these passages and records its calls. */
export function searchOf(...hits: Passage[]): { search: Search; calls: Parameters<Search>[] } {
  const calls: Parameters<Search>[] = [];
  const result: SearchResult = { hits, bestPossible: 10, words: [{ word: "backups", weight: 5 }] };
  return {
    calls,
    search: (...args) => {
      calls.push(args);
      return Promise.resolve(result);
    },
  };
}
