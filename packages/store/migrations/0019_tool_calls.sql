-- Up Migration

-- Calls that agents make of their tools while they answer a message, and those that wait for an operator. A row is there
-- before its call is made, so that no call is made twice whatever dies in between.
CREATE TABLE tool_calls (
  -- Also sent along with a call that writes, as its Idempotency-Key.
  id uuid PRIMARY KEY,
  -- Whose agent it is: the project that worked on the ticket then.
  project_id uuid NOT NULL,
  ticket_id uuid NOT NULL,
  -- The message that the agent answers.
  message_id uuid NOT NULL,
  agent_id uuid NOT NULL,
  -- Name by which the model knows the tool.
  tool text NOT NULL,
  -- Changes with what a call of the tool does: an approval is for the tool as it was.
  mark text NOT NULL,
  access text NOT NULL,
  -- Of the tool and the arguments; with occurrence: a call that is asked for again is this row.
  call_key text NOT NULL,
  occurrence integer NOT NULL,
  arguments jsonb NOT NULL,
  -- waiting, approved, running, done, failed, unknown, rejected.
  state text NOT NULL,
  -- What the model is told, cut to size: text of the other end.
  result text,
  duration_ms integer,
  created_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  decided_by text,
  decided_at timestamptz,
  UNIQUE (message_id, project_id, call_key, occurrence)
);
CREATE INDEX tool_calls_of_ticket ON tool_calls (ticket_id, id);
CREATE INDEX tool_calls_of_project ON tool_calls (project_id, id);
CREATE INDEX tool_calls_waiting ON tool_calls (project_id, id) WHERE state = 'waiting';
