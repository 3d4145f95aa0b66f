-- Up Migration

-- What a ticket was when somebody closed it: time, status, stage, assignee and draft, so that reopening restores it. NULL
-- for a ticket that an earlier version closed.
ALTER TABLE tickets ADD COLUMN before_close jsonb;
