import type { TicketItem } from "@svc/contracts";
import type { TicketEventData } from "../api/live.ts";

/** Tickets from the first on. */
export interface TicketPage {
  items: TicketItem[];
  nextCursor: string | null;
}

/** The order in which what has changed last comes first, so that updates are at the head of the list. */
const UPDATES_FIRST = "-updatedAt";

/** True if an update leaves a ticket with the same people and in the same state. */
const isInPlace = (item: TicketItem, { project, status, stage, assignee }: TicketEventData): boolean =>
  item.project === project && item.status === status && item.stage === stage && item.assignee === assignee;

/** A ticket with the values of its update. */
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
 * True for tickets of the list that have changed, are not in its head, and are where they were: their tags may have
 * changed, which moves no ticket, or they are snoozed. Only the whole list tells which.
 */
export const hasUnclear = (list: TicketPage, head: TicketPage, { tickets }: ListUpdate): boolean =>
  list.items.some((item) => {
    const update = tickets.get(item.id);
    return update !== undefined && isInPlace(item, update) && !head.items.some(({ id }) => id === item.id);
  });

/**
 * The list after its head was read again. In the order of changes, a ticket that has moved on stands in the head or does
 * not belong to the list any more; in any other order it keeps its position, with the values of the update. Where head
 * and list have nothing in common too much has happened: the list starts over. Where all of it was read it is what was
 * read. Of what another project has now, nothing is left in the list of one `project`; null for a list of all.
 */
export function mergeHead(
  list: TicketPage,
  head: ListReading,
  {
    update: { tickets, gone },
    project,
    sort = UPDATES_FIRST,
  }: { update: ListUpdate; project: string | null; sort?: string | undefined },
): TicketPage {
  const replaced = { items: head.items, nextCursor: head.nextCursor };
  if (head.isWhole || head.nextCursor === null || list.items.length === 0) return replaced;
  const inHead = new Set(head.items.map(({ id }) => id));
  if (!list.items.some(({ id }) => inHead.has(id))) return replaced;
  const isByEvent = sort === UPDATES_FIRST;
  const rest = list.items
    .filter((item) => {
      const update = tickets.get(item.id);
      return !inHead.has(item.id) && (!isByEvent || update === undefined || isInPlace(item, update));
    })
    .map((item) => {
      const update = tickets.get(item.id);
      return update === undefined ? item : patch(item, update);
    })
    .filter((item) => gone.get(item.id) !== item.project && (project === null || item.project === project));
  // What was the whole list may have been pushed down behind the head.
  return { items: [...head.items, ...rest], nextCursor: rest.length === 0 ? head.nextCursor : list.nextCursor };
}

/** News come in bursts: the head of the list is read once for all of them. */
const REFETCH_MS = 300;
/** A head that could not be read is read again after this, then after twice as long, up to the longest. */
const RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 30_000;

/** Events of tickets since the head of a list was last read. */
export interface ListUpdate {
  /** The newest event of each ticket. */
  tickets: ReadonlyMap<string, TicketEventData>;
  /** By tickets that another project has now, the project that had them. */
  gone: ReadonlyMap<string, string>;
}

/** The part of a list that was read again. */
interface ListReading extends TicketPage {
  /** True where it is all that was loaded, so that what it has not is not in the list any more. */
  isWhole: boolean;
}

/** Takes events, and has the head of the list read and merged in. */
export interface ListFollower {
  tell: (update: TicketEventData) => void;
  reportGone: (gone: { ticketId: string; project: string }) => void;
  /** News may have been missed: reads all that is loaded soon, however long ago nothing could be read. */
  refetch: () => void;
  end: () => void;
}

/**
 * Follows a list: reads its head after an update, all of it where updates may have been missed, and again until that
 * works, so that nothing is lost. Nothing is merged in while a page of the list is being loaded, which would put the
 * list back to what it was before.
 */
// oxlint-disable-next-line max-lines-per-function -- short functions over one shared state
export function followList({
  read: readPages,
  isLoading,
  merge,
}: {
  read: (isWhole: boolean) => Promise<TicketPage>;
  isLoading: () => boolean;
  merge: (reading: ListReading, update: ListUpdate) => void;
}): ListFollower {
  let tickets = new Map<string, TicketEventData>();
  let gone = new Map<string, string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isReading = false;
  let isWanted = false;
  let isMissing = false;
  let isOver = false;
  let failures = 0;

  const wait = (ms: number) => {
    timer ??= setTimeout(() => void read(), ms);
  };

  async function read(): Promise<void> {
    timer = undefined;
    if (isLoading()) {
      wait(REFETCH_MS);
      return;
    }
    isReading = true;
    isWanted = false;
    const isWhole = isMissing;
    isMissing = false;
    const changes = { tickets, gone };
    tickets = new Map();
    gone = new Map();
    let pages: TicketPage | null = null;
    try {
      pages = await readPages(isWhole);
      failures = 0;
    } catch {
      // The server is unavailable, as the page shows; the request is repeated until it responds.
      failures += 1;
    }
    isReading = false;
    if (isOver) return;
    if (pages !== null && !isLoading()) {
      merge({ ...pages, isWhole }, changes);
      if (isWanted) wait(REFETCH_MS);
      return;
    }
    isMissing ||= isWhole;
    // Events since then are newer.
    tickets = new Map([...changes.tickets, ...tickets]);
    gone = new Map([...changes.gone, ...gone]);
    wait(pages !== null ? REFETCH_MS : Math.min(RETRY_MS * 2 ** (failures - 1), LONGEST_RETRY_MS));
  }

  function want(): void {
    isWanted = true;
    if (!isReading) wait(REFETCH_MS);
  }

  return {
    tell(update) {
      tickets.set(update.ticketId, update);
      // It has come back.
      if (gone.get(update.ticketId) === update.project) gone.delete(update.ticketId);
      want();
    },
    reportGone({ ticketId, project }) {
      gone.set(ticketId, project);
      want();
    },
    refetch() {
      isMissing = true;
      failures = 0;
      clearTimeout(timer);
      timer = undefined;
      want();
    },
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
