import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { actorOf, findPushSubscription } from "../api/session.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useSession } from "../session/services.ts";
import { useStore } from "../ui/create-store.ts";

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
export function useNotifications(): void {
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
