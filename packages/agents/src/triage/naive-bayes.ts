import type { SparseVector } from "./feature-space.ts";

/**
 * In how many samples of each class each piece of a word stands (multinomial naive Bayes, each piece once a sample).
 */
export interface NaiveBayes {
  stride: number;
  classCount: number;
  pieceCount: number;
  /** By piece and then by class. */
  counts: Uint16Array;
  /** By class: sum of its counts. */
  totals: Float64Array;
}

const SPARE_CLASSES = 4;

/** What each piece is taken to have been seen in each class besides. */
const PRIOR_COUNT = 0.05;

const MAX_COUNT = 65_535;

/** Logarithms of the counts that there can be, since they are looked up for each class. */
const LOG_COUNTS = Float32Array.from({ length: MAX_COUNT + 1 }, (_, count) => Math.log(count + PRIOR_COUNT));

/** Counts that hold nothing yet. */
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

/** Counts a sample in (`by` 1) or out again (-1). Changes `bayes`. */
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
 * Adds to the score of each class the mean logarithm of the probabilities of the text's pieces in it, times `scale`.
 * The mean, since pieces of one word are far from independent.
 */
export function addBayesScores(bayes: NaiveBayes, vector: SparseVector, scores: Float32Array, scale: number): void {
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
