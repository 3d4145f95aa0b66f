import { useCallback, useEffect, useState } from "react";
import type { PresenceEventData } from "../api/live.ts";
import { useServices, TAB_NAME, useProject, useSession } from "../session/services.ts";

/** The server forgets who has not been heard of for longer than this. */
const HEARTBEAT_MS = 20_000;

type Viewer = PresenceEventData["viewers"][number];
const NOBODY: readonly Viewer[] = [];

/** Tells the server what this tab shows. */
function useReportPresence(): (ticketId: string | null, isTyping: boolean) => void {
  const { connection } = useServices();
  const project = useProject();
  return useCallback(
    (id: string | null, types: boolean) => {
      const body = { ticketId: id, isTyping: types, tab: TAB_NAME };
      // A failed report does no harm: the next one comes soon, or the page shows that the server is unavailable.
      connection.send("POST", "/presence", { project, body }).catch(() => undefined);
    },
    [connection, project],
  );
}

/**
 * Tells that no ticket is looked at, once none is shown and when the page of tickets is left; from one ticket to the next
 * that one says it all.
 */
export function useAbsence(isNoneShown: boolean): void {
  const tell = useReportPresence();
  useEffect(() => {
    if (isNoneShown) tell(null, false);
  }, [isNoneShown, tell]);
  useEffect(() => () => tell(null, false), [tell]);
}

/** A customer who is writing says so again within this time. */
const TYPING_ENDS_MS = 6_000;

/** Whether the customer of this ticket is writing. What they have sent, as `newest` shows, they write no more. */
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

/** Tells that this ticket is looked at, and answers who else looks at it. */
export function usePresence(ticketId: string, isTyping: boolean): readonly Viewer[] {
  const { live } = useServices();
  const { operator } = useSession();
  const tell = useReportPresence();
  const [presence, setPresence] = useState<PresenceEventData | null>(null);
  useEffect(() => {
    // Nobody looks at a tab in the background, and its ticket still notifies by email.
    const reportHere = () => {
      if (document.visibilityState === "visible") tell(ticketId, isTyping);
      // The customer would read until the end of this presence that somebody is typing.
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
