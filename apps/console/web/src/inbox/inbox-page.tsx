import { Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { MailOpen } from "lucide-react";
import { Suspense, lazy, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { usePeople, useProject, useServices, useSession, useCommands } from "../session/services.ts";
import { useStore } from "../ui/create-store.ts";
import { lazyDialog } from "../ui/dialog.tsx";
import { EmptyState, ToastList } from "../ui/notice.tsx";
import { useIsWide, usePageTitle } from "../ui/page-frame.tsx";
import type { BulkErrors } from "./bulk-dialogs.tsx";
import { findView, inOrder, isNarrowed, queryOf, SHARED_VIEW, VIEWS, withoutFilters } from "./views.ts";
import { ListHead } from "./list-head.tsx";
import { TicketList } from "./ticket-list.tsx";
import { InboxContext, useTicketList } from "./use-ticket-list.ts";
import type { InboxLocation } from "./use-ticket-list.ts";
import { ViewSidebar } from "./view-sidebar.tsx";

const BulkBar = lazy(async () => ({ default: (await import("./bulk-bar.tsx")).BulkBar }));
const BulkDialogs = lazyDialog(async () => (await import("./bulk-dialogs.tsx")).BulkDialogs);

const NONE: ReadonlySet<string> = new Set();

/** The inbox: its views, the list of tickets, and the open ticket. */
// oxlint-disable-next-line max-lines-per-function -- the state that list, ticket, bulk actions and commands share
export function InboxPage() {
  const { t } = useTexts();
  const { preferences, toasts } = useServices();
  const project = useProject();
  const { isAdministrator, projects } = useSession();
  const { me } = usePeople();
  const { view: viewId } = useParams({ from: "/$project/inbox/$view" });
  const { ticketId = null } = useParams({ strict: false });
  const asked = useSearch({ from: "/$project/inbox/$view" });
  const { inboxSort } = useStore(preferences);
  const search = useMemo(() => inOrder(asked, inboxSort), [asked, inboxSort]);
  const navigate = useNavigate();
  const isWide = useIsWide();
  const [cursorId, setCursorId] = useState<string | null>(null);
  const [errors, setErrors] = useState<BulkErrors | null>(null);
  const [selection, setSelection] = useState<{ of: string; ids: ReadonlySet<string> }>({ of: "", ids: NONE });

  const view = findView(viewId) ?? VIEWS[0];
  const filters = view?.filters(me) ?? {};
  // The text search covers one project.
  const goesOverAll = viewId === SHARED_VIEW && isAdministrator && search.q === undefined;
  const query = useDeferredValue(
    JSON.stringify(queryOf({ ...filters, ...(goesOverAll ? { allProjects: "1" } : {}) }, search)),
  );
  const listQuery = useMemo(() => JSON.parse(query) as ReturnType<typeof queryOf>, [query]);
  const ofAll = listQuery.allProjects === "1";
  // A list of all projects does not depend on the current one.
  const listProject = ofAll ? (projects[0]?.name ?? project) : project;
  const list = useTicketList(listProject, listQuery);
  const { items } = list;

  // A selection belongs to the list in which it was made.
  const listName = `${listProject} ${query}`;
  const selected = selection.of === listName ? selection.ids : NONE;
  const chosen = items.filter(({ id }) => selected.has(id));
  const select = (ids: ReadonlySet<string>) => setSelection({ of: listName, ids });
  const toggle = (id: string) => {
    const ids = new Set(selected);
    if (!ids.delete(id)) ids.add(id);
    select(ids);
  };

  const open = (id: string, isReplacing = false) =>
    void navigate({
      to: "/$project/inbox/$view/$ticketId",
      // The ticket opens in its own project.
      params: { project: items.find((item) => item.id === id)?.project ?? project, view: viewId, ticketId: id },
      search,
      replace: isReplacing,
    });
  const close = () => void navigate({ to: "/$project/inbox/$view", params: { project, view: viewId }, search });
  const currentId = ticketId ?? cursorId;
  const currentAt = items.findIndex(({ id }) => id === currentId);
  // Where the current ticket was before it left the list, such as when it was answered.
  const lastAt = useRef(-1);
  useEffect(() => {
    if (currentId === null) lastAt.current = -1;
    else if (currentAt >= 0) lastAt.current = currentAt;
  }, [currentId, currentAt]);
  const inbox: InboxLocation = {
    view: viewId,
    search,
    items,
    move(by) {
      // The next ticket has moved up to its place.
      const after = currentAt >= 0 ? currentAt + by : lastAt.current + Math.min(by, 0);
      const next = items[Math.min(Math.max(after, 0), items.length - 1)];
      if (next === undefined) return;
      setCursorId(next.id);
      if (isWide || ticketId !== null) open(next.id, ticketId !== null);
    },
    advance(doneId) {
      const at = items.findIndex(({ id }) => id === doneId);
      const next = items[at + 1] ?? items[at - 1];
      if (at >= 0 && next !== undefined) setCursorId(next.id);
      if (at >= 0 && next !== undefined && isWide) open(next.id, true);
      else close();
    },
  };

  const closeOrClear = () => (chosen.length > 0 ? select(NONE) : ticketId === null ? setCursorId(null) : close());
  useCommands("list", [
    { id: "next", title: t("command.next"), keys: "j", run: () => inbox.move(1) },
    { id: "previous", title: t("command.previous"), keys: "k", run: () => inbox.move(-1) },
    { id: "next-arrow", title: t("command.next"), keys: "ArrowDown", run: () => inbox.move(1) },
    { id: "previous-arrow", title: t("command.previous"), keys: "ArrowUp", run: () => inbox.move(-1) },
    { id: "open", title: t("command.open"), keys: "Enter", run: () => currentId !== null && open(currentId) },
    { id: "close", title: t("command.close"), keys: "Escape", run: closeOrClear },
  ]);
  usePageTitle(items.find(({ id }) => id === ticketId)?.subject || t("nav.inbox"));
  const selectAll = () => select(new Set(items.map(({ id }) => id)));
  useCommands("bulk", [
    { id: "select", title: t("command.select"), keys: "x", run: () => currentId !== null && toggle(currentId) },
    { id: "select-all", title: t("command.selectAll"), keys: "mod+shift+a", run: selectAll },
  ]);
  useCommands(
    "go",
    VIEWS.map(({ id }, index) => ({
      id: `view-${id}`,
      title: t("command.view", { view: t(`view.${id}`) }),
      keys: `g ${index + 1}`,
      run: () =>
        void navigate({ to: "/$project/inbox/$view", params: { project, view: id }, search: withoutFilters(search) }),
    })),
  );

  const searchAll = (q: string | undefined) =>
    void navigate({
      to: "/$project/inbox/$view",
      params: { project, view: "all" },
      search: { ...withoutFilters(search), ...(q === undefined ? {} : { q }) },
    });

  return (
    <InboxContext value={inbox}>
      <h1 className="sr-only">{t("nav.inbox")}</h1>
      <div className="group/inbox flex h-full">
        <ViewSidebar current={viewId} search={search} />
        <div
          className={`flex min-w-0 flex-col border-line bg-surface lg:w-80 lg:shrink-0 lg:border-r 2xl:w-96 ${ticketId === null ? "max-lg:flex-1" : "max-lg:hidden"}`}
        >
          <section aria-label={t("inbox.list")} className="relative flex min-h-0 flex-1 flex-col">
            <ListHead viewId={viewId} search={search} isLoading={list.isFetching && !list.isFetchingNextPage} />
            <TicketList
              key={listName}
              list={list}
              currentId={currentId}
              selected={selected}
              onToggle={toggle}
              empty={`empty.${view?.id ?? "all"}`}
              isFiltered={isNarrowed(search)}
              onSearchAll={search.q === undefined || viewId === "all" ? undefined : () => searchAll(search.q)}
              showsProjects={ofAll}
            />
            <Suspense>
              {chosen.length > 0 && (
                <BulkBar
                  tickets={chosen}
                  onSelect={select}
                  onSelectAll={chosen.length < items.length ? selectAll : null}
                  onErrors={setErrors}
                />
              )}
            </Suspense>
            {errors !== null && (
              <BulkDialogs
                dialog={{ kind: "errors", errors }}
                onClose={() => setErrors(null)}
                onChoose={() => undefined}
              />
            )}
          </section>
          {isWide && <ToastList toasts={toasts} />}
        </div>
        <section
          aria-label={t("inbox.ticket")}
          className={`min-w-0 flex-1 ${ticketId === null ? "max-lg:hidden" : ""}`}
        >
          {ticketId === null ? (
            <EmptyState icon={MailOpen} title={t("inbox.nothingOpen")} text={t("inbox.nothingOpenText")} />
          ) : (
            <Outlet />
          )}
        </section>
      </div>
    </InboxContext>
  );
}
