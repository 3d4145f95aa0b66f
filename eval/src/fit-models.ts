// Two small models of named figures: which of several candidates is right, and whether one is.

/** Regularization, so that a few similar questions do not decide. */
const CHOICE_PENALTY = 0.01;
const GATE_PENALTY = 0.02;

type Figures = Readonly<Record<string, number>>;
/** Weights of figures by name. */
export type Weights = Record<string, number>;

/** A case with its figures. */
interface Row {
  figures: Figures;
  isRight: boolean;
}
interface Weighted {
  weight: number;
}

/**
 * Required signs of the gate's weights, whatever a few sets suggest: missing words never raise the confidence, more
 * matching words never lower it, and being a table row is no advantage.
 */
const NEVER_POSITIVE =
  /(?:missing|maxMissing|unknown|lacksKind|isRow|asks)\w*$|passage\.(?:rows|code)$|part\.isCode$|otherLanguage$/;
const NEVER_NEGATIVE =
  /(?:Weight|Rarity|weight|rarity|ynonyms|airs|xact|ocus|eld|heldCount|ikeness|hasKind|HasKind|score|relative|bm25|Bm25)$|^(?:margin|marginToOther|value|partLead)$/;

/**
 * Figures about the length of a passage or the size of a knowledge base, which say little about an answer: their
 * weights are penalized more.
 */
const HARDLY_COUNTED = /(?:\.length|passageCount)$/;
const HARDLY_COUNTED_PENALTY = 0.5;

/** Returns the weighted sum of figures. */
export function weigh(figures: Figures, weights: Weights): number {
  let total = 0;
  for (const name in figures) total += (figures[name] ?? 0) * (weights[name] ?? 0);
  return total;
}

/**
 * Fits weights by which right candidates win: a conditional logit. `questions` are `{weight, candidates: [{figures,
 * isRight}]}`; one without right or without wrong candidates is ignored.
 */
export function fitChoice(questions: readonly (Weighted & { candidates: readonly Row[] })[]): Weights {
  const telling = questions.filter(
    ({ candidates }) => candidates.some(({ isRight }) => isRight) && candidates.some(({ isRight }) => !isRight),
  );
  const scale = scaleOf(telling.flatMap(({ candidates }) => candidates));
  const groups = telling.map(({ weight, candidates }) => ({
    weight,
    rows: candidates.map(({ figures, isRight }) => ({ isRight, values: scale.apply(figures) })),
  }));
  const total = groups.reduce((sum, { weight }) => sum + weight, 0);
  const fitted = descend(scale.names.length, 120, (weights, gradient) => {
    for (let at = 0; at < weights.length; at += 1) gradient[at] = CHOICE_PENALTY * (weights[at] ?? 0);
    for (const { weight, rows } of groups) {
      const odds = rows.map(({ values }) => dot(weights, values));
      const highest = Math.max(...odds);
      const shares = odds.map((value) => Math.exp(value - highest));
      const all = shares.reduce((sum, share) => sum + share, 0);
      const right = shares.reduce((sum, share, at) => sum + (rows[at]?.isRight === true ? share : 0), 0);
      for (const [at, { isRight, values }] of rows.entries()) {
        const own = shares[at] ?? 0;
        const error = (weight / total) * (own / all - (isRight ? own / right : 0));
        addTo(gradient, values, error);
      }
    }
  });
  return scale.undo(fitted).weights;
}

/**
 * Fits weights with a `bias` for the probability of being right: a logistic regression over `{weight, figures,
 * isRight}`.
 */
export function fitGate(rows: readonly (Weighted & Row)[]): Weights {
  const scale = scaleOf(rows);
  const read = rows.map(({ weight, figures, isRight }) => ({ weight, isRight, values: scale.apply(figures) }));
  const total = read.reduce((sum, { weight }) => sum + weight, 0);
  const size = scale.names.length;
  const penalties = scale.names.map((name) => (HARDLY_COUNTED.test(name) ? HARDLY_COUNTED_PENALTY : GATE_PENALTY));
  const isAllowed = (at: number, weight: number): boolean => {
    const name = scale.names[at] ?? "";
    return weight >= 0 ? !NEVER_POSITIVE.test(name) || weight === 0 : !NEVER_NEGATIVE.test(name);
  };
  const fitted = descend(size + 1, 250, (weights, gradient) => {
    for (let at = 0; at < size; at += 1) {
      if (!isAllowed(at, weights[at] ?? 0)) weights[at] = 0;
      gradient[at] = (penalties[at] ?? 0) * (weights[at] ?? 0);
    }
    gradient[size] = 0;
    for (const { weight, isRight, values } of read) {
      const likely = 1 / (1 + Math.exp(-dot(weights, values) - (weights[size] ?? 0)));
      const error = (weight / total) * (likely - (isRight ? 1 : 0));
      addTo(gradient, values, error);
      gradient[size] = (gradient[size] ?? 0) + error;
    }
  });
  for (let at = 0; at < size; at += 1) if (!isAllowed(at, fitted[at] ?? 0)) fitted[at] = 0;
  const { weights, offset } = scale.undo(fitted);
  return { bias: (fitted[size] ?? 0) + offset, ...weights };
}

/** Scales figures to mean 0 and deviation 1, and weights back to the original figures. */
function scaleOf(rows: readonly Row[]) {
  const names = [...new Set(rows.flatMap(({ figures }) => Object.keys(figures)))];
  const means = names.map((name) => rows.reduce((sum, { figures }) => sum + (figures[name] ?? 0), 0) / rows.length);
  const deviations = names.map(
    (name, at) =>
      Math.sqrt(
        rows.reduce((sum, { figures }) => sum + ((figures[name] ?? 0) - (means[at] ?? 0)) ** 2, 0) / rows.length,
      ) || 1,
  );
  return {
    names,
    apply: (figures: Figures) =>
      Float64Array.from(names, (name, at) => ((figures[name] ?? 0) - (means[at] ?? 0)) / (deviations[at] ?? 1)),
    undo: (fitted: Float64Array) => ({
      weights: Object.fromEntries(names.map((name, at) => [name, (fitted[at] ?? 0) / (deviations[at] ?? 1)])),
      offset: -names.reduce((sum, _, at) => sum + ((fitted[at] ?? 0) * (means[at] ?? 0)) / (deviations[at] ?? 1), 0),
    }),
  };
}

/** Adam, which needs no tuning for so few weights. */
function descend(
  size: number,
  steps: number,
  gradientOf: (weights: Float64Array, gradient: Float64Array) => void,
): Float64Array {
  const weights = new Float64Array(size);
  const gradient = new Float64Array(size);
  const mean = new Float64Array(size);
  const square = new Float64Array(size);
  for (let step = 1; step <= steps; step += 1) {
    gradientOf(weights, gradient);
    for (let at = 0; at < size; at += 1) {
      const slope = gradient[at] ?? 0;
      const first = 0.9 * (mean[at] ?? 0) + 0.1 * slope;
      const second = 0.99 * (square[at] ?? 0) + 0.01 * slope ** 2;
      mean[at] = first;
      square[at] = second;
      const move = first / (1 - 0.9 ** step) / (Math.sqrt(second / (1 - 0.99 ** step)) + 1e-8);
      weights[at] = (weights[at] ?? 0) - 0.05 * move;
    }
  }
  return weights;
}

/** Adds a multiple of the values to a sum. */
function addTo(sum: Float64Array, values: Float64Array, times: number) {
  for (let at = 0; at < values.length; at += 1) sum[at] = (sum[at] ?? 0) + times * (values[at] ?? 0);
}

function dot(weights: Float64Array, values: Float64Array): number {
  let total = 0;
  for (let at = 0; at < values.length; at += 1) total += (weights[at] ?? 0) * (values[at] ?? 0);
  return total;
}
