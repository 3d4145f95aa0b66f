import { describe, expect, test } from "@jest/globals";
import { durationUpTo, parseDuration } from "./parse-duration.ts";
import { renderAge } from "./render-age.ts";

describe("a duration", () => {
  test.each([
    ["0", 0],
    ["45s", 45],
    ["30m", 1_800],
    ["24h", 86_400],
    ["90d", 7_776_000],
    ["2w", 1_209_600],
  ])("%s is %i seconds", (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  test.each(["", "1", "d", "-1d", "1.5h", "1D", "1y", " 1d", "1e3s", "9999999999s"])("is not %j", (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  test("has a limit, which the fault names", () => {
    const parse = durationUpTo({ seconds: 86_400, text: "24h" });
    expect(parse("1d")).toBe(86_400);
    expect(() => parse("25h")).toThrow("at most 24h");
    expect(() => parse("soon")).toThrow("Must be a duration such as");
  });
});

describe("an age is told in a unit that one can imagine", () => {
  test.each([
    [0, "0 seconds"],
    [1_000, "1 second"],
    [90_000, "90 seconds"],
    [300_000, "5 minutes"],
    [7_200_000, "2 hours"],
    [30 * 86_400_000, "30 days"],
  ])("%i ms: %s", (spanMs, text) => {
    expect(renderAge(spanMs)).toBe(text);
  });
});
