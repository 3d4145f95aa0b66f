import { describe, expect, test } from "@jest/globals";
import { calibrate } from "./calibrate.ts";
import type { HeldOutScores } from "./calibrate.ts";
import type { Calibration } from "./triage-model.ts";

function run(messages: HeldOutScores[], noneLabel: number | null = null): Calibration {
  const steps = calibrate(messages, noneLabel);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

const scored = (scores: number[], label: number, likeness = 0.5): HeldOutScores => ({
  scores: Float32Array.from(scores),
  label,
  likeness,
});

const times = (count: number, messages: HeldOutScores[]): HeldOutScores[] =>
  Array.from({ length: count }, () => messages).flat();

describe("calibrate", () => {
  test("without messages everything is as usual", () => {
    expect(run([])).toMatchObject({ noneLead: 0, usualLikeness: 0.35 });
    expect(run([]).sharpness).toBeCloseTo(4, 1);
  });

  test("scores that are always right become sure, scores that are right by chance unsure", () => {
    const right = run(times(100, [scored([0, -1], 0), scored([-1, 0], 1)])).sharpness;
    const chance = run(times(100, [scored([0, -1], 0), scored([0, -1], 1)])).sharpness;
    expect(right).toBeGreaterThan(run([]).sharpness);
    expect(chance).toBeLessThan(2);
  });

  test("the probabilities that come out are the shares of right choices", () => {
    const threeOfFour = times(200, [scored([0, -1], 0), scored([0, -1], 0), scored([0, -1], 0), scored([0, -1], 1)]);
    const { sharpness } = run(threeOfFour);
    expect(1 / (1 + Math.exp(-sharpness))).toBeCloseTo(0.75, 1);
  });

  test("nobody gets as much of a lead as loses hardly any message that would reach its agent", () => {
    const clear = Array.from({ length: 400 }, () => scored([1, -1, 0], 0));
    const close = scored([0.1, -1, 0], 0);
    const lead = run([...clear, close], 2).noneLead;
    expect(lead).toBeGreaterThan(1);
    expect(run([...clear, ...times(40, [close])], 2).noneLead).toBeLessThan(lead);
  });

  test("with few messages nobody gets no lead", () => {
    expect(run([scored([1, -1, 0], 0)], 2).noneLead).toBe(0);
  });

  test("a message is usually as like its sample as three of four are", () => {
    const messages = Array.from({ length: 100 }, (_, index) => scored([1, 0], 0, index / 100));
    expect(run(messages).usualLikeness).toBeCloseTo(0.25, 1);
  });
});
