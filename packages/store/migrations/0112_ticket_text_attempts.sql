-- Up Migration

-- How often indexing the words of a ticket was begun and not finished. A ticket that crashes the process is indexed alone,
-- and more and more rarely.
ALTER TABLE ticket_text_queue ADD COLUMN attempts smallint NOT NULL DEFAULT 0;
CREATE INDEX ticket_text_queue_attempted ON ticket_text_queue (queued_at) WHERE attempts > 0;
