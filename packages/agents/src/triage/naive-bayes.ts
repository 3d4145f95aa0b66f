import type { SparseVector } from "./extract-features.ts";

/**
 * Number of samples of each class that contain each piece of a word (multinomial naive Bayes, each piece once per
 * sample).
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
