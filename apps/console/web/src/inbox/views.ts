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
import type { SavedView } from "@svc/contracts";
import { deleteView, putView, viewsQuery } from "../api/session.ts";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useServices, useSession } from "../session/services.ts";
import type { TextStorage } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";
import { FILTER_NAMES, readInboxSearch } from "./inbox-search.ts";
import type { InboxSearch, TicketQuery } from "./inbox-search.ts";

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
