import { batched } from "../context.ts";
import type { Db } from "../db.ts";
import { statements } from "../sql.ts";

/** Kinds of work that sweeps look for, each with whether some may be due. */
export interface DueWork {
  messages: boolean;
  reviews: boolean;
  ingests: boolean;
  modelPulls: boolean;
  callbacks: boolean;
  deliveries: boolean;
  outboxes: boolean;
  /** Changes of tickets that their lists do not have yet. */
  ticketEvents: boolean;
  /** Tickets whose snooze has ended. */
  snoozes: boolean;
  /** Tickets that are late by the SLA targets. */
  deadlines: boolean;
  /** Tags that are renamed on tickets. */
  tagChanges: boolean;
  /** Tickets that are assigned in turn. */
  assignments: boolean;
}

const sql = statements("platform/due-work");

const findForAll = batched(async (db: Db, sweeps: null[]) => {
  const row = await sql.find.one<DueWork>(db);
  if (row === null) throw new Error("a statement without conditions returned no row");
  return sweeps.map(() => row);
});

/** Returns which kinds of work may be due. The sweeps of a process that ask at the same time share one statement. */
export const find = (db: Db): Promise<DueWork> => findForAll(db, null);
