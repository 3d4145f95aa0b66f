import { findClosest } from "./shared-meaning.ts";
import { extractFeatures, termsOf, readMessage, createFeatureSpace, toVector } from "./extract-features.ts";
import type { TextFeatures } from "./extract-features.ts";
import { createLinearClassifier, learnAll, unlearned } from "./linear-classifier.ts";
import { countSample, createNaiveBayes, scoreClasses } from "./triage-model.ts";
import type { Calibration, LearnedSample, TriageModel, TriageSample } from "./triage-model.ts";
import { addWords, createSpelling } from "./spelling.ts";

/** Scores of a message by a model that was not trained with it. */
export interface HeldOutScores {
  scores: Float32Array;
  /** The right class. */
  label: number;
  /** Similarity to the closest sample of the class with the highest score, 0 to 1. */
  likeness: number;
}

/** Measured on projects of 3 to 150 agents with 0 to 100 examples each: best for most of them. */
const USUAL_SHARPNESS = 4;

/** Number of messages at which the sharpness is halfway between the default and the fitted one. */
const PRIOR_STRENGTH = 15;

const SHARPNESS = { least: 1, most: 20 } as const;

/** Maximum number of messages for fitting the sharpness. */
const MAX_SHARPNESS_MESSAGES = 1_000;

/** Steps of the search for the best sharpness; each narrows the interval to two thirds. */
const SEARCH_STEPS = 16;

/** Maximum share of messages for the right agent that may be treated as messages for no agent. */
const LOST_SHARE = 0.005;

/** Minimum number of messages to estimate such a small share. */
const LEAST_NONE_MESSAGES = 20;

const MOST_NONE_LEAD = 4;

/** Quantile of the similarities that counts as usual, and the default if none is known. */
const UNUSUAL_SHARE = 0.25;
const USUAL_LIKENESS = 0.35;

/** Number of messages that it takes to change the usual similarity. */
const LEAST_LIKENESS_MESSAGES = 20;

/** A sample with cached properties. */
interface ReadSample {
  sample: TriageSample;
  label: number;
  terms: string[];
  features: TextFeatures;
}

/** The trained parts of a model. */
type Lesson = Omit<TriageModel, "classes" | "calibration">;

/** The trained model, and the held-out scores. */
interface Learned {
  lesson: Lesson;
  heldOut: HeldOutScores[];
}

/** Number of folds: each is held out once and tested on a model of the others. */
const PARTS = 5;

/** Up to this number of samples every fold is held out once, else only the first. */
const MAX_ROTATED_SAMPLES = 1_500;

/** Maximum number of held-out messages; more do not improve the result. */
const MAX_HELD_OUT = 2_000;

/** Maximum time that training blocks the event loop, in milliseconds. */
const SLICE_MS = 8;

/**
 * Trains a model on samples, and calibrates it by cross-validation. Deterministic. 15,000 messages for 150 agents take
 * about 8 s, 300 for 10 agents 0.3 s.
 */
export function trainTriage(samples: readonly TriageSample[]): TriageModel {
  const training = train(samples);
  let step = training.next();
  while (step.done !== true) step = training.next();
  return step.value;
}

/**
 * Like `trainTriage`, but yields to the event loop every few milliseconds. Rejects with the signal's reason when it is
 * aborted.
 */
export async function trainTriageInSlices(
  samples: readonly TriageSample[],
  signal?: AbortSignal,
): Promise<TriageModel> {
  const training = train(samples);
  let sliceEnd = performance.now() + SLICE_MS;
  let step = training.next();
  while (step.done !== true) {
    if (performance.now() >= sliceEnd) {
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      sliceEnd = performance.now() + SLICE_MS;
    }
    step = training.next();
  }
  return step.value;
}

function* train(samples: readonly TriageSample[]): Generator<undefined, TriageModel> {
  const classes = [...new Set(samples.map(({ agentId }) => agentId))];
  const labels = new Map(classes.map((agentId, label) => [agentId, label]));
  const read: ReadSample[] = [];
  for (const sample of samples) {
    const terms = termsOf(sample.text);
    read.push({ sample, label: labels.get(sample.agentId) ?? 0, terms, features: extractFeatures(terms) });
    yield;
  }
  const { lesson, heldOut } = yield* (samples.length <= MAX_ROTATED_SAMPLES ? learnInRounds : learnInTwo)(
    read,
    classes.length,
  );
  return { ...lesson, classes, calibration: yield* calibrate(heldOut, labels.get(null) ?? null) };
}

/** Trains on all samples after each fold was held out once and tested on a model of the others. */
function* learnInRounds(read: readonly ReadSample[], classCount: number): Generator<undefined, Learned> {
  const parts = partsOf(read);
  const heldOut: HeldOutScores[] = [];
  for (let part = 0; part < PARTS; part += 1) {
    const seen = read.filter((_, index) => parts[index] !== part);
    if (seen.length === read.length) continue;
    const lesson = yield* begin(seen, classCount);
    yield* study(lesson, seen);
    heldOut.push(
      ...(yield* tryOut(
        lesson,
        read.filter((_, index) => parts[index] === part),
      )),
    );
  }
  const lesson = yield* begin(read, classCount);
  yield* study(lesson, read);
  return { lesson, heldOut };
}

/**
 * Trains on most samples, tests the held-out fold, and then learns that fold too: less exact, because that fold
 * influences which features exist, but half the work.
 */
function* learnInTwo(read: readonly ReadSample[], classCount: number): Generator<undefined, Learned> {
  const parts = partsOf(read);
  const lesson = yield* begin(read, classCount);
  yield* study(
    lesson,
    read.filter((_, index) => parts[index] !== 0),
  );
  const rest = read.filter((_, index) => parts[index] === 0);
  const heldOut = yield* tryOut(lesson, rest);
  yield* study(lesson, rest);
  return { lesson, heldOut };
}

/** Creates an untrained model with the features of these samples. */
function* begin(read: readonly ReadSample[], classCount: number): Generator<undefined, Lesson> {
  const space = yield* createFeatureSpace(read.map(({ features }) => features));
  return {
    space,
    spelling: createSpelling(),
    linear: createLinearClassifier(space.idf.length, classCount),
    bayes: createNaiveBayes(space.pieceCount, classCount),
    samples: Array.from({ length: classCount }, (): LearnedSample[] => []),
  };
}

/** Trains on samples in addition to the earlier ones. */
function* study(lesson: Lesson, read: readonly ReadSample[]): Generator<undefined, void> {
  for (const { sample, terms, features, label } of read) {
    addWords(lesson.spelling, terms);
    const vector = toVector(lesson.space, features);
    countSample(lesson.bayes, vector, label, 1);
    lesson.samples[label]?.push({ ...sample, terms, ...unlearned(vector, label) });
    yield;
  }
  yield* learnAll(lesson.linear, lesson.samples.flat());
}

/** Returns a model's scores of unseen messages. */
function* tryOut(lesson: Lesson, read: readonly ReadSample[]): Generator<undefined, HeldOutScores[]> {
  const heldOut: HeldOutScores[] = [];
  for (const { sample, label } of read) {
    heldOut.push({ label, ...tryMessage(lesson, sample.text) });
    yield;
  }
  return heldOut;
}

function tryMessage(lesson: Lesson, text: string): Pick<HeldOutScores, "scores" | "likeness"> {
  const { vector, knownShare } = readMessage(lesson, text);
  const scores = scoreClasses(lesson, vector);
  const best = scores.indexOf(Math.max(...scores));
  const closest = findClosest(lesson.samples[best] ?? [], vector, lesson.space.idf.length);
  return { scores, likeness: (closest?.likeness ?? 0) * Math.sqrt(knownShare) };
}

/**
 * Assigns each sample to a fold, so that each fold has its share of every class; null for an agent's own description,
 * which is never held out.
 */
function partsOf(read: readonly ReadSample[]): (number | null)[] {
  const messageCount = read.filter(({ sample }) => !sample.isPurpose).length;
  const parts = Math.max(PARTS, Math.ceil(messageCount / MAX_HELD_OUT));
  const counts = new Map<number, number>();
  return read.map(({ sample, label }) => {
    if (sample.isPurpose) return null;
    const count = counts.get(label) ?? 0;
    counts.set(label, count + 1);
    return count % parts;
  });
}

/**
 * Determines how scores become probabilities from held-out scores. `noneLabel` is the class of messages for no agent,
 * or null. Yields every few milliseconds.
 */
export function* calibrate(
  messages: readonly HeldOutScores[],
  noneLabel: number | null,
): Generator<undefined, Calibration> {
  const sharpness = yield* findSharpness(messages.slice(0, MAX_SHARPNESS_MESSAGES));
  return {
    sharpness,
    noneLead: noneLabel === null ? 0 : findNoneLead(messages, noneLabel, sharpness),
    usualLikeness: findUsualLikeness(messages.filter(({ label }) => label !== noneLabel)),
  };
}

/**
 * Returns the sharpness that maximizes the likelihood of the right classes (temperature scaling), by golden-section
 * search.
 */
function* findSharpness(messages: readonly HeldOutScores[]): Generator<undefined, number> {
  const surprise = (logarithm: number): number => {
    const sharpness = Math.exp(logarithm);
    const prior = PRIOR_STRENGTH * (logarithm - Math.log(USUAL_SHARPNESS)) ** 2;
    return messages.reduce((sum, message) => sum + surpriseOf(message, sharpness), prior);
  };
  let low = Math.log(SHARPNESS.least);
  let high = Math.log(SHARPNESS.most);
  for (let step = 0; step < SEARCH_STEPS; step += 1) {
    const lower = high - (high - low) * 0.618;
    const upper = low + (high - low) * 0.618;
    if (surprise(lower) <= surprise(upper)) high = upper;
    else low = lower;
    yield;
  }
  return Math.exp((low + high) / 2);
}

function surpriseOf({ scores, label }: HeldOutScores, sharpness: number): number {
  const right = scores[label] ?? 0;
  let sum = 0;
  for (const score of scores) sum += Math.exp(sharpness * (score - right));
  return Math.log(sum);
}

/**
 * Returns the lead of "none of the agents". Messages for no agent are diverse, so that a few examples of them are never
 * similar to the next one: they get the largest lead that loses hardly any message of an agent.
 */
function findNoneLead(messages: readonly HeldOutScores[], noneLabel: number, sharpness: number): number {
  const leads = messages
    .filter(({ label }) => label !== noneLabel)
    .flatMap(({ scores, label }) => {
      const isRight = scores.every(
        (score, other) => other === label || other === noneLabel || score < (scores[label] ?? 0),
      );
      return isRight ? [sharpness * ((scores[label] ?? 0) - (scores[noneLabel] ?? 0))] : [];
    })
    .sort((a, b) => a - b);
  if (leads.length < LEAST_NONE_MESSAGES) return 0;
  return Math.min(MOST_NONE_LEAD, Math.max(0, leads[Math.floor(leads.length * LOST_SHARE)] ?? 0));
}

function findUsualLikeness(messages: readonly HeldOutScores[]): number {
  if (messages.length < LEAST_LIKENESS_MESSAGES) return USUAL_LIKENESS;
  const sorted = messages.map(({ likeness }) => likeness).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length * UNUSUAL_SHARE)] ?? USUAL_LIKENESS;
}
