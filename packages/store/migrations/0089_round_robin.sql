-- Up Migration

-- How tickets of an agent that wait for a person get an assignee: none, or round-robin among operators on duty.
ALTER TABLE agents ADD COLUMN assignment text NOT NULL DEFAULT 'none';
-- Empty for most installations, so that looking for tickets to assign costs one page.
CREATE INDEX agents_assigning ON agents (project_id, id) WHERE assignment = 'round-robin';

-- Set by the operators themselves. Tickets are assigned in turn only to those who are on duty.
ALTER TABLE operators ADD COLUMN on_duty boolean NOT NULL DEFAULT false;
-- When an operator was last assigned a ticket in turn; NULL for never.
ALTER TABLE operators ADD COLUMN assigned_at timestamptz;
