-- Up Migration

-- Messages whose agent a person has decided: triage learns from them.
CREATE TABLE triage_messages (
  -- Grows with every decision, so that a replica sees that there is something new by the highest one.
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  message_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  -- NULL: the message is for none of the agents.
  agent_id uuid,
  text text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (project_id, message_id)
);
CREATE INDEX triage_messages_of_project ON triage_messages (project_id, seq);
CREATE INDEX triage_messages_of_ticket ON triage_messages (ticket_id);

-- Tickets that are resolved teach too: the newest are looked up by this.
CREATE INDEX tickets_resolved ON tickets (project_id, resolved_at) WHERE status = 'resolved';
