import { describe, expect, test } from "@jest/globals";
import { queryWords } from "./query-words.ts";

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
