import { HISTORY_LIMIT, SEARCH_LIMIT, answerQuestion, chooseAgent, questionOf } from "@svc/agents";
import type { Answer, HistoryMessage, LearnedMessage, SearchEach, TriageModels } from "@svc/agents";
import { isUnavailable } from "@svc/store";
import type { Source, Agent } from "@svc/contracts";
import type { SearchResult } from "@svc/knowledge";
import { normalizeAnswer } from "./eval-lines.ts";
import type { ResolvedLine } from "./eval-lines.ts";

/** Passages asked for, so that ten documents can be ranked. */
const RANKED_PASSAGES = 100;
const RANKED_DOCUMENTS = 10;

/** Searches knowledge bases of the project. */
export type EvalSearch = (query: string, kbIds: readonly string[], limit: number) => Promise<SearchResult>;

/** The project as it is when it is asked. */
export interface AskedProject {
  models: TriageModels;
  project: string;
  agents: readonly Agent[];
  learned: readonly LearnedMessage[];
  search: EvalSearch;
  /** As `search`, by words alone: what triage goes by. */
  searchWords: SearchEach;
  /** Gets every message, without triage. */
  onlyAgent: Agent | null;
}

/** The product's result for a line. */
export interface Asked {
  /** The agent that gets the message; null when it is for none of them. */
  agent: Agent | null;
  triage: { confidence: number; why: string };
  /** Documents, the best first: found by what the answer was looked for with. Empty where no document is asked for. */
  ranked: string[];
  answer: { text: string | null; confidence: number; why: string; sources: Source[] };
  /** What triage, search and answer took. */
  ms: number;
}

const noAnswer = (why: string): Answer => ({ text: null, markdown: false, sources: [], confidence: 0, why });

const DIGIT = /\p{Nd}/u;

/**
 * Whether an answer contains a text, whatever its case, spaces and Markdown marks. A number stands alone: 5 is not in
 * 15.
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

/** How an answer ended: it contains what it must, does not, or was handed to a person. */
export type AnswerOutcome = "right" | "wrong" | "handed_over";

/** What came out of a line. A part that the line says nothing about is null. */
export interface JudgedLine {
  line: ResolvedLine;
  asked: Asked;
  agent: { isRight: boolean; expectsNone: boolean } | null;
  retrieval: {
    /** Names of the wanted documents, each once. */
    wanted: string[];
    /** What was found, the best first: by the wanted name, else the id of the document. */
    ranked: string[];
    /** Place of the first wanted one, from 1 on; null below the tenth. */
    place: number | null;
  } | null;
  answer: {
    outcome: AnswerOutcome;
    /** True when a person has to answer. */
    expectsHandover: boolean;
    /** Whether what the agent has to say contains what it must, also when it was not sure enough to send it. */
    isTextRight: boolean;
    isRight: boolean;
  } | null;
  /** Whether all holds that the line says; null when it says nothing. */
  isAsExpected: boolean | null;
}

/** A wanted document among so many is where the line wants it. */
const GOOD_RANK = 3;

/** Compares what came out of a line with what it says. With `hasTriage` false its agent is not looked at. */
export function judgeLine(line: ResolvedLine, asked: Asked, hasTriage: boolean): JudgedLine {
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

function judgeAgent({ agentId }: ResolvedLine, { agent }: Asked): JudgedLine["agent"] {
  if (agentId === undefined) return null;
  return { isRight: (agent?.id ?? null) === agentId, expectsNone: agentId === null };
}

function judgeRetrieval({ documents }: ResolvedLine, asked: Asked): JudgedLine["retrieval"] {
  if (documents === undefined || documents === null) return null;
  const nameOf = new Map(documents.flatMap(({ name, ids }) => ids.map((id) => [id, name] as const)));
  const wanted = [...new Set(nameOf.values())];
  const ranked = [...new Set(asked.ranked.map((id) => nameOf.get(id) ?? id))];
  const first = ranked.findIndex((name) => wanted.includes(name));
  return { wanted, ranked, place: first === -1 ? null : first + 1 };
}

function judgeAnswer({ answers, documents }: ResolvedLine, { agent, answer }: Asked): JudgedLine["answer"] {
  // Where nothing in the knowledge bases answers, a person has to, unless the line knows an answer all the same.
  const wanted = answers === undefined && documents === null ? null : answers;
  if (wanted === undefined) return null;
  const sent = isSent(agent, answer);
  const isTextRight = wanted?.some((part) => isInAnswer(answer.text ?? "", part)) ?? false;
  const outcome = sent ? (isTextRight ? "right" : "wrong") : "handed_over";
  const expectsHandover = wanted === null;
  return { outcome, expectsHandover, isTextRight, isRight: expectsHandover ? !sent : outcome === "right" };
}

/** How bad it is that a line is not as expected: a wrong answer that was sure is the worst. 0 when it is as expected. */
export function badnessOf({ asked, agent, retrieval, answer }: JudgedLine): number {
  const isHeld = answer?.outcome === "handed_over";
  const ofAnswer =
    answer === null || answer.isRight ? 0 : isHeld ? 1 + (1 - asked.answer.confidence) : 3 + asked.answer.confidence;
  const ofAgent = agent === null || agent.isRight ? 0 : 2 + asked.triage.confidence;
  const position = retrieval === null ? 1 : (retrieval.place ?? 11);
  const ofRetrieval = position <= GOOD_RANK ? 0 : 1 + position / 11;
  return Math.max(ofAnswer, ofAgent, ofRetrieval);
}

/** A line with what was expected and what came out, as it is written to a file. */
export interface LinePrediction {
  line: number;
  id: string;
  text: string;
  /** What the line says; what it does not say is left out. */
  expected: { agent?: string | null; document?: string[] | null; answer?: string[] | null };
  /** The name of the agent that got it; null: none of them. */
  agent: string | null;
  agentConfidence: number;
  agentWhy: string;
  /** Keys of the documents found, the best first; empty where the line names none. */
  documents: string[];
  /** Place of the first wanted document, from 1 on; null where it is not found or none is wanted. */
  place: number | null;
  /** What the agent has to say, whether it is sent or not. */
  answer: string | null;
  answerConfidence: number;
  answerWhy: string;
  /** False when a person has to answer. */
  isSent: boolean;
  sources: Pick<Source, "title" | "documentId" | "quote">[];
  /** Null where the line says nothing about it. */
  isAgentRight: boolean | null;
  answerOutcome: AnswerOutcome | null;
  isAsExpected: boolean | null;
  ms: number;
}

const round = (number: number, digits: number) => Number(number.toFixed(digits));

/** Puts a line into words. `nameOfAgent` and `keyOfDocument` are asked with ids. */
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
 * Whether an answer of this agent goes out without a person. An agent whose answers are always reviewed is taken as one
 * that sends what reaches its threshold: what its answers are worth is the question here.
 */
export function isSent(
  agent: Pick<Agent, "reviewPolicy" | "autoThreshold"> | null,
  answer: { text: string | null; confidence: number },
): boolean {
  if (agent === null || answer.text === null) return false;
  return agent.reviewPolicy === "auto" || answer.confidence >= agent.autoThreshold;
}

/**
 * Lets the product answer a line as the pipeline's stages do, from triage to the answer, and changes nothing. Earlier
 * messages of the chat count as they do there: the agent that they reached has the conversation, and what they were
 * answered is known. Documents are ranked in the knowledge bases of the agent that the line names, so that a mistake of
 * triage is not counted twice, else of the one that was chosen.
 */
export async function askProduct(asked: AskedProject, line: ResolvedLine): Promise<Asked> {
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

/** What was said in a chat, and who has it. The product answers earlier messages that the line has no answer for. */
async function replayChat(
  asked: AskedProject,
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
  { models, project, agents, learned, searchWords, onlyAgent }: AskedProject,
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

/** The answer, and what was searched for. An agent that fails hands over, as in the pipeline. */
async function answerMessage(
  { search }: AskedProject,
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

async function rankDocuments({ search }: AskedProject, agent: Agent, query: string): Promise<string[]> {
  const { hits } = await search(query, agent.kbIds, RANKED_PASSAGES);
  return [...new Set(hits.map(({ documentId }) => documentId))].slice(0, RANKED_DOCUMENTS);
}
