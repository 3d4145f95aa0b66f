import type { Agent } from "@svc/contracts";
import { scoreLinear } from "./linear-classifier.ts";
import type { LearnedVector, LinearClassifier } from "./linear-classifier.ts";
import { addBayesScores } from "./naive-bayes.ts";
import type { NaiveBayes } from "./naive-bayes.ts";
import type { FeatureSpace, SparseVector } from "./feature-space.ts";
import type { Spelling } from "./spelling.ts";

/** A project and what triage knows of it. */
export interface PooledProject {
  id: string;
  agents: readonly Agent[];
  /** The same array as long as it has not changed. */
  learned: readonly LearnedMessage[];
}

/** The enabled agents of all projects, as one choice. */
export interface AgentPool {
  agents: readonly Agent[];
  /** The same array as long as it has not changed. */
  learned: readonly LearnedMessage[];
  /** By agent. */
  projectOf: ReadonlyMap<string, string>;
}

/** Examples of an agent that are learned in any case. */
const LEAST_EXAMPLES = 5;

/** A text whose agent is known: what triage learns from. */
export interface TriageSample {
  /** Null: a message that is for none of the agents. */
  agentId: string | null;
  text: string;
  /** True for what an agent says of itself, its name and description; false for a message. */
  isPurpose: boolean;
}

/**
 * A message whose agent is known: one that a person has decided, such as a rerouted one, or that a resolved ticket
 * began with. Null: none of the agents.
 */
export interface LearnedMessage {
  agentId: string | null;
  text: string;
}

/** A project may have this many messages to learn from; of more, the ones at the end of the lists are left out. */
export const MAX_SAMPLES = 20_000;

/** A sample as the model has learned it. */
export interface LearnedSample extends TriageSample, LearnedVector {
  terms: string[];
}

/** How scores become probabilities. */
export interface Calibration {
  /** What a difference in scores counts: the higher, the surer. */
  sharpness: number;
  /** Added to the logarithm of the odds of "none of the agents". */
  noneLead: number;
  /** How like its closest sample a message usually is at least, 0 to 1. */
  usualLikeness: number;
}

/**
 * What triage has learned of a project. Plain data; `updateTriage` changes it in place. It needs 4 bytes for each of its
 * features and classes, and 3 kB for each sample: 75 MB for 150 agents with 15,000 messages, 3 MB for 10 with 300.
 */
export interface TriageModel {
  /** The agent that each class stands for; null stands for none of them. */
  classes: (string | null)[];
  /** By class. */
  samples: LearnedSample[][];
  spelling: Spelling;
  space: FeatureSpace;
  linear: LinearClassifier;
  bayes: NaiveBayes;
  calibration: Calibration;
}

/** What the naive Bayes score counts against that of the linear classifier. */
const BAYES_WEIGHT = 0.4;

/** What both classifiers together say for each class, the higher the more. */
export function scoreClasses(
  { linear, bayes }: { linear: LinearClassifier; bayes: NaiveBayes },
  vector: SparseVector,
): Float32Array {
  const scores = new Float32Array(linear.classCount);
  scoreLinear(linear, vector, scores);
  addBayesScores(bayes, vector, scores, BAYES_WEIGHT);
  return scores;
}

/**
 * What distinguishes the enabled agents: name and description of each as one text, its examples, and the
 * messages that operators have decided. Texts without a word teach nothing and are left out.
 */
export function samplesOf(agents: readonly Agent[], learned: readonly LearnedMessage[] = []): TriageSample[] {
  const enabled = agents.filter((agent) => agent.enabled);
  const ids = new Set(enabled.map(({ id }) => id));
  const purposes = enabled.map((agent) => ({
    agentId: agent.id,
    text: `${agent.name.replaceAll("_", " ")}\n${agent.description}`,
    isPurpose: true,
  }));
  const examples = enabled.flatMap((agent) => agent.examples.map((text) => asMessage(agent.id, text)));
  const decided = learned
    .filter(({ agentId }) => agentId === null || ids.has(agentId))
    .map(({ agentId, text }) => asMessage(agentId, text));
  return [...purposes, ...examples, ...decided].filter(({ text }) => /[\p{L}\p{N}]/u.test(text)).slice(0, MAX_SAMPLES);
}

function asMessage(agentId: string | null, text: string): TriageSample {
  return { agentId, text, isPurpose: false };
}

/**
 * Makes the function that puts the agents of all projects together. What people have decided counts for the agents that
 * they chose; that a message was for none of one project's agents says nothing about those of the others. Where there are
 * more examples than can be learned, each agent has the same share of them.
 */
export function createAgentPool(): (projects: readonly PooledProject[]) => AgentPool {
  let parts: readonly (readonly LearnedMessage[])[] = [];
  let learned: readonly LearnedMessage[] = [];
  return (projects) => {
    const now = projects.map((project) => project.learned);
    if (now.length !== parts.length || now.some((part, index) => part !== parts[index])) {
      parts = now;
      learned = now.flatMap((part) => part.filter(({ agentId }) => agentId !== null));
    }
    const enabled = projects.flatMap(({ id, agents }) =>
      agents.filter((agent) => agent.enabled).map((agent) => ({ project: id, agent })),
    );
    const share = Math.max(LEAST_EXAMPLES, Math.floor(MAX_SAMPLES / Math.max(1, enabled.length)) - 1);
    return {
      agents: enabled.map(({ agent }) =>
        agent.examples.length <= share ? agent : { ...agent, examples: agent.examples.slice(0, share) },
      ),
      learned,
      projectOf: new Map(enabled.map(({ project, agent }) => [agent.id, project])),
    };
  };
}
