-- Up Migration

-- Empty when the background work is done, so that looking for more costs one page. In a migration of its own: building it
-- lets searches go on and only makes the indexing of words wait, while the column before takes the table for a moment.
CREATE INDEX ticket_texts_without_customer ON ticket_texts (ticket_id) WHERE NOT has_customer;
