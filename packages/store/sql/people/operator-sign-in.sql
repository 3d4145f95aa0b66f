-- name: lockOperator
-- Locks the operator's row before a session is created, so that it cannot be created while the operator is being
-- disabled.
UPDATE operators SET last_seen_at = now() WHERE id = :operator_id AND disabled_at IS NULL RETURNING id;

-- name: deleteExpiredSessions
-- Deletes sessions that have expired. Locks the rows of operator_sessions that it writes.
DELETE FROM operator_sessions WHERE created_at < now() - make_interval(secs => :total_seconds)
OR (operator_id = :operator_id AND last_used_at < now() - make_interval(secs => :idle_seconds));

-- name: deleteSurplusSessions
-- Deletes the sessions of an operator that are the least recently used. Locks the rows of operator_sessions that it
-- writes.
DELETE FROM operator_sessions WHERE id IN (
SELECT id FROM operator_sessions WHERE operator_id = :operator_id ORDER BY last_used_at DESC OFFSET :kept);

-- name: addSession
-- Inserts a session. Locks the rows of operator_sessions that it writes.
INSERT INTO operator_sessions (id, operator_id, hash) VALUES (:id, :operator_id, :hash)
RETURNING id, operator_id, created_at, last_used_at;

-- name: findLive
-- The session with this SHA-256 if it is valid and its operator may sign in, or null.
SELECT s.id, s.operator_id, s.created_at, s.last_used_at FROM operator_sessions s
JOIN operators o ON o.id = s.operator_id AND o.disabled_at IS NULL
WHERE s.hash = :hash AND s.created_at > now() - make_interval(secs => :total_seconds)
  AND s.last_used_at > now() - make_interval(secs => :idle_seconds);

-- name: touch
-- Records the use of sessions and the last activity of their operators. Locks in the order of the ids, as every replica
-- that does the same.
WITH used AS (
  UPDATE operator_sessions SET last_used_at = now()
  WHERE id IN (SELECT id FROM operator_sessions WHERE id = ANY (:ids::uuid[]) ORDER BY id FOR UPDATE)
  RETURNING operator_id)
UPDATE operators SET last_seen_at = now() WHERE id IN (SELECT operator_id FROM used);

-- name: removeSession
-- Ends a session. Locks the rows of operator_sessions that it writes.
DELETE FROM operator_sessions WHERE id = :id;

-- name: removeByHash
-- Ends the session with this SHA-256, if there is one. Locks the rows of operator_sessions that it writes.
DELETE FROM operator_sessions WHERE hash = :hash;

-- name: removeOf
-- Ends all sessions of an operator, and the push notifications of all their browsers. Locks the rows of operator_sessions and
-- push_subscriptions that it writes.
WITH pushes AS (DELETE FROM push_subscriptions WHERE operator_id = :operator_id)
DELETE FROM operator_sessions WHERE operator_id = :operator_id RETURNING id;

-- name: hasAdministrator
-- Returns whether an administrator of all projects can sign in with a password.
SELECT EXISTS (
  SELECT 1 FROM operators o JOIN operator_roles r ON r.operator_id = o.id
  WHERE o.password_hash IS NOT NULL AND o.disabled_at IS NULL AND r.project_id IS NULL AND r.role = 'administrator'
) AS has;

-- name: putLink
-- Creates a link, which replaces an earlier one for the same operator. Locks the rows of operator_links that it writes.
INSERT INTO operator_links (id, operator_id, hash, expires_at)
VALUES (:id, :operator_id, :hash, now() + make_interval(secs => :lifetime_seconds))
ON CONFLICT (coalesce(operator_id, '00000000-0000-0000-0000-000000000000'))
DO UPDATE SET id = EXCLUDED.id, hash = EXCLUDED.hash, created_at = now(), expires_at = EXCLUDED.expires_at
RETURNING operator_id, expires_at;

-- name: findLink
-- The link with this SHA-256, if it is valid, or null.
SELECT l.operator_id, l.expires_at FROM operator_links l LEFT JOIN operators o ON o.id = l.operator_id
WHERE l.hash = :hash AND l.expires_at > now() AND o.disabled_at IS NULL;

-- name: takePasswordLink
-- Consumes a link for setting an operator's password. Locks the rows of operator_links that it writes.
DELETE FROM operator_links WHERE hash = :hash AND expires_at > now() AND operator_id IS NOT NULL
RETURNING operator_id;

-- name: setPassword
-- Sets the password of an operator. Locks the rows of operators that it writes.
UPDATE operators SET password_hash = :password_hash, version = version + 1 WHERE id = :id AND disabled_at IS NULL
RETURNING id;

-- name: deleteSessions
-- Ends the sessions of an operator, and the push notifications of all their browsers. Locks the rows of operator_sessions and
-- push_subscriptions that it writes.
WITH pushes AS (DELETE FROM push_subscriptions WHERE operator_id = :id)
DELETE FROM operator_sessions WHERE operator_id = :id;

-- name: lockFirst
-- Locks the link of the first administrator, so that only one call can use it.
SELECT pg_advisory_xact_lock(:first_lock);

-- name: takeFirstLink
-- Deletes the link of the first administrator, if it can still be used. Locks the rows of operator_links that it
-- writes.
DELETE FROM operator_links WHERE hash = :hash AND expires_at > now() AND operator_id IS NULL RETURNING id;

-- name: putAdministrator
-- Creates the first administrator, or sets the password of an operator with this address who has none, as created by
-- `svc operators create`. Locks the rows of operators that it writes.
INSERT INTO operators (id, email, email_key, name, password_hash) VALUES (:id, :email, :email_key, :name,
  :password_hash)
ON CONFLICT (email_key) DO UPDATE SET name = EXCLUDED.name, password_hash = EXCLUDED.password_hash,
  disabled_at = NULL, version = operators.version + 1
RETURNING id;

-- name: deleteOldRole
-- Deletes the role that an operator has in all projects. Locks the rows of operator_roles that it writes.
DELETE FROM operator_roles WHERE operator_id = :id AND project_id IS NULL;

-- name: insertRole
-- Makes an operator an administrator of everything. Locks the rows of operator_roles that it writes.
INSERT INTO operator_roles (operator_id, project_id, role) VALUES (:id, NULL, 'administrator');
