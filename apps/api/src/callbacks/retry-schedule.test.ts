import { describe, expect, test } from "@jest/globals";
import { RETRY_DELAYS_MS, readRetryAfterMs, retryDelayMs } from "./retry-schedule.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Just below 1, the maximum of Math.random. */
const MAX_RANDOM = 1 - Number.EPSILON;

describe("the schedule", () => {
  test("is 5 s, 30 s, 2 min, 10 min, 1 h, 6 h, 24 h, 48 h, and ends after the ninth failed attempt", () => {
    const planned = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR, 48 * HOUR];
    expect(planned.map((_, index) => retryDelayMs(index + 1, null, 0))).toEqual(planned);
    expect(RETRY_DELAYS_MS).toEqual(planned);
    expect(retryDelayMs(9, null, 0)).toBeNull();
    // Attempts without a known result, since their process crashed, count too.
    expect(retryDelayMs(12, null, 0)).toBeNull();
  });

  test("has a jitter that only increases a delay, by less than a tenth", () => {
    for (const [index, planned] of RETRY_DELAYS_MS.entries()) {
      expect(retryDelayMs(index + 1, null, 0)).toBe(planned);
      const longest = retryDelayMs(index + 1, null, MAX_RANDOM) ?? 0;
      expect(longest).toBeGreaterThan(planned);
      expect(longest).toBeLessThanOrEqual(planned * 1.1);
    }
  });

  test("respects the delay that a receiver requests, at least the planned one and at most 48 hours", () => {
    expect(retryDelayMs(1, MINUTE, 0)).toBe(MINUTE);
    expect(retryDelayMs(1, 0, 0)).toBe(5 * SECOND);
    expect(retryDelayMs(6, MINUTE, 0)).toBe(6 * HOUR);
    expect(retryDelayMs(1, 1_000 * HOUR, 0)).toBe(48 * HOUR);
  });

  test("ends after the ninth attempt, whatever the receiver requests", () => {
    expect(retryDelayMs(9, MINUTE, 0)).toBeNull();
  });
});

describe("Retry-After", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");

  test.each([
    ["120", 120 * SECOND],
    [" 7 ", 7 * SECOND],
    ["0", 0],
    ["Sat, 21 Nov 2026 12:02:00 GMT", 120 * SECOND],
    ["Saturday, 21-Nov-26 12:02:00 GMT", 120 * SECOND],
    ["Sat Nov 21 12:02:00 2026 GMT", 120 * SECOND],
    ["Sat, 21 Nov 2026 11:00:00 GMT", 0],
  ])("%j asks for %i ms", (value, expected) => expect(readRetryAfterMs(value, now)).toBe(expected));

  test.each([undefined, "", "soon", "12e", "99999999999", "NaN", "\u0660"])("%j is ignored", (value) =>
    expect(readRetryAfterMs(value, now)).toBeNull(),
  );
});
