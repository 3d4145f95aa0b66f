import { describe, expect, test } from "@jest/globals";
import { dayOfDueDigest, endOfQuietHours } from "./email-context.ts";

describe("quiet hours", () => {
  test.each([
    ["over midnight, before it", ["20:00", "07:00"], "2026-06-01T21:30:00Z", "2026-06-02T05:00:00Z"],
    ["over midnight, after it", ["20:00", "07:00"], "2026-06-01T02:00:00Z", "2026-06-01T05:00:00Z"],
    ["over midnight, outside", ["20:00", "07:00"], "2026-06-01T10:00:00Z", "2026-06-01T10:00:00Z"],
    ["within a day", ["12:00", "13:00"], "2026-06-01T10:15:00Z", "2026-06-01T11:00:00Z"],
    ["from midnight", ["00:00", "06:00"], "2026-06-01T00:00:00Z", "2026-06-01T04:00:00Z"],
  ] as const)("%s", (_what, [from, to], at, expected) => {
    const settings = { quietHours: [from, to] as [string, string], timeZone: "Europe/Berlin" };
    expect(endOfQuietHours(settings, new Date(at))).toEqual(new Date(expected));
  });

  test("that are not set hold nothing back", () => {
    const at = new Date("2026-06-01T00:00:00Z");
    expect(endOfQuietHours({ quietHours: null, timeZone: "UTC" }, at)).toEqual(at);
  });
});

describe("a digest is due", () => {
  test.each([
    ["at its time where the operator is", "2026-06-01T23:00:00Z", "2026-06-02"],
    ["for three hours", "2026-06-02T01:59:00Z", "2026-06-02"],
    ["not before", "2026-06-01T22:59:00Z", null],
    ["not much later", "2026-06-02T02:00:00Z", null],
  ])("%s", (_what, at, day) => {
    const settings = { digest: true, digestAt: "08:00", timeZone: "Asia/Tokyo" };
    expect(dayOfDueDigest(settings, new Date(at))).toBe(day);
    expect(dayOfDueDigest({ ...settings, digest: false }, new Date(at))).toBeNull();
  });

  test.each([
    ["2026-05-31T23:59:00Z", "2026-05-31"],
    ["2026-06-01T00:01:00Z", "2026-05-31"],
    ["2026-06-01T02:59:00Z", null],
  ])("after midnight if its time is just before it: at %s", (at, day) => {
    expect(dayOfDueDigest({ digest: true, digestAt: "23:59", timeZone: "UTC" }, new Date(at))).toBe(day);
  });
});
