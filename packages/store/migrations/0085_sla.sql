-- Up Migration

-- SLA targets, as `slaTargetsSchema` of packages/contracts has them.
ALTER TABLE projects ADD COLUMN sla_targets jsonb NOT NULL DEFAULT '[]';

-- When tickets are due by the targets of their project. Rows are made and ended by what follows the events of tickets,
-- never by a message itself; projects without targets have none.
CREATE TABLE ticket_deadlines (
  ticket_id uuid NOT NULL REFERENCES tickets (id) ON DELETE CASCADE,
  -- 'first_reply', 'next_reply' or 'resolution'.
  kind text NOT NULL,
  started_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  -- When the ticket no longer waited; NULL while it does.
  ended_at timestamptz,
  -- When it was recorded that the ticket is late; NULL until then.
  breached_at timestamptz,
  PRIMARY KEY (ticket_id, kind)
);
-- For the sweep that records late tickets.
CREATE INDEX ticket_deadlines_due ON ticket_deadlines (due_at) WHERE ended_at IS NULL AND breached_at IS NULL;

-- Microseconds since 1970 of the earliest deadline; the greatest safe integer without one, so that such tickets are last.
ALTER TABLE ticket_list ADD COLUMN due_us bigint NOT NULL DEFAULT 9007199254740991;
CREATE INDEX ticket_list_by_deadline ON ticket_list (project_id, due_us, ticket_id);
