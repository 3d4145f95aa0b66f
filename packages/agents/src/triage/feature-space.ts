/** A text as weighted features; its length is 1, or 0 if it has no known feature. */
export interface SparseVector {
  /** Distinct ids of its features. */
  features: Int32Array;
  weights: Float32Array;
}

/** The features that triage knows. */
export interface FeatureSpace {
  /** Id of each feature's hash. Pieces of words come first: their ids are below `pieceCount`. */
  ids: Map<number, number>;
  /** Weight of each feature by id: higher if it is rarer. */
  idf: number[];
  pieceCount: number;
  sampleCount: number;
}

/** Total weight of all words relative to all pieces of words. */
const WORDS_SHARE = 1;

/** Number of features processed between two yields. */
const SLICE_FEATURES = 10_000;

/** Features in fewer samples are left out if there are many samples: they are noise, and use memory. */
const LEAST_COUNTS = [
  { fromSamples: 12_000, count: 3 },
  { fromSamples: 1_500, count: 2 },
  { fromSamples: 0, count: 1 },
] as const;

/** Creates the features of samples, weighted by inverse document frequency. Yields every few milliseconds. */
export function* createFeatureSpace(samples: readonly TextFeatures[]): Generator<undefined, FeatureSpace> {
  const space: FeatureSpace = { ids: new Map(), idf: [], pieceCount: 0, sampleCount: samples.length };
  const least = LEAST_COUNTS.find(({ fromSamples }) => samples.length >= fromSamples)?.count ?? 1;
  yield* addCounted(
    space,
    samples.map(({ pieces }) => pieces),
    least,
  );
  space.pieceCount = space.idf.length;
  yield* addCounted(
    space,
    samples.map(({ words }) => words),
    least,
  );
  return space;
}

/**
 * Adds the words of another sample to `space`. Its new pieces stay unknown until the next full training, because most
 * pieces of a language are soon known.
 */
export function extendFeatureSpace(space: FeatureSpace, sample: TextFeatures): void {
  for (const hash of new Set(sample.words)) {
    if (!space.ids.has(hash)) addFeature(space, hash, 1);
  }
}

/**
 * Returns the known features of a text as a vector: TF-IDF with a logarithmic count, words and pieces scaled
 * separately.
 */
export function toVector(space: FeatureSpace, text: TextFeatures): SparseVector {
  const words = weigh(space, text.words);
  const pieces = weigh(space, text.pieces);
  const wordScale = words.length === 0 ? 0 : WORDS_SHARE / words.length;
  const pieceScale = pieces.length === 0 ? 0 : 1 / pieces.length;
  const length = Math.hypot(words.length * wordScale, pieces.length * pieceScale) || 1;
  const features = new Int32Array(words.weights.size + pieces.weights.size);
  const weights = new Float32Array(features.length);
  let position = 0;
  const put = (part: ReadonlyMap<number, number>, scale: number): void => {
    for (const [feature, weight] of part) {
      features[position] = feature;
      weights[position] = weight * scale;
      position += 1;
    }
  };
  put(words.weights, wordScale / length);
  put(pieces.weights, pieceScale / length);
  return { features, weights };
}

function weigh(space: FeatureSpace, hashes: readonly number[]): { weights: Map<number, number>; length: number } {
  const weights = new Map<number, number>();
  for (const hash of hashes) {
    const id = space.ids.get(hash);
    if (id !== undefined) weights.set(id, (weights.get(id) ?? 0) + 1);
  }
  let squares = 0;
  for (const [id, count] of weights) {
    const weight = (count === 1 ? 1 : 1 + Math.log(count)) * (space.idf[id] ?? 0);
    weights.set(id, weight);
    squares += weight * weight;
  }
  return { weights, length: Math.sqrt(squares) };
}

function* addCounted(
  space: FeatureSpace,
  samples: readonly (readonly number[])[],
  leastCount: number,
): Generator<undefined, void> {
  const counts = new Map<number, number>();
  const lastSeen = new Map<number, number>();
  for (const [sample, hashes] of samples.entries()) {
    for (const hash of hashes) {
      if (lastSeen.get(hash) === sample) continue;
      lastSeen.set(hash, sample);
      counts.set(hash, (counts.get(hash) ?? 0) + 1);
    }
    yield;
  }
  let checked = 0;
  for (const [hash, count] of counts) {
    if (count >= leastCount) addFeature(space, hash, count);
    checked += 1;
    if (checked % SLICE_FEATURES === 0) yield;
  }
}

function addFeature(space: FeatureSpace, hash: number, count: number): void {
  space.ids.set(hash, space.idf.length);
  space.idf.push(1 + Math.log((1 + space.sampleCount) / (1 + count)));
}

/** The features of a text, each as a 32-bit hash, with repetitions. */
export interface TextFeatures {
  /** Its words, neighbouring words, and nearby words in any order. */
  words: number[];
  /** The pieces of two to four characters of its words, which forms and misspellings of a word share. */
  pieces: number[];
}
