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
  const [known] = await tx.query<{ home_project_id: string }>(
    "SELECT home_project_id FROM tickets WHERE project_id = $1 AND id = $2",
    [project, ticketId],
  );
  if (known === undefined) return null;
  const home = known.home_project_id;
  const [chat] = await tx.query<{ review_id: string | null; is_leased: boolean }>(
    `SELECT review_id, lease_id IS NOT NULL AS is_leased FROM chats
     WHERE project_id = $1 AND ticket_id = $2 FOR UPDATE`,
    [home, ticketId],
  );
  const [row] = await tx.query<TicketRow>(
    `SELECT ${TICKET_COLUMNS} FROM tickets WHERE project_id = $1 AND id = $2 FOR NO KEY UPDATE`,
    [project, ticketId],
  );
  if (chat === undefined || row === undefined) return null;
  const waiting = await tx.query<WaitingMessage>(
    `SELECT id, state FROM messages
     WHERE project_id = $1 AND ticket_id = $2 AND state IN ('held', 'failed') AND covered_by IS NULL ORDER BY seq`,
    [home, ticketId],
  );
  const [end] = await tx.query<{ worked_on: string | null; received: string | null }>(
    `SELECT (SELECT id FROM messages WHERE project_id = $1 AND ticket_id = $2 AND state <> 'received'
         ORDER BY seq DESC LIMIT 1) AS worked_on,
       (SELECT id FROM messages WHERE project_id = $1 AND ticket_id = $2 AND state = 'received'
         ORDER BY seq LIMIT 1) AS received`,
    [home, ticketId],
  );
  const newest = end?.worked_on ?? end?.received ?? null;
  // A promise comes after the message that it is made for, so what was said before the oldest held one does not
  // matter.
  const [promise] = await tx.query(
    `SELECT 1 FROM replies r
     WHERE r.project_id = $1 AND r.ticket_id = $2 AND r.author = 'system' AND r.seq > (
         SELECT seq FROM messages WHERE project_id = $1 AND ticket_id = $2 AND state = 'held' AND covered_by IS NULL
         ORDER BY seq LIMIT 1)
       AND EXISTS (SELECT FROM messages m WHERE m.id = r.in_reply_to AND m.state = 'held' AND m.covered_by IS NULL)
     ORDER BY r.seq LIMIT 1`,
    [home, ticketId],
  );
  // The newest event that says so, or that a reply without a promise has ended it: while a ticket is in review there
  // are few behind that. Reads the ticket's events by their index; locks nothing.
  const [promising] =
    row.stage === "review"
      ? await tx.query<{ is_open: boolean }>(
          `SELECT moves @> $3::jsonb AS is_open FROM ticket_events
           WHERE project_id = $1 AND ticket_id = $2 AND (moves @> $3::jsonb OR moves @> '[{"to": "done"}]')
           ORDER BY id DESC LIMIT 1`,
          [home, ticketId, JSON.stringify([{ from: "delivering", to: "review", why: PERSON_PROMISED }])],
        )
      : [];
  const [draft] = await tx.query<NonNullable<ReviewState["draft"]>>(
    "SELECT text, markdown, sources, covers FROM drafts WHERE project_id = $1 AND ticket_id = $2",
    [home, ticketId],
  );
  const [last] = await tx.query<WorkRow & { is_failed: boolean }>(
    `SELECT kind, author, text, markdown, sources, file_ids, answers_message_id, covers,
       failure IS NOT NULL AND finished_at IS NOT NULL AS is_failed
     FROM reviews WHERE project_id = $1 AND ticket_id = $2 ORDER BY id DESC LIMIT 1`,
    [home, ticketId],
  );
  const work = last?.is_failed === true ? asWork(last) : null;
  const ticket = asTicket(row);
  return {
    ticket,
    draft: draft ?? null,
    waiting,
    newest: newest === null ? null : { id: newest },
    hasReceived: end?.received != null,
    isPersonPromised: promise !== undefined || promising?.is_open === true,
    isUnderWay: chat.review_id !== null,
    failed: work?.kind === "send" ? work : null,
    closed: await readClosedState(tx, ticket),
    isLeased: chat.is_leased,
  };
}
