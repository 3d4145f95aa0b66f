import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import type { TicketCount } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { IconButton } from "../ui/icon-button.tsx";
import { nameOfQuery } from "./name-of-query.ts";
import { spanOnly } from "./inbox-search.ts";
import type { InboxSearch } from "./inbox-search.ts";
import { ProjectSpan } from "./project-span.tsx";
import { useViewCounts } from "./use-view-counts.ts";
import { searchOf, useSavedViews } from "./saved-views.ts";
import { SAVED_ICON as SavedIcon, VIEWS } from "./views.ts";

const LINK =
  "flex h-8 min-w-0 flex-1 items-center gap-2.5 rounded-md px-2.5 text-sm text-muted hover:bg-hover hover:text-ink aria-[current]:bg-accent-soft aria-[current]:font-semibold aria-[current]:text-accent";

const isSame = (one: InboxSearch, other: InboxSearch) => nameOfQuery(one) === nameOfQuery(other);

/** How many tickets a view has; none is nothing to tell. */
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

/** The views of the inbox, and those that one has saved. */
export function ViewSidebar({ current, search }: { current: string; search: InboxSearch }) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const project = useProject();
  const { views: saved, remove, save } = useSavedViews();
  const counts = useViewCounts(search.projects === "all");
  const isInSaved = saved.some((view) => view.view === current && isSame(searchOf(view), search));
  return (
    <nav
      aria-label={t("inbox.views")}
      className="w-48 shrink-0 overflow-y-auto border-r border-line bg-page px-2 py-3 max-xl:hidden"
    >
      <p aria-hidden className="px-2.5 pb-2 text-lg font-semibold tracking-tight">
        {t("nav.inbox")}
      </p>
      <ProjectSpan search={search} className="px-1 pb-2" />
      <ul className="flex flex-col gap-0.5">
        {VIEWS.map(({ id, icon: Icon, title }) => (
          <li key={id} className="flex">
            <Link
              to="/$project/inbox/$view"
              params={{ project, view: id }}
              search={spanOnly(search)}
              aria-current={id === current && !isInSaved ? "page" : undefined}
              className={LINK}
            >
              <Icon aria-hidden className="size-4 shrink-0" />
              <span className="min-w-0 flex-1 truncate">{t(title)}</span>
              <ViewCount count={counts.get(id)} />
            </Link>
          </li>
        ))}
      </ul>
      {saved.length > 0 && (
        <>
          <h2 className="px-2.5 pt-5 pb-1.5 text-2xs font-semibold text-faint">{t("inbox.saved")}</h2>
          <ul className="flex flex-col gap-0.5">
            {saved.map((view) => (
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
                  onClick={() => {
                    void remove(view.name).then((isRemoved) => {
                      if (!isRemoved) return;
                      toasts.show({
                        kind: "done",
                        text: t("inbox.viewRemoved", { name: view.name }),
                        action: { label: t("ui.undo"), run: () => void save(view) },
                      });
                    });
                  }}
                />
              </li>
            ))}
          </ul>
        </>
      )}
    </nav>
  );
}
