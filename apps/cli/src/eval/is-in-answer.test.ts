import { expect, test } from "@jest/globals";
import { hasWords, isInAnswer } from "./is-in-answer.ts";

test.each([
  ["Refunds take **five  days**.", "Five days"],
  ["Refunds take\nfive days.", "take five"],
  ["Set `SVC_API_PORT` first.", "SVC_API_PORT"],
  ["ﬁve ５ days", "five 5"],
  ["C++ and C#", "c++"],
  ["It costs 15 or 5 euros.", "5 euros"],
])("%j contains %j", (answer, wanted) => {
  expect(isInAnswer(answer, wanted)).toBe(true);
});

test.each([
  ["It takes 15 days.", "5 days"],
  ["It takes 50 days.", "take 5"],
  ["C and D", "c++"],
  ["anything", "**"],
])("%j does not contain %j", (answer, wanted) => {
  expect(isInAnswer(answer, wanted)).toBe(false);
});

test("marks alone are nothing to look for", () => {
  expect([hasWords("** `"), hasWords("€")]).toEqual([false, true]);
});
