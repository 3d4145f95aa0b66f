import type { StageMove } from "@svc/contracts";
import type { AnswerStep } from "../platform/answer-stats.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("tickets/insert-review-event");

/** Ticket events belong to the project that the ticket came in to. */
export async function insertReviewEvent(
  tx: Db,
  event: {
    project: ProjectId;
    ticketId: string;
    messageId: string | null;
    actor: string;
    moves: StageMove[];
    data: object;
    /** What it means for the answer of an agent, with what only a new answer has; absent where it means nothing. */
    answer?: { step: AnswerStep; confidence?: number; agentId?: string | null } | null;
  },
): Promise<void> {
  await sql.insertReviewEvent.run(tx, {
    project: event.project,
    ticketId: event.ticketId,
    messageId: event.messageId,
    actor: event.actor,
    moves: JSON.stringify(event.moves),
    data: JSON.stringify(event.data),
    answerStep: event.answer?.step,
    answerConfidence: event.answer?.confidence,
    answerAgentId: event.answer?.agentId,
  });
}
