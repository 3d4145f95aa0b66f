import { expect, test } from "@jest/globals";
import { REPLAY_LIMITS } from "@svc/contracts";
import type { ReplayItem } from "@svc/contracts";
import { beginningOf, scoreAnswer, summarizeReplay, verdictOf } from "./replay.ts";

const judged = (tokenF1: number, sends: boolean) => ({ tokenF1, sends });

test("an answer is scored by its words, whatever their case, their marks and their script", () => {
  expect(scoreAnswer("**Press** the red button!", "press the RED button")).toEqual({ f1: 1, rougeL: 1 });
  expect(scoreAnswer("Drücken Sie den Knopf.", "Drücken Sie zweimal den Knopf.").f1).toBeCloseTo(8 / 9);
  expect(scoreAnswer("返金は五日以内です", "返金は五日以内です")).toEqual({ f1: 1, rougeL: 1 });
});

test("no answer, and one without words, scores nothing", () => {
  expect(scoreAnswer(null, "press the button")).toEqual({ f1: 0, rougeL: 0 });
  expect(scoreAnswer("…", "press the button")).toEqual({ f1: 0, rougeL: 0 });
});

test("two texts of the largest size are compared by their beginnings", () => {
  const long = "word ".repeat(10_000);
  expect(scoreAnswer(long, long)).toEqual({ f1: 1, rougeL: 1 });
  expect(scoreAnswer(`${"a ".repeat(2_000)}${"b ".repeat(9_000)}`, "a ".repeat(2_000))).toEqual({ f1: 1, rougeL: 1 });
});

test.each<[before: [number, boolean], after: [number, boolean], verdict: ReplayItem["verdict"]]>([
  [[0.4, false], [0.6, false], "better"],
  [[0.6, false], [0.4, false], "worse"],
  [[0.6, true], [0.62, true], "same"],
  // What is far from what was sent must not go out where it was held, even if it is nearer than before.
  [[0.1, false], [0.4, true], "worse"],
  [[0.8, false], [0.8, true], "better"],
  [[0.8, true], [0.8, false], "worse"],
  // A person has to answer now; the answer is as far from what was sent as before.
  [[0.091, true], [0.091, false], "same"],
  [[0.2, true], [0.3, true], "better"],
  [[0, false], [0, false], "same"],
])("from %j to %j is %s", (before, after, verdict) => {
  expect(verdictOf(judged(...before), judged(...after))).toBe(verdict);
});

test("the summary of nothing has no means", () => {
  const none = { inputTokens: 0, outputTokens: 0 };
  expect(summarizeReplay([], { before: none, after: none })).toMatchObject({
    replies: 0,
    sends: { before: 0, after: 0 },
    tokenF1: { before: null, after: null },
  });
});

test("a text is cut to what is told, never inside a character", () => {
  const { textMaxChars } = REPLAY_LIMITS;
  expect(beginningOf("short")).toBe("short");
  const cut = beginningOf("🙂".repeat(textMaxChars + 1));
  expect(cut).toBe(`${"🙂".repeat(textMaxChars)}…`);
});
