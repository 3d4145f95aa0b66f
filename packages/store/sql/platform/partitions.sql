-- name: list
-- The partitions of these tables, by their bounds. Tables that are not partitioned yet have none.
SELECT p.relname::text AS table_name, c.relname::text AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds
FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent JOIN pg_class c ON c.oid = i.inhrelid
WHERE p.relkind = 'p' AND p.relnamespace = current_schema()::regnamespace AND p.relname = ANY (:tables::text[])
ORDER BY p.relname, c.relname;

-- name: readState
-- The time, and the last event id of tickets; null before the first.
SELECT now() AS now, pg_sequence_last_value(pg_get_serial_sequence('ticket_events', 'id')::regclass) AS last_event_id;

-- name: skipEventIds
-- Advances the sequence so that the next ticket event has this id, unless it is beyond that. The caller holds the lock
-- of the schema.
SELECT setval(pg_get_serial_sequence('ticket_events', 'id'), :id::bigint, false)
WHERE coalesce(pg_sequence_last_value(pg_get_serial_sequence('ticket_events', 'id')::regclass), 0) < :id::bigint;
