import { describe, expect, test } from "@jest/globals";
import { addWords, correctTerm, createSpelling, isFamiliar, removeWords } from "./spelling.ts";

function knowing(...words: string[]) {
  const spelling = createSpelling();
  for (const word of words) addWords(spelling, [word]);
  return spelling;
}

describe("correctTerm", () => {
  test.each([
    ["a letter left out", "invoce"],
    ["a letter too many", "invooice"],
    ["another letter", "invaice"],
    ["two letters swapped", "invocie"],
    ["the first letter left out", "nvoice"],
  ])("%s", (_, term) => {
    expect(correctTerm(knowing("invoice", "parcel"), term)).toBe("invoice");
  });

  test("a known word stays, however close to another", () => {
    expect(correctTerm(knowing("card", "cart"), "cart")).toBe("cart");
  });

  test.each(["inoce", "inv", "card1", "xxxxxx", "i".repeat(5_000)])(
    "%.10s stays: nothing is one letter away",
    (term) => {
      expect(correctTerm(knowing("invoice", "card", "in"), term)).toBe(term);
    },
  );

  test("prefers a word that begins alike, then the commoner one", () => {
    expect(correctTerm(knowing("bank", "bank", "rant", "rank"), "rabk")).toBe("rank");
    expect(correctTerm(knowing("rant", "rank", "rank"), "ranz")).toBe("rank");
  });

  test("a word that was taken out is no longer meant", () => {
    const spelling = knowing("invoice", "invoice");
    removeWords(spelling, ["invoice"]);
    expect(correctTerm(spelling, "invoce")).toBe("invoice");
    removeWords(spelling, ["invoice"]);
    expect(correctTerm(spelling, "invoce")).toBe("invoce");
    expect(isFamiliar(spelling, "invoices")).toBe(false);
  });
});

describe("isFamiliar", () => {
  test("knows a word and its other forms", () => {
    const spelling = knowing("installing", "plans", "at");
    for (const term of ["installing", "installation", "install", "plan", "at"])
      expect(isFamiliar(spelling, term)).toBe(true);
    for (const term of ["pla", "as", "inst4ll", "parcel"]) expect(isFamiliar(spelling, term)).toBe(false);
  });
});
