import type { ReviewPolicy } from "@svc/contracts";
import type { AnswerOutcome, JudgedLine, LinePrediction } from "./judge-line.ts";
import { calibrationOf, mean, percentile, rankingScores, share } from "./measures.ts";
import type { Calibration } from "./measures.ts";

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
