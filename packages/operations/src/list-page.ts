import { checkInput, encodeCursor, listInputSchema } from "@svc/contracts";
import type { FieldFault, ListInput, ListPage } from "@svc/contracts";

/** What a store function reads of a list. */
interface PageQuery {
  limit: number;
  before: string | undefined;
  q?: string | undefined;
}

/** The fault of a search in a list that knows none: its answer would look like what was searched for. */
export function searchFaults(q: string | undefined): FieldFault[] {
  return q === undefined ? [] : [{ pointer: "/q", code: "unknown_field", detail: "is not a known field" }];
}

/**
 * One page of the list of this name. `read` gets one item more than asked for, which tells whether there is another
 * page. Throws invalid_request with every fault of the input, after those that were found before.
 */
export async function readPage<Row extends { id: string }, Item>(
  list: string,
  input: ListInput,
  read: (query: PageQuery) => Promise<Row[]>,
  asItem: (row: Row) => Item,
  found: readonly FieldFault[] = [],
): Promise<ListPage<Item>> {
  const { limit, ...rest } = checkInput(listInputSchema(list), input, "The query", found);
  const rows = await read({ ...rest, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > page.length && last !== undefined;
  return { items: page.map(asItem), nextCursor: hasMore ? encodeCursor(list, last.id) : null };
}
