import { HISTORY_LIMIT, SEARCH_LIMIT, answerQuestion, chooseAgent, questionOf } from "@svc/agents";
import type { Answer, HistoryMessage, LearnedMessage, SearchEach, TriageModels } from "@svc/agents";
import { isUnavailable } from "@svc/store";
import type { Source, Agent } from "@svc/contracts";
import type { SearchResult } from "@svc/knowledge";
import { normalizeAnswer } from "./eval-lines.ts";
import type { ResolvedLine } from "./eval-lines.ts";

/** Number of requested passages, so that ten documents can be ranked. */
const RANKED_PASSAGES = 100;
const RANKED_DOCUMENTS = 10;

/** Searches knowledge bases of the project. */
export type EvalSearch = (query: string, kbIds: readonly string[], limit: number) => Promise<SearchResult>;

/** The project that is evaluated. */
export interface EvaluatedProject {
  models: TriageModels;
  project: string;
  agents: readonly Agent[];
  learned: readonly LearnedMessage[];
  search: EvalSearch;
  /** Like `search`, by keywords only, as triage searches. */
  searchWords: SearchEach;
  /** The agent that gets every message, without triage. */
  onlyAgent: Agent | null;
}

/** The product's result for a line. */
export interface LineResult {
  /** The agent that gets the message; null if none matches. */
  agent: Agent | null;
  triage: { confidence: number; why: string };
  /** Documents found for the answer, best first. Empty if the line names no document. */
  ranked: string[];
  answer: { text: string | null; confidence: number; why: string; sources: Source[] };
  /** Durations of triage, search and answer. */
  ms: number;
}

const noAnswer = (why: string): Answer => ({ text: null, markdown: false, sources: [], confidence: 0, why });

const DIGIT = /\p{Nd}/u;

/**
 * Returns true if an answer contains a text, ignoring case, spaces and Markdown marks. Numbers match as a whole: 5 is
 * not in 15.
 */
export function isInAnswer(answer: string, wanted: string): boolean {
  const text = normalizeAnswer(answer);
  const part = normalizeAnswer(wanted);
  if (part === "") return false;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) {
    const goesOnBefore = DIGIT.test(part.charAt(0)) && DIGIT.test(text.charAt(at - 1));
    const goesOnAfter = DIGIT.test(part.charAt(part.length - 1)) && DIGIT.test(text.charAt(at + part.length));
    if (!goesOnBefore && !goesOnAfter) return true;
  }
  return false;
}

/** Outcome of an answer: it contains an expected text, does not, or was handed over to a person. */
export type AnswerOutcome = "right" | "wrong" | "handed_over";

/** Result of a line. A part that the line does not specify is null. */
export interface JudgedLine {
  line: ResolvedLine;
  asked: LineResult;
  agent: { isRight: boolean; expectsNone: boolean } | null;
  retrieval: {
    /** Names of the expected documents, each once. */
    wanted: string[];
    /** Found documents, best first: the expected name, else the id. */
    ranked: string[];
    /** Rank of the first expected document, from 1; null below ten. */
    place: number | null;
  } | null;
  answer: {
    outcome: AnswerOutcome;
    /** True if a person must answer. */
    expectsHandover: boolean;
    /** Whether the agent's text contains an expected one, even if its confidence was too low to send it. */
    isTextRight: boolean;
    isRight: boolean;
  } | null;
  /** Whether the result matches everything that the line specifies; null if it specifies nothing. */
  isAsExpected: boolean | null;
}

/** Rank up to which an expected document counts as found. */
const GOOD_RANK = 3;

/** Compares the result of a line with its expectations. The agent is ignored if `hasTriage` is false. */
export function judgeLine(line: ResolvedLine, asked: LineResult, hasTriage: boolean): JudgedLine {
  const agent = hasTriage ? judgeAgent(line, asked) : null;
  const retrieval = judgeRetrieval(line, asked);
  const answer = judgeAnswer(line, asked);
  const verdicts = [
    ...(agent === null ? [] : [agent.isRight]),
    ...(retrieval === null ? [] : [retrieval.place !== null && retrieval.place <= GOOD_RANK]),
    ...(answer === null ? [] : [answer.isRight]),
  ];
  return {
    line,
    asked,
    agent,
    retrieval,
    answer,
    isAsExpected: verdicts.length === 0 ? null : verdicts.every((isRight) => isRight),
  };
}

function judgeAgent({ agentId }: ResolvedLine, { agent }: LineResult): JudgedLine["agent"] {
  if (agentId === undefined) return null;
  return { isRight: (agent?.id ?? null) === agentId, expectsNone: agentId === null };
}

function judgeRetrieval({ documents }: ResolvedLine, asked: LineResult): JudgedLine["retrieval"] {
  if (documents === undefined || documents === null) return null;
  const nameOf = new Map(documents.flatMap(({ name, ids }) => ids.map((id) => [id, name] as const)));
  const wanted = [...new Set(nameOf.values())];
  const ranked = [...new Set(asked.ranked.map((id) => nameOf.get(id) ?? id))];
  const first = ranked.findIndex((name) => wanted.includes(name));
  return { wanted, ranked, place: first === -1 ? null : first + 1 };
}

function judgeAnswer({ answers, documents }: ResolvedLine, { agent, answer }: LineResult): JudgedLine["answer"] {
  // If the knowledge bases have no answer, a person must answer, unless the line has an expected answer.
  const wanted = answers === undefined && documents === null ? null : answers;
  if (wanted === undefined) return null;
  const sent = isSent(agent, answer);
  const isTextRight = wanted?.some((part) => isInAnswer(answer.text ?? "", part)) ?? false;
  const outcome = sent ? (isTextRight ? "right" : "wrong") : "handed_over";
  const expectsHandover = wanted === null;
  return { outcome, expectsHandover, isTextRight, isRight: expectsHandover ? !sent : outcome === "right" };
}

/** Returns how bad an unexpected result is: a confident wrong answer is the worst. 0 if it is as expected. */
export function badnessOf({ asked, agent, retrieval, answer }: JudgedLine): number {
  const isHeld = answer?.outcome === "handed_over";
  const ofAnswer =
    answer === null || answer.isRight ? 0 : isHeld ? 1 + (1 - asked.answer.confidence) : 3 + asked.answer.confidence;
  const ofAgent = agent === null || agent.isRight ? 0 : 2 + asked.triage.confidence;
  const position = retrieval === null ? 1 : (retrieval.place ?? 11);
  const ofRetrieval = position <= GOOD_RANK ? 0 : 1 + position / 11;
  return Math.max(ofAnswer, ofAgent, ofRetrieval);
}

/** A line with its expected and actual result, as written to a file. */
export interface LinePrediction {
  line: number;
  id: string;
  text: string;
  /** Expectations of the line, without absent fields. */
  expected: { agent?: string | null; document?: string[] | null; answer?: string[] | null };
  /** Name of the agent that got the message; null: none. */
  agent: string | null;
  agentConfidence: number;
  agentWhy: string;
  /** Keys of the found documents, best first; empty if the line names none. */
  documents: string[];
  /** Rank of the first expected document, from 1; null if it is not found or none is expected. */
  place: number | null;
  /** The agent's text, whether or not it is sent. */
  answer: string | null;
  answerConfidence: number;
  answerWhy: string;
  /** False if a person must answer. */
  isSent: boolean;
  sources: Pick<Source, "title" | "documentId" | "quote">[];
  /** Null if the line does not specify it. */
  isAgentRight: boolean | null;
  answerOutcome: AnswerOutcome | null;
  isAsExpected: boolean | null;
  ms: number;
}

const round = (number: number, digits: number) => Number(number.toFixed(digits));

/** Describes a line. `nameOfAgent` and `keyOfDocument` are called with ids. */
export function describeLine(
  { line, asked, agent, retrieval, answer, isAsExpected }: JudgedLine,
  names: { nameOfAgent: (id: string) => string; keyOfDocument: (id: string) => string },
): LinePrediction {
  const { agentId, documents, answers } = line;
  return {
    line: line.line,
    id: line.id,
    text: line.text,
    expected: {
      ...(agentId === undefined ? {} : { agent: agentId === null ? null : names.nameOfAgent(agentId) }),
      ...(documents === undefined ? {} : { document: documents?.map(({ name }) => name) ?? null }),
      ...(answers === undefined ? {} : { answer: answers }),
    },
    agent: asked.agent?.name ?? null,
    agentConfidence: round(asked.triage.confidence, 4),
    agentWhy: asked.triage.why,
    documents: asked.ranked.map((id) => names.keyOfDocument(id)),
    place: retrieval?.place ?? null,
    answer: asked.answer.text,
    answerConfidence: round(asked.answer.confidence, 4),
    answerWhy: asked.answer.why,
    isSent: isSent(asked.agent, asked.answer),
    sources: asked.answer.sources.map(({ title, documentId, quote }) => ({ title, documentId, quote })),
    isAgentRight: agent?.isRight ?? null,
    answerOutcome: answer?.outcome ?? null,
    isAsExpected,
    ms: round(asked.ms, 2),
  };
}

/**
 * Returns true if an agent's answer is sent without a person. An agent whose answers are always reviewed counts as
 * sending those above its threshold, since the evaluation measures the quality of its answers.
 */
export function isSent(
  agent: Pick<Agent, "reviewPolicy" | "autoThreshold"> | null,
  answer: { text: string | null; confidence: number },
): boolean {
  if (agent === null || answer.text === null) return false;
  return agent.reviewPolicy === "auto" || answer.confidence >= agent.autoThreshold;
}

/**
 * Lets the product answer a line as the pipeline does, from triage to the answer, without changes. Earlier messages
 * of the chat count as in the pipeline: the agent that got them has the conversation, and its answers are known.
 * Documents are ranked in the knowledge bases of the line's agent, so that an error of triage is not counted twice,
 * otherwise in those of the chosen agent.
 */
export async function askProduct(asked: EvaluatedProject, line: ResolvedLine): Promise<LineResult> {
  const { history, currentAgentId } = await replayChat(asked, line.chat);
  const startedAt = performance.now();
  const chosen = await triage(asked, line.text, currentAgentId);
  const agent = asked.agents.find(({ id }) => id === chosen.agentId) ?? null;
  const { answer, query } = await answerMessage(asked, agent, line.text, history);
  const ms = performance.now() - startedAt;

  const finder = asked.onlyAgent ?? asked.agents.find(({ id }) => id === line.agentId) ?? agent;
  const isRanked = line.documents !== undefined && line.documents !== null;
  return {
    agent,
    triage: { confidence: chosen.confidence, why: chosen.why },
    ranked: isRanked && finder !== null ? await rankDocuments(asked, finder, query) : [],
    answer: { text: answer.text, confidence: answer.confidence, why: answer.why, sources: answer.sources },
    ms,
  };
}

/**
 * Returns the history of a chat, and the agent that has it. The product answers earlier messages without an answer in
 * the line.
 */
async function replayChat(
  asked: EvaluatedProject,
  chat: ResolvedLine["chat"],
): Promise<{ history: HistoryMessage[]; currentAgentId: string | null }> {
  const history: HistoryMessage[] = [];
  let currentAgentId: string | null = null;
  for (const [index, said] of chat.entries()) {
    if (said.author === "customer") currentAgentId = (await triage(asked, said.text, currentAgentId)).agentId;
    const agent = asked.agents.find(({ id }) => id === currentAgentId) ?? null;
    const isAnswered = said.author === "agent" || chat[index + 1]?.author === "agent";
    const reply = isAnswered ? null : (await answerMessage(asked, agent, said.text, history)).answer;
    history.push(said);
    if (reply?.text != null && isSent(agent, reply)) {
      history.push({ author: "agent", text: reply.text, sources: reply.sources });
    }
  }
  return { history, currentAgentId };
}

function triage(
  { models, project, agents, learned, searchWords, onlyAgent }: EvaluatedProject,
  text: string,
  currentAgentId: string | null,
): Promise<{ agentId: string | null; confidence: number; why: string }> {
  if (onlyAgent !== null) {
    return Promise.resolve({ agentId: onlyAgent.id, confidence: 1, why: `Asked ${onlyAgent.name} directly.` });
  }
  return chooseAgent({
    models,
    project,
    agents,
    learned,
    text,
    currentAgentId,
    search: searchWords,
  });
}

/** Returns the answer, and the search query. If the agent fails, the message is handed over, as in the pipeline. */
async function answerMessage(
  { search }: EvaluatedProject,
  agent: Agent | null,
  text: string,
  history: readonly HistoryMessage[],
): Promise<{ answer: Answer; query: string }> {
  if (agent === null) return { answer: noAnswer("No agent was chosen."), query: questionOf(text) };
  const retrieves = agent.fixedReply === null && agent.kbIds.length > 0;
  const asked = questionOf(text);
  const passages = retrieves ? await search(asked, agent.kbIds, SEARCH_LIMIT) : null;
  let searched = asked;
  try {
    const answer = await answerQuestion({
      agent,
      text,
      history: history.slice(-HISTORY_LIMIT),
      search: (query, kbIds, limit) => {
        searched = query;
        return passages !== null && query === asked ? Promise.resolve(passages) : search(query, kbIds, limit);
      },
    });
    return { answer, query: searched };
  } catch (error) {
    if (isUnavailable(error)) throw error;
    return { answer: noAnswer(`The agent failed: ${String(error)}`), query: searched };
  }
}

async function rankDocuments({ search }: EvaluatedProject, agent: Agent, query: string): Promise<string[]> {
  const { hits } = await search(query, agent.kbIds, RANKED_PASSAGES);
  return [...new Set(hits.map(({ documentId }) => documentId))].slice(0, RANKED_DOCUMENTS);
}
