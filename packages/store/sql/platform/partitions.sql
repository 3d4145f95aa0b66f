-- name: list
-- The partitions of these tables, by their bounds. A table that is not partitioned yet has none.
SELECT p.relname::text AS table_name, c.relname::text AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds
FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent JOIN pg_class c ON c.oid = i.inhrelid
WHERE p.relkind = 'p' AND p.relnamespace = current_schema()::regnamespace AND p.relname = ANY (:tables::text[])
ORDER BY p.relname, c.relname;

-- name: readState
-- The time, and the last id that an event of a ticket got; null before the first.
SELECT now() AS now, pg_sequence_last_value(pg_get_serial_sequence('ticket_events', 'id')::regclass) AS last_event_id;

-- name: skipEventIds
-- Gives this id to the next event of a ticket, unless a later one was given. The caller holds the lock of the schema.
SELECT setval(pg_get_serial_sequence('ticket_events', 'id'), :id::bigint, false)
WHERE coalesce(pg_sequence_last_value(pg_get_serial_sequence('ticket_events', 'id')::regclass), 0) < :id::bigint;
