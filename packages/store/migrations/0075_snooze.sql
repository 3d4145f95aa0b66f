-- Up Migration

-- A snoozed ticket is in no view of open work until this time; 'infinity' until its customer writes. NULL for all others.
ALTER TABLE tickets ADD COLUMN snoozed_until timestamptz;
-- For the sweep that ends snoozes. No other change of a ticket changes the column, so that writes stay within its page.
CREATE INDEX tickets_snoozed ON tickets (snoozed_until) WHERE snoozed_until IS NOT NULL;
ALTER TABLE ticket_list ADD COLUMN is_snoozed boolean NOT NULL DEFAULT false;
CREATE INDEX ticket_list_snoozed ON ticket_list (project_id, updated_us, ticket_id) WHERE is_snoozed;
-- True for a reply with which the ticket is resolved.
ALTER TABLE reviews ADD COLUMN resolves boolean NOT NULL DEFAULT false;
