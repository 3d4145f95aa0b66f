import type { TicketDetail } from "@svc/contracts";

/** What was said in a ticket and done to it. */
export type History = Pick<TicketDetail, "messages" | "replies" | "events">;

function merge<Item extends { id: string | number }>(
  known: readonly Item[],
  read: readonly Item[],
  placeOf: (item: Item) => number,
): Item[] {
  const byId = new Map([...known, ...read].map((item) => [item.id, item]));
  return [...byId.values()].sort((one, other) => placeOf(one) - placeOf(other));
}

/**
 * What is known of a ticket together with what was just read of it, which wins where both have it: so what stood at the
 * beginning of the newest 200 stays when newer ones come.
 */
export function mergeHistory(known: History, read: History): History {
  return {
    messages: merge(known.messages, read.messages, ({ seq }) => seq),
    replies: merge(known.replies, read.replies, ({ seq }) => seq),
    events: merge(known.events, read.events, ({ id }) => id),
  };
}
