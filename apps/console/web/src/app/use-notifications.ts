import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { useStore } from "../ui/create-store.ts";
import { useServices } from "./services.ts";
import { useProject } from "./use-session.ts";

/** Tells of new reviews by the system's notifications, where that was asked for, and the page is not looked at. */
export function useNotifications(): void {
  const { live, preferences } = useServices();
  const { t } = useTexts();
  const { hasNotifications } = useStore(preferences);
  const project = useProject();
  const navigate = useNavigate();
  useEffect(() => {
    if (!hasNotifications || !("Notification" in globalThis) || Notification.permission !== "granted") return undefined;
    return live.on("ticket", ({ ticketId, project: where, what }) => {
      if (document.visibilityState === "visible" || where !== project || !what.includes("review")) return;
      // One a ticket: what comes later takes its place. What customers write is not shown on a locked screen.
      const shown = new Notification(t("notify.review"), { body: where, tag: ticketId, icon: "/icon-192.png" });
      shown.addEventListener("click", () => {
        globalThis.focus();
        shown.close();
        void navigate({ to: "/$project/inbox/$view/$ticketId", params: { project: where, view: "review", ticketId } });
      });
    });
  }, [hasNotifications, live, navigate, project, t]);
}
