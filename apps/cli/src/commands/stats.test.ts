import { expect, test } from "@jest/globals";
import type { AnswerStats } from "@svc/contracts";
import type { Terminal } from "../terminal.ts";
import { renderAnswerStats } from "./stats.ts";

const NONE = { automatic: 0, accepted: 0, edited: 0, askedPerson: 0, ratedBadly: 0, rejected: 0, undecided: 0 };
const AGENT: AnswerStats["agents"][number] = {
  agentId: "01890a5d-ac96-774b-bcce-b302099a8057",
  name: "Guide",
  reviewPolicy: "auto_if",
  autoThreshold: 0.5,
  ...NONE,
  answers: 10,
  automatic: 8,
  accepted: 7,
  ratedBadly: 1,
  edited: 1,
  rejected: 1,
  byConfidence: [
    { ...NONE, percent: 34, answers: 2, edited: 1, rejected: 1 },
    { ...NONE, percent: 60, answers: 8, automatic: 8, accepted: 7, ratedBadly: 1 },
  ],
};
const SPAN = { from: "2026-11-01T00:00:00.000Z", to: "2026-12-01T00:00:00.000Z" };
const render = (agents: AnswerStats["agents"]) => renderAnswerStats({ ...SPAN, agents }, { width: 200 } as Terminal);

test("shows for one agent what each threshold would have sent", () => {
  const shown = render([AGENT]);
  expect(shown).toMatch(/\nGuide +50 % +10 +8 \(80 %\) +7 +1 +0 +1 +1 +0/);
  expect(shown).toMatch(/\nTHRESHOLD \(Guide\) +WOULD SEND/);
  expect(shown).toMatch(/\n30 % +10 \(100 %\) +7 +1 +0 +1 +1 +0/);
  expect(shown).toMatch(/\n60 % +8 \(80 %\) +7 +0 +0 +1 +0 +0/);
  expect(shown).toMatch(/\n70 % +0 \(0 %\) +0/);
});

test("compares several agents without thresholds, a deleted one under its id", () => {
  const shown = render([AGENT, { ...AGENT, name: null, reviewPolicy: null, autoThreshold: null }]);
  expect(shown).toMatch(/\n01890a5d-ac96-774b-bcce-b302099a8057 \(d\S* +- +10/);
  expect(shown).not.toContain("WOULD SEND");
});
