import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { searchWords } from "./search-words.ts";

describe("the words that a search goes by", () => {
  test("are compared without case and accents, and each counts once", () => {
    expect(searchWords("Größe, GROSSE größe; Café-Crème 3.14")).toEqual(["grosse", "cafe", "creme", "3.14"]);
    expect(searchWords("Ελλάδα ёлка й")).toEqual(["ελλαδα", "елка", "й"]);
  });

  test("are those of any script", () => {
    expect(searchWords("请问发票").length).toBeGreaterThan(0);
    expect(searchWords("— … !? 😀")).toEqual([]);
  });

  test("have 64 characters at most and are never cut inside one", () => {
    expect(searchWords("x".repeat(100))).toEqual(["x".repeat(64)]);
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const word of searchWords(text.toWellFormed())) {
          expect(word).not.toBe("");
          expect(Array.from(word).length).toBeLessThanOrEqual(64);
          expect(word.isWellFormed()).toBe(true);
          expect(word).not.toContain(":");
        }
      }),
    );
  });
});
