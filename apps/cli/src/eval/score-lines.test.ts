import { expect, test, describe } from "@jest/globals";
import { auroc, calibrationOf, mean, percentile, rankingScores, rejectedAt, share } from "./measures.ts";
import { scoreLines } from "./score-lines.ts";
import type { ScoredLine } from "./score-lines.ts";

const line = (change: Partial<ScoredLine>): ScoredLine => ({
  isAsExpected: null,
  triageConfidence: 0.5,
  agent: null,
  retrieval: null,
  answer: null,
  ms: 2,
  ...change,
});

type Answer = NonNullable<ScoredLine["answer"]>;
const answered = (change: Partial<Answer>): ScoredLine =>
  line({
    answer: {
      outcome: "right",
      expectsHandover: false,
      isTextRight: true,
      hasText: true,
      confidence: 0.9,
      ...change,
    },
  });

test("parts that no line specifies are null, and so is the score", () => {
  expect(scoreLines([line({}), line({ ms: 4 })])).toEqual({
    lines: 2,
    scored: 0,
    asExpected: 0,
    score: null,
    triage: null,
    retrieval: null,
    answers: null,
    thresholds: [],
    calibration: { triage: null, answers: null },
    ms: { mean: 3, p95: 4 },
  });
});

test("the score is the share of lines as expected, of those with expectations", () => {
  const lines = [true, false, true, null].map((isAsExpected) => line({ isAsExpected }));
  expect(scoreLines(lines)).toMatchObject({ lines: 4, scored: 3, asExpected: 2, score: 2 / 3 });
});

test("triage counts right agents, and messages for no agent separately", () => {
  const agent = (isRight: boolean, expectsNone: boolean, choseNone: boolean) =>
    line({ agent: { isRight, expectsNone, choseNone } });
  const lines = [
    agent(true, false, false),
    agent(true, true, true),
    agent(false, true, false),
    agent(false, false, true),
  ];
  expect(scoreLines(lines).triage).toEqual({
    lines: 4,
    right: 2,
    accuracy: 0.5,
    noneLines: 2,
    noneRecall: 0.5,
    noneChosen: 2,
    nonePrecision: 0.5,
  });
});

test("answers are right, wrong or handed over, and refusals are counted separately", () => {
  const { answers } = scoreLines([
    answered({}),
    answered({ outcome: "wrong", isTextRight: false }),
    answered({ outcome: "handed_over", confidence: 0.4 }),
    answered({ outcome: "handed_over", isTextRight: false, hasText: false, confidence: 0.1 }),
    answered({ outcome: "handed_over", isTextRight: false, expectsHandover: true, hasText: false }),
    answered({ outcome: "wrong", isTextRight: false, expectsHandover: true }),
  ]);
  expect(answers).toEqual({
    lines: 4,
    right: 1,
    wrong: 1,
    handedOver: 2,
    handedOverRight: 1,
    rightShare: 0.25,
    falseRefusals: 0.5,
    refusalLines: 2,
    refused: 1,
    rightRefusals: 0.5,
  });
});

test("a threshold shows how many answers it would send and how many of them are right", () => {
  const { thresholds } = scoreLines([
    answered({ confidence: 0.3 }),
    answered({ confidence: 0.65, isTextRight: false }),
    answered({ confidence: 0.9 }),
    answered({ hasText: false, confidence: 0.95, isTextRight: false }),
    answered({ expectsHandover: true, isTextRight: false, confidence: 0.7 }),
  ]);
  expect(thresholds.map(({ threshold, answered: count, right, wrong }) => [threshold, count, right, wrong])).toEqual([
    [0, 4, 2, 2],
    [0.3, 4, 2, 2],
    [0.4, 3, 1, 2],
    [0.5, 3, 1, 2],
    [0.6, 3, 1, 2],
    [0.7, 2, 1, 1],
    [0.8, 1, 1, 0],
    [0.9, 1, 1, 0],
  ]);
});

test("a measure without data is null", () => {
  expect([mean([]), share([], () => true), percentile([], 0.95), auroc([], [1]), rejectedAt([1], [], 0.9)]).toEqual([
    null,
    null,
    null,
    null,
    null,
  ]);
  expect(calibrationOf([])).toEqual({ decisions: 0, meanConfidence: null, rightShare: null, error: null, steps: [] });
  expect(rankingScores([{ relevant: {}, ranked: ["a"] }])).toMatchObject({ queries: 0, ndcg10: null, hit1: null });
});

test("a percentile is one of the values", () => {
  const numbers = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(numbers, 0.95)).toBe(95);
  expect(percentile([7], 0.95)).toBe(7);
});

test("auroc is the probability that a high value is above a low one, and ties count half", () => {
  expect(auroc([0.9, 0.4], [0.1, 0.4])).toBe(0.875);
  expect(auroc([1], [0])).toBe(1);
});

test("rejected values are below the score that most high values reach", () => {
  expect(rejectedAt([0.2, 0.6, 0.7, 0.8, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9], [0.1, 0.5, 0.65, 0.7], 0.75)).toBe(0.75);
});

describe("rankingScores", () => {
  test("counts ranks as in the papers", () => {
    const scores = rankingScores([
      { relevant: { a: 1, b: 1 }, ranked: ["x", "a", "a", "b"] },
      { relevant: { c: 1 }, ranked: ["c"] },
    ]);
    expect(scores).toMatchObject({ queries: 2, hit1: 0.5, hit3: 1, mrr10: 0.75, recall5: 1 });
    const first = (1 / Math.log2(3) + 1 / Math.log2(4)) / (1 + 1 / Math.log2(3));
    expect(scores.ndcg10).toBeCloseTo((first + 1) / 2, 12);
    expect(scores.map).toBeCloseTo(((1 / 2 + 2 / 3) / 2 + 1) / 2, 12);
  });

  test("documents below rank ten or not found score zero", () => {
    const deep = [..."b c d e f g h i j k".split(" "), "a"];
    expect(rankingScores([{ relevant: { a: 1 }, ranked: deep }])).toMatchObject({ mrr10: 0, ndcg10: 0, recall100: 1 });
    expect(rankingScores([{ relevant: { a: 1 } }])).toMatchObject({ queries: 1, mrr10: 0, hit3: 0, map: 0 });
  });

  test("documents may have any name", () => {
    expect(rankingScores([{ relevant: Object.fromEntries([["__proto__", 1]]), ranked: ["__proto__"] }]).hit1).toBe(1);
  });
});

test("calibration compares confidence with correctness in steps", () => {
  const decision = (confidence: number, isRight: boolean) => ({ confidence, isRight });
  const measured = calibrationOf([
    decision(1, true),
    decision(0.9, false),
    decision(0.1, false),
    decision(0.15, false),
  ]);
  expect(measured.steps.map(({ from, decisions, rightShare }) => [from, decisions, rightShare])).toEqual([
    [0.1, 2, 0],
    [0.9, 2, 0.5],
  ]);
  expect(measured).toMatchObject({ decisions: 4, rightShare: 0.25 });
  expect(measured.error).toBeCloseTo((2 * 0.125 + 2 * 0.45) / 4, 12);
});
