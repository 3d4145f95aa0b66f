import { describe, expect, test } from "@jest/globals";
import { trainTriage, trainTriageInSlices } from "./train-triage.ts";
import type { TriageSample } from "./triage-model.ts";

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
