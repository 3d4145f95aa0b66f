import type { ReviewPolicy } from "@svc/contracts";
import type { AnswerOutcome, JudgedLine, LinePrediction } from "./judge-line.ts";

/** Result of a threshold applied to all agents. */
interface ThresholdRow {
  threshold: number;
  answered: number;
  /** Number of right answers among the answered ones. */
  right: number;
  wrong: number;
}

/** Result of an evaluation. A part that no line specifies is null; shares are 0 to 1. */
export interface EvalScores {
  lines: number;
  /** Lines with expectations, and how many of them were as expected. */
  scored: number;
  asExpected: number;
  /** `asExpected` of `scored`; null if nothing is scored. */
  score: number | null;
  triage: {
    lines: number;
    right: number;
    accuracy: number | null;
    /** Messages for no agent. */
    noneLines: number;
    noneRecall: number | null;
    /** How often "no agent" was chosen, and how often that was right. */
    noneChosen: number;
    nonePrecision: number | null;
  } | null;
  retrieval: {
    lines: number;
    hit1: number | null;
    hit3: number | null;
    /** Mean of 1 / rank of the first expected document among ten. */
    mrr10: number | null;
    ndcg10: number | null;
  } | null;
  answers: {
    /** Lines with an expected text, and their outcomes. */
    lines: number;
    right: number;
    wrong: number;
    /** Handed over to a person although there is an answer: false refusals. */
    handedOver: number;
    /** Number of these with the right answer, but a confidence below the threshold. */
    handedOverRight: number;
    rightShare: number | null;
    falseRefusals: number | null;
    /** Lines that a person must answer, and how many were handed over. */
    refusalLines: number;
    refused: number;
    rightRefusals: number | null;
  } | null;
  thresholds: ThresholdRow[];
  calibration: { triage: Calibration | null; answers: Calibration | null };
  /** Duration of a message in milliseconds. */
  ms: { mean: number | null; p95: number | null };
}

/** When an agent's answers are sent without approval. */
export interface AgentPolicy {
  agent: string;
  reviewPolicy: ReviewPolicy;
  autoThreshold: number;
}

/** The scores, and the worst lines, worst first. */
export interface EvalResult {
  scores: EvalScores;
  worst: LinePrediction[];
  /** Policies of the evaluated agents: all enabled ones, or the given one. */
  policies: AgentPolicy[];
  /** Seconds until triage was trained; null if there was nothing to learn. */
  learnSeconds: number | null;
}

const THRESHOLDS = [0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/** Aggregates the results of the lines. */
export function scoreLines(lines: readonly ScoredLine[]): EvalScores {
  const scored = lines.filter(({ isAsExpected }) => isAsExpected !== null);
  const asExpected = scored.filter(({ isAsExpected }) => isAsExpected === true).length;
  const answers = scoreAnswers(lines);
  return {
    lines: lines.length,
    scored: scored.length,
    asExpected,
    score: scored.length === 0 ? null : asExpected / scored.length,
    triage: scoreTriage(lines),
    retrieval: scoreRetrieval(lines),
    answers,
    thresholds: answers === null ? [] : THRESHOLDS.map((threshold) => scoreThreshold(lines, threshold)),
    calibration: {
      triage: calibrationOfSome(
        lines.flatMap(({ agent, triageConfidence }) =>
          agent === null ? [] : [{ confidence: triageConfidence, isRight: agent.isRight }],
        ),
      ),
      answers: calibrationOfSome(
        lines.flatMap(({ answer }) =>
          answer === null || !answer.hasText ? [] : [{ confidence: answer.confidence, isRight: answer.isTextRight }],
        ),
      ),
    },
    ms: {
      mean: mean(lines.map(({ ms }) => ms)),
      p95: percentile(
        lines.map(({ ms }) => ms),
        0.95,
      ),
    },
  };
}

/** Figures of a line without texts, so that a long file takes little memory. */
export interface ScoredLine {
  isAsExpected: boolean | null;
  triageConfidence: number;
  agent: { isRight: boolean; expectsNone: boolean; choseNone: boolean } | null;
  retrieval: { wanted: string[]; ranked: string[] } | null;
  answer: {
    outcome: AnswerOutcome;
    expectsHandover: boolean;
    isTextRight: boolean;
    hasText: boolean;
    confidence: number;
  } | null;
  ms: number;
}

/** Facts of a line that the scores need. */
export function figuresOf({ asked, agent, retrieval, answer, isAsExpected }: JudgedLine): ScoredLine {
  return {
    isAsExpected,
    triageConfidence: asked.triage.confidence,
    agent: agent === null ? null : { ...agent, choseNone: asked.agent === null },
    retrieval: retrieval === null ? null : { wanted: retrieval.wanted, ranked: retrieval.ranked },
    answer:
      answer === null
        ? null
        : {
            outcome: answer.outcome,
            expectsHandover: answer.expectsHandover,
            isTextRight: answer.isTextRight,
            hasText: asked.answer.text !== null,
            confidence: asked.answer.confidence,
          },
    ms: asked.ms,
  };
}

const calibrationOfSome = (decisions: Parameters<typeof calibrationOf>[0]): Calibration | null =>
  decisions.length === 0 ? null : calibrationOf(decisions);

function scoreTriage(lines: readonly ScoredLine[]): EvalScores["triage"] {
  const judged = lines.flatMap(({ agent }) => (agent === null ? [] : [agent]));
  if (judged.length === 0) return null;
  const ofNone = judged.filter(({ expectsNone }) => expectsNone);
  const chosenNone = judged.filter(({ choseNone }) => choseNone);
  return {
    lines: judged.length,
    right: judged.filter(({ isRight }) => isRight).length,
    accuracy: share(judged, ({ isRight }) => isRight),
    noneLines: ofNone.length,
    noneRecall: share(ofNone, ({ isRight }) => isRight),
    noneChosen: chosenNone.length,
    nonePrecision: share(chosenNone, ({ isRight }) => isRight),
  };
}

function scoreRetrieval(lines: readonly ScoredLine[]): EvalScores["retrieval"] {
  const judged = lines.flatMap(({ retrieval }) => (retrieval === null ? [] : [retrieval]));
  if (judged.length === 0) return null;
  const { hit1, hit3, mrr10, ndcg10 } = rankingScores(
    judged.map(({ wanted, ranked }) => ({ relevant: Object.fromEntries(wanted.map((name) => [name, 1])), ranked })),
  );
  return { lines: judged.length, hit1, hit3, mrr10, ndcg10 };
}

function scoreAnswers(lines: readonly ScoredLine[]): EvalScores["answers"] {
  const judged = lines.flatMap(({ answer }) => (answer === null ? [] : [answer]));
  if (judged.length === 0) return null;
  const toAnswer = judged.filter(({ expectsHandover }) => !expectsHandover);
  const toRefuse = judged.filter(({ expectsHandover }) => expectsHandover);
  const ofOutcome = (wanted: AnswerOutcome) => toAnswer.filter(({ outcome }) => outcome === wanted);
  const isHandedOver = ({ outcome }: { outcome: AnswerOutcome }) => outcome === "handed_over";
  return {
    lines: toAnswer.length,
    right: ofOutcome("right").length,
    wrong: ofOutcome("wrong").length,
    handedOver: ofOutcome("handed_over").length,
    handedOverRight: ofOutcome("handed_over").filter(({ isTextRight }) => isTextRight).length,
    rightShare: share(toAnswer, ({ outcome }) => outcome === "right"),
    falseRefusals: share(toAnswer, isHandedOver),
    refusalLines: toRefuse.length,
    refused: toRefuse.filter(isHandedOver).length,
    rightRefusals: share(toRefuse, isHandedOver),
  };
}

function scoreThreshold(lines: readonly ScoredLine[], threshold: number): ThresholdRow {
  const answered = lines.flatMap(({ answer }) =>
    answer === null || !answer.hasText || answer.confidence < threshold ? [] : [answer],
  );
  const right = answered.filter(({ isTextRight }) => isTextRight).length;
  return { threshold, answered: answered.length, right, wrong: answered.length - right };
}

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
