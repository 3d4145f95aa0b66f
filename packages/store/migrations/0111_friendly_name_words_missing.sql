-- Up Migration

-- Empty when the background work is done, so that looking for more costs one page. In a migration of its own, as with
-- ticket_texts_without_customer.
CREATE INDEX ticket_texts_without_friendly_name ON ticket_texts (ticket_id) WHERE NOT has_friendly_name;
