import { expect, test } from "@jest/globals";
import { readTrace } from "./read-trace.ts";

const trace = {
  triage: { agentId: "a", confidence: 1, why: "the only agent" },
  gate: { sends: true, why: "92 % sure" },
  stageMs: { triage: 1.5, answer: 900 },
  attempts: 1,
  passages: [
    { chunkId: "c", score: 3.456 },
    { chunkId: "d", score: 1 },
  ],
};

test("the trace of a run is read as facts, and what else is told stays", () => {
  const usage = { model: "openai:gpt-test", inputTokens: 120, outputTokens: 30, costUsd: 0.0002 };
  const answer = { model: { usage, fallback: null } };
  expect(readTrace({ ...trace, answer, note: "hello" })).toEqual({
    facts: [
      ["triage", "the only agent"],
      ["passages", "2, best scores 3.46, 1.00"],
      ["model", "openai:gpt-test, 120 + 30 tokens, $0.0002"],
      ["decision", "sent: 92 % sure"],
      ["times", "triage 1.5 ms, answer 900 ms"],
    ],
    rest: { note: "hello" },
  });
});

test("why it quotes instead of answering with a model is told in the words of the documentation, and harmless", () => {
  const fallback = "unauthorized: the provider rejected the API key (401)\u001b[2J";
  const { facts } = readTrace({
    ...trace,
    answer: { model: { usage: null, fallback, mustReview: true } },
    attempts: 3,
  });
  expect(facts).toContainEqual([
    "quotes",
    "instead of the model: the provider rejected the API key (401) (see docs/models.md)",
  ]);
  expect(facts).toContainEqual(["review", "requires an operator, regardless of the policy"]);
  expect(facts).toContainEqual(["attempts", "3"]);
});

test("a message that is held, and one without an answer, say so", () => {
  const decision = (gate: object) => readTrace({ gate }).facts;
  expect(decision({ sends: false, why: "only 20 % sure" })).toEqual([["decision", "held: only 20 % sure"]]);
  expect(decision({ sends: false, rejects: true, why: "spam" })).toEqual([["decision", "no answer: spam"]]);
});

test("a part of another shape stays as it is", () => {
  expect(readTrace({ gate: 7, passages: "many" })).toEqual({ facts: [], rest: { gate: 7, passages: "many" } });
});
