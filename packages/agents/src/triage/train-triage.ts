import { calibrate } from "./calibrate.ts";
import type { HeldOutScores } from "./calibrate.ts";
import { findClosest } from "./shared-meaning.ts";
import { extractFeatures, termsOf } from "./extract-features.ts";
import type { TextFeatures } from "./feature-space.ts";
import { createFeatureSpace, toVector } from "./feature-space.ts";
import { createLinearClassifier, learnAll, unlearned } from "./linear-classifier.ts";
import { countSample, createNaiveBayes } from "./naive-bayes.ts";
import { readMessage } from "./extract-features.ts";
import { addWords, createSpelling } from "./spelling.ts";
import { scoreClasses } from "./triage-model.ts";
import type { LearnedSample, TriageModel } from "./triage-model.ts";
import type { TriageSample } from "./triage-model.ts";

/** A sample with what is needed of it again and again. */
interface ReadSample {
  sample: TriageSample;
  label: number;
  terms: string[];
  features: TextFeatures;
}

/** The parts of a model that are learned from samples. */
type Lesson = Omit<TriageModel, "classes" | "calibration">;

/** All samples learned, and what was said to messages before they were. */
interface Learned {
  lesson: Lesson;
  heldOut: HeldOutScores[];
}

/** Number of folds: each is held out once and tested with what the rest teaches. */
const PARTS = 5;

/** Up to this number of samples every part is held out once, else only the first. */
const MAX_ROTATED_SAMPLES = 1_500;

/** Messages that are held out, the most: more tell nothing new. */
const MAX_HELD_OUT = 2_000;

/** Time for which training in slices keeps the process from anything else. */
const SLICE_MS = 8;

/**
 * Learns from samples to tell agents apart, and how sure it may be: by trying on some messages what the others teach.
 * The same samples give the same model. 15,000 messages for 150 agents take about 8 s, 300
 * for 10 agents 0.3 s.
 */
export function trainTriage(samples: readonly TriageSample[]): TriageModel {
  const training = train(samples);
  let step = training.next();
  while (step.done !== true) step = training.next();
  return step.value;
}

/**
 * As `trainTriage`, but lets the process do something else every few milliseconds. Rejects with the signal's reason
 * when it is aborted.
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

/** Learns all, after each part has been held out once and was tried on what the others teach. */
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
 * Learns the most, tries it on the part that was held out, and learns that part too: less exact, since that part has a
 * say in which features there are, and half the work.
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

/** A lesson that has the features of these samples, and nothing learned yet. */
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

/** Learns samples, together with those that the lesson has. */
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

/** What a lesson says to messages that it has not seen. */
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
 * The part that each sample belongs to, so that each part has its share of every class; null for what an agent says
 * of itself, which is always seen. */
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
