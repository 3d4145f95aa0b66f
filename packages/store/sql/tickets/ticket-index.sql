-- name: isBehind
-- Mostly there is nothing to do, and a lock would write something all the same.
SELECT settled_id < (SELECT coalesce(max(id), 0) FROM ticket_events) AS is_behind FROM ticket_index;

-- name: hold
-- SKIP LOCKED: of several replicas one follows, the others leave it to that one.
SELECT settled_id, reached_id,
  (SELECT coalesce(max(id), 0) FROM ticket_events) AS top_id,
  pg_snapshot_xmax(pg_current_snapshot())::text AS top_xmax,
  reached_xmax <= pg_snapshot_xmin(pg_current_snapshot()) AS is_reached_settled
FROM ticket_index FOR UPDATE SKIP LOCKED;

-- name: findChanged
-- By what tells one state of a ticket from another, so that an event that is looked at again costs next to nothing.
SELECT e.ticket_id FROM (SELECT DISTINCT ticket_id FROM ticket_events WHERE id > :settled_id) e
JOIN tickets t ON t.id = e.ticket_id
LEFT JOIN ticket_list l ON l.ticket_id = t.id
WHERE l.ticket_id IS NULL OR l.version <> t.version OR l.updated_us <> {{microsecondsOf}}
LIMIT {{stepTickets}};

-- name: follow
-- Both in the order of ids. Whoever indexes the words of one of them has deleted its row in the queue and not committed
-- yet: then this waits, and queues it again. Locks the rows of ticket_list that it writes.
INSERT INTO ticket_list ({{listColumns}})
SELECT {{listValues}} FROM tickets t WHERE t.id = ANY (:ids::uuid[]) ORDER BY t.id
ON CONFLICT (ticket_id) DO UPDATE SET {{overwritten}};

-- name: queueTexts
-- Locks the rows of ticket_text_queue that it writes.
INSERT INTO ticket_text_queue (ticket_id) SELECT id FROM unnest(:id::uuid[]) AS i (id) ORDER BY id
ON CONFLICT (ticket_id) DO UPDATE SET queued_at = now();

-- name: updateTicketIndex
-- Takes over what has changed in tickets since the last step, and queues them for their words. Locks the rows of
-- ticket_index that it writes.
UPDATE ticket_index SET settled_id = reached_id, reached_id = :top_id, reached_xmax = :top_xmax::xid8 WHERE is_only_row;
