import { describe, expect, test } from "@jest/globals";
import { findOption, splitAddresses } from "./find-text.ts";

const OPTIONS = ["Low", "Normal", "High", "Urgent", "Higher", "Ünusual"].map((label) => ({ value: label, label }));

describe("findOption", () => {
  test.each([
    ["n", 0, 1],
    ["hi", 1, 2],
    ["higher", 2, 4],
    ["ü", 0, 5],
  ])("%s from %i is %i", (typed, from, found) => {
    expect(findOption(OPTIONS, typed, from)).toBe(found);
  });

  test("the same letter again goes to the next matching option, and wraps around", () => {
    expect(findOption(OPTIONS, "h", 0)).toBe(2);
    expect(findOption(OPTIONS, "hh", 2)).toBe(4);
    expect(findOption(OPTIONS, "hhh", 4)).toBe(2);
  });

  test("typed letters without a matching option change nothing", () => {
    expect(findOption(OPTIONS, "x", 3)).toBe(3);
    expect(findOption([], "x", 0)).toBe(0);
  });
});

test("finds web addresses and nothing else in a text, and leaves out no character", () => {
  const text = "**bold** [x](javascript:alert(3)) <b>\nSee https://a.example/b?c=1, (http://d.example/e).";
  const parts = splitAddresses(text);
  expect(parts.join("")).toBe(text);
  expect(parts.filter((_, index) => index % 2 === 1)).toEqual(["https://a.example/b?c=1", "http://d.example/e"]);
  expect(splitAddresses("javascript:alert(1) data:text/html,x")).toHaveLength(1);
});
