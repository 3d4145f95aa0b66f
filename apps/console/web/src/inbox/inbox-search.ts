import type { CallInput } from "@svc/client";
import type { Agent } from "@svc/contracts";
import { textOf } from "../i18n/texts.ts";
import type { Texts } from "../i18n/texts.ts";

/** The query parameters of the list of tickets. */
export type TicketQuery = NonNullable<CallInput<"listTickets">["query"]>;

/** Filters of a view, as in the URL. */
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
  "overdue",
  "createdFrom",
  "createdTo",
] as const;
export type FilterName = (typeof FILTER_NAMES)[number];
export type InboxSearch = { [Name in FilterName]?: string } & {
  /** Set if the tickets of all projects are shown, not only of the current one. */
  projects?: "all";
};

/** Filters whose values are days. */
const DATES: ReadonlySet<string> = new Set<FilterName>(["createdFrom", "createdTo"]);

/** Maximum length of a filter in a URL. */
const VALUE_MAX_CHARS = 500;

/** Returns the filters in a URL, without other parameters. The server rejects invalid values. */
export function readInboxSearch(search: Record<string, unknown>): InboxSearch {
  const found: InboxSearch = search["projects"] === "all" ? { projects: "all" } : {};
  for (const name of FILTER_NAMES) {
    const value = Object.hasOwn(search, name) ? search[name] : undefined;
    const text = typeof value === "number" ? String(value) : value;
    if (typeof text === "string" && text.trim() !== "" && text.length <= VALUE_MAX_CHARS) found[name] = text;
  }
  return found;
}

/** Returns the filters of a search other than the search text and the order. */
export const chosenFilters = (search: InboxSearch): FilterName[] =>
  FILTER_NAMES.filter((name) => name !== "q" && name !== "sort" && search[name] !== undefined);

/** Returns true if the list is filtered. */
export const isNarrowed = (search: InboxSearch): boolean => search.q !== undefined || chosenFilters(search).length > 0;

/** Returns a search without filters, for the same projects. */
export const withoutFilters = ({ projects }: InboxSearch): InboxSearch => (projects === undefined ? {} : { projects });

/** Returns the start of a day in the operator's time zone, as RFC 3339; an invalid day is returned unchanged. */
function startOfDay(day: string): string {
  const start = new Date(`${day}T00:00`);
  return /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(start.getTime()) ? start.toISOString() : day;
}

/**
 * Returns the query for the server: the view's own filters override those of the search. The search text applies to one
 * project.
 */
export function queryOf(view: TicketQuery, { projects, q, ...filters }: InboxSearch): TicketQuery {
  const ofAll = projects === "all" || view.allProjects === "1";
  const span = ofAll ? { allProjects: "1" } : q === undefined ? {} : { q };
  const days = Object.entries(filters).map(([name, value]) => [name, DATES.has(name) ? startOfDay(value) : value]);
  // The server checks each value.
  return { ...Object.fromEntries(days), ...view, ...span } as TicketQuery;
}

/** Prefixes of the texts of filters whose values are chosen from a list. */
const VALUE_TEXTS: Partial<Record<FilterName, string>> = {
  channelId: "channel",
  status: "status",
  priority: "priority",
  stage: "state",
  sort: "sort",
};
/** States of a ticket that are not stages of the pipeline. */
const NO_STAGES: readonly string[] = ["waiting", "resolved", "spam"];

/** Returns the options of a filter; none for a filter that takes any text. */
export function filterOptions(name: FilterName, { t, names }: Pick<Texts, "t" | "names">) {
  const prefix = VALUE_TEXTS[name];
  if (prefix === undefined) return [];
  return names(prefix)
    .filter((value) => name !== "stage" || !NO_STAGES.includes(value))
    .map((value) => ({ value, label: textOf(t, prefix, value) }));
}

/** Returns the name of a language, or the typed text. */
function nameLanguage(tag: string, languageName: Texts["languageName"]): string {
  try {
    return languageName(tag);
  } catch {
    // Not a language tag: the filter finds nothing, and can be removed.
    return tag;
  }
}

/** Describes a filter, such as "Priority: high". `agents` is undefined while they are loading. */
export function describeFilter(
  name: FilterName,
  value: string,
  options: {
    texts: Pick<Texts, "t" | "languageName" | "date">;
    nameOf: (actor: string) => string;
    agents: readonly Agent[] | undefined;
  },
): string {
  const { agents, nameOf, texts } = options;
  const { t, languageName, date } = texts;
  // A date alone would be midnight in UTC, which is the previous day in America.
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? `${value}T00:00` : value;
  const dayOf = () => (Number.isNaN(Date.parse(time)) ? value : date(time));
  const named: Partial<Record<FilterName, () => string>> = {
    agentId: () =>
      agents === undefined ? "…" : (agents.find(({ id }) => id === value)?.name ?? t("filter.deletedAgent")),
    assignee: () => (value === "none" ? t("filter.nobody") : nameOf(value)),
    language: () => nameLanguage(value, languageName),
    overdue: () => t(value === "1" ? "filter.yes" : "filter.any"),
    createdFrom: dayOf,
    createdTo: dayOf,
  };
  const prefix = VALUE_TEXTS[name];
  const text = prefix === undefined ? (named[name]?.() ?? value) : textOf(t, prefix, value);
  return `${t(`filter.${name}`)}: ${text}`;
}
