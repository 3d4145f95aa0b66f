-- name: renew (prepared)
-- Renews the leases that this process still holds and returns their ids; a missing lease is lost. Planned once, like
-- `messages.accept`. Locks the chats' rows in the order of their ids, as every statement on chats does.
WITH held AS MATERIALIZED (
  SELECT c.ticket_id FROM chats c
  JOIN unnest(:project_id::uuid[], :ticket_id::uuid[], :lease_id::uuid[])
    WITH ORDINALITY AS r (project_id, ticket_id, lease_id, place)
    ON c.ticket_id = r.ticket_id AND c.project_id = r.project_id AND c.lease_id = r.lease_id
      AND r.place BETWEEN 1 AND 1000000
  ORDER BY c.ticket_id FOR UPDATE OF c
)
UPDATE chats c SET lease_until = now() + interval '{{leaseMs}} milliseconds'
FROM held WHERE c.ticket_id = held.ticket_id RETURNING c.lease_id;

-- name: saveProgress
-- Saves the results of the stages of a long run with the message, so that little is repeated after a crash. Locks the
-- rows of messages that it writes.
UPDATE messages m SET progress = :progress
FROM chats c
WHERE m.id = :message_id AND m.project_id = :project AND c.ticket_id = m.ticket_id AND c.lease_id = :lease_id
  AND m.state = 'received';

-- name: release
-- Releases a lease, if this process still holds it. Locks the rows of chats that it writes.
UPDATE chats SET lease_id = NULL, lease_until = NULL
WHERE ticket_id = :ticket_id AND project_id = :project AND lease_id = :lease_id;

-- name: listBefore (prepared)
-- Messages and replies share the sequence numbers of their chat, and both tables have an index on them.
SELECT author, text, sources FROM ({{history}}) AS h ORDER BY seq;
