import type { TicketDetail, TicketEvent, TicketMessage, TicketReply } from "@svc/contracts";
import { useState } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useServices } from "../session/services.ts";
import { describeError } from "../ui/describe-error.ts";

/** The loaded messages, replies and events of a ticket. */
export type History = Pick<TicketDetail, "messages" | "replies" | "events">;

function merge<Item extends { id: string | number }>(
  older: readonly Item[],
  newer: readonly Item[],
  positionOf: (item: Item) => number,
): Item[] {
  const byId = new Map([...older, ...newer].map((item) => [item.id, item]));
  return [...byId.values()].sort((one, other) => positionOf(one) - positionOf(other));
}

/** Merges two parts of the history of a ticket. If both have an entry, that of `newer`, which was fetched later, wins. */
export function mergeHistory(older: History, newer: History): History {
  return {
    messages: merge(older.messages, newer.messages, ({ seq }) => seq),
    replies: merge(older.replies, newer.replies, ({ seq }) => seq),
    events: merge(older.events, newer.events, ({ id }) => id),
  };
}

/** An entry of the timeline of a conversation. */
export type TimelineEntry =
  | { kind: "day"; key: string; at: string }
  | { kind: "message"; key: string; at: string; message: TicketMessage }
  | { kind: "reply"; key: string; at: string; reply: TicketReply }
  | { kind: "note"; key: string; at: string; actor: string; text: string }
  | { kind: "event"; key: string; at: string; event: TicketEvent };

const textOf = (value: unknown) => (typeof value === "string" ? value : null);

/** The trace has the events of the pipeline; the timeline only its failures, and that a reply has resolved the ticket. */
const isShown = ({ actor, data, moves }: TicketEvent) =>
  actor !== "pipeline" || data["resolves"] === true || moves.some(({ to }) => to === "failed");

function entryOf(event: TicketEvent): TimelineEntry {
  const { actor, at, data, id } = event;
  const note = textOf(data["note"]);
  return note === null
    ? { kind: "event", key: `event-${id}`, at, event }
    : { kind: "note", key: `note-${id}`, at, actor, text: note };
}

/** Returns all tags of a ticket after a change; null if the change did not concern its tags. */
export function changedTags({ change }: TicketEvent["data"]): string[] | null {
  const tags: unknown = typeof change === "object" && change !== null && "tags" in change ? change.tags : null;
  return Array.isArray(tags) ? tags.map(String) : null;
}

/** Order of entries with the same time: texts precede the events about them. */
const RANKS = { day: 0, message: 1, reply: 2, note: 3, event: 4 } as const;

/**
 * Returns the messages, replies, notes and events of a ticket by time, with a day before its first entry. `dayOf`
 * returns the day of a time in the reader's time zone.
 */
export function buildTimeline(
  { messages, replies, events }: Pick<TicketDetail, "messages" | "replies" | "events">,
  dayOf: (time: string) => string,
): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    ...messages.map((message) => ({
      kind: "message" as const,
      key: message.id,
      at: message.createdAt,
      message,
    })),
    ...replies.map((reply) => ({ kind: "reply" as const, key: reply.id, at: reply.createdAt, reply })),
    ...events.filter(isShown).map(entryOf),
  ];
  const sorted = entries.sort((one, other) => {
    const difference = Date.parse(one.at) - Date.parse(other.at);
    return difference === 0 ? RANKS[one.kind] - RANKS[other.kind] : difference;
  });
  let day = "";
  return sorted.flatMap((entry) => {
    const dayOfEntry = dayOf(entry.at);
    if (dayOfEntry === day) return [entry];
    day = dayOfEntry;
    return [{ kind: "day" as const, key: `day-${day}`, at: entry.at }, entry];
  });
}

/** Returns the loaded history of a ticket, and a function that loads older entries. */
export function useHistory(ticket: TicketDetail) {
  const { connection, toasts } = useServices();
  const { t } = useTexts();
  const [merged, setMerged] = useState(ticket);
  const [history, setHistory] = useState(() => mergeHistory(ticket, ticket));
  const [more, setMore] = useState(ticket.more);
  const [isLoading, setLoading] = useState(false);
  if (merged !== ticket) {
    setMerged(ticket);
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
      setHistory((loaded) => mergeHistory(item, loaded));
      setMore(item.more);
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    } finally {
      setLoading(false);
    }
  }
  return { history, hasMore, isLoading, loadOlder };
}
