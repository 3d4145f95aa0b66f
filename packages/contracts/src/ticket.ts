import { z } from "zod";

/** Status of a ticket, as shown to people. */
export const ticketStatusSchema = z.enum(["open", "pending", "resolved", "spam"]);
export type TicketStatus = z.infer<typeof ticketStatusSchema>;

/** Stage of a ticket in the pipeline. States are nouns, stage functions are verbs. */
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
 * Legal transitions of a ticket, as data. Each transition is recorded as an event. The agent's answer is sent from
 * `review`; an operator can also write from any resting state. A closed ticket whose customer still waits returns from
 * `done` to `review` or `failed` when it is reopened.
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

/**
 * Reason of a transition from `delivering` back to `review`: the agent pauses until an operator has reviewed the
 * ticket.
 */
export const PERSON_PROMISED = "a person was promised or asked for";

/** Returns true if a ticket can go from one stage to the other. */
export function isLegalMove(from: TicketStage, to: TicketStage): boolean {
  const targets: readonly TicketStage[] = STAGE_MOVES[from];
  return targets.includes(to);
}

/** One transition of a ticket: the actor, the stages, the reason, and the time (RFC 3339). */
export interface StageMove {
  at: string;
  actor: string;
  from: TicketStage;
  to: TicketStage;
  why: string;
}

/**
 * State of an incoming message: `received` waits for the pipeline, `held` waits for an operator, `answered` has its
 * replies, `rejected` was dismissed by an operator, `failed` is a dead letter.
 */
export const messageStateSchema = z.enum(["received", "held", "answered", "rejected", "failed"]);
export type MessageState = z.infer<typeof messageStateSchema>;
