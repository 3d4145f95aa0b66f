import { describe, expect, test } from "@jest/globals";
import { durationUpTo, parseDuration, parseExpiry } from "./options.ts";
import { renderAge } from "./render-table.ts";

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

  test("has a limit, which the error contains", () => {
    const parse = durationUpTo({ seconds: 86_400, text: "24h" });
    expect(parse("1d")).toBe(86_400);
    expect(() => parse("25h")).toThrow("at most 24h");
    expect(() => parse("soon")).toThrow("Must be a duration such as");
  });
});

describe("an age is shown in a readable unit", () => {
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

const NOW = new Date("2026-11-21T10:00:00Z");

test.each([
  ["a date: its first moment in UTC", "2030-01-31", "2030-01-31T00:00:00Z"],
  ["a time with its zone", "2030-01-31t12:00:00.5+02:00", "2030-01-31T12:00:00.5+02:00"],
  ["a duration from now on", "90d", "2027-02-19T10:00:00.000Z"],
])("an expiry is %s", (_, text, expiry) => {
  expect(parseExpiry(text, NOW)).toBe(expiry);
});

test.each(["", "0", "soon", "2030", "31.01.2030", "2030-01-31T12:00:00", "999999999w"])("and not %j", (text) => {
  expect(() => parseExpiry(text, NOW)).toThrow(/^Must be|Too far/);
});
