// Measures of information retrieval and classification, as the papers define them. Each is null without data.

/** Returns the mean of numbers. */
export function mean(numbers: readonly number[]): number | null {
  return numbers.length === 0 ? null : numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

/** Returns the share of matching items, 0 to 1. */
export function share<Item>(items: readonly Item[], isOne: (item: Item) => boolean): number | null {
  return mean(items.map((item) => (isOne(item) ? 1 : 0)));
}

/** Returns the percentile of numbers (nearest rank). */
export function percentile(numbers: readonly number[], below: number): number | null {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * below) - 1)] ?? null;
}

/** Returns the probability that one of `highs` is above one of `lows` (area under the ROC curve); ties count half. */
export function auroc(highs: readonly number[], lows: readonly number[]): number | null {
  if (highs.length === 0 || lows.length === 0) return null;
  const all = [...highs.map((value) => ({ value, isHigh: true })), ...lows.map((value) => ({ value, isHigh: false }))];
  all.sort((a, b) => a.value - b.value);
  let rankSum = 0;
  for (let from = 0; from < all.length;) {
    let to = from;
    while (to < all.length && all[to]?.value === all[from]?.value) to += 1;
    rankSum += all.slice(from, to).filter(({ isHigh }) => isHigh).length * ((from + 1 + to) / 2);
    from = to;
  }
  return (rankSum - (highs.length * (highs.length + 1)) / 2) / (highs.length * lows.length);
}

/** Returns the share of `lows` below the score that the share `kept` of `highs` reaches. */
export function rejectedAt(highs: readonly number[], lows: readonly number[], kept: number): number | null {
  const sorted = highs.toSorted((a, b) => a - b);
  const threshold = sorted[Math.floor(sorted.length * (1 - kept))];
  return threshold === undefined || lows.length === 0 ? null : share(lows, (low) => low < threshold);
}

/** Relevant documents with their grades, and the found ones, best first. */
export interface RankedRow {
  relevant?: Readonly<Record<string, number>> | undefined;
  ranked?: readonly (string | number)[] | undefined;
}

/** Measures of a ranking over all queries with relevant documents. */
export interface RankingScores {
  queries: number;
  /** Normalized discounted cumulative gain of the first ten (Järvelin and Kekäläinen 2002). */
  ndcg10: number | null;
  recall5: number | null;
  recall10: number | null;
  recall100: number | null;
  /** Mean of 1 / rank of the first relevant document, 0 below ten. */
  mrr10: number | null;
  /** Share of the queries with a relevant document at rank 1. */
  hit1: number | null;
  /** Share of the queries with a relevant document among the first three. */
  hit3: number | null;
  /** Mean average precision. */
  map: number | null;
  p5: number | null;
}

interface CountedRow {
  grades: Map<string, number>;
  ranked: string[];
}

/** Returns the measures of the first hundred documents. Duplicates count once; queries without grades are skipped. */
export function rankingScores(rows: readonly RankedRow[]): RankingScores {
  const counted = rows
    .map(({ relevant, ranked }): CountedRow => ({
      grades: new Map(Object.entries(relevant ?? {}).filter(([, grade]) => grade > 0)),
      ranked: [...new Set((ranked ?? []).map(String))].slice(0, 100),
    }))
    .filter(({ grades }) => grades.size > 0);
  const hitsIn = ({ grades, ranked }: CountedRow, depth: number) =>
    ranked.slice(0, depth).filter((id) => grades.has(id)).length;
  const over = (measure: (row: CountedRow) => number) => mean(counted.map(measure));
  const firstOf = ({ grades, ranked }: CountedRow) => ranked.findIndex((id) => grades.has(id)) + 1;
  const isWithin = (depth: number) => (row: CountedRow) => (hitsIn(row, depth) > 0 ? 1 : 0);
  return {
    queries: counted.length,
    ndcg10: over(ndcg10),
    recall5: over((row) => hitsIn(row, 5) / row.grades.size),
    recall10: over((row) => hitsIn(row, 10) / row.grades.size),
    recall100: over((row) => hitsIn(row, 100) / row.grades.size),
    mrr10: over((row) => (isWithin(10)(row) === 1 ? 1 / firstOf(row) : 0)),
    hit1: over(isWithin(1)),
    hit3: over(isWithin(3)),
    map: over(averagePrecision),
    p5: over((row) => hitsIn(row, 5) / 5),
  };
}

function ndcg10({ grades, ranked }: CountedRow): number {
  const gain = (list: readonly number[]) =>
    list.slice(0, 10).reduce((sum, grade, position) => sum + grade / Math.log2(position + 2), 0);
  return gain(ranked.map((id) => grades.get(id) ?? 0)) / gain([...grades.values()].sort((a, b) => b - a));
}

function averagePrecision({ grades, ranked }: CountedRow): number {
  let hits = 0;
  const precisions = ranked.map((id, position) => (grades.has(id) ? (hits += 1) / (position + 1) : 0));
  return precisions.reduce((sum, precision) => sum + precision, 0) / grades.size;
}

/** A decision with its confidence, 0 to 1, and whether it was right. */
export interface SureDecision {
  confidence: number;
  isRight: boolean;
}

/** Quality of the confidence as a prediction of correct results. */
export interface Calibration {
  decisions: number;
  meanConfidence: number | null;
  rightShare: number | null;
  /** Mean difference between confidence and correctness in ten steps (expected calibration error). */
  error: number | null;
  /** Steps with decisions, the least confident first. */
  steps: { from: number; decisions: number; meanConfidence: number | null; rightShare: number | null }[];
}

const STEPS = 10;

/** Compares the confidence of decisions with how often they were right. */
export function calibrationOf(decisions: readonly SureDecision[]): Calibration {
  const confidenceOf = (group: readonly SureDecision[]) => mean(group.map(({ confidence }) => confidence));
  const rightOf = (group: readonly SureDecision[]) => share(group, ({ isRight }) => isRight);
  const steps = Array.from({ length: STEPS }, (_, step) => {
    const within = decisions.filter(({ confidence }) => Math.min(STEPS - 1, Math.floor(confidence * STEPS)) === step);
    return {
      from: step / STEPS,
      decisions: within.length,
      meanConfidence: confidenceOf(within),
      rightShare: rightOf(within),
    };
  }).filter((step) => step.decisions > 0);
  const apart = steps.reduce(
    (sum, step) => sum + step.decisions * Math.abs((step.meanConfidence ?? 0) - (step.rightShare ?? 0)),
    0,
  );
  return {
    decisions: decisions.length,
    meanConfidence: confidenceOf(decisions),
    rightShare: rightOf(decisions),
    error: decisions.length === 0 ? null : apart / decisions.length,
    steps,
  };
}
