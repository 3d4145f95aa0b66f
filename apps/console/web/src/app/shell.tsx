import { useEffect, useCallback, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { ShieldX } from "lucide-react";
import type { Mention } from "@svc/contracts";
import { mentionsQuery, mayDo, sessionQuery, actorOf, findPushSubscription } from "../api/session.ts";
import type { Session } from "../api/session.ts";
import { useTexts } from "../i18n/texts.ts";
import { ReachBanner } from "../session/reach-banner.tsx";
import { useServices, useCommands, useSession, useProject, useRights } from "../session/services.ts";
import { lazyDialog } from "../ui/dialog.tsx";
import { useStore } from "../ui/create-store.ts";
import { EmptyState, ToastList } from "../ui/notice.tsx";
import { useIsWide } from "../ui/page-frame.tsx";
import { useProjectCommands } from "./account-menu.tsx";
import { BottomBar, SideBar } from "./navigation.tsx";
import { PAGES } from "./pages.ts";

/** A notification while the page is in the background. */
export interface Notice {
  title: string;
  body: string;
  /** A later notification with the same tag replaces it. */
  tag: string;
  /** Path within the console that it opens. */
  path: string;
}

/** Shows a system notification, for which the permission is required; `open` is called when it is clicked. */
function showNotification({ title, body, tag, path }: Notice, open: (path: string) => void): void {
  const options = { body, tag, icon: "/icon-192.png", data: { path } };
  try {
    const shown = new Notification(title, options);
    shown.addEventListener("click", () => {
      globalThis.focus();
      shown.close();
      open(path);
    });
  } catch {
    // On phones only the service worker may show it; a click is reported to the page and handled by `hearPressed`.
    if ("serviceWorker" in navigator) {
      navigator.serviceWorker.ready
        .then((registration) => registration.showNotification(title, options))
        .catch(reportError);
    }
  }
}

/** Calls `open` when a notification of the service worker is clicked, until the returned function is called. */
function hearPressed(open: (path: string) => void): () => void {
  if (!("serviceWorker" in navigator)) return () => undefined;
  const { serviceWorker } = navigator;
  const hear = ({ data }: MessageEvent<unknown>) => {
    if (typeof data !== "object" || data === null || !("openPath" in data)) return;
    const { openPath } = data;
    // Only a page of this console.
    if (typeof openPath === "string" && /^\/(?![/\\])/.test(openPath)) open(openPath);
  };
  serviceWorker.addEventListener("message", hear);
  return () => serviceWorker.removeEventListener("message", hear);
}

/**
 * Notifies of new reviews, and of notes for the signed-in operator, in all their projects: with system notifications if
 * enabled, while the page is in the background; a note also on the page, if it is visible.
 */
function useNotifications(): void {
  const { connection, live, preferences, toasts } = useServices();
  const { t } = useTexts();
  const { hasNotifications } = useStore(preferences);
  const { operator } = useSession();
  const navigate = useNavigate();
  useEffect(() => {
    // A subscription of another operator is ended; if that fails, it is attempted again when the console is opened.
    findPushSubscription(connection).catch(() => undefined);
  }, [connection, operator.id]);
  useEffect(() => {
    const maySend = hasNotifications && "Notification" in globalThis && Notification.permission === "granted";
    const open = (path: string) => void navigate({ href: path });
    const endPressed = hearPressed(open);
    const endTicket = live.on("ticket", ({ actor, mentions, ticketId, project, what }) => {
      const isMention = mentions.includes(operator.id) && actor !== actorOf(operator.id);
      if (!isMention && !what.includes("review")) return;
      const title = t(isMention ? "notify.mention" : "notify.review");
      const path = `/${encodeURIComponent(project)}/inbox/${isMention ? "all" : "review"}/${ticketId}`;
      const isVisible = document.visibilityState === "visible";
      if (isVisible && isMention) {
        toasts.show({ kind: "done", text: title, action: { label: t("notify.open"), run: () => open(path) } });
      }
      // An operator who works in another window does not look at this one, even if it is visible.
      const isShown = isVisible && document.hasFocus();
      // One per ticket: a later one replaces it. Customers' texts are not shown on a lock screen.
      if (maySend && !isShown) showNotification({ title, body: project, tag: ticketId, path }, open);
    });
    return () => {
      endPressed();
      endTicket();
    };
  }, [hasNotifications, live, navigate, operator.id, t, toasts]);
}

/**
 * Queries that are not refetched after a reconnect: the session is refetched separately, and a list of tickets is
 * updated by `followList`, so that its scroll position is kept.
 */
const FOLLOWED_ELSEWHERE: readonly unknown[] = ["session", "tickets"];
/** Queries that are refetched after an event: events before the connection was open are lost. */
const FOLLOWED: readonly unknown[] = ["ticket", "mentions", "counts"];

/**
 * Keeps the shown data up to date: when the connection first opens, the data of its events is refetched, and after a
 * drop all data; also the session, in case another tab of this browser has signed in another operator. A changed ticket
 * is marked as stale, so that a prefetched one is refetched when it is opened.
 */
function useLiveData(): void {
  const { live, queryClient, reach } = useServices();
  const { operator } = useSession();
  useEffect(() => {
    let wasOpen = false;
    const markOld = ({ ticketId }: { ticketId: string }) =>
      void queryClient.invalidateQueries({
        predicate: ({ queryKey: [kind, , id] }) => kind === "ticket" && id === ticketId,
        refetchType: "none",
      });
    const ends = [
      live.on("hello", ({ operatorId }) => {
        reach.set("reached");
        if (operatorId !== operator.id) void queryClient.invalidateQueries({ queryKey: ["session"] });
        const isOld = wasOpen
          ? (kind: unknown) => !FOLLOWED_ELSEWHERE.includes(kind)
          : (kind: unknown) => FOLLOWED.includes(kind);
        void queryClient.invalidateQueries({ predicate: ({ queryKey }) => isOld(queryKey[0]) });
        wasOpen = true;
      }),
      live.on("ticket", markOld),
      live.on("gone", markOld),
    ];
    return () => {
      for (const end of ends) end();
    };
  }, [live, operator.id, queryClient, reach]);
}

/** Returns the notes of all projects for the signed-in operator, and the number of unread ones in this browser. */
function useMentions(): { mentions: readonly Mention[]; unread: number; markRead: () => void } {
  const { connection, live, queryClient, storage } = useServices();
  const session = useSession();
  const { operator } = session;
  const mayRead = session.projects.some(({ name }) => mayDo(session, name, "tickets:read"));
  const { data: mentions = [] } = useQuery({ ...mentionsQuery(connection), enabled: mayRead });
  const key = `console.mentions.${operator.id}`;
  const [seen, setSeen] = useState({ key: "", id: 0 });
  const seenId = seen.key === key ? seen.id : Number(storage.getItem(key) ?? 0);
  useEffect(
    () =>
      live.on("ticket", ({ mentions: whom }) => {
        if (whom.includes(operator.id)) void queryClient.invalidateQueries({ queryKey: ["mentions"] });
      }),
    [live, operator.id, queryClient],
  );
  const newest = mentions[0]?.id ?? 0;
  const markRead = useCallback(() => {
    if (newest === 0) return;
    storage.setItem(key, String(newest));
    setSeen({ key, id: newest });
  }, [key, newest, storage]);
  return { mentions, unread: mentions.filter(({ id }) => id > seenId).length, markRead };
}

/**
 * Adds a command for the undo action of the newest toast, which says so if there is nothing to undo. A separate
 * component: toasts are cleared when the session ends, and must not render the pages again, which need a session.
 */
function UndoCommand() {
  const { t } = useTexts();
  const { toasts } = useServices();
  const undo = useStore(toasts.shown).findLast(({ action }) => action?.label === t("ui.undo"));
  useCommands("general", [
    {
      id: "undo",
      title: t("ui.undo"),
      keys: "mod+z",
      run() {
        if (undo === undefined) return toasts.show({ kind: "error", text: t("ui.nothingToUndo") });
        toasts.dismiss(undo.id);
        undo.action?.run();
      },
    },
  ]);
  return null;
}

const CommandPalette = lazyDialog(async () => (await import("./shell-dialogs.tsx")).CommandPalette);
const MentionsDialog = lazyDialog(async () => (await import("./shell-dialogs.tsx")).MentionsDialog);
const KeysSheet = lazyDialog(async () => (await import("./shell-dialogs.tsx")).KeysSheet);

function SignedIn({ session }: { session: Session }) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const navigate = useNavigate();
  const [open, setOpen] = useState<"palette" | "keys" | "mentions" | null>(null);
  const pages = PAGES.filter(({ scopes }) => scopes.some(mayDo));
  const isWide = useIsWide();
  const { ticketId, view } = useParams({ strict: false });
  const isKnown = session.projects.some(({ name }) => name === project);
  useProjectCommands({ projects: session.projects.map(({ name }) => name), project });
  const { markRead, mentions, unread } = useMentions();
  const openMentions = () => setOpen("mentions");
  useLiveData();
  useNotifications();

  useCommands("general", [
    { id: "palette", title: t("command.palette"), keys: "mod+k", run: () => setOpen("palette") },
    { id: "keys", title: t("command.keys"), keys: "?", run: () => setOpen("keys") },
  ]);
  useCommands("go", [
    { id: "mentions", title: t("mentions.title"), keys: "g m", run: openMentions },
    ...pages.map(({ id, keys, link, title }) => ({
      id: `go-${id}`,
      title: t("command.goTo", { page: t(title) }),
      keys,
      run: () => void navigate(link(project)),
    })),
  ]);

  const bar = { session, pages, openPalette: () => setOpen("palette"), openMentions, unread };
  return (
    <div className="flex h-full flex-col">
      <a
        href="#main"
        className="fixed top-2 left-2 z-50 -translate-y-20 rounded-md bg-accent px-3 py-1.5 text-sm font-medium text-on-accent focus:translate-y-0"
      >
        {t("shell.skip")}
      </a>
      <UndoCommand />
      <ReachBanner />
      <div className="flex min-h-0 flex-1 max-lg:flex-col-reverse">
        {isWide ? <SideBar {...bar} openKeys={() => setOpen("keys")} /> : <BottomBar {...bar} />}
        {/* Toasts move what is above them: on a ticket they are at the top, so that the composer's buttons stay in place. */}
        <div className={`flex min-h-0 min-w-0 flex-1 ${ticketId === undefined ? "flex-col" : "flex-col-reverse"}`}>
          <main id="main" tabIndex={-1} className="min-h-0 flex-1 bg-surface outline-none">
            {isKnown ? (
              <Outlet />
            ) : (
              <EmptyState icon={ShieldX} title={t("project.none")} text={t("project.noneText", { project })} />
            )}
          </main>
          {!(isWide && view !== undefined) && <ToastList toasts={toasts} />}
        </div>
      </div>
      {open === "palette" && <CommandPalette onClose={() => setOpen(null)} />}
      {open === "mentions" && <MentionsDialog mentions={mentions} onRead={markRead} onClose={() => setOpen(null)} />}
      {open === "keys" && <KeysSheet onClose={() => setOpen(null)} />}
    </div>
  );
}

/** Layout of all pages of signed-in operators. Without a session it redirects to the sign-in, and back afterwards. */
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
