import { batched } from "../context.ts";
import type { Db } from "../db.ts";
import { statements } from "../sql.ts";

/** Kinds of work that sweeps process; true if some may be due, or will be soon. */
export interface DueWork {
  messages: boolean;
  reviews: boolean;
  ingests: boolean;
  modelPulls: boolean;
  callbacks: boolean;
  deliveries: boolean;
  outboxes: boolean;
  /** Ticket events that the ticket lists do not include yet. */
  ticketEvents: boolean;
  /** Tickets whose words are to be indexed. */
  ticketTexts: boolean;
  /** Tickets whose snooze has ended. */
  snoozes: boolean;
  /** Tickets whose SLA deadline has passed. */
  deadlines: boolean;
  /** Emails to operators. */
  emails: boolean;
  /** Tags to be renamed on tickets. */
  tagChanges: boolean;
  /** Tickets to be assigned in turn. */
  assignments: boolean;
}

/**
 * Time for which work is reported before it is due, in milliseconds, if its time is promised: longer than the interval of
 * sweeps in an idle process, so that by then its sweeps run twice a second.
 */
const AHEAD_MS = 2_500;

const sql = statements("platform/due-work", { aheadMs: AHEAD_MS });

const findForAll = batched(async (db: Db, sweeps: null[]) => {
  const row = await sql.find.one<DueWork>(db);
  if (row === null) throw new Error("a statement without conditions returned no row");
  return sweeps.map(() => row);
});

/** Returns which kinds of work may be due. The sweeps of a process that ask at the same time share one statement. */
export const find = (db: Db): Promise<DueWork> => findForAll(db, null);
