-- name: write (prepared)
-- Fenced by the lease: a worker that lost it writes nothing. The chat's row is held against the statement that finishes
-- the message, which takes the lease away: whichever comes first, no text is written after the reply. Locks: the chats'
-- rows in the order of their ids, as every statement on chats, and so that others can read them.
WITH input AS (
  SELECT * FROM unnest(:project_id::uuid[], :ticket_id::uuid[], :lease_id::uuid[], :message_id::uuid[], :text::text[])
    AS i (project_id, ticket_id, lease_id, message_id, text)
), held AS MATERIALIZED (
  SELECT c.ticket_id, c.lease_id FROM chats c
  JOIN input i ON c.ticket_id = i.ticket_id AND c.project_id = i.project_id AND c.lease_id = i.lease_id
  ORDER BY c.ticket_id FOR KEY SHARE OF c
)
INSERT INTO unfinished_replies (message_id, project_id, ticket_id, text)
SELECT i.message_id, i.project_id, i.ticket_id, i.text FROM input i JOIN held USING (ticket_id, lease_id)
ON CONFLICT (message_id) DO UPDATE SET text = excluded.text, updated_at = now()
RETURNING message_id;

-- name: find (prepared)
-- The oldest message of each chat that has no answer yet: the one that is being worked on. Messages that are finished
-- are not found, so that nobody is shown what was left of their texts. Reads only.
SELECT i.project_id, i.ticket_id, m.id AS message_id, u.text,
  m.mode IS NOT DISTINCT FROM 'async' OR (m.mode = 'sync' AND {{isCallOver}}) AS is_collected
FROM unnest(:project_id::uuid[], :ticket_id::uuid[]) AS i (project_id, ticket_id)
CROSS JOIN LATERAL (
  SELECT id, mode, call_ended_at, call_instance FROM messages
  WHERE ticket_id = i.ticket_id AND project_id = i.project_id AND state = 'received' ORDER BY seq LIMIT 1
) m
LEFT JOIN unfinished_replies u ON u.message_id = m.id;

-- name: removeIdle
-- Forgets the texts that nobody adds to any more, of all projects. Locks the rows of unfinished_replies that it writes.
DELETE FROM unfinished_replies WHERE updated_at < now() - interval '{{keptSeconds}} seconds';
