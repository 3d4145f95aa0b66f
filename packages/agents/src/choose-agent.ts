import type { Agent } from "@svc/contracts";
import { detectLanguage, stopWords, tokenize } from "@svc/text";

/** Which agent gets a message. */
export interface AgentChoice {
  /** Null only when no agent is enabled. */
  agentId: string | null;
  /** 0 to 1: how clearly the message points to this agent and to no other. */
  confidence: number;
  /** How it came to that, for an operator. */
  why: string;
}

type Vector = ReadonlyMap<string, number>;

/** So much of a message is looked at: what it is about is said in the beginning. */
const MAX_TEXT_CHARS = 4_000;

/** A word also counts by its beginning, so that forms of one word count as alike in any language. */
const STEM_CHARS = 5;

/** What a stop word of the message weighs against another word: with few examples their rarity is mere chance. */
const STOP_WORD_WEIGHT = 0.3;

/** From this likeness on a message is as much like an agent's as messages are; likeness goes from 0 to 2. */
const CLEAR_LIKENESS = 0.4;

/** What the agent that has the conversation is ahead of the others: a message has to point clearly elsewhere. */
const CURRENT_LEAD = 0.3;

/**
 * Chooses the agent for a message among those that are enabled, by the likeness (cosine of TF-IDF) of the message to
 * their names, descriptions and example messages: to the closest example and to all of them together. The agent that
 * has the conversation keeps it unless the message clearly points elsewhere. When it points nowhere, an agent without
 * description and examples gets it, else the first, with confidence 0. The same arguments give the same choice. Takes
 * about a millisecond for 200 examples.
 */
export function chooseAgent(choice: {
  agents: readonly Agent[];
  text: string;
  currentAgentId: string | null;
}): AgentChoice {
  const agents = choice.agents.filter(({ enabled }) => enabled);
  const first = agents[0];
  if (first === undefined) return { agentId: null, confidence: 0, why: "No agent is enabled." };
  if (agents.length === 1) return { agentId: first.id, confidence: 1, why: `${first.name} is the only enabled agent.` };

  const ranked = rankAgents(agents, choice.text, choice.currentAgentId);
  const [best, second] = ranked;
  if (best === undefined || best.likeness === 0) {
    const general = agents.find((agent) => agent.description.trim() === "" && agent.examples.length === 0) ?? first;
    return { agentId: general.id, confidence: 0, why: "The message is like nothing that any agent is for." };
  }
  const confidence =
    Math.min(1, best.likeness / CLEAR_LIKENESS) * (best.likeness / (best.likeness + (second?.likeness ?? 0)));
  return { agentId: best.agent.id, confidence, why: explain(best, second) };
}

interface Ranked {
  agent: Agent;
  likeness: number;
  isCurrent: boolean;
}

/** The agents by likeness; equal ones keep their order. */
function rankAgents(agents: readonly Agent[], text: string, currentAgentId: string | null): Ranked[] {
  const examples = agents.map((agent) => samplesOf(agent).map(countTerms));
  const weigh = tfIdf(examples.flat());
  const message = weighMessage(text.slice(0, MAX_TEXT_CHARS), weigh);
  return agents
    .map((agent, index): Ranked => {
      const vectors = (examples[index] ?? []).map(weigh);
      const closest = vectors.reduce((best, vector) => Math.max(best, dot(message, vector)), 0);
      const isCurrent = agent.id === currentAgentId;
      const likeness = closest + dot(message, unit(sum(vectors))) + (isCurrent ? CURRENT_LEAD : 0);
      return { agent, likeness, isCurrent };
    })
    .sort((a, b) => b.likeness - a.likeness);
}

function weighMessage(text: string, weigh: (counts: Vector) => Vector): Vector {
  const stops = stopWords(detectLanguage(text).language);
  const weighted = [...weigh(countTerms(text))].map(([term, weight]): [string, number] => [
    term,
    stops.has(term) ? weight * STOP_WORD_WEIGHT : weight,
  ]);
  return unit(new Map(weighted));
}

/** What an agent is for: its name and description as one sample, and each example message. */
function samplesOf(agent: Agent): string[] {
  return [`${agent.name}\n${agent.description}`, ...agent.examples].map((sample) => sample.slice(0, MAX_TEXT_CHARS));
}

function countTerms(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (term: string): void => void counts.set(term, (counts.get(term) ?? 0) + 1);
  for (const { term } of tokenize(text)) {
    add(term);
    if (term.length > STEM_CHARS) add(`${term.slice(0, STEM_CHARS)}*`);
  }
  return counts;
}

/** Weighs terms by how often they stand in a text and in how few of the samples; the vectors have length 1. */
function tfIdf(samples: readonly Vector[]): (counts: Vector) => Vector {
  const sampleCounts = new Map<string, number>();
  for (const term of samples.flatMap((sample) => [...sample.keys()])) {
    sampleCounts.set(term, (sampleCounts.get(term) ?? 0) + 1);
  }
  const idf = (term: string): number => Math.log(1 + samples.length / ((sampleCounts.get(term) ?? 0) + 0.5));
  return (counts) => unit(new Map([...counts].map(([term, count]) => [term, (1 + Math.log(count)) * idf(term)])));
}

function sum(vectors: readonly Vector[]): Vector {
  const total = new Map<string, number>();
  for (const [term, weight] of vectors.flatMap((vector) => [...vector])) {
    total.set(term, (total.get(term) ?? 0) + weight);
  }
  return total;
}

function unit(vector: Vector): Vector {
  const length = Math.sqrt(dot(vector, vector)) || 1;
  return new Map([...vector].map(([term, weight]) => [term, weight / length]));
}

function dot(one: Vector, other: Vector): number {
  let product = 0;
  for (const [term, weight] of one) product += weight * (other.get(term) ?? 0);
  return product;
}

function explain(best: Ranked, second: Ranked | undefined): string {
  const likeness = `${best.agent.name} (likeness ${best.likeness.toFixed(2)}`;
  const rest = second === undefined ? "" : `; next ${second.agent.name} ${second.likeness.toFixed(2)}`;
  return best.isCurrent
    ? `${likeness}${rest}) has the conversation and the message does not point elsewhere.`
    : `${likeness}${rest}) is what the message is most like.`;
}
