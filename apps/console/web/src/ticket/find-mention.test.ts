import { expect, test } from "@jest/globals";
import { findMention } from "./find-mention.ts";

test("a mention begins with an @ behind white space, and ends with a blank", () => {
  expect(findMention("ask @an", 7)).toEqual({ at: 4, word: "an" });
  expect(findMention("@", 1)).toEqual({ at: 0, word: "" });
  expect(findMention("ann@example.com", 15)).toBeNull();
  expect(findMention("ask @ann now", 12)).toBeNull();
  expect(findMention("ask @ann now", 7)).toEqual({ at: 4, word: "an" });
  expect(findMention("nobody", 6)).toBeNull();
});
