import type { TicketItem } from "@svc/contracts";
import type { TicketEventData } from "../api/live.ts";

/** The first tickets of a list. */
export interface TicketPage {
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
export interface ListFollower {
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
