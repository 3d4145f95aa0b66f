-- Up Migration

-- What an event means for an agent's answer: the answer was sent or held, a person approved, edited or rejected it, the
-- customer asked for a person or rated the conversation badly. NULL for all other events and for those of earlier versions.
ALTER TABLE ticket_events ADD COLUMN answer_step text;
-- Of an answer that was sent or held: how sure the agent was, and which agent.
ALTER TABLE ticket_events ADD COLUMN answer_confidence real;
ALTER TABLE ticket_events ADD COLUMN answer_agent_id uuid;
-- Statistics of answers read this index alone, not the wide rows of the table.
CREATE INDEX ticket_events_answers ON ticket_events (project_id, at)
  INCLUDE (id, ticket_id, answer_step, answer_confidence, answer_agent_id) WHERE answer_step IS NOT NULL;
