import { describe, expect, test } from "@jest/globals";
import { SAME_QUESTION, similarityOf } from "./gaps.ts";

const isSame = (one: string, other: string) => similarityOf(one.split(" "), other.split(" ")) >= SAME_QUESTION;

describe("two questions", () => {
  test.each([
    ["the same words in another order", "reset password", "password reset"],
    ["one word more", "ship iceland", "ship order iceland"],
    ["forms that no stemmer knows to belong together", "livr island", "livraison island"],
    ["a slip of the pen", "reset password", "reset pasword"],
    ["one wrong letter", "export calendar", "export calender"],
    ["a number that only one has", "error display shows", "error display shows 7"],
    ["another order number", "where order 104231", "where order 99107-2"],
  ])("are the same with %s", (_, one, other) => {
    expect([isSame(one, other), isSame(other, one)]).toEqual([true, true]);
  });

  test.each([
    ["another word of two", "ship iceland", "ship norway"],
    ["another code, however much else they share", "k1050 work windows", "k2000 work windows"],
    ["short words that look alike", "pay bill", "pal bill"],
    ["one word of many", "invoic", "invoic order late"],
    ["nothing to compare", "", "ship"],
  ])("are not the same with %s", (_, one, other) => {
    expect([isSame(one, other), isSame(other, one)]).toEqual([false, false]);
  });

  test("share at most everything", () => {
    expect([similarityOf(["a", "b"], ["b", "a"]), similarityOf([], []), similarityOf(["a"], [])]).toEqual([1, 0, 0]);
  });
});
