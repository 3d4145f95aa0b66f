import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { actorOf } from "../api/session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { useStore } from "../ui/create-store.ts";
import { useServices } from "./services.ts";
import { useProject, useSession } from "./use-session.ts";

/**
 * Tells of new reviews, and of notes that are for whoever is signed in: by the system's notifications, where that was
 * asked for, and the page is not looked at; a note also on the page that is.
 */
export function useNotifications(): void {
  const { live, preferences, toasts } = useServices();
  const { t } = useTexts();
  const { hasNotifications } = useStore(preferences);
  const { operator } = useSession();
  const project = useProject();
  const navigate = useNavigate();
  useEffect(() => {
    const maySend = hasNotifications && "Notification" in globalThis && Notification.permission === "granted";
    return live.on("ticket", ({ actor, mentions, ticketId, project: where, what }) => {
      const isMention = mentions.includes(operator.id) && actor !== actorOf(operator.id);
      if (where !== project || !(isMention || what.includes("review"))) return;
      const view = isMention ? "all" : "review";
      const text = t(isMention ? "notify.mention" : "notify.review");
      const open = () =>
        void navigate({ to: "/$project/inbox/$view/$ticketId", params: { project: where, view, ticketId } });
      if (document.visibilityState === "visible") {
        if (isMention) toasts.show({ kind: "done", text, action: { label: t("notify.open"), run: open } });
        return;
      }
      if (!maySend) return;
      // One a ticket: what comes later takes its place. What customers write is not shown on a locked screen.
      const shown = new Notification(text, { body: where, tag: ticketId, icon: "/icon-192.png" });
      shown.addEventListener("click", () => {
        globalThis.focus();
        shown.close();
        open();
      });
    });
  }, [hasNotifications, live, navigate, operator.id, project, t, toasts]);
}
