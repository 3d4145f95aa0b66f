import { createContext, useContext, useEffect, useCallback, useMemo } from "react";
import type { TicketItem } from "@svc/contracts";
import { useQueryClient, useInfiniteQuery } from "@tanstack/react-query";
import type { InfiniteData } from "@tanstack/react-query";
import { ticketQuery } from "../api/tickets.ts";
import { useServices } from "../session/services.ts";
import { followList, hasUnclearChanges, mergeHead } from "./follow-list.ts";
import type { TicketPage } from "./follow-list.ts";
import type { InboxSearch, TicketQuery } from "./inbox-search.ts";
import { nameOfQuery } from "./views.ts";

/** The list that a ticket was opened from, for the page of the ticket. */
export interface InboxLocation {
  view: string;
  search: InboxSearch;
  items: readonly TicketItem[];
  /** Opens the ticket this many rows below, or above if negative. */
  move: (by: number) => void;
  /** Opens the next ticket after an operator has finished this one. */
  advance: (ticketId: string) => void;
}

export const InboxContext = createContext<InboxLocation | null>(null);

/** Returns the list that a ticket was opened from. Throws outside of the inbox. */
export function useInbox(): InboxLocation {
  const inbox = useContext(InboxContext);
  if (inbox === null) throw new Error("useInbox is for components within the inbox.");
  return inbox;
}

interface Row {
  id: string;
}

/**
 * Returns by how many positions the rows from `first` to `last` have moved down in the new list; negative if they have
 * moved up. The majority decides, because a single row that has changed may have moved to the top.
 */
export function rowShift(
  before: readonly Row[],
  { first, last }: { first: number; last: number },
  after: readonly Row[],
): number {
  const positions = new Map(after.map(({ id }, index) => [id, index]));
  const votes = new Map<number, number>();
  let most = 0;
  let shift = 0;
  for (const [offset, { id }] of before.slice(first, last + 1).entries()) {
    const position = positions.get(id);
    if (position === undefined) continue;
    const by = position - (first + offset);
    const count = (votes.get(by) ?? 0) + 1;
    votes.set(by, count);
    if (count > most || (count === most && Math.abs(by) < Math.abs(shift))) {
      most = count;
      shift = by;
    }
  }
  return shift;
}

/** Time without scrolling after which the visible tickets are prefetched. */
const PREFETCH_DELAY_MS = 80;

/**
 * Prefetches the visible tickets that are not cached, one after the other, after the list has stopped scrolling. Opening
 * a ticket refetches it if its cached data is stale.
 */
export function usePrefetch(visible: readonly Pick<TicketItem, "id" | "project">[]): void {
  const { connection } = useServices();
  const queryClient = useQueryClient();
  const names = JSON.stringify(visible.map(({ project, id }) => [project, id]));

  useEffect(() => {
    if (savesData()) return undefined;
    const state = { isOver: false };
    const fetchAll = async () => {
      for (const [project, id] of JSON.parse(names) as [string, string][]) {
        if (state.isOver || document.hidden) return;
        const query = ticketQuery(connection, project, id);
        const cached = queryClient.getQueryState(query.queryKey);
        if (cached?.data === undefined || cached.isInvalidated) await queryClient.prefetchQuery(query);
      }
    };
    const timer = setTimeout(() => void fetchAll(), PREFETCH_DELAY_MS);
    return () => {
      state.isOver = true;
      clearTimeout(timer);
    };
  }, [connection, names, queryClient]);
}

/** Returns true if the user has asked to save data (Save Data API; not in every browser). */
function savesData(): boolean {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}

const PAGE_ITEMS = 100;

type Pages = InfiniteData<TicketPage, string | null>;

const EMPTY: TicketItem[] = [];

/** Returns the loaded tickets of a list, which are kept up to date by the events of the server. */
// oxlint-disable-next-line max-lines-per-function -- One list: its query, and the effect that merges events into it.
export function useTicketList(project: string, query: TicketQuery) {
  const { connection, live } = useServices();
  const queryClient = useQueryClient();
  const name = nameOfQuery(query);
  const queryKey = useMemo(() => ["tickets", project, name] as const, [project, name]);

  const fetchPage = useCallback(
    async (cursor: string | null, signal?: AbortSignal): Promise<TicketPage> => {
      const filters = Object.fromEntries(JSON.parse(name) as [string, string][]) as TicketQuery;
      return connection.call("listTickets", project, {
        query: { ...filters, limit: PAGE_ITEMS, ...(cursor === null ? {} : { cursor }) },
        ...(signal === undefined ? {} : { signal }),
      });
    },
    [connection, project, name],
  );

  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: TicketPage) => nextCursor,
    // Updates are merged at the head: refetching all pages would move the list while an operator reads it.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });

  const isOfAll = query.allProjects === "1";
  useEffect(() => {
    const loadedCount = () =>
      queryClient.getQueryData<Pages>(queryKey)?.pages.reduce((count, { items }) => count + items.length, 0) ?? 0;
    const leaving = new AbortController();
    const follower = followList({
      async fetch(isWhole) {
        const head = await fetchPage(null, leaving.signal);
        const items = [...head.items];
        let { nextCursor } = head;
        // All pages that are loaded.
        while (nextCursor !== null && items.length < (isWhole ? loadedCount() : 0)) {
          const page = await fetchPage(nextCursor, leaving.signal);
          items.push(...page.items);
          ({ nextCursor } = page);
        }
        // A ticket that changed between two requests may be in both pages.
        return { items: [...new Map(items.map((item) => [item.id, item])).values()], nextCursor };
      },
      isLoading: () => (queryClient.getQueryState(queryKey)?.fetchStatus ?? "idle") !== "idle",
      merge(refetched, update) {
        queryClient.setQueryData<Pages>(queryKey, (pages) => {
          if (pages === undefined) return pages;
          const loaded = {
            items: pages.pages.flatMap(({ items }) => items),
            nextCursor: pages.pages.at(-1)?.nextCursor ?? null,
          };
          if (!refetched.isWhole && hasUnclearChanges(loaded, refetched, update)) follower.refetch();
          const options = { update, sort: query.sort, project: isOfAll ? null : project };
          return { pages: [mergeHead(loaded, refetched, options)], pageParams: [null] };
        });
      },
    });
    const ends = [
      live.on("ticket", follower.onTicket),
      live.on("gone", follower.onMoved),
      live.on("hello", follower.refetch),
      follower.end,
      () => leaving.abort(),
    ];
    // The list that is cached from an earlier visit may be outdated.
    if (queryClient.getQueryData(queryKey) !== undefined) follower.refetch();
    return () => {
      for (const end of ends) end();
    };
  }, [live, queryClient, queryKey, fetchPage, query.sort, isOfAll, project]);

  const items = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? EMPTY, [list.data]);
  return { ...list, items };
}
