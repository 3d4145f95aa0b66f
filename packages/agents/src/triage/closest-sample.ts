import type { SparseVector } from "./feature-space.ts";

/** Samples that a message is compared with, the most; of more, the last ones. */
const MAX_COMPARED = 1_000;

/** The sample that a vector is most like, and how much: 0 to 1, the cosine. Null when there are no samples. */
export function findClosest<Sample extends { vector: SparseVector }>(
  samples: readonly Sample[],
  vector: SparseVector,
  featureCount: number,
): { sample: Sample; likeness: number } | null {
  const weights = new Float32Array(featureCount);
  for (let place = 0; place < vector.features.length; place += 1) {
    weights[vector.features[place] ?? 0] = vector.weights[place] ?? 0;
  }
  let closest: { sample: Sample; likeness: number } | null = null;
  for (const sample of samples.slice(-MAX_COMPARED)) {
    const { features, weights: sampleWeights } = sample.vector;
    let likeness = 0;
    for (let place = 0; place < features.length; place += 1) {
      likeness += (weights[features[place] ?? 0] ?? 0) * (sampleWeights[place] ?? 0);
    }
    if (closest === null || likeness > closest.likeness) closest = { sample, likeness };
  }
  return closest;
}
