-- Up Migration

-- How often indexing the words of a ticket has begun without an end: a ticket that ends the process is indexed alone, and
-- a few times only.
ALTER TABLE ticket_text_queue ADD COLUMN tries smallint NOT NULL DEFAULT 0;
CREATE INDEX ticket_text_queue_tried ON ticket_text_queue (queued_at) WHERE tries > 0;
