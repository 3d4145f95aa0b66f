import type { TicketDetail, TicketEvent, TicketMessage, TicketReply } from "@svc/contracts";

/** What happened in a conversation, one after another. */
export type TimelineEntry =
  | { kind: "day"; key: string; at: string }
  | { kind: "message"; key: string; at: string; message: TicketMessage }
  | { kind: "reply"; key: string; at: string; reply: TicketReply }
  | { kind: "note"; key: string; at: string; actor: string; text: string }
  | { kind: "event"; key: string; at: string; event: TicketEvent };

const textOf = (value: unknown) => (typeof value === "string" ? value : null);

/** What the pipeline does by itself is told by the trace; only what it could not do belongs to the conversation. */
const isTold = ({ actor, moves }: TicketEvent) => actor !== "pipeline" || moves.some(({ to }) => to === "failed");

function entryOf(event: TicketEvent): TimelineEntry {
  const { actor, at, data, id } = event;
  const note = textOf(data["note"]);
  return note === null
    ? { kind: "event", key: `event-${id}`, at, event }
    : { kind: "note", key: `note-${id}`, at, actor, text: note };
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
    ...events.filter(isTold).map(entryOf),
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
