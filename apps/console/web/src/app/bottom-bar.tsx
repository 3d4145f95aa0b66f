import { useNavigate } from "@tanstack/react-router";
import { AtSign, Ellipsis, Search } from "lucide-react";
import type { Session } from "../api/session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { MenuItem, MenuLine } from "../ui/menu.tsx";
import { UnreadDot } from "../ui/unread-dot.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { NAVIGATION_ICON, NAVIGATION_ITEM, PageLink, useShownPage } from "./page-link.tsx";
import type { Page } from "./pages.ts";
import { ProjectChoice } from "./project-menu.tsx";
import { useProject } from "./use-session.ts";

/** The navigation below the page, where the window is narrow: the pages most used, and one menu with all else. */
export function BottomBar({
  session,
  pages,
  openPalette,
  openMentions,
  unread,
}: {
  session: Session;
  pages: readonly Page[];
  openPalette: () => void;
  openMentions: () => void;
  /** Mentions that were not looked at. */
  unread: number;
}) {
  const { t } = useTexts();
  const navigate = useNavigate();
  const project = useProject();
  const shown = useShownPage(pages, project);
  const others = pages.filter(({ isInBar }) => isInBar !== true);
  const isMore = others.some((page) => page === shown);
  const projects = session.projects.map(({ name }) => name);
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
        {others.map((page) => (
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
        <MenuLine />
        {projects.length > 1 && (
          <>
            <ProjectChoice projects={projects} project={project} />
            <MenuLine />
          </>
        )}
      </AccountMenu>
    </nav>
  );
}
