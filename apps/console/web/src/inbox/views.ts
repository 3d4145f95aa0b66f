import { Archive, CircleCheck, CircleUser, Hourglass, Inbox, Layers, OctagonX, Share2, UserX } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import type { TextKey } from "../i18n/texts.ts";
import type { TicketQuery } from "./inbox-search.ts";

/** A part of the inbox that everybody has. */
export interface InboxView {
  id: string;
  title: TextKey;
  empty: TextKey;
  icon: LucideIcon;
  /** True where it is told how many tickets it has. */
  isCounted?: true;
  /** What its tickets have; `me` is the actor of whoever looks. */
  filters: (me: string) => TicketQuery;
}

/** The views of the inbox in their order. */
export const VIEWS: readonly InboxView[] = [
  {
    id: "review",
    title: "view.review",
    empty: "empty.review",
    icon: Inbox,
    isCounted: true,
    filters: () => ({ needsReview: "1" }),
  },
  {
    id: "mine",
    title: "view.mine",
    empty: "empty.mine",
    icon: CircleUser,
    isCounted: true,
    filters: (me) => ({ assignee: me }),
  },
  {
    id: "unassigned",
    title: "view.unassigned",
    empty: "empty.unassigned",
    icon: UserX,
    isCounted: true,
    filters: () => ({ assignee: "none", status: "open" }),
  },
  {
    id: "waiting",
    title: "view.waiting",
    empty: "empty.waiting",
    icon: Hourglass,
    filters: () => ({ status: "pending" }),
  },
  {
    id: "resolved",
    title: "view.resolved",
    empty: "empty.resolved",
    icon: CircleCheck,
    filters: () => ({ status: "resolved" }),
  },
  { id: "spam", title: "view.spam", empty: "empty.spam", icon: OctagonX, filters: () => ({ status: "spam" }) },
  {
    id: "shared",
    title: "view.shared",
    empty: "empty.shared",
    icon: Share2,
    filters: () => ({ origin: "tool-server" }),
  },
  { id: "all", title: "view.all", empty: "empty.all", icon: Layers, filters: () => ({}) },
];

/** The shared Inbox goes over all projects for administrators of all of them. */
export const SHARED_VIEW = "shared";

/** Icon of the views that somebody has saved. */
export const SAVED_ICON = Archive;

/** The view of this id; null where there is none. */
export const findView = (id: string): InboxView | null => VIEWS.find((view) => view.id === id) ?? null;

/** The same filters have the same name, in whatever order they were put together. */
export function nameOfQuery(query: object): string {
  const entries = Object.entries(query) as [string, unknown][];
  return JSON.stringify(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
