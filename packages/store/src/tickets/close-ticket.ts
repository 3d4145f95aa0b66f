import type { TicketStage, TicketStatus } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { WaitingMessage } from "./review-work.ts";
import type { Ticket } from "./tickets.ts";
import { statements } from "../sql.ts";

const sql = statements("tickets/close-ticket");

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
  const row = await sql.readClosedState.one<Pick<ClosedState, "before">>(tx, { homeProject, id });

  const ended = await sql.findMessages.all<WaitingMessage>(tx, { homeProject, id });
  return { before: row?.before ?? null, ended };
}

/** Stores what a ticket is before it is closed, with its draft. The caller holds the lock on the chat. */
export async function keepBeforeClosing(tx: Db, { homeProject, id }: Place): Promise<void> {
  await sql.keepBeforeClosing.run(tx, { homeProject, id });
}

/** Drops what was stored: after that, reopening brings no draft back. The caller holds the lock on the chat. */
export async function dropBeforeClosing(tx: Db, { homeProject, id }: Place): Promise<void> {
  await sql.dropBeforeClosing.run(tx, { homeProject, id });
}

/**
 * Returns the messages that closing ended to where they were, and the draft with them. Their senders are not notified:
 * they hear of the answer, if one is sent. The caller holds the lock on the chat.
 */
export async function restoreClosed(tx: Db, { homeProject, id }: Place, ended: WaitingMessage[]): Promise<void> {
  await sql.restoreClosed.run(tx, { homeProject, id: ended.map((message) => message.id) });
  await sql.insertDrafts.run(tx, { homeProject, id });
  await dropBeforeClosing(tx, { homeProject, id });
}
