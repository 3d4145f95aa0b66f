import {
  AlarmClock,
  Archive,
  CircleCheck,
  CircleUser,
  Hourglass,
  Inbox,
  Layers,
  OctagonX,
  Share2,
  UserX,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";
import type { TicketQuery } from "./inbox-search.ts";

/** A built-in view of the inbox. Its texts are `view.<id>`, and `empty.<id>` if it has no tickets. */
export interface InboxView {
  id: "review" | "mine" | "unassigned" | "waiting" | "snoozed" | "resolved" | "spam" | "shared" | "all";
  icon: LucideIcon;
  /** True if the number of its tickets is shown. */
  isCounted?: true;
  /** Returns the query for its tickets; `me` is the actor of the signed-in operator. */
  filters: (me: string) => TicketQuery;
}

/** The built-in views of the inbox, in the order of the sidebar. */
export const VIEWS: readonly InboxView[] = [
  { id: "review", icon: Inbox, isCounted: true, filters: () => ({ needsReview: "1" }) },
  { id: "mine", icon: CircleUser, isCounted: true, filters: (me) => ({ assignee: me, closed: "0", snoozed: "0" }) },
  {
    id: "unassigned",
    icon: UserX,
    isCounted: true,
    filters: () => ({ assignee: "none", status: "open", snoozed: "0" }),
  },
  { id: "waiting", icon: Hourglass, filters: () => ({ status: "pending", snoozed: "0" }) },
  { id: "snoozed", icon: AlarmClock, filters: () => ({ snoozed: "1" }) },
  { id: "resolved", icon: CircleCheck, filters: () => ({ status: "resolved" }) },
  { id: "spam", icon: OctagonX, filters: () => ({ status: "spam" }) },
  { id: "shared", icon: Share2, filters: () => ({ origin: "tool-server" }) },
  { id: "all", icon: Layers, filters: () => ({}) },
];

/** View of the shared inbox, which shows all projects to administrators of all projects. */
export const SHARED_VIEW = "shared";

/** Icon of saved views. */
export const SAVED_ICON = Archive;

/** Returns the view with this ID, or null if there is none. */
export const findView = (id: string): InboxView | null => VIEWS.find((view) => view.id === id) ?? null;

/** Returns the filters as a string that does not depend on their order, for keys of queries. */
export function nameOfQuery(query: object): string {
  const entries = Object.entries(query) as [string, unknown][];
  return JSON.stringify(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
