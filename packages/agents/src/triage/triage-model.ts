import type { FeatureSpace, SparseVector } from "./feature-space.ts";
import { scoreLinear } from "./linear-classifier.ts";
import type { LearnedVector, LinearClassifier } from "./linear-classifier.ts";
import { addBayesScores } from "./naive-bayes.ts";
import type { NaiveBayes } from "./naive-bayes.ts";
import type { Spelling } from "./spelling.ts";
import type { TriageSample } from "./triage-sample.ts";

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
