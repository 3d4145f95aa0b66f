import { expect, test } from "@jest/globals";
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

test("parts that no line says anything about are null, and so is the score", () => {
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

test("the score is the share of the lines that are as expected, of those that say something", () => {
  const lines = [true, false, true, null].map((isAsExpected) => line({ isAsExpected }));
  expect(scoreLines(lines)).toMatchObject({ lines: 4, scored: 3, asExpected: 2, score: 2 / 3 });
});

test("triage counts right agents, and finds of nobody's messages apart", () => {
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

test("answers are right, wrong or handed over, and refusals are counted apart", () => {
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

test("a threshold says how many answers it would send and how many of them are right", () => {
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
