import { describe, expect, test } from "@jest/globals";
import { markWords } from "./mark-words.ts";

const marked = (text: string, query: string) =>
  markWords(text, query)
    .filter(({ isMarked }) => isMarked)
    .map((piece) => piece.text);

describe("the words of a query in a passage", () => {
  test("are marked in their forms, whatever their case and accents", () => {
    expect(marked("Shoes can be Returned within 30 days.", "return shoe?")).toEqual(["Shoes", "Returned"]);
    expect(marked("Die Rücksendung kostet nichts.", "rucksendungen")).toEqual(["Rücksendung"]);
  });

  test("are not marked where they are too short to say anything", () => {
    expect(marked("It can be in a box.", "can it be in a")).toEqual([]);
    expect(marked("Error E07 of the VPN, at 5.", "E07, VPN, 5")).toEqual(["E07", "VPN", "5"]);
  });

  test("leave the text as it was, markup and all", () => {
    const text = "<b>Refunds</b> & “refund” — 30 %\n";
    const pieces = markWords(text, "refund");
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
    expect(marked(text, "refund")).toEqual(["Refunds", "refund"]);
  });
});
