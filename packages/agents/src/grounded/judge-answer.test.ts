import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { rateConfidence } from "./judge-answer.ts";
import type { AnswerEvidence } from "./judge-answer.ts";

const share = fc.double({ min: 0, max: 1, noNaN: true });
const evidence = fc.record({
  support: fc.oneof(share, fc.constant(1)),
  byResults: fc.oneof(share, fc.constant(0)),
  isCompared: fc.boolean(),
  statistical: fc.double({ min: 0, max: 0.95, noNaN: true }),
  isAnswered: fc.boolean(),
});

describe("rateConfidence", () => {
  test("lies between 0 and 0.95", () => {
    fc.assert(
      fc.property(evidence, (one) => {
        const rated = rateConfidence(one);
        expect(rated).toBeGreaterThanOrEqual(0);
        expect(rated).toBeLessThanOrEqual(0.95);
      }),
    );
  });

  test("never falls when one of its arguments grows", () => {
    const greater: ((one: AnswerEvidence, by: number) => AnswerEvidence)[] = [
      (one, by) => ({ ...one, support: Math.min(1, one.support + by) }),
      (one, by) => ({ ...one, statistical: Math.min(0.95, one.statistical + by) }),
      (one, by) => ({ ...one, byResults: Math.min(1, one.byResults + by) }),
      (one) => ({ ...one, isCompared: true }),
      (one) => ({ ...one, isAnswered: true }),
    ];
    fc.assert(
      fc.property(evidence, share, fc.constantFrom(...greater), (one, by, grow) => {
        expect(rateConfidence(grow(one, by))).toBeGreaterThanOrEqual(rateConfidence(one) - 1e-9);
      }),
    );
  });

  test("is never above that of the search alone without full support by passages that could be compared", () => {
    fc.assert(
      fc.property(evidence, (one) => {
        fc.pre(one.byResults === 0 && (one.support < 1 || !one.isCompared || !one.isAnswered));
        expect(rateConfidence(one)).toBeLessThanOrEqual(one.statistical);
      }),
    );
  });

  test("stays below one half where a search has found nothing, however well it is supported", () => {
    const one = { support: 1, byResults: 0, isCompared: true, statistical: 0, isAnswered: true };
    expect(rateConfidence(one)).toBeLessThan(0.5);
  });
});
