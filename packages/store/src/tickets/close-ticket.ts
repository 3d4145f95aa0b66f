import type { TicketStage, TicketStatus } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { WaitingMessage } from "./review-work.ts";
import type { Ticket } from "./tickets.ts";

type Place = Pick<Ticket, "homeProject" | "id">;

/** What closing a ticket ended. */
export interface ClosedState {
  /** What the ticket was; null when it was closed by an earlier version. */
  before: { status: TicketStatus; stage: TicketStage; assignee: string | null } | null;
  /** Messages without an answer that were rejected when the ticket was closed or after that, oldest first. */
  ended: WaitingMessage[];
}

/** True when a ticket with this status is closed. */
export const isClosed = (status: TicketStatus): boolean => status === "resolved" || status === "spam";

/** Reads what closing this ticket ended; of an open ticket there is nothing. The caller holds the lock on the chat. */
export async function readClosedState(tx: Db, { homeProject, id, status }: Ticket): Promise<ClosedState> {
  if (!isClosed(status)) return { before: null, ended: [] };
  const [row] = await tx.query<Pick<ClosedState, "before">>(
    "SELECT before_close - 'draft' AS before FROM tickets WHERE home_project_id = $1 AND id = $2",
    [homeProject, id],
  );
  // A dead letter keeps the failure of its last attempt; a message that was held has none.
  const ended = await tx.query<WaitingMessage>(
    `SELECT m.id, CASE WHEN m.failure IS NULL THEN 'held' ELSE 'failed' END AS state
     FROM messages m JOIN tickets t ON t.id = m.ticket_id
     WHERE m.project_id = $1 AND m.ticket_id = $2 AND m.state = 'rejected'
       AND m.finished_at >= coalesce((t.before_close ->> 'at')::timestamptz, t.resolved_at)
     ORDER BY m.seq`,
    [homeProject, id],
  );
  return { before: row?.before ?? null, ended };
}

/** Stores what a ticket is before it is closed, with its draft. The caller holds the lock on the chat. */
export async function keepBeforeClosing(tx: Db, { homeProject, id }: Place): Promise<void> {
  await tx.query(
    `UPDATE tickets t SET before_close = jsonb_build_object('at', now(), 'status', status, 'stage', stage,
       'assignee', assignee, 'draft', (SELECT to_jsonb(d) FROM drafts d WHERE d.project_id = $1 AND d.ticket_id = $2))
     WHERE home_project_id = $1 AND id = $2`,
    [homeProject, id],
  );
}

/** Drops what was stored: after that, reopening brings no draft back. The caller holds the lock on the chat. */
export async function dropBeforeClosing(tx: Db, { homeProject, id }: Place): Promise<void> {
  await tx.query(
    `UPDATE tickets SET before_close = NULL
     WHERE home_project_id = $1 AND id = $2 AND before_close IS NOT NULL`,
    [homeProject, id],
  );
}

/**
 * Returns the messages that closing ended to where they were, and the draft with them. Their senders are not notified:
 * they hear of the answer, if one is sent. The caller holds the lock on the chat.
 */
export async function restoreClosed(tx: Db, { homeProject, id }: Place, ended: WaitingMessage[]): Promise<void> {
  await tx.query(
    `UPDATE messages SET state = CASE WHEN failure IS NULL THEN 'held' ELSE 'failed' END
     WHERE project_id = $1 AND id = ANY ($2::uuid[]) AND state = 'rejected'`,
    [homeProject, ended.map((message) => message.id)],
  );
  await tx.query(
    `INSERT INTO drafts SELECT d.* FROM tickets t, jsonb_populate_record(NULL::drafts, t.before_close -> 'draft') d
     WHERE t.home_project_id = $1 AND t.id = $2 AND jsonb_typeof(t.before_close -> 'draft') = 'object'
     ON CONFLICT (ticket_id) DO NOTHING`,
    [homeProject, id],
  );
  await dropBeforeClosing(tx, { homeProject, id });
}
