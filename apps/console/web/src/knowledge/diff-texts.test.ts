import { expect, test } from "@jest/globals";
import { diffTexts } from "./diff-texts.ts";

const shown = (before: string, after: string) =>
  diffTexts(before, after)
    .map(({ added, removed, value }) => (added ? `+${value}+` : removed ? `-${value}-` : value))
    .join("");

test.each([
  [
    "a changed word is marked",
    "Within 30 days after it came.",
    "Within 40 days after it came.",
    "Within -30-+40+ days after it came.",
  ],
  ["what stays as it is has no marks", "The same.", "The same.", "The same."],
  [
    "a text that is written anew stands after the old one",
    "Used batteries stay.",
    "We take a battery back once.",
    "-Used batteries stay.-\n+We take a battery back once.+",
  ],
  ["a new text is whole", "", "An article.", "+An article.+"],
  ["a text that goes is whole", "An article.", "", "-An article.-"],
  ["nothing is nothing", "", "", ""],
])("%s", (_what, before, after, expected) => {
  expect(shown(before, after)).toBe(expected);
});

test("long texts are not compared", () => {
  const text = "word ".repeat(4_000);
  expect(diffTexts(text, `${text}!`).map(({ value }) => value)).toEqual([text, "\n", `${text}!`]);
});
