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
  /** What comes later with the same tag takes its place. */
  tag: string;
  /** Address within the console that it leads to. */
  path: string;
}

/** Tells something by the system's notifications, which have to be allowed; `open` is called where one is pressed. */
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
    // On telephones only the service worker may do that; where it is pressed it tells the page, as hearPressed hears.
    if ("serviceWorker" in navigator) {
      navigator.serviceWorker.ready
        .then((registration) => registration.showNotification(title, options))
        .catch(reportError);
    }
  }
}

/** Calls `open` where a notification of the service worker is pressed, until the answer is called. */
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
 * Notifies of new reviews, and of notes for the signed-in operator, in all their projects: by the system's
 * notifications, where that was asked for, and the page is not looked at; a note also on the page, where it is visible.
 */
export function useNotifications(): void {
  const { connection, live, preferences, toasts } = useServices();
  const { t } = useTexts();
  const { hasNotifications } = useStore(preferences);
  const { operator } = useSession();
  const navigate = useNavigate();
  useEffect(() => {
    // What is another operator's ends; if that fails, it is tried again when the console is opened.
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
      // Who works in another window does not look at this one, even where it is not covered.
      const isShown = isVisible && document.hasFocus();
      // One a ticket: what comes later takes its place. What customers write is not shown on a locked screen.
      if (maySend && !isShown) showNotification({ title, body: project, tag: ticketId, path }, open);
    });
    return () => {
      endPressed();
      endTicket();
    };
  }, [hasNotifications, live, navigate, operator.id, t, toasts]);
}
