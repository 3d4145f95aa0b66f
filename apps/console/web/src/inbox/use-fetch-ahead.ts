import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { TicketItem } from "@svc/contracts";
import { ticketQuery } from "../api/tickets.ts";
import { useServices } from "../app/services.ts";

/** A list that stands still for so long is being read. */
const STILL_MS = 80;

/**
 * Fetches the tickets that are in sight before they are opened: one after the other, once the list stands still, and not
 * what is known already. What is opened from here is asked for anew when it is old, as everything that is kept.
 */
export function useFetchAhead(inSight: readonly Pick<TicketItem, "id" | "project">[]): void {
  const { connection } = useServices();
  const queryClient = useQueryClient();
  const names = JSON.stringify(inSight.map(({ project, id }) => [project, id]));

  useEffect(() => {
    if (savesData()) return undefined;
    const state = { isOver: false };
    const fetchAll = async () => {
      for (const [project, id] of JSON.parse(names) as [string, string][]) {
        if (state.isOver || document.hidden) return;
        const query = ticketQuery(connection, project, id);
        const known = queryClient.getQueryState(query.queryKey);
        if (known?.data === undefined || known.isInvalidated) await queryClient.prefetchQuery(query);
      }
    };
    const timer = setTimeout(() => void fetchAll(), STILL_MS);
    return () => {
      state.isOver = true;
      clearTimeout(timer);
    };
  }, [connection, names, queryClient]);
}

/** Whether whoever pays for the line has asked to be spared (Save Data API; not in every browser). */
function savesData(): boolean {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}
