import type { Agent } from "@svc/contracts";
import type { FeatureSpace, SparseVector } from "./extract-features.ts";
import { scoreLinear } from "./linear-classifier.ts";
import type { LearnedVector, LinearClassifier } from "./linear-classifier.ts";
import type { Spelling } from "./spelling.ts";

/**
 * Number of samples of each class that contain each piece of a word (multinomial naive Bayes, each piece once per
 * sample).
 */
interface NaiveBayes {
  stride: number;
  classCount: number;
  pieceCount: number;
  /** By piece and then by class. */
  counts: Uint16Array;
  /** By class: sum of its counts. */
  totals: Float64Array;
}

const SPARE_CLASSES = 4;

/** Added to each count (smoothing). */
const PRIOR_COUNT = 0.05;

const MAX_COUNT = 65_535;

/** Logarithms of all possible counts, precomputed because they are needed for each class. */
const LOG_COUNTS = Float32Array.from({ length: MAX_COUNT + 1 }, (_, count) => Math.log(count + PRIOR_COUNT));

/** Creates empty counts. */
export function createNaiveBayes(pieceCount: number, classCount: number): NaiveBayes {
  const stride = classCount + SPARE_CLASSES;
  return {
    stride,
    classCount,
    pieceCount,
    counts: new Uint16Array(pieceCount * stride),
    totals: new Float64Array(stride),
  };
}

/** Adds a sample (`by` 1) or removes it (-1). Changes `bayes`. */
export function countSample(bayes: NaiveBayes, vector: SparseVector, label: number, by: 1 | -1): void {
  for (const feature of vector.features) {
    if (feature >= bayes.pieceCount) continue;
    const at = feature * bayes.stride + label;
    bayes.counts[at] = Math.min(MAX_COUNT, Math.max(0, (bayes.counts[at] ?? 0) + by));
    bayes.totals[label] = (bayes.totals[label] ?? 0) + by;
  }
}

/** Adds a class without samples and returns its number. Changes `bayes`. */
export function addBayesClass(bayes: NaiveBayes): number {
  if (bayes.classCount === bayes.stride) widen(bayes);
  bayes.classCount += 1;
  return bayes.classCount - 1;
}

/**
 * Adds to the score of each class the mean log probability of the text's pieces in it, times `scale`. The mean is used
 * because the pieces of a word are far from independent.
 */
function addBayesScores(bayes: NaiveBayes, vector: SparseVector, scores: Float32Array, scale: number): void {
  const { stride, classCount, pieceCount, counts, totals } = bayes;
  const sums = new Float32Array(classCount);
  let known = 0;
  for (const feature of vector.features) {
    if (feature >= pieceCount) continue;
    known += 1;
    const row = feature * stride;
    for (let label = 0; label < classCount; label += 1) {
      sums[label] = (sums[label] ?? 0) + (LOG_COUNTS[counts[row + label] ?? 0] ?? 0);
    }
  }
  if (known === 0) return;
  for (let label = 0; label < classCount; label += 1) {
    const mean = (sums[label] ?? 0) / known - Math.log((totals[label] ?? 0) + PRIOR_COUNT * pieceCount);
    scores[label] = (scores[label] ?? 0) + scale * mean;
  }
}

function widen(bayes: NaiveBayes): void {
  const stride = bayes.stride + SPARE_CLASSES;
  const counts = new Uint16Array(bayes.pieceCount * stride);
  for (let piece = 0; piece < bayes.pieceCount; piece += 1) {
    counts.set(bayes.counts.subarray(piece * bayes.stride, (piece + 1) * bayes.stride), piece * stride);
  }
  const totals = new Float64Array(stride);
  totals.set(bayes.totals);
  Object.assign(bayes, { stride, counts, totals });
}

/** A project and its data for triage. */
export interface PooledProject {
  id: string;
  agents: readonly Agent[];
  /** The same array while it is unchanged. */
  learned: readonly LearnedMessage[];
}

/** The enabled agents of all projects, as one choice. */
export interface AgentPool {
  agents: readonly Agent[];
  /** The same array while it is unchanged. */
  learned: readonly LearnedMessage[];
  /** Project of each agent. */
  projectOf: ReadonlyMap<string, string>;
}

/** Minimum number of an agent's examples that are learned. */
const LEAST_EXAMPLES = 5;

/** A text with a known agent: a training sample. */
export interface TriageSample {
  /** Null: none of the agents. */
  agentId: string | null;
  text: string;
  /** True for an agent's own description, its name and description; false for a message. */
  isPurpose: boolean;
}

/**
 * A message with a known agent: a person has decided it, for example by rerouting, or a resolved ticket began with it.
 * Null: none of the agents.
 */
export interface LearnedMessage {
  agentId: string | null;
  text: string;
}

/** Maximum number of messages of a project to learn from; those at the end of the lists are left out. */
const MAX_SAMPLES = 20_000;

/** A sample as the model has learned it. */
export interface LearnedSample extends TriageSample, LearnedVector {
  terms: string[];
}

/** How scores become probabilities. */
export interface Calibration {
  /** Factor of score differences: higher means more confident. */
  sharpness: number;
  /** Added to the log odds of "none of the agents". */
  noneLead: number;
  /** Similarity to the closest sample that most messages reach, 0 to 1. */
  usualLikeness: number;
}

/**
 * The triage model of a project. Plain data; `updateTriage` changes it in place. It needs 4 bytes for each of its
 * features and classes, and 3 kB for each sample: 75 MB for 150 agents with 15,000 messages, 3 MB for 10 with 300.
 */
export interface TriageModel {
  /** Agent of each class; null is none of them. */
  classes: (string | null)[];
  /** By class. */
  samples: LearnedSample[][];
  spelling: Spelling;
  space: FeatureSpace;
  linear: LinearClassifier;
  bayes: NaiveBayes;
  calibration: Calibration;
}

/** Weight of the naive Bayes score relative to that of the linear classifier. */
const BAYES_WEIGHT = 0.4;

/** Returns the combined scores of both classifiers by class. */
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
 * Returns the samples that distinguish the enabled agents: name and description of each as one text, its examples, and
 * the messages that operators have decided. Texts without a word are left out.
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
 * Creates the function that combines the agents of all projects. People's decisions count for the agents that they
 * chose; a message for none of one project's agents is no evidence about those of others. If there are more examples
 * than can be learned, each agent gets the same share.
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
