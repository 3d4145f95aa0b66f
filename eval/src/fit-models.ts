// Two small models over named figures: which of several candidates is right, and whether one is.

/** Fitted so far from the data: what a weight costs, against few questions of one kind deciding. */
const CHOICE_PENALTY = 0.01;
const GATE_PENALTY = 0.02;

/** The sum of figures by their weights. */
export function weigh(figures, weights) {
  let total = 0;
  for (const name in figures) total += figures[name] * (weights[name] ?? 0);
  return total;
}

/**
 * Weights that make right candidates win: a conditional logit. `questions` are `{weight, candidates: [{figures, isRight}]}`;
 * one without right or without wrong candidates says nothing.
 */
export function fitChoice(questions) {
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
    for (let at = 0; at < weights.length; at += 1) gradient[at] = CHOICE_PENALTY * weights[at];
    for (const { weight, rows } of groups) {
      const odds = rows.map(({ values }) => dot(weights, values));
      const highest = Math.max(...odds);
      const shares = odds.map((value) => Math.exp(value - highest));
      const all = shares.reduce((sum, share) => sum + share, 0);
      const right = shares.reduce((sum, share, at) => sum + (rows[at].isRight ? share : 0), 0);
      for (const [at, { isRight, values }] of rows.entries()) {
        const error = (weight / total) * (shares[at] / all - (isRight ? shares[at] / right : 0));
        for (let place = 0; place < values.length; place += 1) gradient[place] += error * values[place];
      }
    }
  });
  return scale.undo(fitted).weights;
}

/** Weights with a `bias` that give the probability of being right: a logistic regression over `{weight, figures, isRight}`. */
export function fitGate(rows) {
  const scale = scaleOf(rows);
  const read = rows.map(({ weight, figures, isRight }) => ({ weight, isRight, values: scale.apply(figures) }));
  const total = read.reduce((sum, { weight }) => sum + weight, 0);
  const size = scale.names.length;
  const fitted = descend(size + 1, 250, (weights, gradient) => {
    for (let at = 0; at < size; at += 1) gradient[at] = GATE_PENALTY * weights[at];
    gradient[size] = 0;
    for (const { weight, isRight, values } of read) {
      const likely = 1 / (1 + Math.exp(-dot(weights, values) - weights[size]));
      const error = (weight / total) * (likely - (isRight ? 1 : 0));
      for (let at = 0; at < size; at += 1) gradient[at] += error * values[at];
      gradient[size] += error;
    }
  });
  const { weights, offset } = scale.undo(fitted);
  return { bias: fitted[size] + offset, ...weights };
}

/** Brings figures to mean 0 and deviation 1, and weights back to figures as they are. */
function scaleOf(rows) {
  const names = [...new Set(rows.flatMap(({ figures }) => Object.keys(figures)))];
  const means = names.map((name) => rows.reduce((sum, { figures }) => sum + (figures[name] ?? 0), 0) / rows.length);
  const deviations = names.map(
    (name, at) =>
      Math.sqrt(rows.reduce((sum, { figures }) => sum + ((figures[name] ?? 0) - means[at]) ** 2, 0) / rows.length) || 1,
  );
  return {
    names,
    apply: (figures) => Float64Array.from(names, (name, at) => ((figures[name] ?? 0) - means[at]) / deviations[at]),
    undo: (fitted) => ({
      weights: Object.fromEntries(names.map((name, at) => [name, fitted[at] / deviations[at]])),
      offset: -names.reduce((sum, _, at) => sum + (fitted[at] * means[at]) / deviations[at], 0),
    }),
  };
}

/** Adam, whose steps need no tuning for so few weights. */
function descend(size, steps, gradientOf) {
  const weights = new Float64Array(size);
  const gradient = new Float64Array(size);
  const mean = new Float64Array(size);
  const square = new Float64Array(size);
  for (let step = 1; step <= steps; step += 1) {
    gradientOf(weights, gradient);
    for (let at = 0; at < size; at += 1) {
      mean[at] = 0.9 * mean[at] + 0.1 * gradient[at];
      square[at] = 0.99 * square[at] + 0.01 * gradient[at] ** 2;
      const move = mean[at] / (1 - 0.9 ** step) / (Math.sqrt(square[at] / (1 - 0.99 ** step)) + 1e-8);
      weights[at] -= 0.05 * move;
    }
  }
  return weights;
}

function dot(weights, values) {
  let total = 0;
  for (let at = 0; at < values.length; at += 1) total += weights[at] * values[at];
  return total;
}
