import { describe, expect, test } from "@jest/globals";
import { extractFeatures, termsOf } from "./extract-features.ts";

const common = (one: string, other: string, kind: "words" | "pieces"): number => {
  const known = new Set(extractFeatures(termsOf(one))[kind]);
  return new Set(extractFeatures(termsOf(other))[kind].filter((hash) => known.has(hash))).size;
};

describe("extractFeatures", () => {
  test("forms of a word have most of their pieces in common, other words hardly any", () => {
    expect(common("refund", "refunds", "pieces")).toBeGreaterThan(10);
    expect(common("refund", "keyboard", "pieces")).toBeLessThan(3);
  });

  test("word order counts, and so do words that stand near each other in any order", () => {
    const same = common("lost my card", "lost my card", "words");
    const turned = common("lost my card", "card my lost", "words");
    const others = common("lost my card", "lost the key", "words");
    expect(same).toBeGreaterThan(turned);
    expect(turned).toBeGreaterThan(others);
  });

  test("case, accents and punctuation make no difference", () => {
    expect(extractFeatures(termsOf("Größe, ÄNDERN!"))).toEqual(extractFeatures(termsOf("grosse andern")));
  });

  test("a text without words has no features but its empty frame", () => {
    expect(extractFeatures(termsOf("?! …"))).toEqual({ words: [expect.any(Number)], pieces: [] });
  });

  test("looks at a bounded part of a long text", () => {
    const { words, pieces } = extractFeatures(termsOf("word ".repeat(100_000)));
    expect(words.length + pieces.length).toBeLessThan(10_000);
  });
});
