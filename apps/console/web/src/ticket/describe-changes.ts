import type { TicketDetail } from "@svc/contracts";

/** What of a ticket somebody has seen, short enough to be kept with a text that was begun. */
export interface SeenTicket {
  /** The places in the chat of the newest message and of the newest reply; 0 where there was none. */
  messageSeq: number;
  replySeq: number;
  /** The newest event; 0 where there was none. */
  eventId: number;
  /** Which draft it was; null where there was none. */
  draft: string | null;
  status: TicketDetail["status"];
  assignee: string | null;
}

/** Something that has happened since somebody looked. */
export type TicketChangeNews =
  | { kind: "message"; text: string }
  | { kind: "reply"; author: "agent" | "operator" | "system"; text: string }
  | { kind: "draft" }
  | { kind: "status"; status: TicketDetail["status"] }
  | { kind: "assignee"; assignee: string | null };

const draftOf = ({ draft }: TicketDetail) => (draft === null ? null : `${draft.createdAt} ${draft.text.length}`);

/** What is to be seen of a ticket now. */
export const seenOf = (ticket: TicketDetail): SeenTicket => ({
  messageSeq: ticket.messages.at(-1)?.seq ?? 0,
  replySeq: ticket.replies.at(-1)?.seq ?? 0,
  eventId: ticket.events.at(-1)?.id ?? 0,
  draft: draftOf(ticket),
  status: ticket.status,
  assignee: ticket.assignee,
});

/**
 * What has happened to a ticket since it was looked at, as far as it matters for an answer of `me`. Empty where nothing
 * has. What one has done oneself is no news: a reply of operators is one's own where nobody else has decided anything.
 */
export function describeChanges(seen: SeenTicket, now: TicketDetail, me: string): TicketChangeNews[] {
  const isOfOthers = now.events.some(
    ({ actor, data, id }) => id > seen.eventId && actor !== me && actor !== "pipeline" && !("note" in data),
  );
  const messages = now.messages
    .filter(({ seq }) => seq > seen.messageSeq)
    .map(({ text }) => ({ kind: "message" as const, text }));
  const replies = now.replies
    .filter(({ author, seq }) => seq > seen.replySeq && (isOfOthers || author !== "operator"))
    .map((reply) => ({
      kind: "reply" as const,
      author: reply.author,
      text: reply.type === "message" ? reply.text : reply.filename,
    }));
  const isOtherDraft = now.draft !== null && draftOf(now) !== seen.draft;
  const isOtherStatus = now.status !== seen.status && (isOfOthers || messages.length > 0);
  return [
    ...messages,
    ...replies,
    ...(isOtherDraft ? [{ kind: "draft" as const }] : []),
    ...(isOtherStatus ? [{ kind: "status" as const, status: now.status }] : []),
    ...(isOfOthers && now.assignee !== seen.assignee ? [{ kind: "assignee" as const, assignee: now.assignee }] : []),
  ];
}

/** Whether an answer that was written before these changes must not go out unseen. */
export const isInTheWay = (changes: readonly TicketChangeNews[]): boolean =>
  changes.some(({ kind }) => kind === "message" || kind === "reply");
