import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { actorOf } from "../api/session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { useStore } from "../ui/create-store.ts";
import { useServices } from "./services.ts";
import { hearPressed, showNotification } from "./show-notification.ts";
import { useSession } from "./use-session.ts";

/**
 * Tells of new reviews, and of notes that are for whoever is signed in, in all their projects: by the system's
 * notifications, where that was asked for, and the page is not looked at; a note also on the page, where it is visible.
 */
export function useNotifications(): void {
  const { live, preferences, toasts } = useServices();
  const { t } = useTexts();
  const { hasNotifications } = useStore(preferences);
  const { operator } = useSession();
  const navigate = useNavigate();
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
      const isLookedAt = isVisible && document.hasFocus();
      // One a ticket: what comes later takes its place. What customers write is not shown on a locked screen.
      if (maySend && !isLookedAt) showNotification({ title, body: project, tag: ticketId, path }, open);
    });
    return () => {
      endPressed();
      endTicket();
    };
  }, [hasNotifications, live, navigate, operator.id, t, toasts]);
}
