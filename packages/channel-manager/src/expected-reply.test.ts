import { describe, expect, test } from "@jest/globals";
import type { BusinessHours } from "@svc/contracts";
import { describeExpectedReply } from "./expected-reply.ts";
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
