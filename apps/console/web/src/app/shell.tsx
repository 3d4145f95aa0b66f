import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { Keyboard, Search, ShieldX } from "lucide-react";
import { Suspense, lazy, useEffect, useState } from "react";
import { sessionQuery } from "../api/session.ts";
import type { Session } from "../api/session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { Tip } from "../ui/tip.tsx";
import { ToastList } from "../ui/toast-list.tsx";
import { AccountMenu } from "./account-menu.tsx";
import { useCommands } from "./command-registry.ts";
import type { Command } from "./command-registry.ts";
import { PAGES } from "./pages.ts";
import type { Page } from "./pages.ts";
import { ProjectMenu } from "./project-menu.tsx";
import { ReachBanner } from "./reach-banner.tsx";
import { useServices } from "./services.ts";
import { useLiveData } from "./use-live-data.ts";
import { useNotifications } from "./use-notifications.ts";
import { useProject, useRights } from "./use-session.ts";

const CommandPalette = lazy(() => import("./command-palette.tsx"));
const KeysSheet = lazy(() => import("./keys-sheet.tsx"));

function PageLink({ page, project }: { page: Page; project: string }) {
  const { t } = useTexts();
  const { id, icon: Icon, keys, link, title } = page;
  const isHere = useRouterState({ select: ({ location }) => location.pathname.startsWith(`/${project}/${id}`) });
  return (
    <Tip text={t(title)} keys={keys}>
      <Link
        {...link(project)}
        aria-current={isHere ? "page" : undefined}
        className="group flex flex-1 flex-col items-center justify-center gap-0.5 rounded-lg py-1.5 text-2xs font-medium text-muted hover:bg-hover hover:text-ink aria-[current]:text-accent lg:w-full lg:flex-none lg:py-2"
      >
        <span className="flex h-7 w-10 items-center justify-center rounded-lg group-aria-[current]:bg-accent-soft">
          <Icon aria-hidden className="size-4.5" />
        </span>
        <span className="max-w-full truncate">{t(title)}</span>
      </Link>
    </Tip>
  );
}

function SignedIn({ session }: { session: Session }) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const navigate = useNavigate();
  const [open, setOpen] = useState<"palette" | "keys" | null>(null);
  const pages = PAGES.filter(({ scope }) => mayDo(scope));
  const isKnown = session.projects.some(({ name }) => name === project);
  useLiveData();
  useNotifications();

  const goTo = ({ id, keys, link, title }: Page): Command => ({
    id: `go-${id}`,
    title: t("command.goTo", { page: t(title) }),
    group: "go",
    keys,
    run: () => void navigate(link(project)),
  });
  useCommands([
    { id: "palette", title: t("command.palette"), group: "general", keys: "mod+k", run: () => setOpen("palette") },
    { id: "keys", title: t("command.keys"), group: "general", keys: "?", run: () => setOpen("keys") },
    ...pages.map(goTo),
  ]);

  return (
    <div className="flex h-full flex-col">
      <a
        href="#main"
        className="fixed top-2 left-2 z-50 -translate-y-20 rounded-md bg-accent px-3 py-1.5 text-sm font-medium text-on-accent focus:translate-y-0"
      >
        {t("shell.skip")}
      </a>
      <ReachBanner />
      <div className="flex min-h-0 flex-1 max-lg:flex-col-reverse">
        <nav
          aria-label={t("shell.navigation")}
          className="flex shrink-0 items-center gap-1 border-line bg-page px-2 max-lg:h-14 max-lg:overflow-x-auto max-lg:border-t max-lg:pb-[env(safe-area-inset-bottom)] lg:w-21 lg:flex-col lg:border-r lg:py-2.5"
        >
          <div className="lg:mb-2">
            <ProjectMenu projects={session.projects.map(({ name }) => name)} project={project} />
          </div>
          {pages.map((page) => (
            <PageLink key={page.id} page={page} project={project} />
          ))}
          <div className="flex items-center gap-1 lg:mt-auto lg:flex-col">
            <IconButton icon={Search} label={t("command.palette")} keys="mod+k" onClick={() => setOpen("palette")} />
            <IconButton
              icon={Keyboard}
              label={t("command.keys")}
              keys="?"
              className="max-lg:hidden"
              onClick={() => setOpen("keys")}
            />
            <AccountMenu session={session} />
          </div>
        </nav>
        <main id="main" tabIndex={-1} className="min-h-0 min-w-0 flex-1 bg-surface outline-none">
          {isKnown ? (
            <Outlet />
          ) : (
            <EmptyState icon={ShieldX} title={t("project.none")} text={t("project.noneText", { project })} />
          )}
        </main>
      </div>
      <ToastList toasts={toasts} />
      <Suspense fallback={null}>
        {open === "palette" && <CommandPalette onClose={() => setOpen(null)} />}
        {open === "keys" && <KeysSheet onClose={() => setOpen(null)} />}
      </Suspense>
    </div>
  );
}

/** What is around every page of those who are signed in. Who is not any more comes to sign in, and back. */
export function Shell() {
  const { connection, live } = useServices();
  const { data: session } = useQuery(sessionQuery(connection));
  const navigate = useNavigate();
  const isOver = session === null;
  const isSignedIn = session !== null && session !== undefined;
  useEffect(() => {
    if (!isOver) return;
    live.close();
    void navigate({ to: "/sign-in", search: { to: location.pathname + location.search } });
  }, [isOver, live, navigate]);
  useEffect(() => {
    if (isSignedIn) live.open();
  }, [isSignedIn, live]);
  return isSignedIn ? <SignedIn session={session} /> : null;
}
