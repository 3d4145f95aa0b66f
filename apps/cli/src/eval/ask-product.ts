import { HISTORY_LIMIT, SEARCH_LIMIT, answerQuestion, chooseAgent, questionOf } from "@svc/agents";
import type { Answer, HistoryMessage, LearnedMessage, SearchEach, TriageModels } from "@svc/agents";
import type { Agent, Source } from "@svc/contracts";
import type { SearchResult } from "@svc/knowledge";
import { isUnavailable } from "@svc/store";
import type { ResolvedLine } from "./eval-lines.ts";

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

/** What the product makes of a line. */
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

const noAnswer = (why: string): Answer => ({ text: null, markdown: false, sources: [], confidence: 0, why });

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
