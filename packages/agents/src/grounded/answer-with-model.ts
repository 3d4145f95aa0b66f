import { cutText, detectLanguage } from "@svc/text";
import type { Agent } from "@svc/contracts";
import { percentOf } from "../answer.ts";
import type { Answer, AnswerModel, CallResult, HistoryMessage, Passage, Search } from "../answer.ts";
import { readFollowUp } from "../follow-up.ts";
import { ModelError } from "../models/model-error.ts";
import { questionOf } from "../question-of.ts";
import type { ModelUsage, ChatTool } from "../models/language-model.ts";
import {
  PROMPT_LIMITS,
  answerSchema,
  collectEvidence,
  containsInstructions,
  createFence,
  createRuleCheck,
  defuseText,
  promptMessages,
  resultLabel,
  secretsOf,
  systemPrompt,
} from "./answer-prompt.ts";
import type { Claim, Evidence, Fence } from "./answer-prompt.ts";
import { judgeAnswer, passOnClaims, rateConfidence, verifyClaims } from "./judge-answer.ts";
import type { JudgedAnswer, TextStream } from "./judge-answer.ts";
import { judgeClaim } from "./judge-claim.ts";
import type { ClaimContext, JudgedClaim } from "./judge-claim.ts";
import { rewriteQuery } from "./rewrite-query.ts";

const LEFT_OUT = "This result is left out: it contains instructions to its reader.";

/** A question for a model. */
interface ModelQuestion {
  agent: Agent;
  text: string;
  history: readonly HistoryMessage[];
  language: string | undefined;
  search: Search;
  /**
   * Returns the answer without a model, to the question or to a rewritten query. Its confidence limits that of the
   * model's answer.
   */
  quote: (query?: string) => Promise<Answer>;
  model: AnswerModel;
  /** Receives the answer as it is generated, and its final text; nothing if a person must review it. */
  stream: TextStream;
}

/** Number of passages in the prompt: the one that answers is not always the best match. */
const MODEL_PASSAGE_LIMIT = 10;

/** Maximum number of requests to a model with tools; each round of calls needs one more. */
const MAX_ROUNDS = 5;

const MAX_OUTPUT_TOKENS = 4_000;
const MAX_CLAIMS = 100;
const MAX_CLAIM_CHARS = 4_000;
const MAX_ANSWER_CHARS = 20_000;

/** Maximum number and length of the titles that name the sources of an answer. */
const MAX_TITLES = 3;
const MAX_TITLE_CHARS = 80;

/** From this confidence, quotes are sent when the model has no answer. */
const GOOD_QUOTE = 0.5;

/** A search with at least this confidence needs no rewritten query. */
const SURE_SEARCH = 0.6;

/** With a lower share of supported statements, a person must review the answer. */
const MIN_SUPPORT = 0.5;

/**
 * Writes an answer with a language model, grounded in passages: a claim is sent only if the cited text supports it. A
 * person must review the answer if too little is supported, if it may contain injected text, or if the model reports
 * that the passages do not answer the question. If nothing is supported, quotes are sent if their confidence is high
 * enough. Rejects with a `ModelError` when the model gives no usable answer.
 */
export async function answerWithModel(question: ModelQuestion): Promise<Answer> {
  const { agent, text, history, language, model, stream } = question;
  const asked = questionOf(text);
  const query = readFollowUp(asked, history, language)?.query ?? asked;
  const { quoted, hits, spent } = await lookUp(question, query);
  const evidence = collectEvidence(inReadingOrder(hits), model.results);
  const tools = model.tools ?? [];
  if (evidence.passages.length === 0 && tools.length === 0) return holdIfInstructions(quoted, evidence.leftOut);

  const fence = createFence();
  const results = fenceResults(model.results ?? [], evidence, fence);
  const context: ClaimContext = {
    evidence,
    question: text,
    language: detectLanguage(asked.slice(0, 1_000), language).language,
    instructions: agent.instructions,
    revealsInstructions: createRuleCheck(secretsOf(agent)),
  };
  const judge = keepJudgements(context);
  const { output, usage } = await model.model.chat({
    caller: { project: model.project, ticketId: model.ticketId, purpose: "answer" },
    system: systemPrompt(agent, fence.word),
    messages: promptMessages({ evidence, history, results, question: text }, fence),
    schema: answerSchema,
    schemaName: "answer",
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    signal: model.signal,
    onPartial: passOnClaims(judge, stream),
    // The stream replaces sent text that another attempt does not repeat.
    mayRestart: true,
    ...(tools.length === 0 ? {} : { tools: numberTools(tools, evidence, fence), maxRounds: MAX_ROUNDS }),
  });
  if (output.claims.length > MAX_CLAIMS)
    throw new ModelError("too_long", `the answer has ${output.claims.length} claims, which is too many`);
  const claims = output.claims.filter((claim) => claim.text.trim() !== "");
  const own = claims.map(judge);
  // An answer that is held anyway needs no second opinion.
  const isHeld = !output.answered || own.some(({ isSuspect }) => isSuspect);
  const verified = isHeld ? { claims: own, usage: null } : await verifyClaims(own, { model, question: asked });
  const judged = judgeAnswer(verified.claims);
  if (judged.whole.length > MAX_ANSWER_CHARS) {
    throw new ModelError("too_long", `the answer has ${judged.whole.length} characters, which is too many`);
  }
  const all = [usage, spent, verified.usage].reduce<ModelUsage>(addUsage, NO_USAGE);
  return settle({ ...output, judged, quoted, usage: all, model: model.model.id, leftOut: evidence.leftOut }, stream);
}

/**
 * Searches the knowledge bases, and returns the passages with the confidence. If the confidence is low, the model first
 * rewrites the query, also in the documents' languages; the passages of both searches are used.
 */
async function lookUp(
  { agent, text, history, search, quote, model }: ModelQuestion,
  query: string,
): Promise<{ quoted: Answer; hits: Passage[]; spent: ModelUsage | null }> {
  const [quoted, found] = await Promise.all([quote(), search(query, agent.kbIds, MODEL_PASSAGE_LIMIT)]);
  if (agent.kbIds.length === 0 || quoted.confidence >= SURE_SEARCH) return { quoted, hits: found.hits, spent: null };
  const { queries, usage } = await rewriteQuery({ text, history, languages: found.languages ?? [] }, model);
  const others = await Promise.all(
    queries.map(async (other) => ({
      quoted: await quote(other),
      hits: (await search(other, agent.kbIds, MODEL_PASSAGE_LIMIT)).hits,
    })),
  );
  const surest = others.reduce((best, next) => (next.quoted.confidence > best.confidence ? next.quoted : best), quoted);
  return { quoted: surest, hits: mergeHits([found.hits, ...others.map(({ hits }) => hits)]), spent: usage };
}

/** Merges searches: the best passage of each, then the second of each, and so on, up to the limit of the prompt. */
function mergeHits(lists: readonly (readonly Passage[])[]): Passage[] {
  const merged = new Map<string, Passage>();
  for (let rank = 0; rank < MODEL_PASSAGE_LIMIT; rank += 1) {
    for (const hit of lists.flatMap((hits) => hits[rank] ?? [])) {
      if (merged.size < MODEL_PASSAGE_LIMIT && !merged.has(hit.chunkId)) merged.set(hit.chunkId, hit);
    }
  }
  return [...merged.values()];
}

/** Caches judgements, because the partial answer is examined many times while it is generated. */
function keepJudgements(context: ClaimContext): (claim: Claim) => JudgedClaim {
  const known = new Map<string, JudgedClaim>();
  return (claim) => {
    // The result of a tool can be cited once the call has finished.
    const key = JSON.stringify([context.evidence.count(), claim]);
    const judged = known.get(key) ?? judgeClaim({ ...claim, text: defuseText(claim.text, MAX_CLAIM_CHARS) }, context);
    known.set(key, judged);
    return judged;
  };
}

const NO_USAGE: ModelUsage = { model: "", inputTokens: 0, outputTokens: 0, costUsd: null };

/** Adds the tokens and costs of two calls of one model. */
function addUsage(one: ModelUsage, other: ModelUsage | null): ModelUsage {
  if (other === null) return one;
  return {
    model: other.model,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    costUsd: one.costUsd === null && other.costUsd === null ? null : (one.costUsd ?? 0) + (other.costUsd ?? 0),
  };
}

interface Said {
  answered: boolean;
  needsPerson: boolean;
  judged: JudgedAnswer;
  quoted: Answer;
  usage: ModelUsage;
  model: string;
  leftOut: readonly string[];
}

/** Decides what is sent of a model's output. */
function settle(said: Said, stream: TextStream): Answer {
  const { answered, needsPerson, judged, quoted, usage, model, leftOut } = said;
  const rated = { statistical: quoted.confidence, byResults: judged.byResults, isCompared: judged.isCompared };
  if (needsPerson && (!answered || judged.support === 0)) return handOver(said, stream);
  if (!answered) return holdUnanswered(said, stream);
  if (judged.support === 0) return quoteInstead(said, stream);
  const confidence = rateConfidence({ ...rated, support: judged.support, isAnswered: true });
  const why = [
    `Answered by ${model} from ${nameTitles(judged.titles)}:`,
    `${judged.supportedCount} of ${judged.statedCount} statements are supported, confidence ${percentOf(confidence)}.`,
    judged.complaint,
    needsPerson ? "The model asks for a person." : "",
    describeLeftOut(leftOut),
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
  const mustReview = judged.isSuspect || judged.support < MIN_SUPPORT;
  const answer = { markdown: true, sources: judged.sources, confidence, why };
  if (mustReview || needsPerson) {
    stream.become("");
    return {
      ...answer,
      text: judged.whole,
      ...(needsPerson ? { needsPerson } : {}),
      model: { usage, fallback: null, ...(mustReview ? { mustReview } : {}) },
    };
  }
  stream.become(judged.sendable);
  return { ...answer, text: judged.sendable, model: { usage, fallback: null } };
}

/** The model asks for a person and has no answer: the quotes of the search become the draft. */
function handOver({ quoted, usage, model, judged }: Said, stream: TextStream): Answer {
  stream.become("");
  const why = [`${model} asks for a person.`, judged.complaint, quoted.why].filter(Boolean).join(" ");
  return { ...quoted, why, needsPerson: true, model: { usage, fallback: null } };
}

/** The model found no answer in the passages: a person reviews the quotes of the search as the draft. */
function holdUnanswered({ quoted, usage, model, leftOut }: Said, stream: TextStream): Answer {
  stream.become("");
  const fallback = "according to the model, the passages do not answer the question";
  const why = [`${model}: ${fallback}.`, quoted.why, describeLeftOut(leftOut)].filter(Boolean).join(" ");
  return { ...quoted, confidence: 0, why, model: { usage, fallback, mustReview: true } };
}

/** Returns quotes when nothing supports the model's answer. */
function quoteInstead({ judged, quoted, usage, model, leftOut }: Said, stream: TextStream): Answer {
  const fallback = "its citations support none of its statements";
  const confidence = rateConfidence({
    support: 1,
    byResults: 0,
    isCompared: true,
    statistical: quoted.confidence,
    isAnswered: false,
  });
  const text = quoted.text ?? (judged.whole === "" ? null : judged.whole);
  const why = [`${model}: ${fallback}.`, judged.complaint, quoted.why, describeLeftOut(leftOut)]
    .filter(Boolean)
    .join(" ");
  const answer = { ...quoted, confidence, why };
  const isGood = quoted.text !== null && confidence >= GOOD_QUOTE && !containsInstructions(quoted.text);
  stream.become(isGood ? (quoted.text ?? "") : "");
  if (isGood) return { ...answer, model: { usage, fallback } };
  return { ...answer, text, model: { usage, fallback, mustReview: true } };
}

/**
 * Returns quotes that needed no model. Quotes with instructions to a model are held, because they were written to
 * manipulate one.
 */
export function holdIfInstructions(quoted: Answer, leftOut: readonly string[] = []): Answer {
  if (quoted.text === null || !containsInstructions(quoted.text)) return quoted;
  const why = `${quoted.why} ${describeLeftOut(leftOut)}`.trim();
  return {
    ...quoted,
    why,
    model: { usage: null, fallback: "the passage contains instructions for a model", mustReview: true },
  };
}

function describeLeftOut(titles: readonly string[]): string {
  if (titles.length === 0) return "";
  return `Left out because of instructions for a model: ${nameTitles(titles)}.`;
}

/** Returns the first few titles, in quotes. */
function nameTitles(titles: readonly string[]): string {
  const named = [...new Set(titles)];
  const shown = named.slice(0, MAX_TITLES).map((title) => `"${cutText(defuseText(title, 1_000), MAX_TITLE_CHARS)}"`);
  return named.length > shown.length ? `${shown.join(", ")} and ${named.length - shown.length} more` : shown.join(", ");
}

/** Sorts passages best first, each followed by the other found passages of its section in document order. */
function inReadingOrder(hits: readonly Passage[]): Passage[] {
  const keyOf = ({ documentId, headingPath }: Passage) => JSON.stringify([documentId, headingPath]);
  const sections = new Map<string, Passage[]>();
  for (const hit of hits) sections.set(keyOf(hit), [...(sections.get(keyOf(hit)) ?? []), hit]);
  return [...sections.values()].flatMap((section) => section.sort((a, b) => (a.ordinal ?? 0) - (b.ordinal ?? 0)));
}

/**
 * Wraps tools so that their results are fenced and numbered, and claims can cite them. A result with instructions to a
 * model is left out.
 */
function numberTools(tools: readonly ChatTool[], evidence: Evidence, fence: Fence): ChatTool[] {
  return tools.map((tool) => ({
    ...tool,
    execute: async (input, options) => fenceResult(tool.name, await tool.execute(input, options), evidence, fence),
  }));
}

/**
 * Fences the results of calls made before the request to the model, in the same form as the results of its own calls.
 */
function fenceResults(results: readonly CallResult[], evidence: Evidence, fence: Fence): string[] {
  return results.map(({ tool, text }) => fenceResult(tool, `${tool} ${text}`, evidence, fence));
}

function fenceResult(tool: string, result: string, evidence: Evidence, fence: Fence): string {
  const said = defuseText(result, PROMPT_LIMITS.result);
  const text = containsInstructions(said) ? LEFT_OUT : said;
  const number = text === LEFT_OUT ? null : evidence.addResult(tool, text);
  return fence.around(number === null ? "result" : resultLabel(number), text, PROMPT_LIMITS.result);
}
