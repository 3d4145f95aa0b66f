import type { CallInput } from "@svc/client";

/** What the list of tickets can be asked for. */
export type TicketQuery = NonNullable<CallInput<"listTickets">["query"]>;

/** What narrows a view down further, as the address has it. */
export const FILTER_NAMES = [
  "q",
  "sort",
  "channelId",
  "status",
  "stage",
  "priority",
  "agentId",
  "assignee",
  "tag",
  "language",
  "userId",
] as const;
export type FilterName = (typeof FILTER_NAMES)[number];
export type InboxSearch = { [Name in FilterName]?: string };

/** The longest text of a filter that is taken out of an address. */
const VALUE_MAX_CHARS = 500;

/** The filters that an address holds; what is no filter is left out. Values that are wrong are for the server to say. */
export function readInboxSearch(search: Record<string, unknown>): InboxSearch {
  const found: InboxSearch = {};
  for (const name of FILTER_NAMES) {
    const value = Object.hasOwn(search, name) ? search[name] : undefined;
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text === "string" && text.trim() !== "" && text.length <= VALUE_MAX_CHARS) found[name] = text;
  }
  return found;
}

/** Filters besides the words and the order. */
export const chosenFilters = (search: InboxSearch): FilterName[] =>
  FILTER_NAMES.filter((name) => name !== "q" && name !== "sort" && search[name] !== undefined);

/** What the server is asked: the view's own filters win over what narrows it down. */
export function queryOf(view: TicketQuery, search: InboxSearch): TicketQuery {
  // The server checks each value and says what would be right.
  return { ...search, ...view } as TicketQuery;
}
