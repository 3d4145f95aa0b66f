import type { SparseVector } from "./feature-space.ts";

/**
 * For each class the weights that tell it from all others: linear support vector machines with squared hinge loss.
 * Weights lie by feature and then by class, `stride` to a feature, so that the scores of all classes are one pass.
 */
export interface LinearClassifier {
  stride: number;
  classCount: number;
  weights: Float32Array;
  bias: Float32Array;
}

/**
 * A sample with what it has contributed to the classifier. By this it can be taken out again, and learning goes on from
 * where it stands.
 */
export interface LearnedVector {
  vector: SparseVector;
  /** Its class. */
  label: number;
  /** The classes that it has an influence on, or nearly, in ascending order, and how much. */
  classes: number[];
  influences: number[];
}

/** What is needed again for every sample that is learned. */
interface Scratch {
  scores: Float32Array;
  /** The classes to move towards or away from the sample, and by how much. */
  moved: number[];
  by: number[];
  /** How far the sample was from its best in any of them. */
  worst: [number];
}

/** Spare places for classes and features that come later. */
const SPARE_CLASSES = 4;
const SPARE_FEATURES = 1_000;

/** Room for features is made by this factor at a time. */
const ROOM_FACTOR = 1.1;

/** Cost of a sample on the wrong side (C of the literature), as what it adds to the curvature: 1 / 2C. */
const SOFTNESS = 0.25;

/** Of a vector of length 1 with the bias as one more feature. */
const SQUARED_LENGTH = 2;

/** Passes over all samples, the most, and where most samples have been learned before. */
const MAX_PASSES = { anew: 10, further: 5 } as const;

/** The passes that look at every class of every sample. */
const FULL_PASSES = [0, 4];

/** How far from mattering a class may be for a sample and still be looked at in the passes between. */
const NEAR_GRADIENT = 0.02;

/** Smaller violations change nothing that could be seen. */
const SMALL_VIOLATION = 0.01;

/** The passes end when no sample violates its margin by more. */
const GOOD_VIOLATION = 0.1;

/** Tries of a single sample to get to its right place. */
const MAX_TRIES = 12;

/** Samples between two moments at which the caller may do something else. */
const SLICE_SAMPLES = 32;

const SEED = 1;

/** A classifier that knows nothing yet. */
export function createLinearClassifier(featureCount: number, classCount: number): LinearClassifier {
  const stride = classCount + SPARE_CLASSES;
  const weights = new Float32Array((featureCount + SPARE_FEATURES) * stride);
  return { stride, classCount, weights, bias: new Float32Array(stride) };
}

/** A sample before it has been learned. */
export function unlearned(vector: SparseVector, label: number): LearnedVector {
  return { vector, label, classes: [], influences: [] };
}

/**
 * Learns samples by dual coordinate descent (Hsieh and others, ICML 2008), all classes of a sample at once. `samples`
 * are all samples of the classifier; those that it has learned before are learned better. Changes the classifier and
 * the samples; yields every few milliseconds.
 */
export function* learnAll(classifier: LinearClassifier, samples: readonly LearnedVector[]): Generator<undefined, void> {
  const isFurther = samples.some(({ influences }) => influences.length > 0);
  const passes = isFurther ? MAX_PASSES.further : MAX_PASSES.anew;
  const random = createRandom(SEED);
  const order = Int32Array.from(samples.keys());
  const scratch = createScratch(classifier);
  for (let pass = 0; pass < passes; pass += 1) {
    shuffle(order, random);
    const isFull = FULL_PASSES.includes(pass);
    let worst = 0;
    for (let position = 0; position < order.length; position += 1) {
      const sample = samples[order[position] ?? 0];
      if (sample === undefined) continue;
      const violation = (isFull ? learnAllClasses : learnNearClasses)(classifier, sample, scratch);
      worst = Math.max(worst, violation);
      if (position % SLICE_SAMPLES === 0) yield;
    }
    if (worst < GOOD_VIOLATION) return;
  }
}

/** Learns one further sample, at once and for good. Changes the classifier and the sample. */
export function learnOne(classifier: LinearClassifier, sample: LearnedVector): void {
  const scratch = createScratch(classifier);
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    if (learnAllClasses(classifier, sample, scratch) < SMALL_VIOLATION) return;
  }
}

/** Takes back what a sample has contributed. Changes the classifier and the sample. */
export function forget(classifier: LinearClassifier, sample: LearnedVector): void {
  const by = sample.classes.map((label, position) => -signOf(sample, label) * (sample.influences[position] ?? 0));
  move(classifier, sample.vector, sample.classes, by);
  sample.classes = [];
  sample.influences = [];
}

/**
 * Adds a class that none of the samples so far belongs to, and makes all of them speak against it. Changes the
 * classifier and the samples. Returns the number of the class.
 */
export function addClass(classifier: LinearClassifier, samples: readonly LearnedVector[]): number {
  if (classifier.classCount === classifier.stride) widen(classifier);
  const label = classifier.classCount;
  classifier.classCount += 1;
  const scratch = createScratch(classifier);
  for (const sample of samples) {
    sample.classes.push(label);
    sample.influences.push(0);
    learnNearClasses(classifier, sample, scratch);
  }
  return label;
}

/** Makes room for the weights of features up to this number. Changes the classifier. */
export function makeRoom(classifier: LinearClassifier, featureCount: number): void {
  if (featureCount * classifier.stride <= classifier.weights.length) return;
  const weights = new Float32Array(Math.ceil(featureCount * ROOM_FACTOR) * classifier.stride);
  weights.set(classifier.weights);
  classifier.weights = weights;
}

/** Writes the score of each class into `scores`: about 1 for its own messages, -1 for others. */
export function scoreLinear(classifier: LinearClassifier, vector: SparseVector, scores: Float32Array): void {
  const { stride, classCount, weights, bias } = classifier;
  const { features, weights: values } = vector;
  for (let label = 0; label < classCount; label += 1) scores[label] = bias[label] ?? 0;
  for (let position = 0; position < features.length; position += 1) {
    const row = (features[position] ?? 0) * stride;
    const value = values[position] ?? 0;
    for (let label = 0; label < classCount; label += 1) {
      scores[label] = (scores[label] ?? 0) + (weights[row + label] ?? 0) * value;
    }
  }
}

/** Examines all classes, and records which are near enough for the passes between. Returns the worst violation. */
function learnAllClasses(classifier: LinearClassifier, sample: LearnedVector, scratch: Scratch): number {
  scoreLinear(classifier, sample.vector, scratch.scores);
  const classes: number[] = [];
  const influences: number[] = [];
  let known = 0;
  for (let label = 0; label < classifier.classCount; label += 1) {
    const isKnown = sample.classes[known] === label;
    const influence = isKnown ? (sample.influences[known] ?? 0) : 0;
    if (isKnown) known += 1;
    const gradient = gradientOf(sample, label, scratch.scores[label] ?? 0, influence);
    const next = improve(sample, { label, influence, gradient }, scratch);
    if (next > 0 || gradient < NEAR_GRADIENT) {
      classes.push(label);
      influences.push(next);
    }
  }
  sample.classes = classes;
  sample.influences = influences;
  return applyMoves(classifier, sample, scratch);
}

/** Examines only the classes that were near. Returns the worst violation. */
function learnNearClasses(classifier: LinearClassifier, sample: LearnedVector, scratch: Scratch): number {
  scoreSome(classifier, sample.vector, sample.classes, scratch.scores);
  for (let position = 0; position < sample.classes.length; position += 1) {
    const label = sample.classes[position] ?? 0;
    const influence = sample.influences[position] ?? 0;
    const gradient = gradientOf(sample, label, scratch.scores[position] ?? 0, influence);
    sample.influences[position] = improve(sample, { label, influence, gradient }, scratch);
  }
  return applyMoves(classifier, sample, scratch);
}

/** How the cost changes with the influence of a sample on a class: negative where more influence would be better. */
function gradientOf(sample: LearnedVector, label: number, score: number, influence: number): number {
  return signOf(sample, label) * score - 1 + SOFTNESS * influence;
}

/**
 * The influence of a sample on a class that is best with everything else as it is; notes the move that leads there.
 * Classes do not depend on each other, so that all moves of a sample can be made together.
 */
function improve(
  sample: LearnedVector,
  { label, influence, gradient }: { label: number; influence: number; gradient: number },
  { moved, by, worst }: Scratch,
): number {
  const violation = influence === 0 ? -gradient : Math.abs(gradient);
  if (violation <= SMALL_VIOLATION) return influence;
  const best = Math.max(influence - gradient / (SQUARED_LENGTH + SOFTNESS), 0);
  moved.push(label);
  by.push(signOf(sample, label) * (best - influence));
  worst[0] = Math.max(worst[0], violation);
  return best;
}

/** Makes the recorded moves and returns the worst violation among them. */
function applyMoves(classifier: LinearClassifier, sample: LearnedVector, scratch: Scratch): number {
  if (scratch.moved.length === 0) return 0;
  move(classifier, sample.vector, scratch.moved, scratch.by);
  const [worst] = scratch.worst;
  scratch.moved.length = 0;
  scratch.by.length = 0;
  scratch.worst[0] = 0;
  return worst;
}

function createScratch({ stride }: LinearClassifier): Scratch {
  return { scores: new Float32Array(stride), moved: [], by: [], worst: [0] };
}

function signOf(sample: LearnedVector, label: number): 1 | -1 {
  return sample.label === label ? 1 : -1;
}

/** Writes the scores of these classes into `scores`, in their order. */
function scoreSome(
  { stride, weights, bias }: LinearClassifier,
  vector: SparseVector,
  classes: readonly number[],
  scores: Float32Array,
): void {
  const { features, weights: values } = vector;
  for (let position = 0; position < classes.length; position += 1) scores[position] = bias[classes[position] ?? 0] ?? 0;
  for (let at = 0; at < features.length; at += 1) {
    const row = (features[at] ?? 0) * stride;
    const value = values[at] ?? 0;
    for (let position = 0; position < classes.length; position += 1) {
      scores[position] = (scores[position] ?? 0) + (weights[row + (classes[position] ?? 0)] ?? 0) * value;
    }
  }
}

/** Moves the weights of these classes along a vector, each by its own amount. */
function move(
  { stride, weights, bias }: LinearClassifier,
  vector: SparseVector,
  classes: readonly number[],
  by: readonly number[],
): void {
  const { features, weights: values } = vector;
  for (let position = 0; position < classes.length; position += 1) {
    const label = classes[position] ?? 0;
    bias[label] = (bias[label] ?? 0) + (by[position] ?? 0);
  }
  for (let at = 0; at < features.length; at += 1) {
    const row = (features[at] ?? 0) * stride;
    const value = values[at] ?? 0;
    for (let position = 0; position < classes.length; position += 1) {
      const index = row + (classes[position] ?? 0);
      weights[index] = (weights[index] ?? 0) + (by[position] ?? 0) * value;
    }
  }
}

function widen(classifier: LinearClassifier): void {
  const stride = classifier.stride + SPARE_CLASSES;
  const featureCount = classifier.weights.length / classifier.stride;
  const weights = new Float32Array(featureCount * stride);
  for (let feature = 0; feature < featureCount; feature += 1) {
    const row = classifier.weights.subarray(feature * classifier.stride, (feature + 1) * classifier.stride);
    weights.set(row, feature * stride);
  }
  const bias = new Float32Array(stride);
  bias.set(classifier.bias);
  Object.assign(classifier, { stride, weights, bias });
}

/** Always the same sequence of numbers from 0 to 1 (mulberry32), so that the same samples teach the same. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Puts numbers in random order, in place (Fisher and Yates). */
function shuffle(order: Int32Array, random: () => number): void {
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const moved = order[last] ?? 0;
    order[last] = order[other] ?? 0;
    order[other] = moved;
  }
}
