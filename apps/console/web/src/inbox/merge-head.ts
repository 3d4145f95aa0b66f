import type { TicketItem } from "@svc/contracts";
import type { TicketNews } from "../api/live.ts";
import type { ListNews, ListReading } from "./follow-list.ts";

/** Tickets from the first on. */
export interface TicketPage {
  items: TicketItem[];
  nextCursor: string | null;
}

/** The order in which what has changed last comes first, so that news are at the head of the list. */
const NEWS_FIRST = "-updatedAt";

/** A ticket with what its news say. */
const patch = (item: TicketItem, { project, version, status, stage, assignee }: TicketNews): TicketItem =>
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
 * The list after its head was read anew. In the order of changes, a ticket that has changed stands in the head or does
 * not belong to the list any more; in any other order it stays where it is, as the news say it is. Where head and list
 * have nothing in common too much has happened: the list begins anew. Where all of it was read it is what was read. Of
 * what another project has now, nothing is left in the list of one `project`; null for a list of all.
 */
export function mergeHead(
  list: TicketPage,
  head: ListReading,
  {
    news: { tickets, gone },
    project,
    sort = NEWS_FIRST,
  }: { news: ListNews; project: string | null; sort?: string | undefined },
): TicketPage {
  const anew = { items: head.items, nextCursor: head.nextCursor };
  if (head.isWhole || head.nextCursor === null || list.items.length === 0) return anew;
  const inHead = new Set(head.items.map(({ id }) => id));
  if (!list.items.some(({ id }) => inHead.has(id))) return anew;
  const isByNews = sort === NEWS_FIRST;
  const rest = list.items
    .filter(({ id }) => !inHead.has(id) && !(isByNews && tickets.has(id)))
    .map((item) => {
      const told = tickets.get(item.id);
      return told === undefined ? item : patch(item, told);
    })
    .filter((item) => gone.get(item.id) !== item.project && (project === null || item.project === project));
  // What was the whole list may have been pushed down behind the head.
  return { items: [...head.items, ...rest], nextCursor: rest.length === 0 ? head.nextCursor : list.nextCursor };
}
