import { expect, test } from "@jest/globals";
import { histogramOf, resultAt } from "./answer-counts.ts";
import type { AgentAnswers } from "./answer-counts.ts";

const NONE = { automatic: 0, accepted: 0, edited: 0, askedPerson: 0, ratedBadly: 0, rejected: 0, undecided: 0 };
const AGENT: AgentAnswers = {
  agentId: "a",
  name: "Guide",
  reviewPolicy: "auto_if",
  autoThreshold: 0.5,
  ...NONE,
  answers: 20,
  byConfidence: [
    { ...NONE, percent: 12, answers: 4, rejected: 4 },
    { ...NONE, percent: 50, answers: 6, accepted: 2, edited: 1, rejected: 1, undecided: 2 },
    { ...NONE, percent: 100, answers: 10, accepted: 8, askedPerson: 1, ratedBadly: 1 },
  ],
};

test("a threshold sends the answers above it, and its shares refer to decided answers", () => {
  expect(resultAt(AGENT, 50)).toEqual({
    sent: 16,
    share: 0.8,
    accepted: 10 / 14,
    edited: 1 / 14,
    rejected: 3 / 14,
    undecided: 2,
  });
  expect(resultAt(AGENT, 51)).toMatchObject({ sent: 10, share: 0.5, accepted: 0.8, edited: 0, rejected: 0.2 });
  expect(resultAt({ ...AGENT, answers: 0, byConfidence: [] }, 50)).toEqual({
    sent: 0,
    share: null,
    accepted: null,
    edited: null,
    rejected: null,
    undecided: 0,
  });
});

test("the histogram contains every answer once, with full confidence in its last bar", () => {
  const bins = histogramOf(AGENT);
  expect(bins).toHaveLength(20);
  expect(bins[2]).toEqual([0, 0, 0, 0, 4, 0]);
  expect(bins[10]).toEqual([2, 1, 0, 0, 1, 2]);
  expect(bins[19]).toEqual([8, 0, 1, 1, 0, 0]);
  expect(bins.flat().reduce((sum, count) => sum + count)).toBe(20);
});
