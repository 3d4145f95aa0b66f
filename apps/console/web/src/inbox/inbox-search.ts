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
export type InboxSearch = { [Name in FilterName]?: string } & {
  /** Whose tickets are shown: those of the project that is worked on, or of all together. */
  projects?: "all";
};

/** The longest text of a filter that is taken out of an address. */
const VALUE_MAX_CHARS = 500;

/** The filters that an address holds; what is no filter is left out. Values that are wrong are for the server to say. */
export function readInboxSearch(search: Record<string, unknown>): InboxSearch {
  const found: InboxSearch = search["projects"] === "all" ? { projects: "all" } : {};
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

/** True where anything narrows the list down. */
export const isNarrowed = (search: InboxSearch): boolean => search.q !== undefined || chosenFilters(search).length > 0;

/** What is left of a search where only this stays: whose tickets are shown. */
export const spanOnly = ({ projects }: InboxSearch): InboxSearch => (projects === undefined ? {} : { projects });

/** What the server is asked: the view's own filters win over what narrows it down. Words belong to one project. */
export function queryOf(view: TicketQuery, { projects, q, ...filters }: InboxSearch): TicketQuery {
  const ofAll = projects === "all" || view.allProjects === "1";
  const span = ofAll ? { allProjects: "1" } : q === undefined ? {} : { q };
  // The server checks each value and says what would be right.
  return { ...filters, ...view, ...span } as TicketQuery;
}
