import { AtSign, Keyboard, Search } from "lucide-react";
import type { Session } from "../api/session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Avatar } from "../ui/avatar.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { UnreadDot } from "../ui/unread-dot.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { PageLink, useShownPage } from "./page-link.tsx";
import type { Page } from "./pages.ts";
import { ProjectMenu } from "./project-menu.tsx";
import { useProject } from "./use-session.ts";

/** The navigation beside the page, where the window is wide. */
export function SideBar({
  session,
  pages,
  openPalette,
  openKeys,
  openMentions,
  unread,
}: {
  session: Session;
  pages: readonly Page[];
  openPalette: () => void;
  openKeys: () => void;
  openMentions: () => void;
  /** Mentions that were not looked at. */
  unread: number;
}) {
  const { t } = useTexts();
  const project = useProject();
  const shown = useShownPage(pages, project);
  return (
    <nav
      aria-label={t("shell.navigation")}
      className="flex w-21 shrink-0 flex-col items-center gap-1 overflow-y-auto border-r border-line bg-page px-1 py-2.5"
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
