import { createContext, useContext } from "react";
import type { TicketItem } from "@svc/contracts";
import type { InboxSearch } from "./inbox-search.ts";

/** What the page of a ticket knows of the list that it was opened from. */
export interface InboxPlace {
  view: string;
  search: InboxSearch;
  items: readonly TicketItem[];
  /** Opens the ticket so many places further down. */
  move: (by: number) => void;
  /** Goes on to the ticket after this one, once it is done with. */
  advance: (ticketId: string) => void;
}

export const InboxContext = createContext<InboxPlace | null>(null);

/** The list that a ticket was opened from. Throws outside of the inbox. */
export function useInbox(): InboxPlace {
  const place = useContext(InboxContext);
  if (place === null) throw new Error("useInbox is for components within the inbox.");
  return place;
}
