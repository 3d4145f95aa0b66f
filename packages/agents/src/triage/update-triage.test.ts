import { describe, expect, test } from "@jest/globals";
import type { Agent } from "@svc/contracts";
import { decide } from "./decide.ts";
import { trainTriage } from "./train-triage.ts";
import type { TriageModel, TriageSample } from "./triage-model.ts";
import { compareSamples, updateTriage } from "./open-triage-models.ts";

const message = (agentId: string | null, text: string): TriageSample => ({ agentId, text, isPurpose: false });

const SAMPLES = [
  message("billing", "I was charged twice"),
  message("billing", "Where is my invoice?"),
  message("billing", "I want my money back"),
  message("tech", "The installer crashes"),
  message("tech", "It does not start on Windows"),
  message("tech", "error when I open the app"),
];

function choose(model: TriageModel, text: string): string | null {
  const agents = ["billing", "tech", "sales"].map(
    (name) => ({ id: name, name, enabled: true, description: "d" }) as Agent,
  );
  return decide(model, { agents, text, currentAgentId: null }).agentId;
}

/** Trains on some samples and brings the model to others. */
function changed(from: readonly TriageSample[], to: readonly TriageSample[]): TriageModel {
  const model = trainTriage(from);
  updateTriage(model, compareSamples(model, to));
  return model;
}

describe("updateTriage", () => {
  test("a message that was added is known from then on, with words that nobody had used before", () => {
    const model = trainTriage(SAMPLES);
    updateTriage(model, { added: [message("tech", "My flimflam wobbles")], removed: [] });
    expect(choose(model, "the flimflam wobbles again")).toBe("tech");
    expect(choose(model, "wobbly flimflams")).toBe("tech");
    expect(choose(model, "Where is the invoice?")).toBe("billing");
  });

  test("a message that goes to another agent now is no longer known as the first one's", () => {
    const model = changed(SAMPLES, [...SAMPLES.slice(0, 5), message("billing", "error when I open the app")]);
    expect(choose(model, "error when I open the app")).toBe("billing");
  });

  test("an agent that was not there before is learned, even the hundredth", () => {
    const model = changed(SAMPLES, [...SAMPLES, message("sales", "Is there a discount for students?")]);
    expect(choose(model, "discounts for students")).toBe("sales");
    expect(choose(model, "I was charged twice")).toBe("billing");

    const crowd = Array.from({ length: 100 }, (_, index) => message(`agent-${index}`, `topic${index} matter`));
    const crowded = changed(SAMPLES, [...crowd, ...SAMPLES, message("sales", "discount for students")]);
    expect(choose(crowded, "discount for students")).toBe("sales");
    expect(choose(crowded, "I was charged twice")).toBe("billing");
  });

  test("messages for nobody are learned and forgotten", () => {
    const error = message(null, "Will the error of the weather app in Berlin go on tomorrow?");
    const model = changed(SAMPLES, [...SAMPLES, error]);
    expect(choose(model, "will the error of the weather app in Berlin go on")).toBeNull();
    updateTriage(model, compareSamples(model, SAMPLES));
    expect(choose(model, "will the error of the weather app in Berlin go on")).not.toBeNull();
  });

  test("forgetting everything leaves a model that knows nothing", () => {
    const model = changed(SAMPLES, []);
    expect(model.samples.flat()).toEqual([]);
    expect(model.spelling.counts.size).toBe(0);
    expect(Math.max(...model.linear.weights.map(Math.abs))).toBeLessThan(1e-5);
    expect(model.bayes.counts.every((count) => count === 0)).toBe(true);
  });

  test("a model that was taught in two parts decides like one that was taught at once", () => {
    const inParts = changed(SAMPLES.slice(0, 4), SAMPLES);
    const atOnce = trainTriage(SAMPLES);
    for (const { text } of SAMPLES) expect(choose(inParts, text)).toBe(choose(atOnce, text));
  });
});

describe("compareSamples", () => {
  test("finds nothing to do for the same samples in another order", () => {
    const model = trainTriage(SAMPLES);
    expect(compareSamples(model, SAMPLES.toReversed())).toEqual({ added: [], removed: [] });
  });

  test("counts a sample as often as it stands there", () => {
    const [first, ...rest] = SAMPLES;
    if (first === undefined) throw new Error("there are samples");
    const model = trainTriage([first, ...SAMPLES]);
    expect(compareSamples(model, SAMPLES).removed).toMatchObject([first]);
    expect(compareSamples(model, [first, first, first, ...rest]).added).toEqual([first]);
  });
});
