-- Up Migration

-- Empty when the background work is done, so that looking for more costs one page. In a migration of its own, as with
-- ticket_texts_without_customer, which no version before reads any more.
CREATE INDEX ticket_texts_outdated ON ticket_texts (ticket_id) WHERE words_version < 1;
DROP INDEX ticket_texts_without_customer, ticket_texts_without_customer_row;
