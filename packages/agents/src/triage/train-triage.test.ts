import { describe, expect, test } from "@jest/globals";
import { trainTriage, trainTriageInSlices, calibrate } from "./train-triage.ts";
import type { HeldOutScores } from "./train-triage.ts";
import type { TriageSample, Calibration } from "./triage-model.ts";

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

const THINGS = ["invoice", "password", "parcel", "battery", "invitation", "camera", "contract", "keyboard"];
const PHRASES = [
  "where is my {}",
  "my {} is broken",
  "I lost the {}",
  "change the {} please",
  "{} does not work",
  "question about {}",
  "help with a {}",
  "who can see my {}",
  "new {}",
  "send me the {} again",
];

/** One agent for each thing, with ten examples; the last message is for nobody. */
const SAMPLES: TriageSample[] = [
  ...THINGS.map((thing) => ({ agentId: thing, text: thing, isPurpose: true })),
  ...THINGS.flatMap((thing) =>
    PHRASES.map((phrase) => ({ agentId: thing, text: phrase.replace("{}", thing), isPurpose: false })),
  ),
  { agentId: null, text: "what will the weather be like", isPurpose: false },
];

describe("trainTriage", () => {
  test("the same samples teach the same", () => {
    expect(trainTriage(SAMPLES)).toEqual(trainTriage(SAMPLES));
  });

  test("knows each agent and nobody as a class, with their samples", () => {
    const { classes, samples } = trainTriage(SAMPLES);
    expect(classes).toEqual([...THINGS, null]);
    expect(samples.map((ofClass) => ofClass.length)).toEqual([...THINGS.map(() => 11), 1]);
  });

  test("is the less sure, the less its samples teach about messages that were held out", () => {
    const { calibration } = trainTriage(SAMPLES);
    expect(calibration.usualLikeness).toBeGreaterThan(0);
    const muddled = SAMPLES.map((sample, index) => ({ ...sample, agentId: THINGS[(index * 7) % 3] ?? null }));
    expect(trainTriage(muddled).calibration.sharpness).toBeLessThan(calibration.sharpness);
  });

  test("learns from nothing, from one sample and from samples without a known word", () => {
    expect(trainTriage([]).classes).toEqual([]);
    expect(trainTriage([{ agentId: "a", text: "hello", isPurpose: true }]).classes).toEqual(["a"]);
    expect(trainTriage([{ agentId: "a", text: "?!", isPurpose: false }]).classes).toEqual(["a"]);
  });
});

describe("trainTriageInSlices", () => {
  test("teaches what training at one go teaches", async () => {
    expect(await trainTriageInSlices(SAMPLES)).toEqual(trainTriage(SAMPLES));
  });

  test("lets other work go on meanwhile", async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await trainTriageInSlices(Array.from({ length: 20 }, () => SAMPLES).flat());
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });

  test("ends when it is aborted", async () => {
    const abort = new AbortController();
    const training = trainTriageInSlices(Array.from({ length: 20 }, () => SAMPLES).flat(), abort.signal);
    abort.abort(new Error("enough"));
    await expect(training).rejects.toThrow("enough");
  });
});

function run(messages: HeldOutScores[], noneLabel: number | null = null): Calibration {
  const steps = calibrate(messages, noneLabel);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}
