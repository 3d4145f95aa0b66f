import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { InfiniteData } from "@tanstack/react-query";
import { createContext, useCallback, useContext, useEffect, useMemo } from "react";
import type { TicketItem } from "@svc/contracts";
import type { TicketEventData } from "../api/connection.ts";
import { ticketQuery } from "../api/tickets.ts";
import { useServices } from "../session/services.ts";
import { nameOfQuery } from "./views.ts";
import type { InboxSearch, TicketQuery } from "./views.ts";

/** The first tickets of a list. */
interface TicketPage {
  items: TicketItem[];
  nextCursor: string | null;
}

/** Sort order of which the last changed tickets are at the head of the list. */
const UPDATES_FIRST = "-updatedAt";

/** Returns true if an update changes neither project, status, stage nor assignee of a ticket. */
const isUnmoved = (item: TicketItem, { project, status, stage, assignee }: TicketEventData): boolean =>
  item.project === project && item.status === status && item.stage === stage && item.assignee === assignee;

/** Returns a ticket with the values of its update, unless the update is older. */
const patch = (item: TicketItem, { project, version, status, stage, assignee }: TicketEventData): TicketItem =>
  version < item.version
    ? item
    : {
        ...item,
        project,
        version,
        status: status as TicketItem["status"],
        stage: stage as TicketItem["stage"],
        assignee,
      };

/**
 * Returns true if tickets of the list have changed that are not in its head, without a visible difference: either their
 * tags have changed, or they are snoozed and no longer in the list. Only fetching the whole list shows which.
 */
export const hasUnclearChanges = (list: TicketPage, head: TicketPage, { tickets }: ListUpdate): boolean =>
  list.items.some((item) => {
    const update = tickets.get(item.id);
    return update !== undefined && isUnmoved(item, update) && !head.items.some(({ id }) => id === item.id);
  });

/**
 * Returns the list after its head, or all of it, was refetched. If the list is sorted by the last change, a ticket that
 * has moved is in the head or no longer in the list. Otherwise it keeps its position, with the values of the update. If
 * head and list have no ticket in common, the head replaces the list. Tickets that moved to another project are removed
 * from the list of one `project`; `project` is null for a list of all projects.
 */
export function mergeHead(
  list: TicketPage,
  head: RefetchedList,
  {
    update: { tickets, moved },
    project,
    sort = UPDATES_FIRST,
  }: { update: ListUpdate; project: string | null; sort?: string | undefined },
): TicketPage {
  const replaced = { items: head.items, nextCursor: head.nextCursor };
  if (head.isWhole || head.nextCursor === null || list.items.length === 0) return replaced;
  const inHead = new Set(head.items.map(({ id }) => id));
  if (!list.items.some(({ id }) => inHead.has(id))) return replaced;
  const isSortedByUpdate = sort === UPDATES_FIRST;
  const rest = list.items
    .filter((item) => {
      const update = tickets.get(item.id);
      return !inHead.has(item.id) && (!isSortedByUpdate || update === undefined || isUnmoved(item, update));
    })
    .map((item) => {
      const update = tickets.get(item.id);
      return update === undefined ? item : patch(item, update);
    })
    .filter((item) => moved.get(item.id) !== item.project && (project === null || item.project === project));
  // New tickets may have pushed the whole previous list out of the head.
  return { items: [...head.items, ...rest], nextCursor: rest.length === 0 ? head.nextCursor : list.nextCursor };
}

/** Delay before a refetch: events arrive in bursts, and one refetch serves all of them. */
const REFETCH_MS = 300;
/** First delay after a failed refetch, doubled up to the maximum. */
const RETRY_MS = 2_000;
const MAX_RETRY_MS = 30_000;

/** Events of tickets since the head of a list was last fetched. */
export interface ListUpdate {
  /** The newest event of each ticket. */
  tickets: ReadonlyMap<string, TicketEventData>;
  /** Previous project of each ticket that moved to another project. */
  moved: ReadonlyMap<string, string>;
}

/** The part of a list that was refetched. */
interface RefetchedList extends TicketPage {
  /** True if it includes everything that was loaded: tickets that it lacks are no longer in the list. */
  isWhole: boolean;
}

/** Receives events, refetches the head of the list and merges it. */
interface ListFollower {
  onTicket: (update: TicketEventData) => void;
  onMoved: (moved: { ticketId: string; project: string }) => void;
  /** Refetches everything that is loaded, without backoff, because events may have been missed. */
  refetch: () => void;
  end: () => void;
}

/**
 * Keeps a list up to date: refetches its head after an update, or all of it if updates may have been missed, with
 * retries until that succeeds. Merges nothing while a page of the list is being loaded, because that page would
 * overwrite the result.
 */
// oxlint-disable-next-line max-lines-per-function -- Short functions over one shared state.
export function followList({
  fetch: fetchPages,
  isLoading,
  merge,
}: {
  fetch: (isWhole: boolean) => Promise<TicketPage>;
  isLoading: () => boolean;
  merge: (refetched: RefetchedList, update: ListUpdate) => void;
}): ListFollower {
  let tickets = new Map<string, TicketEventData>();
  let moved = new Map<string, string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isFetching = false;
  let hasNewEvents = false;
  let needsWhole = false;
  let hasEnded = false;
  let failures = 0;

  const schedule = (ms: number) => {
    timer ??= setTimeout(() => void refetch(), ms);
  };

  async function refetch(): Promise<void> {
    timer = undefined;
    if (isLoading()) {
      schedule(REFETCH_MS);
      return;
    }
    isFetching = true;
    hasNewEvents = false;
    const isWhole = needsWhole;
    needsWhole = false;
    const changes = { tickets, moved };
    tickets = new Map();
    moved = new Map();
    let pages: TicketPage | null = null;
    try {
      pages = await fetchPages(isWhole);
      failures = 0;
    } catch {
      // The page shows that the server is unavailable; the request is retried until it responds.
      failures += 1;
    }
    isFetching = false;
    if (hasEnded) return;
    if (pages !== null && !isLoading()) {
      merge({ ...pages, isWhole }, changes);
      if (hasNewEvents) schedule(REFETCH_MS);
      return;
    }
    needsWhole ||= isWhole;
    // Events since then are newer.
    tickets = new Map([...changes.tickets, ...tickets]);
    moved = new Map([...changes.moved, ...moved]);
    schedule(pages !== null ? REFETCH_MS : Math.min(RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS));
  }

  function requestRefetch(): void {
    hasNewEvents = true;
    if (!isFetching) schedule(REFETCH_MS);
  }

  return {
    onTicket(update) {
      tickets.set(update.ticketId, update);
      // The ticket has moved back.
      if (moved.get(update.ticketId) === update.project) moved.delete(update.ticketId);
      requestRefetch();
    },
    onMoved({ ticketId, project }) {
      moved.set(ticketId, project);
      requestRefetch();
    },
    refetch() {
      needsWhole = true;
      failures = 0;
      clearTimeout(timer);
      timer = undefined;
      requestRefetch();
    },
    end() {
      hasEnded = true;
      clearTimeout(timer);
    },
  };
}

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
