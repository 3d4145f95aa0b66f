import { InvalidArgumentError } from "commander";
import { parseDuration } from "./parse-duration.ts";

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/i;

/**
 * When something ends, as RFC 3339: a date is its first moment in UTC, a duration such as `90d` begins now. Whether the
 * calendar has that day is for the operation to say.
 */
export function parseExpiry(text: string, now = new Date()): string {
  if (DATE.test(text)) return `${text}T00:00:00Z`;
  if (TIME.test(text)) return text.toUpperCase();
  const seconds = parseDuration(text);
  if (seconds === null || seconds === 0) {
    throw new InvalidArgumentError("Must be a date such as 2030-01-31, an RFC 3339 time, or a duration such as 90d.");
  }
  const time = new Date(now.getTime() + seconds * 1_000);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError("Too far in the future.");
  return time.toISOString();
}
