import { describe, expect, test } from "@jest/globals";
import { comparablePath, parsePathRule } from "./site-search.ts";

/** All texts of these characters, up to a length. */
function textsOf(characters: string, maxChars: number): string[] {
  if (maxChars === 0) return [""];
  const shorter = textsOf(characters, maxChars - 1);
  return ["", ...shorter.flatMap((text) => Array.from(characters, (character) => text + character))];
}

/** A rule's pattern as a regular expression, which may be slow where the rule must not be. */
function meaningOf(pattern: string): RegExp {
  const isAnchored = pattern.endsWith("$");
  const parts = (isAnchored ? pattern.slice(0, -1) : pattern).split("*").map((part) => part.replaceAll("$", "\\$"));
  return new RegExp(`^${parts.join(".*")}${isAnchored ? "$" : ""}`, "s");
}

describe("a rule speaks of", () => {
  test("exactly the paths that its pattern means", () => {
    const paths = [...new Set(textsOf("ab$", 4))];
    for (const pattern of new Set(textsOf("ab*$", 4))) {
      const rule = parsePathRule(pattern, true);
      const meaning = meaningOf(pattern);
      const wrong = paths.filter((path) => rule.matches(path) !== meaning.test(path));
      expect({ pattern, wrong }).toEqual({ pattern, wrong: [] });
    }
  });

  test("paths with the same letters, however they are escaped", () => {
    const path = comparablePath(new URL("https://example.com/gr%c3%bcn?a=%2f"));
    for (const pattern of ["/gr\u00fcn?a=%2F$", "/gr%C3%bcn", "/gr*%2f$"]) {
      expect(parsePathRule(pattern, false)).toMatchObject({ isAllowed: false });
      expect(parsePathRule(pattern, false).matches(path)).toBe(true);
    }
  });
});
