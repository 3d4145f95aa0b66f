import { z } from "zod";

/** What people see of a ticket. */
export const ticketStatusSchema = z.enum(["open", "pending", "resolved", "spam"]);
export type TicketStatus = z.infer<typeof ticketStatusSchema>;

/** Where the pipeline is with a ticket. States are nouns, the stage functions are verbs. */
export const ticketStageSchema = z.enum([
  "received",
  "triage",
  "retrieval",
  "agent",
  "review",
  "delivering",
  "done",
  "failed",
]);
export type TicketStage = z.infer<typeof ticketStageSchema>;

/** The legal moves of a ticket, as data. Each move that is made is written down as an event. */
export const STAGE_MOVES = {
  received: ["triage", "failed"],
  triage: ["retrieval", "review", "failed"],
  retrieval: ["agent", "failed"],
  agent: ["review", "failed"],
  review: ["delivering", "received", "agent", "done", "failed"],
  delivering: ["done", "failed"],
  done: ["received"],
  failed: ["received"],
} as const satisfies Record<TicketStage, readonly TicketStage[]>;

/** True when a ticket may go from one stage to the other. */
export function isLegalMove(from: TicketStage, to: TicketStage): boolean {
  const targets: readonly TicketStage[] = STAGE_MOVES[from];
  return targets.includes(to);
}

/** One move of a ticket: who made it, from where to where, why, and when (RFC 3339). */
export interface StageMove {
  at: string;
  actor: string;
  from: TicketStage;
  to: TicketStage;
  why: string;
}

/**
 * What became of an incoming message: `received` waits for the pipeline, `held` waits for a person, `answered` has its
 * replies, `failed` is a dead letter.
 */
export const messageStateSchema = z.enum(["received", "held", "answered", "failed"]);
export type MessageState = z.infer<typeof messageStateSchema>;
