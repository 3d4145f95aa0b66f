import { z } from "zod";

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * A time in a query: RFC 3339 with an offset, or a date, which is its start in UTC. A space is treated as the plus of
 * an offset, because an unencoded plus in a query is decoded as a space.
 */
export const timeParameter = z
  .string()
  .transform((text) => (DATE.test(text) ? `${text}T00:00:00Z` : text.replace(/ (?=\d\d:\d\d$)/, "+")))
  .pipe(
    z.iso.datetime({ offset: true, error: "must be a time such as 2026-11-21T09:30:00Z or a date such as 2026-11-21" }),
  )
  .transform((text) => new Date(text));
