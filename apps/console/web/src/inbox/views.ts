import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  AlarmClock,
  Archive,
  CircleCheck,
  CircleUser,
  Hourglass,
  Inbox,
  Layers,
  OctagonX,
  Share2,
  UserX,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { ServiceError } from "@svc/client";
import type { CallInput } from "@svc/client";
import type { Agent, SavedView } from "@svc/contracts";
import { deleteView, putView, viewsQuery } from "../api/session.ts";
import { textOf, useTexts } from "../i18n/texts.ts";
import type { Texts } from "../i18n/texts.ts";
import { useProject, useServices, useSession } from "../session/services.ts";
import type { TextStorage } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/** The query parameters of the list of tickets. */
export type TicketQuery = NonNullable<CallInput<"listTickets">["query"]>;

/** Filters of a view, as in the URL. */
const FILTER_NAMES = [
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

/** Returns a search without filters, for the same projects and in the same order. */
export const withoutFilters = ({ projects, sort }: InboxSearch): InboxSearch => ({
  ...(projects === undefined ? {} : { projects }),
  ...(sort === undefined ? {} : { sort }),
});

/** Returns a search in the order that was chosen last, unless it has one. */
export const inOrder = (search: InboxSearch, sort: string | null): InboxSearch =>
  sort === null ? search : { sort, ...search };

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

/** A built-in view of the inbox. Its texts are `view.<id>`, and `empty.<id>` if it has no tickets. */
interface InboxView {
  id: "review" | "mine" | "unassigned" | "waiting" | "snoozed" | "resolved" | "spam" | "shared" | "all";
  icon: LucideIcon;
  /** True if the number of its tickets is shown. */
  isCounted?: true;
  /** Returns the query for its tickets; `me` is the actor of the signed-in operator. */
  filters: (me: string) => TicketQuery;
}

/** The built-in views of the inbox, in the order of the sidebar. */
export const VIEWS: readonly InboxView[] = [
  { id: "review", icon: Inbox, isCounted: true, filters: () => ({ needsReview: "1" }) },
  { id: "mine", icon: CircleUser, isCounted: true, filters: (me) => ({ assignee: me, closed: "0", snoozed: "0" }) },
  {
    id: "unassigned",
    icon: UserX,
    isCounted: true,
    filters: () => ({ assignee: "none", status: "open", snoozed: "0" }),
  },
  { id: "waiting", icon: Hourglass, filters: () => ({ status: "pending", snoozed: "0" }) },
  { id: "snoozed", icon: AlarmClock, filters: () => ({ snoozed: "1" }) },
  { id: "resolved", icon: CircleCheck, filters: () => ({ status: "resolved" }) },
  { id: "spam", icon: OctagonX, filters: () => ({ status: "spam" }) },
  { id: "shared", icon: Share2, filters: () => ({ origin: "tool-server" }) },
  { id: "all", icon: Layers, filters: () => ({}) },
];

/** View of the shared inbox, which shows all projects to administrators of all projects. */
export const SHARED_VIEW = "shared";

/** Icon of saved views. */
export const SAVED_ICON = Archive;

/** Returns the view with this ID, or null if there is none. */
export const findView = (id: string): InboxView | null => VIEWS.find((view) => view.id === id) ?? null;

/** Returns the filters as a string that does not depend on their order, for keys of queries. */
export function nameOfQuery(query: object): string {
  const entries = Object.entries(query) as [string, unknown][];
  return JSON.stringify(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Returns the filters of a search in the format of saved views. */
export function filtersOf(search: InboxSearch): SavedView["filters"] {
  const found: SavedView["filters"] = {};
  for (const name of FILTER_NAMES) {
    const value = search[name];
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** Parses the views in a stored text; invalid ones are ignored. */
function readStoredViews(stored: string | null, project: string): SavedView[] {
  let given: unknown = [];
  try {
    given = JSON.parse(stored ?? "[]");
  } catch {
    // Invalid text contains no views.
  }
  if (!Array.isArray(given)) return [];
  return (given as { name?: unknown; view?: unknown; search?: object }[]).flatMap((item) =>
    typeof item?.name === "string" && typeof item.view === "string"
      ? [{ name: item.name, project, view: item.view, filters: filtersOf(readInboxSearch({ ...item.search })) }]
      : [],
  );
}

/**
 * Moves views that an earlier version stored in this browser to the server, once. Views of two projects with the same name
 * get the project's name added. Views that the server rejects stay in the browser, and all do while it is unavailable.
 */
export async function moveStoredViews(
  storage: TextStorage,
  operatorId: string,
  put: (view: SavedView) => Promise<unknown>,
): Promise<void> {
  const prefix = `console.views.${operatorId}.`;
  const taken = new Set<string>();
  for (const key of storage.keys().filter((one) => one.startsWith(prefix))) {
    const project = key.slice(prefix.length);
    const stored = storage.getItem(key);
    const refused: SavedView[] = [];
    for (const view of readStoredViews(stored, project)) {
      const name = taken.has(view.name) ? `${view.name} (${project})` : view.name;
      try {
        await put({ ...view, name });
        taken.add(name);
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status === null || error.status >= 500 || error.status === 401)
          return;
        refused.push(view);
      }
    }
    if (refused.length === 0) storage.removeItem(key);
    else
      storage.setItem(key, JSON.stringify(refused.map(({ filters, name, view }) => ({ name, view, search: filters }))));
  }
}

const NONE: readonly SavedView[] = [];

/** Returns the search of a saved view, in the format of the URL. */
export const searchOf = ({ filters, project }: SavedView): InboxSearch =>
  readInboxSearch({ ...filters, ...(project === null ? { projects: "all" } : {}) });

/**
 * The operator's own saved views, stored on the server: those of this project and of all projects. A change is shown
 * immediately, and reverted if the server rejects it.
 */
export function useSavedViews() {
  const { connection, storage, toasts } = useServices();
  const { operator } = useSession();
  const project = useProject();
  const queryClient = useQueryClient();
  const { t } = useTexts();
  const query = viewsQuery(connection, operator.id, () =>
    moveStoredViews(storage, operator.id, (view) => putView(connection, view)),
  );
  const { data: all = NONE } = useQuery(query);

  async function change(next: readonly SavedView[], send: () => Promise<SavedView[]>): Promise<boolean> {
    await queryClient.cancelQueries({ queryKey: query.queryKey });
    queryClient.setQueryData(query.queryKey, [...next]);
    try {
      queryClient.setQueryData(query.queryKey, await send());
      return true;
    } catch (error) {
      queryClient.setQueryData(query.queryKey, [...all]);
      toasts.show({ kind: "error", text: describeError(error, t) });
      return false;
    }
  }
  return {
    views: all.filter((view) => view.project === null || view.project === project),
    /** Finds the view with a name, of any project. */
    find: (name: string) => all.find((view) => view.name === name),
    /** Saves a view, replacing one with the same name. Returns whether that succeeded; a toast shows the error. */
    save: (view: SavedView): Promise<boolean> => {
      const isThere = all.some(({ name }) => name === view.name);
      const next = isThere ? all.map((other) => (other.name === view.name ? view : other)) : [...all, view];
      return change(next, () => putView(connection, view));
    },
    remove: (name: string): Promise<boolean> =>
      change(
        all.filter((view) => view.name !== name),
        () => deleteView(connection, name),
      ),
  };
}
