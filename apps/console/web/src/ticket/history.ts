import type { TicketDetail, TicketEvent, TicketMessage, TicketReply } from "@svc/contracts";
import { useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/** What was said in a ticket and done to it. */
export type History = Pick<TicketDetail, "messages" | "replies" | "events">;

function merge<Item extends { id: string | number }>(
  known: readonly Item[],
  read: readonly Item[],
  positionOf: (item: Item) => number,
): Item[] {
  const byId = new Map([...known, ...read].map((item) => [item.id, item]));
  return [...byId.values()].sort((one, other) => positionOf(one) - positionOf(other));
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

/** What happened in a conversation, one after another. */
export type TimelineEntry =
  | { kind: "day"; key: string; at: string }
  | { kind: "message"; key: string; at: string; message: TicketMessage }
  | { kind: "reply"; key: string; at: string; reply: TicketReply }
  | { kind: "note"; key: string; at: string; actor: string; text: string }
  | { kind: "event"; key: string; at: string; event: TicketEvent };

const textOf = (value: unknown) => (typeof value === "string" ? value : null);

/** The trace shows what the pipeline does by itself; what it could not do, and that a reply has resolved the ticket, belong to the conversation. */
const isShown = ({ actor, data, moves }: TicketEvent) =>
  actor !== "pipeline" || data["resolves"] === true || moves.some(({ to }) => to === "failed");

function entryOf(event: TicketEvent): TimelineEntry {
  const { actor, at, data, id } = event;
  const note = textOf(data["note"]);
  return note === null
    ? { kind: "event", key: `event-${id}`, at, event }
    : { kind: "note", key: `note-${id}`, at, actor, text: note };
}

/** Returns the tags that a change has given a ticket, all of them; null if it did not change them. */
export function changedTags({ change }: TicketEvent["data"]): string[] | null {
  const tags: unknown = typeof change === "object" && change !== null && "tags" in change ? change.tags : null;
  return Array.isArray(tags) ? tags.map(String) : null;
}

/** The order of what is of the same time: what was written before what was done about it. */
const RANKS = { day: 0, message: 1, reply: 2, note: 3, event: 4 } as const;

/**
 * Messages, replies, notes and decisions of a ticket in the order of time, with each day named before its first.
 * `dayOf` says which day a time belongs to where the reader is.
 */
export function buildTimeline(
  { messages, replies, events }: Pick<TicketDetail, "messages" | "replies" | "events">,
  dayOf: (time: string) => string,
): TimelineEntry[] {
  const said: TimelineEntry[] = [
    ...messages.map((message) => ({
      kind: "message" as const,
      key: message.id,
      at: message.createdAt,
      message,
    })),
    ...replies.map((reply) => ({ kind: "reply" as const, key: reply.id, at: reply.createdAt, reply })),
    ...events.filter(isShown).map(entryOf),
  ];
  const sorted = said.sort((one, other) => {
    const apart = Date.parse(one.at) - Date.parse(other.at);
    return apart === 0 ? RANKS[one.kind] - RANKS[other.kind] : apart;
  });
  let day = "";
  return sorted.flatMap((entry) => {
    const own = dayOf(entry.at);
    if (own === day) return [entry];
    day = own;
    return [{ kind: "day" as const, key: `day-${own}`, at: entry.at }, entry];
  });
}

/** All that is known of what was said in a ticket, and the way to what is older. */
export function useHistory(ticket: TicketDetail) {
  const { connection, toasts } = useServices();
  const { t } = useTexts();
  const [read, setRead] = useState(ticket);
  const [history, setHistory] = useState(() => mergeHistory(ticket, ticket));
  const [more, setMore] = useState(ticket.more);
  const [isLoading, setLoading] = useState(false);
  if (read !== ticket) {
    setRead(ticket);
    setHistory(mergeHistory(history, ticket));
  }
  const hasMore = more.messages || more.replies || more.events;

  async function loadOlder(): Promise<void> {
    if (isLoading || !hasMore) return;
    setLoading(true);
    const { events, messages, replies } = history;
    const query = {
      ...(more.messages ? { messagesBefore: String(messages[0]?.seq ?? 0) } : {}),
      ...(more.replies ? { repliesBefore: String(replies[0]?.seq ?? 0) } : {}),
      ...(more.events ? { eventsBefore: String(events[0]?.id ?? 0) } : {}),
    };
    try {
      const input = { params: { id: ticket.id }, query };
      const { item } = await connection.call("getTicketHistory", ticket.project, input);
      setHistory((known) => mergeHistory(item, known));
      setMore(item.more);
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    } finally {
      setLoading(false);
    }
  }
  return { history, hasMore, isLoading, loadOlder };
}
