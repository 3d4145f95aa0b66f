import type { TicketDetail } from "@svc/contracts";

/** What of a ticket somebody has seen. */
export interface SeenTicket {
  version: number;
  messageIds: ReadonlySet<string>;
  replyIds: ReadonlySet<string>;
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

/** What is to be seen of a ticket now. */
export const seenOf = (ticket: TicketDetail): SeenTicket => ({
  version: ticket.version,
  messageIds: new Set(ticket.messages.map(({ id }) => id)),
  replyIds: new Set(ticket.replies.map(({ id }) => id)),
  draft: ticket.draft?.text ?? null,
  status: ticket.status,
  assignee: ticket.assignee,
});

/** What has happened to a ticket since it was looked at, as far as it matters for an answer. Empty where nothing has. */
export function describeChanges(seen: SeenTicket, now: TicketDetail): TicketChangeNews[] {
  const messages = now.messages
    .filter(({ id }) => !seen.messageIds.has(id))
    .map(({ text }) => ({ kind: "message" as const, text }));
  const replies = now.replies
    .filter(({ id }) => !seen.replyIds.has(id))
    .map((reply) => ({
      kind: "reply" as const,
      author: reply.author,
      text: reply.type === "message" ? reply.text : reply.filename,
    }));
  const isOtherDraft = now.draft !== null && now.draft.text !== (seen.draft ?? "");
  return [
    ...messages,
    ...replies,
    ...(isOtherDraft ? [{ kind: "draft" as const }] : []),
    ...(now.status === seen.status ? [] : [{ kind: "status" as const, status: now.status }]),
    ...(now.assignee === seen.assignee ? [] : [{ kind: "assignee" as const, assignee: now.assignee }]),
  ];
}

/** Whether an answer that was written before these changes must not go out unseen. */
export const isInTheWay = (changes: readonly TicketChangeNews[]): boolean =>
  changes.some(({ kind }) => kind === "message" || kind === "reply");
