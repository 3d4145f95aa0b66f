import type { StageMove } from "@svc/contracts";
import type { Db } from "./db.ts";
import type { ProjectId } from "./ids.ts";

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
  },
): Promise<void> {
  await tx.query(
    `INSERT INTO ticket_events (ticket_id, project_id, message_id, actor, moves, data)
     VALUES ($2, $1, $3, $4, $5, $6)`,
    [
      event.project,
      event.ticketId,
      event.messageId,
      event.actor,
      JSON.stringify(event.moves),
      JSON.stringify(event.data),
    ],
  );
}
