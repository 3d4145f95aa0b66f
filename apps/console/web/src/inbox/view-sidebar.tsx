import { useNavigate, Link } from "@tanstack/react-router";
import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { ServiceError } from "@svc/client";
import type { SavedView, TicketCount } from "@svc/contracts";
import { X } from "lucide-react";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useCommands, useProject, useSession, usePeople } from "../session/services.ts";
import { IconButton } from "../ui/button.tsx";
import { SelectField } from "../ui/field.tsx";
import { nameOfQuery, SAVED_ICON as SavedIcon, searchOf, useSavedViews, VIEWS, withoutFilters } from "./views.ts";
import type { InboxSearch } from "./views.ts";

const ALL = "*";

/** Selects the tickets of the current project, or of all. For operators with a role in several projects. */
export function ProjectSpan({ search, className }: { search: InboxSearch; className: string }) {
  const { t } = useTexts();
  const { projects } = useSession();
  const project = useProject();
  const navigate = useNavigate();
  const ofAll = search.projects === "all";
  const { projects: _, ...ofOne } = search;
  const choose = (name: string) =>
    void navigate({
      from: "/$project/inbox/$view",
      to: "/$project/inbox/$view",
      params: (params) => ({ ...params, project: name === ALL ? project : name }),
      search: name === ALL ? { ...ofOne, projects: "all" } : ofOne,
    });
  const isOffered = projects.length > 1;
  const title = t(ofAll ? "inbox.oneProject" : "inbox.allProjects");
  useCommands("list", [isOffered && { id: "all-projects", title, run: () => choose(ofAll ? project : ALL) }]);
  if (!isOffered) return null;
  return (
    <SelectField
      label={t("inbox.projects")}
      hidesLabel
      value={ofAll ? ALL : project}
      options={[
        { value: ALL, label: t("inbox.allProjects") },
        ...projects.map(({ name }) => ({ value: name, label: name })),
      ]}
      onChange={choose}
      className={className}
    />
  );
}

/** Minimum interval between two requests of the counts, because events arrive in bursts. */
const REFETCH_MS = 2_000;

/**
 * Returns the numbers of tickets in counted views, of the project or of all, by the id of the view; absent while
 * unknown.
 */
function useViewCounts(ofAll: boolean): ReadonlyMap<string, TicketCount> {
  const { connection, live } = useServices();
  const queryClient = useQueryClient();
  const project = useProject();
  const { me } = usePeople();
  const views = VIEWS.filter(({ isCounted }) => isCounted === true);
  const counts = useQueries({
    queries: views.map(({ filters, id }) => ({
      queryKey: ["counts", ofAll ? "*" : project, id],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const { origin: _, ...own } = filters(me);
        const query = ofAll ? { ...own, allProjects: "1" as const } : own;
        return (await connection.call("countTickets", project, { query, signal })).item;
      },
      // The inbox works without the counts.
      retry: (failures: number, error: Error) =>
        !(error instanceof ServiceError && error.status !== null && error.status < 500) && failures < 3,
    })),
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const check = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void queryClient.invalidateQueries({ queryKey: ["counts"] });
      }, REFETCH_MS);
    };
    const ends = [live.on("ticket", check), live.on("gone", check)];
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, [live, queryClient]);
  return new Map(
    views.flatMap(({ id }, index) => {
      const data = counts[index]?.data;
      return data === undefined ? [] : [[id, data] as const];
    }),
  );
}

const LINK =
  "flex h-8 min-w-0 flex-1 items-center gap-2 rounded-md px-2 text-sm text-muted hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:font-semibold aria-[current]:text-accent";

const isSame = (one: InboxSearch, other: InboxSearch) => nameOfQuery(one) === nameOfQuery(other);

/** The number of tickets of a view; nothing for zero. */
function ViewCount({ count }: { count: TicketCount | undefined }) {
  const { number } = useTexts();
  if (count === undefined || count.count === 0) return null;
  return (
    <span className="shrink-0 text-xs font-medium text-faint tabular-nums">
      {number(count.count)}
      {count.isMore && "+"}
    </span>
  );
}

/** The views that the operator has saved. */
function SavedViews({ current, search }: { current: string; search: InboxSearch }) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const project = useProject();
  const { views, remove, save } = useSavedViews();
  if (views.length === 0) return null;
  async function removeView(view: SavedView) {
    if (!(await remove(view.name))) return;
    const action = { label: t("ui.undo"), run: () => void save(view) };
    toasts.show({ kind: "done", text: t("inbox.viewRemoved", { name: view.name }), action });
  }
  return (
    <>
      <h2 className="px-2.5 pt-5 pb-1.5 text-2xs font-semibold text-faint">{t("inbox.saved")}</h2>
      <ul className="flex flex-col gap-0.5">
        {views.map((view) => (
          <li key={view.name} className="group flex items-center">
            <Link
              to="/$project/inbox/$view"
              params={{ project, view: view.view }}
              search={searchOf(view)}
              aria-current={view.view === current && isSame(searchOf(view), search) ? "page" : undefined}
              className={LINK}
            >
              <SavedIcon aria-hidden className="size-4 shrink-0" />
              <span className="truncate">{view.name}</span>
            </Link>
            <IconButton
              icon={X}
              size="small"
              label={t("inbox.removeView", { name: view.name })}
              className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100"
              onClick={() => void removeView(view)}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

/** The views of the inbox, and the operator's saved views. */
export function ViewSidebar({ current, search }: { current: string; search: InboxSearch }) {
  const { t } = useTexts();
  const project = useProject();
  const { views: saved } = useSavedViews();
  const counts = useViewCounts(search.projects === "all");
  const isInSaved = saved.some((view) => view.view === current && isSame(searchOf(view), search));
  return (
    <nav
      aria-label={t("inbox.views")}
      className="w-48 shrink-0 overflow-y-auto border-r border-line bg-page px-1.5 py-3 max-xl:hidden max-wide:group-has-[aside[data-open]]/inbox:hidden"
    >
      <p aria-hidden className="px-2.5 pb-2 text-lg font-semibold tracking-tight">
        {t("nav.inbox")}
      </p>
      <ProjectSpan search={search} className="px-1 pb-2" />
      <ul className="flex flex-col gap-0.5">
        {VIEWS.map(({ id, icon: Icon }) => (
          <li key={id} className="flex">
            <Link
              to="/$project/inbox/$view"
              params={{ project, view: id }}
              search={withoutFilters(search)}
              aria-current={id === current && !isInSaved ? "page" : undefined}
              className={LINK}
            >
              <Icon aria-hidden className="size-4 shrink-0" />
              <span className="min-w-0 flex-1 truncate">{t(`view.${id}`)}</span>
              <ViewCount count={counts.get(id)} />
            </Link>
          </li>
        ))}
      </ul>
      <SavedViews current={current} search={search} />
    </nav>
  );
}
