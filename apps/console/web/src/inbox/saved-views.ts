import { ServiceError } from "@svc/client";
import type { SavedView } from "@svc/contracts";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { deleteView, putView, viewsQuery } from "../api/session.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject, useSession } from "../session/services.ts";
import type { TextStorage } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";
import { FILTER_NAMES, readInboxSearch } from "./inbox-search.ts";
import type { InboxSearch } from "./inbox-search.ts";

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
export function readStoredViews(stored: string | null, project: string): SavedView[] {
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
