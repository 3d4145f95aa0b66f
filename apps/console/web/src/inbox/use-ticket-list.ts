import { createContext, useContext, useEffect, useCallback, useMemo } from "react";
import type { TicketItem } from "@svc/contracts";
import { useQueryClient, useInfiniteQuery } from "@tanstack/react-query";
import type { InfiniteData } from "@tanstack/react-query";
import { ticketQuery } from "../api/tickets.ts";
import { useServices } from "../session/services.ts";
import { followList, hasUnclear, mergeHead } from "./follow-list.ts";
import type { TicketPage } from "./follow-list.ts";
import type { InboxSearch, TicketQuery } from "./inbox-search.ts";
import { nameOfQuery } from "./views.ts";

/** What the page of a ticket knows of the list that it was opened from. */
export interface InboxLocation {
  view: string;
  search: InboxSearch;
  items: readonly TicketItem[];
  /** Opens the ticket so many places further down. */
  move: (by: number) => void;
  /** Goes on to the ticket after this one, once it is done with. */
  advance: (ticketId: string) => void;
}

export const InboxContext = createContext<InboxLocation | null>(null);

/** The list that a ticket was opened from. Throws outside of the inbox. */
export function useInbox(): InboxLocation {
  const inbox = useContext(InboxContext);
  if (inbox === null) throw new Error("useInbox is for components within the inbox.");
  return inbox;
}

interface Row {
  id: string;
}

/**
 * By how many places the rows from `first` to `last` of a list stand lower in the list as it is now; below zero where
 * they stand higher. Most of them decide: one that has changed may have gone to the top by itself.
 */
export function rowsMoved(
  before: readonly Row[],
  { first, last }: { first: number; last: number },
  after: readonly Row[],
): number {
  const positions = new Map(after.map(({ id }, index) => [id, index]));
  const votes = new Map<number, number>();
  let most = 0;
  let moved = 0;
  for (const [offset, { id }] of before.slice(first, last + 1).entries()) {
    const inbox = positions.get(id);
    if (inbox === undefined) continue;
    const by = inbox - (first + offset);
    const count = (votes.get(by) ?? 0) + 1;
    votes.set(by, count);
    if (count > most || (count === most && Math.abs(by) < Math.abs(moved))) {
      most = count;
      moved = by;
    }
  }
  return moved;
}

/** A list that stands still for so long is being read. */
const STILL_MS = 80;

/**
 * Fetches the tickets that are in sight before they are opened: one after the other, once the list stands still, and
 * not what is known already. What is opened from here is fetched again if it is old, like everything cached.
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

/** Whether the user has asked to save data (Save Data API; not in every browser). */
function savesData(): boolean {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}

const PAGE_ITEMS = 100;

type Pages = InfiniteData<TicketPage, string | null>;

const EMPTY: TicketItem[] = [];

/** The tickets of a list as far as they were read, kept as they are on the server. */
// oxlint-disable-next-line max-lines-per-function -- one list: its query, and the effect that merges events into it
export function useTicketList(project: string, query: TicketQuery) {
  const { connection, live } = useServices();
  const queryClient = useQueryClient();
  const name = nameOfQuery(query);
  const queryKey = useMemo(() => ["tickets", project, name] as const, [project, name]);

  const readPage = useCallback(
    async (cursor: string | null, signal?: AbortSignal): Promise<TicketPage> => {
      const asked = Object.fromEntries(JSON.parse(name) as [string, string][]) as TicketQuery;
      return connection.call("listTickets", project, {
        query: { ...asked, limit: PAGE_ITEMS, ...(cursor === null ? {} : { cursor }) },
        ...(signal === undefined ? {} : { signal }),
      });
    },
    [connection, project, name],
  );

  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => readPage(pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }: TicketPage) => nextCursor,
    // The head is merged in as updates arrive: refetching all pages would move the list under the reader's eyes.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });

  const isOfAll = query.allProjects === "1";
  useEffect(() => {
    const loadedCount = () =>
      queryClient.getQueryData<Pages>(queryKey)?.pages.reduce((count, { items }) => count + items.length, 0) ?? 0;
    const leaving = new AbortController();
    const follower = followList({
      async read(isWhole) {
        const head = await readPage(null, leaving.signal);
        const items = [...head.items];
        let { nextCursor } = head;
        // As far as the list is loaded, page by page.
        while (nextCursor !== null && items.length < (isWhole ? loadedCount() : 0)) {
          const page = await readPage(nextCursor, leaving.signal);
          items.push(...page.items);
          ({ nextCursor } = page);
        }
        // One that has changed meanwhile may have come twice.
        return { items: [...new Map(items.map((item) => [item.id, item])).values()], nextCursor };
      },
      isLoading: () => (queryClient.getQueryState(queryKey)?.fetchStatus ?? "idle") !== "idle",
      merge(reading, update) {
        queryClient.setQueryData<Pages>(queryKey, (pages) => {
          if (pages === undefined) return pages;
          const known = {
            items: pages.pages.flatMap(({ items }) => items),
            nextCursor: pages.pages.at(-1)?.nextCursor ?? null,
          };
          if (!reading.isWhole && hasUnclear(known, reading, update)) follower.refetch();
          const options = { update, sort: query.sort, project: isOfAll ? null : project };
          return { pages: [mergeHead(known, reading, options)], pageParams: [null] };
        });
      },
    });
    const ends = [
      live.on("ticket", follower.tell),
      live.on("gone", follower.reportGone),
      live.on("hello", follower.refetch),
      follower.end,
      () => leaving.abort(),
    ];
    // What was kept from an earlier visit may be old.
    if (queryClient.getQueryData(queryKey) !== undefined) follower.refetch();
    return () => {
      for (const end of ends) end();
    };
  }, [live, queryClient, queryKey, readPage, query.sort, isOfAll, project]);

  const items = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? EMPTY, [list.data]);
  return { ...list, items };
}
