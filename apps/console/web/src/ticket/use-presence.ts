import { useCallback, useEffect, useState } from "react";
import type { PresenceEventData } from "../api/connection.ts";
import { useServices, TAB_NAME, useProject, useSession } from "../session/services.ts";

/** Interval of the reports; the server removes viewers without a report for longer than 45 seconds. */
const HEARTBEAT_MS = 20_000;

type Viewer = PresenceEventData["viewers"][number];
const NOBODY: readonly Viewer[] = [];

/** Returns a function that reports the ticket that this tab shows. */
function useReportPresence(): (ticketId: string | null, isTyping: boolean) => void {
  const { connection } = useServices();
  const project = useProject();
  return useCallback(
    (id: string | null, types: boolean) => {
      const body = { ticketId: id, isTyping: types, tab: TAB_NAME };
      // A failed report is harmless: the next one follows soon, or the page shows that the server is unavailable.
      connection.send("POST", "/presence", { project, body }).catch(() => undefined);
    },
    [connection, project],
  );
}

/**
 * Reports that no ticket is viewed, when none is shown and when the page of tickets is left; the report of the next
 * ticket replaces that of the previous one.
 */
export function useAbsence(isNoneShown: boolean): void {
  const tell = useReportPresence();
  useEffect(() => {
    if (isNoneShown) tell(null, false);
  }, [isNoneShown, tell]);
  useEffect(() => () => tell(null, false), [tell]);
}

/** Time after which a customer without another event is no longer typing, in milliseconds. */
const TYPING_ENDS_MS = 6_000;

/**
 * Returns whether the customer of this ticket is typing. The indicator ends when their message arrives, which changes
 * `newest`.
 */
export function useCustomerTyping(ticketId: string, newest: string | undefined): boolean {
  const { live } = useServices();
  const [isTyping, setTyping] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = live.on("customerTyping", (event) => {
      if (event.ticketId !== ticketId) return;
      clearTimeout(timer);
      setTyping(true);
      timer = setTimeout(() => setTyping(false), TYPING_ENDS_MS);
    });
    return () => {
      clearTimeout(timer);
      setTyping(false);
      end();
    };
  }, [live, newest, ticketId]);
  return isTyping;
}

/** Reports that this ticket is viewed, and returns its other viewers. */
export function usePresence(ticketId: string, isTyping: boolean): readonly Viewer[] {
  const { live } = useServices();
  const { operator } = useSession();
  const tell = useReportPresence();
  const [presence, setPresence] = useState<PresenceEventData | null>(null);
  useEffect(() => {
    // A tab in the background does not count as viewing, so that its ticket still causes notification emails.
    const reportHere = () => {
      if (document.visibilityState === "visible") tell(ticketId, isTyping);
      // Otherwise the customer would see the typing indicator until this presence expires.
      else if (isTyping) tell(ticketId, false);
    };
    reportHere();
    const timer = setInterval(reportHere, HEARTBEAT_MS);
    const endHello = live.on("hello", reportHere);
    document.addEventListener("visibilitychange", reportHere);
    return () => {
      document.removeEventListener("visibilitychange", reportHere);
      clearInterval(timer);
      endHello();
    };
  }, [isTyping, live, tell, ticketId]);
  useEffect(() => live.on("presence", (event) => event.ticketId === ticketId && setPresence(event)), [live, ticketId]);
  return presence?.ticketId === ticketId
    ? presence.viewers.filter(({ operatorId }) => operatorId !== operator.id)
    : NOBODY;
}
