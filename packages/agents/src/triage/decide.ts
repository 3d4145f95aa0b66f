import type { Agent } from "@svc/contracts";
import { cutText } from "@svc/text";
import type { Support } from "../answer-question.ts";
import { findClosest, likenessOf, readMeaning, sharedMeaning } from "./shared-meaning.ts";
import type { SparseVector } from "./extract-features.ts";
import { readMessage } from "./extract-features.ts";
import type { Meaning } from "./shared-meaning.ts";
import { scoreClasses } from "./triage-model.ts";
import type { LearnedSample, TriageModel } from "./triage-model.ts";

/** The agent for a message. */
export interface TriageDecision {
  /** Null if no agent fits the message, or none is enabled. */
  agentId: string | null;
  /** 0 to 1: the share of similar cases in which the choice is right. */
  confidence: number;
  /** Explains the choice to an operator. */
  why: string;
}

/** Lead of the current agent of a conversation, in log odds. */
const CURRENT_LEAD = 2;

/** From this confidence of an agent's best answer, its knowledge bases clearly match the message. */
const CLEAR_SUPPORT = 0.3;

/** Weight of the meaning that a message shares with an agent's description, in log odds. */
const MEANING_WEIGHT = 1.6;

/** A message that shares less with every description matches none. */
const LEAST_MEANING = 0.3;

/** Weight of the similarity of a whole message to an agent's description, in log odds. */
const LIKENESS_WEIGHT = 2;

/** A message that is less similar to every description matches none. */
const LEAST_ALIKE = 0.5;

/** Weight of a rare word that only one agent's knowledge bases contain, in log odds. */
const ONLY_HOLDER_LEAD = 2;

/** Number of messages of an agent at which the classifier has half of its full weight. */
const USUAL_EXPERIENCE = 7;

/** How quickly that weight grows with the number of messages. */
const EXPERIENCE_POWER = 4;

/** Minimum weight with few messages. */
const LEAST_EXPERIENCE = 0.3;

/** Weights of the similarity to an agent's closest and second closest message if there are few. */
const CLOSEST_WEIGHTS = [6, 3] as const;

/** Exponent of similarities, so that low ones hardly count. */
const CLOSENESS_POWER = 3;

/** Above this experience, descriptions and single messages add nothing to the model. */
const MUCH_EXPERIENCE = 0.9;

/** Below this confidence, knowledge bases do not match. */
const LEAST_SUPPORT = 0.08;

/** Below this similarity to the closest sample, a message is unlike anything known. */
const LEAST_LIKENESS = 0.1;

const QUOTE_CHARS = 80;

interface Candidate {
  label: number;
  /** Null: none of the agents. */
  agent: Agent | null;
  /** 0 to 1; those of all candidates add up to 1. */
  probability: number;
  /** Confidence of the best answer of its knowledge bases, 0 to 1. */
  support: number;
  /** Rarity of the rarest word of the message that only its knowledge bases contain, 0 to 1; 0 for none. */
  onlyHolder: number;
  /** Meaning that the message shares with its name and description: see `sharedMeaning`. */
  meaning: number;
  /** Similarity of the message to its name and description: see `likenessOf`. */
  alike: number;
}

/** A message to choose an agent for. */
interface TriageQuestion {
  agents: readonly Agent[];
  text: string;
  /** The agent that currently has the conversation. */
  currentAgentId: string | null;
  /** By agent: how well its knowledge bases match the message. */
  support?: ReadonlyMap<string, Support>;
  /** True if the reason must name no other agent than the chosen one. */
  hidesOthers?: boolean;
  /** True if even a single agent gets only messages that fit it. */
  mustFit?: boolean;
}

/** Returns the decision if none of the agents is enabled, or only one. Else null. */
export function decideWithoutModel(agents: readonly Agent[]): TriageDecision | null {
  const enabled = agents.filter((agent) => agent.enabled);
  const first = enabled[0];
  if (first === undefined) return { agentId: null, confidence: 0, why: "No agent is enabled." };
  return enabled.length === 1
    ? { agentId: first.id, confidence: 1, why: `${first.name} is the only enabled agent.` }
    : null;
}

/**
 * Chooses the agent for a message among those that are enabled and known to the model. A single enabled agent gets
 * everything. The current agent keeps the conversation unless the message clearly fits another one. "None of them" is
 * possible once there are messages to learn it from; a message unlike any sample goes to an agent without description
 * and examples if there is one, else to no agent. Deterministic. Takes about 0.2 ms.
 */
export function decide(model: TriageModel, question: TriageQuestion): TriageDecision {
  const sure = decideWithoutModel(question.agents);
  if (sure !== null && (sure.agentId === null || question.mustFit !== true)) return sure;
  const agents = question.agents.filter(({ enabled }) => enabled);

  const { vector, knownShare } = readMessage(model, question.text);
  const candidates = rate(model, vector, agents, question);
  const [best, second] = findBest(candidates);
  const isKept = best?.agent !== null && best?.agent.id === question.currentAgentId;
  const samples = best === undefined ? [] : (model.samples[best.label] ?? []);
  const closest = findClosest(samples, vector, model.space.idf.length);
  const likeness = (closest?.likeness ?? 0) * Math.sqrt(knownShare);
  const isLikeNothing =
    likeness < LEAST_LIKENESS &&
    (best?.support ?? 0) < LEAST_SUPPORT &&
    (best?.meaning ?? 0) < LEAST_MEANING &&
    (best?.alike ?? 0) < LEAST_ALIKE &&
    (best?.onlyHolder ?? 0) === 0 &&
    !isKept;
  if (best === undefined || closest === null || (isLikeNothing && best.agent !== null)) {
    const general = agents.find((agent) => agent.description.trim() === "" && agent.examples.length === 0);
    return { agentId: general?.id ?? null, confidence: 0, why: "The message matches no agent." };
  }
  // Without samples for no agent, a message unlike any sample may well be one.
  const isForSomebody = isKept || candidates.some(({ agent }) => agent === null);
  const clarity = Math.max(likeness / model.calibration.usualLikeness, best.support / CLEAR_SUPPORT, best.meaning);
  const evidence = isForSomebody ? 1 : Math.min(1, clarity);
  return {
    agentId: best.agent?.id ?? null,
    confidence: best.probability * evidence,
    why: explain(best, question.hidesOthers === true ? undefined : second, closest.sample, isKept),
  };
}

/** Rates each of the enabled agents, and "none of them" if there are samples of that. */
function rate(
  model: TriageModel,
  vector: SparseVector,
  agents: readonly Agent[],
  { currentAgentId, support, text }: TriageQuestion,
): Candidate[] {
  const scores = scoreClasses(model, vector);
  const experience = experienceOf(model);
  const message = experience > MUCH_EXPERIENCE ? null : readMeaning(text);
  const { sharpness, noneLead } = model.calibration;
  const byId = new Map(agents.map((agent) => [agent.id, agent]));
  const candidates = model.classes.flatMap((agentId, label): (Candidate & { odds: number })[] => {
    const agent = agentId === null ? null : byId.get(agentId);
    if (agent === undefined || model.samples[label]?.length === 0) return [];
    const supported = agentId === null ? undefined : support?.get(agentId);
    const onlyHolder = agentId === null ? 0 : rarestOnlyIn(agentId, support);
    const lead = agent === null ? noneLead : agent.id === currentAgentId ? CURRENT_LEAD : 0;
    const samples = model.samples[label] ?? [];
    // A name without a description means little compared with messages.
    const isDescribed = agent !== null && (agent.description.trim() !== "" || samples.length < 2);
    const purpose = isDescribed ? meaningOf(agent, purposeOf(agent)) : null;
    const meaning = message === null || purpose === null ? 0 : sharedMeaning(message, purpose);
    const alike = message === null || purpose === null ? 0 : likenessOf(message, purpose);
    const closeness = message === null ? 0 : closenessOf(message, samples);
    const odds =
      experience * sharpness * (scores[label] ?? 0) +
      (1 - experience) * (MEANING_WEIGHT * meaning + LIKENESS_WEIGHT * alike + closeness) +
      (supported?.odds ?? 0) +
      ONLY_HOLDER_LEAD * onlyHolder +
      lead;
    return [{ label, agent, probability: 0, support: supported?.confidence ?? 0, onlyHolder, meaning, alike, odds }];
  });
  const highest = candidates.reduce((most, { odds }) => Math.max(most, odds), -Infinity);
  const total = candidates.reduce((sum, { odds }) => sum + Math.exp(odds - highest), 0);
  return candidates.map(({ odds, ...candidate }) => ({ ...candidate, probability: Math.exp(odds - highest) / total }));
}

/** Returns the rarity of the rarest word that only the knowledge bases of this agent contain. */
function rarestOnlyIn(agentId: string, support: TriageQuestion["support"] = new Map()): number {
  const own = support.get(agentId)?.telling;
  // Knowledge bases that several agents share are no evidence for one of them.
  const others = [...support.values()].map(({ telling }) => telling).filter((telling) => telling !== own);
  if (own === undefined || others.length === 0) return 0;
  return Math.max(
    0,
    ...[...own].map(([word, rarity]) => (others.some((telling) => telling?.has(word) === true) ? 0 : rarity)),
  );
}

/**
 * Returns the weight of the classifier's scores, 0 to 1: without messages it has learned only from descriptions, whose
 * meaning is more informative than their few words.
 */
function experienceOf({ classes, samples }: TriageModel): number {
  const ofAgents = samples.filter((_, label) => classes[label] !== null);
  // The first sample of each is the agent's own description.
  const messages = ofAgents.reduce((sum, list) => sum + Math.max(0, list.length - 1), 0) / Math.max(1, ofAgents.length);
  if (messages === 0) return 0;
  const share = 1 / (1 + (USUAL_EXPERIENCE / messages) ** EXPERIENCE_POWER);
  return Math.max(LEAST_EXPERIENCE, share);
}

/** Returns the evidence for a class from similar messages, in log odds. */
function closenessOf(message: Meaning, samples: readonly LearnedSample[]): number {
  const alike = samples
    .filter(({ isPurpose }) => !isPurpose)
    .map((sample) => Math.max(0, likenessOf(message, meaningOf(sample, sample.text))));
  alike.sort((a, b) => b - a);
  return CLOSEST_WEIGHTS.reduce((sum, weight, at) => sum + weight * (alike[at] ?? 0) ** CLOSENESS_POWER, 0);
}

const meanings = new WeakMap<object, Meaning>();

/** Returns the meaning of a text, cached by its owner. */
function meaningOf(owner: object, text: string): Meaning {
  const known = meanings.get(owner);
  if (known !== undefined) return known;
  const made = readMeaning(text);
  meanings.set(owner, made);
  return made;
}

const purposeOf = ({ name, description }: Agent): string => `${name.replaceAll(/[-_]/g, " ")}\n${description}`;

/** Returns the two most likely candidates; of equal ones the first. */
function findBest(candidates: readonly Candidate[]): [best: Candidate | undefined, second: Candidate | undefined] {
  let best: Candidate | undefined;
  let second: Candidate | undefined;
  for (const candidate of candidates) {
    if (best === undefined || candidate.probability > best.probability) [best, second] = [candidate, best];
    else if (second === undefined || candidate.probability > second.probability) second = candidate;
  }
  return [best, second];
}

function explain(best: Candidate, second: Candidate | undefined, closest: LearnedSample, isKept: boolean): string {
  const nameOf = ({ agent }: Candidate): string => agent?.name ?? "none of the agents";
  const percent = ({ probability }: Candidate): string => `${Math.round(probability * 100)}%`;
  const rest = second === undefined ? "" : `, ahead of ${nameOf(second)} (${percent(second)})`;
  const result = `${nameOf(best)} (${percent(best)})${rest}`;
  if (isKept) return `${result}: it already handles the conversation, and the message does not point to another agent.`;
  if (best.support >= CLEAR_SUPPORT) return `${result}: its knowledge bases cover the message.`;
  if (closest.isPurpose) return `${result}: its description is closest to the message.`;
  return `${result}: the closest example is "${cutText(closest.text.trim(), QUOTE_CHARS)}".`;
}
