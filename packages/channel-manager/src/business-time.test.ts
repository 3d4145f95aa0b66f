import { describe, expect, test } from "@jest/globals";
import type { BusinessHours } from "@svc/contracts";
import fc from "fast-check";
import {
  addBusinessMinutes,
  isOpen,
  listBusinessPeriods,
  nextOpening,
  describeExpectedReply,
} from "./business-time.ts";
import texts from "./expected-reply.json" with { type: "json" };

const businessHours: BusinessHours = {
  timeZone: "Europe/Berlin",
  week: { monday: [["09:00", "17:00"]] },
  holidays: [],
};
const SUNDAY = new Date("2026-11-29T12:00:00Z");
const MONDAY = new Date("2026-11-30T12:00:00Z");
/** Versions of ICU differ in spaces and in the words before a time. */
const plain = (text: string) => text.replaceAll(/\s/gu, " ");

describe("the expected reply", () => {
  test("names the next opening in the customer's language and the project's time zone while the team is closed", () => {
    const times = { businessHours, replyTimeMinutes: 60 };
    expect(plain(describeExpectedReply(times, { locale: "en", now: SUNDAY }))).toMatch(
      /^We are back on Monday, November 30.* 9:00 AM GMT\+1\.$/,
    );
    expect(plain(describeExpectedReply(times, { locale: "de-AT", now: SUNDAY }))).toMatch(
      /^Wir sind wieder für Sie da: Montag, 30\. November.* 09:00 MEZ\.$/,
    );
  });

  test.each([
    [30, "We usually reply within 30 minutes."],
    [60, "We usually reply within 1 hour."],
    [90, "We usually reply within 90 minutes."],
    [2_880, "We usually reply within 2 days."],
  ])("names the usual time of %d minutes while the team works", (replyTimeMinutes, expected) => {
    expect(describeExpectedReply({ businessHours, replyTimeMinutes }, { locale: "en", now: MONDAY })).toBe(expected);
    expect(describeExpectedReply({ businessHours: null, replyTimeMinutes }, { locale: "xx", now: SUNDAY })).toBe(
      expected,
    );
  });

  test("is empty if nothing is known, or the team does not work again", () => {
    expect(describeExpectedReply({ businessHours: null, replyTimeMinutes: null }, { locale: "en" })).toBe("");
    expect(describeExpectedReply({ businessHours, replyTimeMinutes: null }, { locale: "en", now: MONDAY })).toBe("");
    const closed = { ...businessHours, week: {} };
    expect(describeExpectedReply({ businessHours: closed, replyTimeMinutes: 5 }, { locale: "en" })).toBe("");
  });

  test("has both texts in each language, each with its placeholder", () => {
    for (const { back, within } of Object.values(texts)) {
      expect(back).toContain("{when}");
      expect(within).toContain("{time}");
    }
  });
});

const OFFICE: BusinessHours = {
  timeZone: "Europe/Berlin",
  week: {
    monday: [
      ["09:00", "12:00"],
      ["13:00", "17:00"],
    ],
    tuesday: [["09:00", "17:00"]],
    friday: [["09:00", "17:00"]],
  },
  holidays: [{ date: "2026-12-25", name: "Christmas" }],
};
const nightOf = (day: string): BusinessHours => ({
  timeZone: "Europe/Berlin",
  week: { [day]: [["00:00", "24:00"]] },
  holidays: [],
});
const at = (time: string) => new Date(time);

describe("business hours", () => {
  test.each([
    ["at the start of a period", "2026-11-30T08:00:00.000Z", true],
    ["a millisecond before it", "2026-11-30T07:59:59.999Z", false],
    ["at the end of a period", "2026-11-30T11:00:00.000Z", false],
    ["a millisecond before the end", "2026-11-30T10:59:59.999Z", true],
    ["between two periods", "2026-11-30T11:30:00.000Z", false],
    ["on a day without a period", "2026-12-02T10:00:00.000Z", false],
    ["on a holiday", "2026-12-25T10:00:00.000Z", false],
    ["at the same time of a summer day, an hour earlier by UTC", "2026-07-06T07:00:00.000Z", true],
  ])("say %s whether the team works", (_when, time, expected) => {
    expect(isOpen(OFFICE, at(time))).toBe(expected);
  });

  test("are all the time if a project has none", () => {
    const sunday = at("2026-11-29T03:00:00Z");
    expect(isOpen(null, sunday)).toBe(true);
    expect(nextOpening(null, sunday)).toEqual(sunday);
    expect(addBusinessMinutes(null, sunday, 90)).toEqual(at("2026-11-29T04:30:00Z"));
  });

  test.each([
    ["later that day", "2026-11-30T11:30:00Z", "2026-11-30T12:00:00Z"],
    ["days later", "2026-12-01T16:00:00Z", "2026-12-04T08:00:00Z"],
    ["after a holiday", "2026-12-24T10:00:00Z", "2026-12-28T08:00:00Z"],
    ["at once during a period", "2026-11-30T09:15:00Z", "2026-11-30T09:15:00Z"],
  ])("open %s", (_when, from, expected) => {
    expect(nextOpening(OFFICE, at(from))).toEqual(at(expected));
  });

  test("never open if every day is closed, for good or for more than a year", () => {
    const from = at("2026-11-30T09:00:00Z");
    const closed = { ...OFFICE, week: {} };
    expect(nextOpening(closed, from)).toBeNull();
    expect(addBusinessMinutes(closed, from, 1)).toBeNull();
    expect(isOpen(closed, from)).toBe(false);
  });

  test("open after weeks of holidays", () => {
    const holidays = Array.from({ length: 60 }, (_, index) => ({
      date: new Date(Date.UTC(2026, 11, 1 + index)).toISOString().slice(0, 10),
    }));
    expect(nextOpening({ ...OFFICE, holidays }, at("2026-11-30T17:00:00Z"))).toEqual(at("2027-02-01T08:00:00Z"));
  });
});

describe("business time", () => {
  test.each([
    ["within a period", "2026-11-30T08:00:00Z", 60, "2026-11-30T09:00:00Z"],
    ["up to the end of a period", "2026-11-30T08:00:00Z", 180, "2026-11-30T11:00:00Z"],
    ["over a break", "2026-11-30T10:30:00Z", 60, "2026-11-30T12:30:00Z"],
    ["from a closed day on", "2026-11-29T10:00:00Z", 30, "2026-11-30T08:30:00Z"],
    ["over days and a holiday", "2026-12-22T15:00:00Z", 120, "2026-12-28T09:00:00Z"],
  ])("passes %s", (_how, from, minutes, expected) => {
    expect(addBusinessMinutes(OFFICE, at(from), minutes)).toEqual(at(expected));
  });

  test("counts the 23 hours of the day on which summer time starts, and the 25 of the day on which it ends", () => {
    const sunday = nightOf("sunday");
    expect(addBusinessMinutes(sunday, at("2026-03-28T23:00:00Z"), 23 * 60)).toEqual(at("2026-03-29T22:00:00Z"));
    expect(addBusinessMinutes(sunday, at("2026-10-24T22:00:00Z"), 25 * 60)).toEqual(at("2026-10-25T23:00:00Z"));
  });

  test("starts an hour later by the clock where the clock skips the opening time", () => {
    const early: BusinessHours = { ...nightOf("monday"), week: { sunday: [["02:30", "05:00"]] } };
    expect(nextOpening(early, at("2026-03-29T00:00:00Z"))).toEqual(at("2026-03-29T01:30:00Z"));
  });

  test("starts and ends at the first of two equal clock times, whatever the season", () => {
    const early: BusinessHours = { ...nightOf("monday"), week: { sunday: [["02:30", "05:00"]] } };
    expect(nextOpening(early, at("2026-10-25T00:00:00Z"))).toEqual(at("2026-10-25T00:30:00Z"));
    // In Havana, midnight comes twice.
    const havana: BusinessHours = { ...nightOf("saturday"), timeZone: "America/Havana" };
    expect(isOpen(havana, at("2026-11-01T03:59:00Z"))).toBe(true);
    expect(isOpen(havana, at("2026-11-01T04:00:00Z"))).toBe(false);
  });

  test("counts periods once that the clock moves into each other", () => {
    const week: BusinessHours["week"] = {
      sunday: [
        ["02:00", "02:45"],
        ["03:00", "04:00"],
      ],
    };
    const early: BusinessHours = { ...nightOf("monday"), week };
    expect(isOpen(early, at("2026-03-29T01:50:00Z"))).toBe(true);
    expect(addBusinessMinutes(early, at("2026-03-29T00:00:00Z"), 60)).toEqual(at("2026-03-29T02:00:00Z"));
  });

  test("has periods in order, whatever the hours of the day on which the clock changes", () => {
    const clock = ["00:00", "02:00", "02:30", "02:45", "03:00", "04:00", "24:00"];
    const times = fc.subarray(clock, { minLength: 4, maxLength: 4 });
    const change = fc.constantFrom(
      ["Europe/Berlin", "2026-03-29"],
      ["Europe/Berlin", "2026-10-25"],
      ["America/Santiago", "2026-09-06"],
      ["America/Havana", "2026-11-01"],
      ["Australia/Lord_Howe", "2026-10-04"],
    );
    const property = fc.property(times, change, ([a = "", b = "", c = "", d = ""], [timeZone = "", date = ""]) => {
      const day: [string, string][] = [
        [a, b],
        [c, d],
      ];
      const hours = { timeZone, week: { saturday: day, sunday: day }, holidays: [] };
      const from = at(date).getTime() - 86_400_000;
      let [total, lastEnd] = [0, 0];
      for (const { start, end } of listBusinessPeriods(hours, new Date(from), new Date(from + 2 * 86_400_000))) {
        expect(start).toBeGreaterThanOrEqual(lastEnd);
        expect(isOpen(hours, new Date(start)) && isOpen(hours, new Date(end - 1))).toBe(true);
        total += (end - Math.max(start, from)) / 60_000;
        expect(addBusinessMinutes(hours, new Date(from), total)).toEqual(new Date(end));
        lastEnd = end;
      }
    });
    fc.assert(property, { numRuns: 50 });
  });

  test("is in the project's time zone, also where the day has another date by UTC", () => {
    const auckland: BusinessHours = {
      timeZone: "Pacific/Auckland",
      week: { monday: [["09:00", "17:00"]] },
      holidays: [],
    };
    expect(nextOpening(auckland, at("2026-11-29T00:00:00Z"))).toEqual(at("2026-11-29T20:00:00Z"));
  });

  test("takes no time for no minutes while the team works", () => {
    const from = at("2026-11-30T09:00:00Z");
    expect(addBusinessMinutes(OFFICE, from, 0)).toEqual(from);
  });
});
