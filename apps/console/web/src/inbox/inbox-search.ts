import type { CallInput } from "@svc/client";
import { mapChannels } from "@svc/contracts";
import type { Agent, ChannelId } from "@svc/contracts";
import type { Texts, TextKey } from "../i18n/texts.ts";

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

/** What filters are called. */
export const FILTER_TITLES = {
  q: "filter.q",
  sort: "filter.sort",
  channelId: "filter.channelId",
  status: "filter.status",
  stage: "filter.stage",
  priority: "filter.priority",
  agentId: "filter.agentId",
  assignee: "filter.assignee",
  tag: "filter.tag",
  language: "filter.language",
  userId: "filter.userId",
} as const satisfies Record<FilterName, TextKey>;

/** The values of filters that the console has words for. */
const VALUES: Partial<Record<FilterName, Readonly<Record<string, TextKey>>>> = {
  channelId: mapChannels<Record<ChannelId, TextKey>>((id) => `channel.${id}`),
  status: { open: "status.open", pending: "status.pending", resolved: "status.resolved", spam: "status.spam" },
  priority: { low: "priority.low", normal: "priority.normal", high: "priority.high", urgent: "priority.urgent" },
  stage: {
    received: "state.received",
    triage: "state.triage",
    retrieval: "state.retrieval",
    agent: "state.agent",
    review: "state.review",
    delivering: "state.delivering",
    done: "state.done",
    failed: "state.failed",
  },
  sort: {
    "-updatedAt": "sort.-updatedAt",
    updatedAt: "sort.updatedAt",
    "-createdAt": "sort.-createdAt",
    createdAt: "sort.createdAt",
    "-priority": "sort.-priority",
    priority: "sort.priority",
  },
};

/** The values that a filter can be chosen from, with their names; none where anything can be typed. */
export const filterOptions = (name: FilterName, t: Texts["t"]): { value: string; label: string }[] =>
  Object.entries(VALUES[name] ?? {}).map(([value, key]) => ({ value, label: t(key) }));

/** The name of a language, or what was typed in its place. */
function nameLanguage(tag: string, languageName: Texts["languageName"]): string {
  try {
    return languageName(tag);
  } catch {
    // It is no tag of a language: nothing is found with it, and it can be removed.
    return tag;
  }
}

/** A filter in words, as in "Priority: high". */
export function describeFilter(
  name: FilterName,
  value: string,
  {
    texts: { t, languageName },
    nameOf,
    agents,
  }: {
    texts: Pick<Texts, "t" | "languageName">;
    nameOf: (actor: string) => string;
    /** Undefined while they are loading. */
    agents: readonly Agent[] | undefined;
  },
): string {
  const key = VALUES[name]?.[value];
  const named: Partial<Record<FilterName, () => string>> = {
    agentId: () =>
      agents === undefined ? "…" : (agents.find(({ id }) => id === value)?.name ?? t("filter.deletedAgent")),
    assignee: () => (value === "none" ? t("filter.nobody") : nameOf(value)),
    language: () => nameLanguage(value, languageName),
  };
  const text = key === undefined ? (named[name]?.() ?? value) : t(key);
  return `${t(FILTER_TITLES[name])}: ${text}`;
}
