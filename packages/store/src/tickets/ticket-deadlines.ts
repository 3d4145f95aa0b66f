import type { BusinessHours, ChannelId, DeadlineKind, SlaTarget } from "@svc/contracts";
import type { TicketPriority, TicketStage, TicketStatus } from "@svc/contracts";
import type { Db } from "../db.ts";
import { statements } from "../sql.ts";

/** What the deadlines of a ticket follow from. */
export interface DeadlineFacts {
  ticketId: string;
  priority: TicketPriority;
  channelId: ChannelId;
  status: TicketStatus;
  stage: TicketStage;
  assignee: string | null;
  firstReplyAt: Date | null;
  updatedAt: Date;
  /** When the oldest message without a reply came in; null if there is none. */
  waitingSince: Date | null;
  /** Since when the resolution is waited for; null if it is not. */
  resolutionStartedAt: Date | null;
  /** Of the project that works on the ticket, as is `businessHours`. */
  slaTargets: SlaTarget[];
  businessHours: BusinessHours | null;
}

/** When a ticket is due. */
export interface Deadline {
  kind: DeadlineKind;
  startedAt: Date;
  dueAt: Date;
}

/** Computes the deadlines that a ticket has now. */
export type DeadlinesOf = (facts: DeadlineFacts) => Deadline[];

/** Late tickets that one step records. */
const STEP_TICKETS = 100;

const sql = statements("tickets/ticket-deadlines", { stepTickets: STEP_TICKETS });

/** Replaces the deadlines of tickets by those that they have now. */
export async function followDeadlines(tx: Db, ids: readonly string[], deadlinesOf: DeadlinesOf): Promise<void> {
  if (ids.length === 0) return;
  const tickets = await sql.read.all<DeadlineFacts>(tx, { ids });
  const given = tickets.flatMap((facts) =>
    deadlinesOf(facts).map((deadline) => ({ ticketId: facts.ticketId, ...deadline })),
  );
  await sql.write.run(tx, {
    ids,
    ticketId: given.map(({ ticketId }) => ticketId),
    kind: given.map(({ kind }) => kind),
    startedAt: given.map(({ startedAt }) => startedAt),
    dueAt: given.map(({ dueAt }) => dueAt),
  });
}

/**
 * Records tickets that are late, some at a time, each with an event `sla_breached`; returns how many. Safe with any
 * number of replicas. A ticket whose newest change is not followed yet waits for it.
 */
export const recordBreaches = async (db: Db): Promise<number> => (await sql.recordBreaches.all(db)).length;
