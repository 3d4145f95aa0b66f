-- name: insert
-- Begins a session. The row of the operator is locked, so that a session cannot begin while somebody shuts the operator
-- out.
UPDATE operators SET last_seen_at = now() WHERE id = :operator_id AND disabled_at IS NULL RETURNING id;

-- name: deleteOperatorSessions
-- Locks the rows of operator_sessions that it writes.
DELETE FROM operator_sessions WHERE created_at < now() - make_interval(secs => :total_seconds)
OR (operator_id = :operator_id AND last_used_at < now() - make_interval(secs => :idle_seconds));

-- name: deleteOperatorSessions2
-- Locks the rows of operator_sessions that it writes.
DELETE FROM operator_sessions WHERE id IN (
SELECT id FROM operator_sessions WHERE operator_id = :operator_id ORDER BY last_used_at DESC OFFSET :kept);

-- name: insertOperatorSessions
-- Locks the rows of operator_sessions that it writes.
INSERT INTO operator_sessions (id, operator_id, hash) VALUES (:id, :operator_id, :hash)
RETURNING id, operator_id, created_at, last_used_at;

-- name: findLive
-- The session with this SHA-256 as long as it is live and its operator may sign in, or null.
SELECT s.id, s.operator_id, s.created_at, s.last_used_at FROM operator_sessions s
JOIN operators o ON o.id = s.operator_id AND o.disabled_at IS NULL
WHERE s.hash = :hash AND s.created_at > now() - make_interval(secs => :total_seconds)
  AND s.last_used_at > now() - make_interval(secs => :idle_seconds);

-- name: touch
-- Notes that sessions were used just now, and their operators seen. Locks in the order of the ids, as every replica
-- that does the same.
WITH used AS (
  UPDATE operator_sessions SET last_used_at = now()
  WHERE id IN (SELECT id FROM operator_sessions WHERE id = ANY (:ids::uuid[]) ORDER BY id FOR UPDATE)
  RETURNING operator_id)
UPDATE operators SET last_seen_at = now() WHERE id IN (SELECT operator_id FROM used);

-- name: remove
-- Ends a session. Locks the rows of operator_sessions that it writes.
DELETE FROM operator_sessions WHERE id = :id;

-- name: removeByHash
-- Ends the session with this SHA-256, where there is one. Locks the rows of operator_sessions that it writes.
DELETE FROM operator_sessions WHERE hash = :hash;

-- name: removeOf
-- Ends all sessions of an operator. Locks the rows of operator_sessions that it writes.
DELETE FROM operator_sessions WHERE operator_id = :operator_id RETURNING id;
