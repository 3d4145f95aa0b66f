import { describe, expect, test } from "@jest/globals";
import { markWords, diffTexts } from "./mark-words.ts";

const marked = (text: string, query: string) =>
  markWords(text, query)
    .filter(({ isMarked }) => isMarked)
    .map((piece) => piece.text);

describe("the words of a query in a passage", () => {
  test("are marked in all forms, regardless of case and accents", () => {
    expect(marked("Shoes can be Returned within 30 days.", "return shoe?")).toEqual(["Shoes", "Returned"]);
    expect(marked("Die Rücksendung kostet nichts.", "rucksendungen")).toEqual(["Rücksendung"]);
  });

  test("are not marked if they are too short to be specific", () => {
    expect(marked("It can be in a box.", "can it be in a")).toEqual([]);
    expect(marked("Error E07 of the VPN, at 5.", "E07, VPN, 5")).toEqual(["E07", "VPN", "5"]);
  });

  test("do not change the text itself, including markup", () => {
    const text = "<b>Refunds</b> & “refund” — 30 %\n";
    const pieces = markWords(text, "refund");
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
    expect(marked(text, "refund")).toEqual(["Refunds", "refund"]);
  });
});

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
