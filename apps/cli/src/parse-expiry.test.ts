import { expect, test } from "@jest/globals";
import { parseExpiry } from "./parse-expiry.ts";

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
