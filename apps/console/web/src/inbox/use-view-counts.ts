import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { ServiceFault } from "@svc/client";
import type { TicketCount } from "@svc/contracts";
import { useServices } from "../app/services.ts";
import { usePeople } from "../app/use-names.ts";
import { useProject } from "../app/use-session.ts";
import { VIEWS } from "./views.ts";

/** News come in bursts: the counts are asked for at most so often. */
const NEWS_MS = 2_000;

/**
 * How many tickets the views have that somebody works off, of the project or of all, by the id of the view; absent while
 * that is not known.
 */
export function useViewCounts(ofAll: boolean): ReadonlyMap<string, TicketCount> {
  const { connection, live } = useServices();
  const queryClient = useQueryClient();
  const project = useProject();
  const { me } = usePeople();
  const views = VIEWS.filter(({ isCounted }) => isCounted === true);
  const counts = useQueries({
    queries: views.map(({ filters, id }) => ({
      queryKey: ["counts", ofAll ? "*" : project, id],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const { origin: _, ...own } = filters(me);
        const query = ofAll ? { ...own, allProjects: "1" as const } : own;
        return (await connection.call("countTickets", project, { query, signal })).item;
      },
      // The inbox is as useful without.
      retry: (failures: number, fault: Error) =>
        !(fault instanceof ServiceFault && fault.status !== null && fault.status < 500) && failures < 3,
    })),
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void queryClient.invalidateQueries({ queryKey: ["counts"] });
      }, NEWS_MS);
    };
    const ends = [live.on("ticket", look), live.on("gone", look)];
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, [live, queryClient]);
  return new Map(
    views.flatMap(({ id }, index) => {
      const data = counts[index]?.data;
      return data === undefined ? [] : [[id, data] as const];
    }),
  );
}
