import { expect, test } from "@jest/globals";
import { findCodes } from "./find-codes.ts";

test("a name with letters and digits is one word, however it is joined", () => {
  expect(findCodes("What does K-1050 cost, and E_07/b?").map(({ term }) => term)).toEqual(["k1050", "e07b"]);
  expect(findCodes("COVID-19")).toEqual([{ term: "covid19", start: 0, end: 8, words: ["covid"] }]);
});

test("numbers, dates, words with hyphens and addresses are no codes", () => {
  expect(findCodes("3.14, 2024-05-01, well-known, 10.0.0.1, e-mail")).toEqual([]);
});
