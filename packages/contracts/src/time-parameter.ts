import { z } from "zod";

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * A time in a query: RFC 3339 with its offset, or a day, which is its beginning in UTC. A space is taken for the plus of
 * an offset, which is what it becomes in a query that nobody has encoded.
 */
export const timeParameter = z
  .string()
  .transform((text) => (DATE.test(text) ? `${text}T00:00:00Z` : text.replace(/ (?=\d\d:\d\d$)/, "+")))
  .pipe(
    z.iso.datetime({ offset: true, error: "must be a time such as 2026-11-21T09:30:00Z or a date such as 2026-11-21" }),
  )
  .transform((text) => new Date(text));
