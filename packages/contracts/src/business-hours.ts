import { z } from "zod";
import { isTimeZone } from "./customer.ts";
import { textUpTo } from "./well-formed.ts";

/** Days of the week, in the order of ISO 8601. */
export const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

/** Limits of business hours. */
export const BUSINESS_HOURS_LIMITS = {
  /** Maximum number of periods in a day. */
  periodsPerDayMax: 10,
  /** Maximum number of holidays. */
  holidaysMax: 400,
  /** Maximum characters of a holiday's name. */
  holidayNameMaxChars: 100,
  /** Maximum expected reply time in minutes: four weeks. */
  replyTimeMaxMinutes: 40_320,
} as const;

const clockTimeSchema = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/, {
  error: "must be a time, such as `09:00` or `24:00`",
});

const periodSchema = z
  .tuple([clockTimeSchema, clockTimeSchema])
  .refine(([from, to]) => from < to, { error: "must end after it starts, on the same day" });

const daySchema = z
  .array(periodSchema)
  .max(BUSINESS_HOURS_LIMITS.periodsPerDayMax)
  .refine((periods) => periods.every(([from], index) => index === 0 || (periods[index - 1]?.[1] ?? "") <= from), {
    error: "must be periods in order that do not overlap",
  });

const holidaySchema = z.strictObject({
  date: z.iso.date().describe("Day on which the team is closed, such as `2026-12-25`."),
  name: textUpTo(BUSINESS_HOURS_LIMITS.holidayNameMaxChars).optional(),
});

/** Working hours of a project's team. Omitted days are closed. */
export const businessHoursSchema = z.strictObject({
  timeZone: z
    .string()
    .refine(isTimeZone, { error: "must be an IANA time zone, such as `Europe/Berlin`" })
    .describe("IANA time zone of the times, such as `Europe/Berlin`."),
  week: z
    .partialRecord(z.enum(WEEKDAYS), daySchema)
    .describe('Periods by day of the week, such as `{"monday": [["09:00", "12:00"], ["13:00", "17:00"]]}`.'),
  holidays: z
    .array(holidaySchema)
    .max(BUSINESS_HOURS_LIMITS.holidaysMax)
    .default([])
    .describe("Days on which the team is closed, whatever the day of the week."),
});
export type BusinessHours = z.infer<typeof businessHoursSchema>;

/** Expected reply time in minutes; null for none. */
export const replyTimeMinutesSchema = z.int().min(1).max(BUSINESS_HOURS_LIMITS.replyTimeMaxMinutes).nullable();
