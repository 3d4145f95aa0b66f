import { expect, test } from "@jest/globals";
import { findMention, mentionsIn } from "./find-mention.ts";

test("a mention begins with an @ behind white space, and ends with a blank", () => {
  expect(findMention("ask @an", 7)).toEqual({ at: 4, word: "an" });
  expect(findMention("@", 1)).toEqual({ at: 0, word: "" });
  expect(findMention("ann@example.com", 15)).toBeNull();
  expect(findMention("ask @ann now", 12)).toBeNull();
  expect(findMention("ask @ann now", 7)).toEqual({ at: 4, word: "an" });
  expect(findMention("nobody", 6)).toBeNull();
});

test("a note is for those whose names stand in it after an @", () => {
  const people = [
    { actor: "operator:1", name: "Ann Able" },
    { actor: "operator:2", name: "Ben" },
  ];
  expect(mentionsIn("Ask @Ann Able, not Ben.", people)).toEqual({ mentions: ["1"] });
  expect(mentionsIn("Nobody@home", people)).toEqual({});
});
