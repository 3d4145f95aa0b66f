import { PERSON_PROMISED } from "@svc/contracts";
import { readClosedState } from "./close-ticket.ts";
import type { ClosedState } from "./close-ticket.ts";
import type { Db } from "../db.ts";
import type { NewDraft } from "./drafts.ts";
import type { ProjectId } from "../ids.ts";
import { asWork } from "./review-work.ts";
import type { SendWork, WaitingMessage, WorkRow } from "./review-work.ts";
import { TICKET_COLUMNS, asTicket } from "./tickets.ts";
import type { Ticket, TicketRow } from "./tickets.ts";
import { statements } from "../sql.ts";

/** What a person decides about, as it is at the moment of the decision: nothing of it can change before its end. */
export interface ReviewState {
  ticket: Ticket;
  /** What waits to be approved, with the ids of the messages that it answers. */
  draft: (Pick<NewDraft, "text" | "markdown" | "sources"> & { covers: string[] }) | null;
  /** Oldest first; without those that an earlier decision covers. */
  waiting: WaitingMessage[];
  /** The newest message, of those that the pipeline has worked on where there is one; null when none is kept. */
  newest: { id: string } | null;
  /** True when the customer has written something that the pipeline has not taken into the ticket yet. */
  hasReceived: boolean;
  /** True when a customer has read that a person will answer, and no person has since. */
  isPersonPromised: boolean;
  /** True while an earlier decision is not carried out yet. */
  isUnderWay: boolean;
  /** The reply that was given up, where that was the last decision to carry out. */
  failed: SendWork | null;
  /** What closing the ticket ended; nothing while it is open. */
  closed: ClosedState;
}

const sql = statements("tickets/lock-review-state", {
  ticketColumns: TICKET_COLUMNS,
});

/**
 * What is decided about, locked. The chat's row first, as whoever accepts a message or ends a run does: no message
 * can come, and no run can end, before the decision is committed. Then the ticket's row, which whoever indexes its
 * texts may refer to meanwhile. Null when this project has no such ticket. However long a conversation is, only what
 * waits is read of it, and no text.
 */
export async function lockReviewState(
  tx: Db,
  project: ProjectId,
  ticketId: string,
): Promise<(ReviewState & { isLeased: boolean }) | null> {
  const known = await sql.lockReviewState.one<{ homeProjectId: string }>(tx, { project, ticketId });
  if (known === null) return null;
  const home = known.homeProjectId;
  const chat = await sql.lockChats.one<{ reviewId: string | null; isLeased: boolean }>(tx, { home, ticketId });
  const row = await sql.lockTickets.one<TicketRow>(tx, { project, ticketId });
  if (chat === null || row === null) return null;
  const waiting = await sql.findMessages.all<WaitingMessage>(tx, { home, ticketId });
  const end = await sql.findMessages2.one<{ workedOn: string | null; received: string | null }>(tx, { home, ticketId });
  const newest = end?.workedOn ?? end?.received ?? null;

  const promise = await sql.findReplies.one(tx, { home, ticketId });

  const [promising] =
    row.stage === "review"
      ? await sql.findTicketEvents.all<{ isOpen: boolean }>(tx, {
          home,
          ticketId,
          promise: JSON.stringify([{ from: "delivering", to: "review", why: PERSON_PROMISED }]),
        })
      : [];
  const draft = await sql.findDrafts.one<NonNullable<ReviewState["draft"]>>(tx, { home, ticketId });
  const last = await sql.findReviews.one<WorkRow & { isFailed: boolean }>(tx, { home, ticketId });
  const work = last?.isFailed === true ? asWork(last) : null;
  const ticket = asTicket(row);
  return {
    ticket,
    draft: draft ?? null,
    waiting,
    newest: newest === null ? null : { id: newest },
    hasReceived: end?.received != null,
    isPersonPromised: promise !== null || promising?.isOpen === true,
    isUnderWay: chat.reviewId !== null,
    failed: work?.kind === "send" ? work : null,
    closed: await readClosedState(tx, ticket),
    isLeased: chat.isLeased,
  };
}
