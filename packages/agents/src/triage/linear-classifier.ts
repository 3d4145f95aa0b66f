import type { SparseVector } from "./extract-features.ts";

/**
 * Weights that separate each class from all others: linear support vector machines with squared hinge loss. Weights are
 * ordered by feature and then by class, `stride` per feature, so that one pass computes the scores of all classes.
 */
export interface LinearClassifier {
  stride: number;
  classCount: number;
  weights: Float32Array;
  bias: Float32Array;
}

/** A sample with its contribution to the classifier, which allows removing it or continuing its training. */
export interface LearnedVector {
  vector: SparseVector;
  /** Its class. */
  label: number;
  /** The classes that it influences, or nearly, in ascending order, and its influence on each. */
  classes: number[];
  influences: number[];
}

/** Buffers reused for every sample. */
interface Scratch {
  scores: Float32Array;
  /** Classes whose weights move along the sample, and by how much. */
  moved: number[];
  by: number[];
  /** Largest violation of the sample in any class. */
  worst: [number];
}

/** Spare capacity for later classes and features. */
const SPARE_CLASSES = 4;
const SPARE_FEATURES = 1_000;

/** Growth factor of the capacity for features. */
const ROOM_FACTOR = 1.1;

/** Cost of a sample on the wrong side (C in the literature), as its addition to the curvature: 1 / 2C. */
const SOFTNESS = 0.25;

/** Squared length of a vector of length 1 with the bias as another feature. */
const SQUARED_LENGTH = 2;

/** Maximum number of passes over all samples: from scratch, and if most samples were learned before. */
const MAX_PASSES = { anew: 10, further: 5 } as const;

/** Passes that examine every class of every sample. */
const FULL_PASSES = [0, 4];

/** Gradient up to which a class is examined in the passes between. */
const NEAR_GRADIENT = 0.02;

/** Smaller violations have no visible effect. */
const SMALL_VIOLATION = 0.01;

/** Training ends when no sample violates its margin by more. */
const GOOD_VIOLATION = 0.1;

/** Maximum number of steps to learn a single sample. */
const MAX_TRIES = 12;

/** Number of samples processed between two yields. */
const SLICE_SAMPLES = 32;

const SEED = 1;

/** Creates an untrained classifier. */
export function createLinearClassifier(featureCount: number, classCount: number): LinearClassifier {
  const stride = classCount + SPARE_CLASSES;
  const weights = new Float32Array((featureCount + SPARE_FEATURES) * stride);
  return { stride, classCount, weights, bias: new Float32Array(stride) };
}

/** Returns a sample that has not been learned. */
export function unlearned(vector: SparseVector, label: number): LearnedVector {
  return { vector, label, classes: [], influences: [] };
}

/**
 * Learns samples by dual coordinate descent (Hsieh and others, ICML 2008), all classes of a sample together. `samples`
 * are all samples of the classifier; training of those learned before continues. Changes the classifier and the
 * samples; yields every few milliseconds.
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

/** Learns one more sample completely. Changes the classifier and the sample. */
export function learnOne(classifier: LinearClassifier, sample: LearnedVector): void {
  const scratch = createScratch(classifier);
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    if (learnAllClasses(classifier, sample, scratch) < SMALL_VIOLATION) return;
  }
}

/** Removes the contribution of a sample. Changes the classifier and the sample. */
export function forget(classifier: LinearClassifier, sample: LearnedVector): void {
  const by = sample.classes.map((label, position) => -signOf(sample, label) * (sample.influences[position] ?? 0));
  move(classifier, sample.vector, sample.classes, by);
  sample.classes = [];
  sample.influences = [];
}

/**
 * Adds a class that no sample belongs to yet, with all samples as counterexamples. Changes the classifier and the
 * samples. Returns the number of the class.
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

/** Grows the weights for features up to this number. Changes the classifier. */
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

/** Examines all classes, and records which are close enough for the passes between. Returns the largest violation. */
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

/** Examines only the recorded classes. Returns the largest violation. */
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

/**
 * Returns the gradient of the cost by the influence of a sample on a class: negative if more influence would be better.
 */
function gradientOf(sample: LearnedVector, label: number, score: number, influence: number): number {
  return signOf(sample, label) * score - 1 + SOFTNESS * influence;
}

/**
 * Computes the optimal influence of a sample on a class with everything else fixed, and records the move. Classes are
 * independent, so all moves of a sample can be applied together.
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

/** Applies the recorded moves and returns the largest violation among them. */
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

/** Creates a deterministic generator of numbers from 0 to 1 (mulberry32), so that training is reproducible. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Shuffles numbers in place (Fisher and Yates). */
function shuffle(order: Int32Array, random: () => number): void {
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    const moved = order[last] ?? 0;
    order[last] = order[other] ?? 0;
    order[other] = moved;
  }
}
