import { describe, expect, test } from "@jest/globals";
import { queryWords, nearestWords, readMisspelling } from "./query-words.ts";

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

describe("queryWords", () => {
  test("drops the stop words and question words of the query's language", () => {
    expect(queryWords("How do I reset my password?", ["en"])).toEqual(["reset", "password"]);
  });

  test("keeps all words when nothing else is left", () => {
    expect(queryWords("Who are you?", ["en"])).toEqual(["who", "are", "you"]);
  });

  test("takes the language of the query from its stop words, so that those of another language stay words", () => {
    const languages = ["en", "de"];
    expect(queryWords("Wie kann ich mein Passwort ändern?", languages)).toEqual(["passwort", "ändern"]);
    expect(queryWords("How do I die cast this?", languages)).toEqual(["die", "cast"]);
  });

  test("names each word once, in the order of the query, and 400 words at most", () => {
    expect(queryWords("backup Backup restore backup", ["en"])).toEqual(["backup", "restore"]);
    expect(queryWords(Array.from({ length: 1_000 }, (_, index) => `word${index}`).join(" "), ["en"])).toHaveLength(400);
  });

  test.each(["", "   ", "?!… \"'()", "AND OR NOT", "a & b | !c:*", "\\' -- ; DROP TABLE chunks"])(
    "takes %j for words and nothing else",
    (query) => {
      for (const word of queryWords(query, [])) expect(word).toMatch(/^[\p{L}\p{N}]+$/u);
    },
  );

  test("cuts a word without end, never within a character", () => {
    const [word] = queryWords("𝒳".repeat(500), ["en"]);
    expect(word?.length).toBeLessThanOrEqual(64);
    expect(queryWords("😀𐐷".repeat(25_000), ["en"]).every((one) => one.isWellFormed())).toBe(true);
  });
});
