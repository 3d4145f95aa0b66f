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

/**
 * The legal moves of a ticket, as data. Each move that is made is written down as an event. The agent's answer goes out
 * from `review`; a person may also write from where the ticket rests. A closed ticket whose customer still waits goes from
 * `done` back to `review` or `failed` when it is reopened.
 */
export const STAGE_MOVES = {
  received: ["triage", "review", "delivering", "failed"],
  triage: ["retrieval", "review", "failed"],
  retrieval: ["agent", "failed"],
  agent: ["review", "failed"],
  review: ["delivering", "received", "agent", "done", "failed"],
  delivering: ["done", "review", "failed"],
  done: ["received", "delivering", "review", "failed"],
  failed: ["received", "review", "delivering", "done"],
} as const satisfies Record<TicketStage, readonly TicketStage[]>;

/** Why a ticket goes from `delivering` back to `review`: the agent leaves it alone until a person has looked. */
export const PERSON_PROMISED = "a person was promised or asked for";

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
 * replies, `rejected` gets none because a person has decided so, `failed` is a dead letter.
 */
export const messageStateSchema = z.enum(["received", "held", "answered", "rejected", "failed"]);
export type MessageState = z.infer<typeof messageStateSchema>;
