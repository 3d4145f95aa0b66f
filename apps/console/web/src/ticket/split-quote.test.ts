import { expect, test } from "@jest/globals";
import { splitQuote } from "./split-quote.ts";

test("a quote is found in its passage, with other white space, too", () => {
  expect(splitQuote("One. Two (2)\n three. Four.", "Two (2) three.")).toEqual({
    before: "One. ",
    quote: "Two (2)\n three.",
    after: " Four.",
  });
});

test("where the quote is not in it, or empty, all of the passage is quoted", () => {
  expect(splitQuote("abc", "x")).toEqual({ before: "", quote: "abc", after: "" });
  expect(splitQuote("abc", " ")).toEqual({ before: "", quote: "abc", after: "" });
});
