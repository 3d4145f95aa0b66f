import { describe, expect, test } from "@jest/globals";
import type { LinePrediction } from "./judge-line.ts";
import { renderScores, renderWorst } from "./render-eval.ts";
import { scoreLines } from "./score-lines.ts";
import type { ScoredLine } from "./score-lines.ts";
import { createTerminal } from "../terminal.ts";

const stream = { write: () => undefined };
const terminal = createTerminal({ stdout: stream, stderr: stream, isJson: false, env: {} });

const LINE: ScoredLine = {
  isAsExpected: true,
  triageConfidence: 0.8,
  agent: { isRight: true, expectsNone: false, choseNone: false },
  retrieval: { wanted: ["a"], ranked: ["x", "a"] },
  answer: { outcome: "right", expectsHandover: false, isTextRight: true, hasText: true, confidence: 0.75 },
  ms: 3,
};

const PREDICTION: LinePrediction = {
  line: 12,
  id: "12",
  text: "Where is it?",
  expected: { agent: "billing", document: ["invoices.md"], answer: ["under Account"] },
  agent: "tech",
  agentConfidence: 0.61,
  agentWhy: "tech (61 %): closest.",
  documents: ["a.md", "b.md", "c.md", "invoices.md"],
  place: 4,
  answer: "In the box.",
  answerConfidence: 0.55,
  answerWhy: "Quotes a.md.",
  isSent: true,
  sources: [],
  isAgentRight: false,
  answerOutcome: "wrong",
  isAsExpected: false,
  ms: 1,
};

const linesOf = (text: string) => text.split("\n").map((line) => line.replaceAll(/ +/g, " ").trim());
const policies = [
  { agent: "billing", reviewPolicy: "auto_if" as const, autoThreshold: 0.5 },
  { agent: "legal", reviewPolicy: "review" as const, autoThreshold: 0.4 },
];
const render = (lines: ScoredLine[], learnSeconds: number | null = null) =>
  linesOf(renderScores({ scores: scoreLines(lines), policies, learnSeconds }, { paint: terminal.paint, width: 400 }));

describe("the scores", () => {
  test("are one row each, with their base", () => {
    const lines = render([LINE, { ...LINE, isAsExpected: null }], 0.31);
    expect(lines).toEqual(
      expect.arrayContaining([
        "Lines as expected 1.000 1 of 1; 1 without expected results",
        "Routing: correct agent 1.000 2 of 2 messages",
        "Retrieval: correct document first (hit@1) 0.000 of 2 messages",
        "MRR 0.500 mean of 1 / rank; 0 below the tenth",
        "Answers: correct 1.000 2 of 2 messages",
        "Milliseconds per message 3.0 95th percentile 3.0; routing was ready after 0.3 s",
        "0.7 2 2 0 100 %",
        "0.8 0 0 0 –",
        "Now: billing sends answers from confidence 0.5; legal is always reviewed (evaluated with threshold 0.4).",
      ]),
    );
  });

  test("have no row for parts that no line specifies", () => {
    const text = render([{ ...LINE, agent: null, retrieval: null, answer: null, isAsExpected: null }]).join("\n");
    expect(text).not.toMatch(/Routing|Retrieval|Answers|Handoffs|THRESHOLD|Calibration/);
    expect(text).toContain("Lines as expected – 0 of 0; 1 without expected results");
  });
});

describe("the worst lines", () => {
  const worstOf = (change: Partial<LinePrediction>) =>
    linesOf(renderWorst([{ ...PREDICTION, ...change }], { paint: terminal.paint, width: 400 })).slice(1);

  test("show the message, the expected and the actual result, and the reason", () => {
    expect(worstOf({})).toEqual([
      '12 "Where is it?"',
      'expected: agent billing; document "invoices.md"; answer with "under Account"',
      'got: agent tech (confidence 61 %); documents a.md, b.md, c.md (rank 4); answered (confidence 55 %) "In the box."',
      "why: tech (61 %): closest. Quotes a.md.",
    ]);
  });

  test("show absent values as such", () => {
    const expected = { agent: null, document: null, answer: null };
    expect(worstOf({ expected, agent: null, answer: null }).slice(1, 3)).toEqual([
      "expected: no agent; no document; handed over to an operator",
      "got: no agent (confidence 61 %); handed over, without an answer",
    ]);
  });

  test("escape external texts for the terminal, and fit its width", () => {
    const evil = "\u001b[2J\u202eevil\n".repeat(50);
    const prediction = { ...PREDICTION, text: evil, agent: evil, answer: evil, documents: [evil], agentWhy: evil };
    const text = renderWorst([prediction], terminal);
    expect(["\u001b", "\u202e"].filter((character) => text.includes(character))).toEqual([]);
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
  });
});
