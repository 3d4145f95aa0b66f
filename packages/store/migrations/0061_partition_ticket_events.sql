-- Up Migration

-- As delivery_attempts, by range of the id. Ids are numbered on from the first one of each month, 2^40 for each month since
-- January 1970: the pipeline moves the sequence forward when a month begins.
ALTER TABLE ticket_events RENAME TO ticket_events_first;
CREATE TABLE ticket_events (LIKE ticket_events_first INCLUDING ALL) PARTITION BY RANGE (id);
SELECT setval(pg_get_serial_sequence('ticket_events', 'id'), last.id)
FROM (SELECT pg_sequence_last_value(pg_get_serial_sequence('ticket_events_first', 'id')::regclass) AS id) last
WHERE last.id IS NOT NULL;
ALTER TABLE ticket_events_first ALTER COLUMN id DROP IDENTITY;
ALTER TABLE ticket_events ATTACH PARTITION ticket_events_first FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
