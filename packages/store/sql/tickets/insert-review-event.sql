-- name: insertReviewEvent
-- Ticket events belong to the project that the ticket came in to. Locks the rows of ticket_events that it writes.
INSERT INTO ticket_events (ticket_id, project_id, message_id, actor, moves, data, answer_step, answer_confidence,
  answer_agent_id)
VALUES (:ticket_id, :project, :message_id, :actor, :moves, :data, :answer_step, :answer_confidence, :answer_agent_id);
