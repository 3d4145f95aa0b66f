import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { SavedView } from "@svc/contracts";
import { deleteView, putView, viewsQuery } from "../api/views.ts";
import { useServices } from "../app/services.ts";
import { useProject, useSession } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { describeFault } from "../ui/describe-fault.ts";
import { readInboxSearch } from "./inbox-search.ts";
import type { InboxSearch } from "./inbox-search.ts";
import { moveKeptViews } from "./move-kept-views.ts";

const NONE: readonly SavedView[] = [];

/** What a saved view asks for, as the address has it. */
export const searchOf = ({ filters, project }: SavedView): InboxSearch =>
  readInboxSearch({ ...filters, ...(project === null ? { projects: "all" } : {}) });

/**
 * One's own saved views, which are on the server: those of this project and of all projects. A change is shown at once,
 * and taken back where the server refuses it.
 */
export function useSavedViews() {
  const { connection, storage, toasts } = useServices();
  const { operator } = useSession();
  const project = useProject();
  const queryClient = useQueryClient();
  const { t } = useTexts();
  const query = viewsQuery(connection, operator.id, () =>
    moveKeptViews(storage, operator.id, (view) => putView(connection, view)),
  );
  const { data: all = NONE } = useQuery(query);

  async function change(next: readonly SavedView[], send: () => Promise<SavedView[]>): Promise<boolean> {
    await queryClient.cancelQueries({ queryKey: query.queryKey });
    queryClient.setQueryData(query.queryKey, [...next]);
    try {
      queryClient.setQueryData(query.queryKey, await send());
      return true;
    } catch (fault) {
      queryClient.setQueryData(query.queryKey, [...all]);
      toasts.show({ kind: "fault", text: describeFault(fault, t) });
      return false;
    }
  }
  return {
    views: all.filter((view) => view.project === null || view.project === project),
    /** The view that has a name already, of whichever project. */
    find: (name: string) => all.find((view) => view.name === name),
    /** Keeps a view; one of the same name is replaced. Answers whether that was done; why not is told. */
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
