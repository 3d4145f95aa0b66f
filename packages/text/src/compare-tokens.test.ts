import { describe, expect, test } from "@jest/globals";
import { compareTokens, isSameWord } from "./compare-tokens.ts";

const compare = (given: string, wanted: string) =>
  compareTokens(given.split(" ").filter(Boolean), wanted.split(" ").filter(Boolean));

test("the same words in the same order are all in common", () => {
  expect(compare("press the red button", "press the red button")).toEqual({ f1: 1, rougeL: 1 });
});

test("the order counts for ROUGE-L alone", () => {
  // The example of Lin (2004): the longest common sequence of both is of two words.
  expect(compare("the gunman kill police", "police kill the gunman")).toEqual({ f1: 1, rougeL: 0.5 });
  expect(compare("police kill the gunman", "police killed the gunman")).toEqual({ f1: 0.75, rougeL: 0.75 });
});

test("a word counts as often as both have it", () => {
  expect(compare("no no no", "no").f1).toBe(0.5);
});

test("what says nothing has nothing in common", () => {
  for (const [given, wanted] of [
    ["", "a"],
    ["a", ""],
    ["", ""],
  ] as const) {
    expect(compare(given, wanted)).toEqual({ f1: 0, rougeL: 0 });
  }
});

describe("isSameWord", () => {
  test.each([
    ["password", "passwords"],
    ["restore", "restored"],
    ["founded", "founding"],
    ["rechnung", "rechnungen"],
    ["réinitialiser", "réinitialisé"],
    ["up", "up"],
    ["東京", "東京"],
  ])("%s and %s are forms of one word", (one, other) => {
    expect([isSameWord(one, other), isSameWord(other, one)]).toEqual([true, true]);
  });

  test.each([
    ["pass", "password"],
    ["form", "formation"],
    ["run", "rune"],
    ["east", "easter's"],
    ["restore", "report"],
    ["", "a"],
  ])("%s and %s are different words", (one, other) => {
    expect([isSameWord(one, other), isSameWord(other, one)]).toEqual([false, false]);
  });
});
