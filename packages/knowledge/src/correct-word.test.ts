import { describe, expect, test } from "@jest/globals";
import { nearestWords, readMisspelling } from "./correct-word.ts";

describe("readMisspelling", () => {
  test.each([
    ["a letter too many", "passsword", "password"],
    ["a letter too few", "pasword", "password"],
    ["another letter", "pessword", "password"],
    ["two letters that changed places", "apssword", "password"],
    ["Cyrillic letters", "поддержко", "поддержка"],
    ["Greek letters", "ειδοποιηςη", "ειδοποιηση"],
  ])("tries every word that is one fault away: %s", (_, written, meant) => {
    expect(readMisspelling(written)?.variants).toContain(meant);
  });

  test("looks at a word without its accents", () => {
    expect(readMisspelling("réinitialiserr")?.variants).toContain("reinitialiser");
  });

  test.each(["cat", "x".repeat(25), "iphone15", "2024", "漢字漢字漢字", "", "a'b'c'd"])("leaves %j alone", (word) => {
    expect(readMisspelling(word)).toBeNull();
  });
});

describe("nearestWords", () => {
  test("one fault goes before two, and short words may have one only", () => {
    expect(nearestWords("autentication", ["authentication", "authenticator"])).toEqual(["authentication"]);
    expect(nearestWords("athentcation", ["authentication", "identification"])).toEqual(["authentication"]);
    expect(nearestWords("prise", ["price", "prize", "raise", "premise"])).toEqual(["price", "prize"]);
  });

  test("a word with another first letter is another word, unless the first two changed places", () => {
    expect(nearestWords("bread", ["read", "breed"])).toEqual(["breed"]);
    expect(nearestWords("better", ["letter"])).toEqual([]);
    expect(nearestWords("apssword", ["password"])).toEqual(["password"]);
  });

  test("nothing is near enough", () => {
    expect(nearestWords("mountain", ["maintain", "fountains"])).toEqual([]);
    expect(nearestWords("mountain", [])).toEqual([]);
  });
});
