import { useCallback, useState } from "react";
import { useServices } from "../app/services.ts";
import { useProject, useSession } from "../app/use-session.ts";
import { readInboxSearch } from "./inbox-search.ts";
import type { InboxSearch } from "./inbox-search.ts";

/** Filters that somebody has given a name, and the view that they narrow down. */
export interface SavedView {
  name: string;
  view: string;
  search: InboxSearch;
}

const MAX_COUNT = 50;

/** The saved views that a stored text stands for; what is wrong in it is left out. */
export function readSavedViews(stored: string | null): SavedView[] {
  let given: unknown = [];
  try {
    given = JSON.parse(stored ?? "[]");
  } catch {
    // Somebody else's text: there are no views in it.
  }
  if (!Array.isArray(given)) return [];
  return (given as Partial<SavedView>[])
    .filter((item) => typeof item?.name === "string" && typeof item.view === "string")
    .slice(0, MAX_COUNT)
    .map(({ name = "", view = "", search }) => ({ name, view, search: readInboxSearch({ ...search }) }));
}

/** One's own saved views of this project, in this browser. */
export function useSavedViews() {
  const { storage } = useServices();
  const { operator } = useSession();
  const project = useProject();
  const key = `console.views.${operator.id}.${project}`;
  const [, setCount] = useState(0);
  const views = readSavedViews(storage.getItem(key));
  const keep = useCallback(
    (next: readonly SavedView[]) => {
      storage.setItem(key, JSON.stringify(next));
      setCount((count) => count + 1);
    },
    [key, storage],
  );
  return {
    views,
    /** Keeps a view; one of the same name is replaced. */
    save: (view: SavedView) => keep([...views.filter(({ name }) => name !== view.name), view].slice(-MAX_COUNT)),
    remove: (name: string) => keep(views.filter((view) => view.name !== name)),
    /** Puts the views back as they were. */
    restore: keep,
  };
}
