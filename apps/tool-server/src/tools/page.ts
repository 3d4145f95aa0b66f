import { z } from "zod";

/** Items of one page: as many as a model reads with profit. */
export const PAGE_ITEMS = 20;

/** What every list is asked. */
export const pageFields = {
  cursor: z
    .string()
    .optional()
    .describe("The `nextCursor` of the previous page, unchanged, with the same arguments. Omit it for the first page."),
};

/** One page of items. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    items: z.array(item),
    nextCursor: z.string().nullable().describe("Cursor of the next page. Null on the last page."),
  });
}
