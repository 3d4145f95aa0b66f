import type { StageMove } from "@svc/contracts";
import type { AnswerStep } from "../platform/answer-stats.ts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

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
  await tx.query(
    `INSERT INTO ticket_events (ticket_id, project_id, message_id, actor, moves, data, answer_step, answer_confidence,
       answer_agent_id)
     VALUES ($2, $1, $3, $4, $5, $6, $7, $8, $9)`,
    [
      event.project,
      event.ticketId,
      event.messageId,
      event.actor,
      JSON.stringify(event.moves),
      JSON.stringify(event.data),
      event.answer?.step ?? null,
      event.answer?.confidence ?? null,
      event.answer?.agentId ?? null,
    ],
  );
}
