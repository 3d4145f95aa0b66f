import { expect, test } from "@jest/globals";
import type { Answer } from "./answer.ts";
import { TEST_AGENT } from "./grounded/scripted-model.ts";
import { sendsAnswer } from "./answer.ts";

const PROMISE = "A colleague will call you tomorrow.";
const ANSWER: Answer = { text: "At night.", markdown: true, sources: [], confidence: 0.9, why: "It is known." };
const auto = { ...TEST_AGENT, reviewPolicy: "auto" } as const;
const autoIf = { ...TEST_AGENT, reviewPolicy: "auto_if", autoThreshold: 0.5 } as const;
const review = { ...TEST_AGENT, reviewPolicy: "review" } as const;

test.each([
  ["goes out", auto, ANSWER, { sends: true }],
  ["goes out when it is sure enough", autoIf, ANSWER, { sends: true }],
  ["is held when it is not", autoIf, { ...ANSWER, confidence: 0.4 }, { sends: false }],
  ["is held for a review", review, ANSWER, { sends: false }],
  ["without a text is held", auto, { ...ANSWER, text: null }, { sends: false }],
  ["that needs a person is held", auto, { ...ANSWER, needsPerson: true as const }, { sends: false }],
  [
    "that a person must see is held",
    auto,
    { ...ANSWER, model: { usage: null, fallback: null, mustReview: true as const } },
    { sends: false },
  ],
  ["that promises a person is held", autoIf, { ...ANSWER, text: PROMISE }, { sends: false }],
  [
    "that goes out whatever it says leaves its promise to a person",
    auto,
    { ...ANSWER, text: PROMISE },
    { sends: true, needsPerson: true },
  ],
  [
    "of a fixed text leaves its promise to a person",
    { ...autoIf, fixedReply: PROMISE },
    { ...ANSWER, text: PROMISE },
    { sends: true, needsPerson: true },
  ],
  [
    "of a fixed text goes out to who asks for a person, and one has to look",
    { ...auto, fixedReply: "Thanks." },
    { ...ANSWER, text: "Thanks.", needsPerson: true as const },
    { sends: true, needsPerson: true },
  ],
  [
    "of a fixed text is held for a review as any",
    { ...review, fixedReply: PROMISE },
    { ...ANSWER, text: PROMISE },
    { sends: false },
  ],
])("an answer %s", (_what, agent, answer, expected) => {
  const { why, ...choice } = sendsAnswer(agent, answer);
  expect(choice).toEqual(expected);
  expect(why).not.toBe("");
});

test("the reason of a held answer does not round its confidence up to the threshold", () => {
  const { why } = sendsAnswer({ ...autoIf, autoThreshold: 0.9 }, { ...ANSWER, confidence: 0.896 });
  expect(why).toBe("confidence 89% (threshold 90%); It is known.");
});
