import type { BusinessHours, ChannelId, DeadlineKind, SlaTarget } from "@svc/contracts";
import type { TicketPriority, TicketStage, TicketStatus } from "@svc/contracts";
import type { Db } from "../db.ts";
import { columnsOf, statements } from "../sql.ts";

/** The data from which the deadlines of a ticket are calculated. */
export interface DeadlineFacts {
  ticketId: string;
  priority: TicketPriority;
  channelId: ChannelId;
  status: TicketStatus;
  stage: TicketStage;
  assignee: string | null;
  firstReplyAt: Date | null;
  updatedAt: Date;
  /** Time of the oldest message without a reply; null if there is none. */
  waitingSince: Date | null;
  /** Time since which the resolution is due; null if it is not. */
  resolutionStartedAt: Date | null;
  /** Of the project that works on the ticket; so is `businessHours`. */
  slaTargets: SlaTarget[];
  businessHours: BusinessHours | null;
}

/** A deadline of a ticket. */
export interface Deadline {
  kind: DeadlineKind;
  startedAt: Date;
  dueAt: Date;
}

/** Calculates the current deadlines of a ticket. */
export type DeadlinesOf = (facts: DeadlineFacts) => Deadline[];

/** Late tickets per step. */
const STEP_TICKETS = 100;

const sql = statements("tickets/ticket-deadlines", { stepTickets: STEP_TICKETS });

/** Replaces the deadlines of tickets with the current ones. */
export async function followDeadlines(tx: Db, ids: readonly string[], deadlinesOf: DeadlinesOf): Promise<void> {
  if (ids.length === 0) return;
  const tickets = await sql.read.all<DeadlineFacts>(tx, { ids });
  const given = tickets.flatMap((facts) =>
    deadlinesOf(facts).map((deadline) => ({ ticketId: facts.ticketId, ...deadline })),
  );
  await sql.write.run(tx, {
    ...columnsOf(given, "ticketId", "kind", "startedAt", "dueAt"),
    ids,
  });
}

/**
 * Records late tickets, in batches, each with an event `sla_breached`; returns how many. Safe with any number of
 * replicas. A ticket is skipped until its newest event was followed.
 */
export const recordBreaches = async (db: Db): Promise<number> => (await sql.recordBreaches.all(db)).length;
