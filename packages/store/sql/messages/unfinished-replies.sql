-- name: write (prepared)
-- Fenced by the lease: a worker that lost it writes nothing. The lock on the chat's row excludes the statement that
-- finishes the message and ends the lease: whichever comes first, no text is written after the reply. Locks the chats'
-- rows in the order of their ids, as every statement on chats, in a mode that allows reads.
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
-- The oldest unanswered message of each chat, which is the one being processed. Finished messages are skipped, so that
-- remains of their texts are not shown. Planned once, like `messages.accept`. Read-only.
SELECT i.project_id, i.ticket_id, m.id AS message_id, u.text,
  m.mode IS NOT DISTINCT FROM 'async' OR (m.mode = 'sync' AND {{isCallOver}}) AS is_collected
FROM unnest(:project_id::uuid[], :ticket_id::uuid[]) WITH ORDINALITY AS i (project_id, ticket_id, place)
CROSS JOIN LATERAL (
  SELECT id, mode, call_ended_at, call_instance FROM messages
  WHERE ticket_id = i.ticket_id AND project_id = i.project_id AND state = 'received' ORDER BY seq LIMIT 1
) m
LEFT JOIN unfinished_replies u ON u.message_id = m.id
WHERE i.place BETWEEN 1 AND 1000000;

-- name: removeIdle
-- Deletes texts that have not been updated for a while, of all projects. Locks the rows of unfinished_replies that it
-- writes.
DELETE FROM unfinished_replies WHERE updated_at < now() - interval '{{keptSeconds}} seconds';
