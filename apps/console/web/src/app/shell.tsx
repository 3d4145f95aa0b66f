import { useQuery } from "@tanstack/react-query";
import { Outlet, useNavigate } from "@tanstack/react-router";
import { ShieldX } from "lucide-react";
import { Suspense, lazy, useEffect, useState } from "react";
import { sessionQuery } from "../api/session.ts";
import type { Session } from "../api/session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { PendingDialog } from "../ui/pending-dialog.tsx";
import { ToastList } from "../ui/toast-list.tsx";
import { useIsWide } from "../ui/use-is-wide.ts";
import { BottomBar } from "./bottom-bar.tsx";
import { useCommands } from "./command-registry.ts";
import type { Command } from "./command-registry.ts";
import { PAGES } from "./pages.ts";
import type { Page } from "./pages.ts";
import { useProjectCommands } from "./project-menu.tsx";
import { ReachBanner } from "./reach-banner.tsx";
import { useServices } from "./services.ts";
import { SideBar } from "./side-bar.tsx";
import { useLiveData } from "./use-live-data.ts";
import { useMentions } from "./use-mentions.ts";
import { useNotifications } from "./use-notifications.ts";
import { useProject, useRights } from "./use-session.ts";

const CommandPalette = lazy(() => import("./command-palette.tsx"));
const MentionsDialog = lazy(() => import("./mentions-dialog.tsx"));
const KeysSheet = lazy(() => import("./keys-sheet.tsx"));

function SignedIn({ session }: { session: Session }) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const navigate = useNavigate();
  const [open, setOpen] = useState<"palette" | "keys" | "mentions" | null>(null);
  const pages = PAGES.filter(({ scope }) => mayDo(scope));
  const isWide = useIsWide();
  const isKnown = session.projects.some(({ name }) => name === project);
  useProjectCommands({ projects: session.projects.map(({ name }) => name), project });
  const { markRead, mentions, unread } = useMentions();
  const openMentions = () => setOpen("mentions");
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
    { id: "mentions", title: t("mentions.title"), group: "go", keys: "g m", run: openMentions },
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
        {isWide ? (
          <SideBar
            session={session}
            pages={pages}
            openPalette={() => setOpen("palette")}
            openKeys={() => setOpen("keys")}
            openMentions={openMentions}
            unread={unread}
          />
        ) : (
          <BottomBar
            session={session}
            pages={pages}
            openPalette={() => setOpen("palette")}
            openMentions={openMentions}
            unread={unread}
          />
        )}
        <main id="main" tabIndex={-1} className="min-h-0 min-w-0 flex-1 bg-surface outline-none">
          {isKnown ? (
            <Outlet />
          ) : (
            <EmptyState icon={ShieldX} title={t("project.none")} text={t("project.noneText", { project })} />
          )}
        </main>
      </div>
      <ToastList toasts={toasts} />
      <Suspense fallback={<PendingDialog />}>
        {open === "palette" && <CommandPalette onClose={() => setOpen(null)} />}
        {open === "mentions" && <MentionsDialog mentions={mentions} onRead={markRead} onClose={() => setOpen(null)} />}
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
  return isSignedIn ? <SignedIn key={session.operator.id} session={session} /> : null;
}
