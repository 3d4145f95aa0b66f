import { describe, expect, test } from "@jest/globals";
import { isSameWord } from "./is-same-word.ts";

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
