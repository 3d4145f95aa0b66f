import { z } from "zod";

/** Items of one page: as many as a model reads with profit. */
export const PAGE_ITEMS = 20;

/** What every list is asked. */
export const pageFields = {
  cursor: z
    .string()
    .optional()
    .describe("The `nextCursor` of the page before, as it is, with the same arguments; the first page where absent."),
};

/** One page of items. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().describe("What gets the next page; null at the end."),
  });
}
