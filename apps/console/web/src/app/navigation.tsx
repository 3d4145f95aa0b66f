import { Link, useRouterState, useNavigate } from "@tanstack/react-router";
import { AtSign, Keyboard, Search, Ellipsis } from "lucide-react";
import type { Session } from "../api/session.ts";
import { useTexts } from "../i18n/texts.ts";
import { useProject } from "../session/services.ts";
import { Avatar, UnreadDot } from "../ui/badge.tsx";
import { Tip, IconButton } from "../ui/button.tsx";
import { MenuItem, MenuSeparator } from "../ui/menu.tsx";
import { AccountMenu, ProjectMenu, ProjectChoice } from "./account-menu.tsx";
import type { Page } from "./pages.ts";

interface BarProps {
  session: Session;
  pages: readonly Page[];
  openPalette: () => void;
  openMentions: () => void;
  /** Number of unread mentions. */
  unread: number;
}

/** Classes of an item of the navigation. */
const NAVIGATION_ITEM =
  "group flex min-w-0 flex-1 flex-col items-center justify-center gap-0.5 rounded-lg py-1.5 text-2xs font-medium text-muted hover:bg-hover hover:text-ink aria-[current]:text-accent data-current:text-accent lg:w-full lg:flex-none lg:py-1";
const NAVIGATION_ICON =
  "flex h-7 w-10 items-center justify-center rounded-lg group-aria-[current]:bg-accent-soft group-data-current:bg-accent-soft";

/** Returns the shown page, or the one of these that it belongs to. */
function useShownPage(pages: readonly Page[], project: string): Page | undefined {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return pages.find(({ id }) => path === `/${project}/${id}` || path.startsWith(`/${project}/${id}/`));
}

/** A link to a page. */
function PageLink({ page, project, isShown }: { page: Page; project: string; isShown: boolean }) {
  const { t } = useTexts();
  const { icon: Icon, keys, link, title } = page;
  return (
    <Tip text={t(title)} keys={keys} isLabel>
      <Link {...link(project)} aria-current={isShown ? "page" : undefined} className={NAVIGATION_ITEM}>
        <span className={NAVIGATION_ICON}>
          <Icon aria-hidden className="size-4.5" />
        </span>
        {/* In the narrow rail, a tooltip shows the name. */}
        <span className="max-w-full truncate lg:sr-only">{t(title)}</span>
      </Link>
    </Tip>
  );
}

/** The navigation beside the page in a wide window. */
export function SideBar({
  session,
  pages,
  openPalette,
  openKeys,
  openMentions,
  unread,
}: BarProps & { openKeys: () => void }) {
  const { t } = useTexts();
  const project = useProject();
  const shown = useShownPage(pages, project);
  return (
    <nav
      aria-label={t("shell.navigation")}
      className="flex w-14 shrink-0 flex-col items-center gap-1 overflow-y-auto border-r border-line bg-page px-1 py-2.5"
    >
      <div className="mb-2">
        <ProjectMenu projects={session.projects.map(({ name }) => name)} project={project} />
      </div>
      {pages.map((page) => (
        <PageLink key={page.id} page={page} project={project} isShown={page === shown} />
      ))}
      <div className="mt-auto flex flex-col items-center gap-1">
        <span className="relative">
          <IconButton
            icon={AtSign}
            label={unread === 0 ? t("mentions.title") : t("mentions.unread", { n: unread })}
            onClick={openMentions}
          />
          {unread > 0 && <UnreadDot />}
        </span>
        <IconButton icon={Search} label={t("command.palette")} keys="mod+k" onClick={openPalette} />
        <IconButton icon={Keyboard} label={t("command.keys")} keys="?" onClick={openKeys} />
        <AccountMenu
          session={session}
          trigger={
            <button
              type="button"
              aria-label={t("account.menu", { name: session.operator.name })}
              className="flex items-center justify-center rounded-full p-1 hover:bg-hover"
            >
              <Avatar name={session.operator.name} />
            </button>
          }
        />
      </div>
    </nav>
  );
}

/** Menu items for pages and dialogs that are not in the bar. */
function MoreItems({ session, pages, openPalette, openMentions, unread }: BarProps) {
  const { t } = useTexts();
  const navigate = useNavigate();
  const project = useProject();
  const projects = session.projects.map(({ name }) => name);
  return (
    <>
      {pages.map((page) => (
        <MenuItem key={page.id} icon={page.icon} onSelect={() => void navigate(page.link(project))}>
          {t(page.title)}
        </MenuItem>
      ))}
      <MenuItem icon={AtSign} onSelect={openMentions}>
        {unread === 0 ? t("mentions.title") : t("mentions.unread", { n: unread })}
      </MenuItem>
      <MenuItem icon={Search} onSelect={openPalette}>
        {t("command.palette")}
      </MenuItem>
      <MenuSeparator />
      {projects.length > 1 && (
        <>
          <ProjectChoice projects={projects} project={project} />
          <MenuSeparator />
        </>
      )}
    </>
  );
}

/** The navigation below the page in a narrow window: the most used pages, and one menu for all others. */
export function BottomBar({ session, pages, openPalette, openMentions, unread }: BarProps) {
  const { t } = useTexts();
  const project = useProject();
  const shown = useShownPage(pages, project);
  const others = pages.filter(({ isInBar }) => isInBar !== true);
  const isMore = others.some((page) => page === shown);
  return (
    <nav
      aria-label={t("shell.navigation")}
      className="flex h-14 shrink-0 items-stretch gap-1 border-t border-line bg-page px-2 pb-[env(safe-area-inset-bottom)]"
    >
      {pages
        .filter(({ isInBar }) => isInBar === true)
        .map((page) => (
          <PageLink key={page.id} page={page} project={project} isShown={page === shown} />
        ))}
      <AccountMenu
        session={session}
        trigger={
          <button type="button" data-current={isMore ? "" : undefined} className={NAVIGATION_ITEM}>
            <span className={`relative ${NAVIGATION_ICON}`}>
              <Ellipsis aria-hidden className="size-4.5" />
              {unread > 0 && <UnreadDot />}
            </span>
            <span className="max-w-full truncate">{t("nav.more")}</span>
          </button>
        }
      >
        <MoreItems
          pages={others}
          session={session}
          openPalette={openPalette}
          openMentions={openMentions}
          unread={unread}
        />
      </AccountMenu>
    </nav>
  );
}
