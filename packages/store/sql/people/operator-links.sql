-- name: isFirstMissing
SELECT EXISTS (SELECT 1 FROM operators WHERE password_hash IS NOT NULL AND disabled_at IS NULL) AS has;

-- name: put
-- Makes a link, in the place of an earlier one for the same. Locks the rows of operator_links that it writes.
INSERT INTO operator_links (id, operator_id, hash, expires_at)
VALUES (:id, :operator_id, :hash, now() + make_interval(secs => :lifetime_seconds))
ON CONFLICT (coalesce(operator_id, '00000000-0000-0000-0000-000000000000'))
DO UPDATE SET id = EXCLUDED.id, hash = EXCLUDED.hash, created_at = now(), expires_at = EXCLUDED.expires_at
RETURNING operator_id, expires_at;

-- name: find
-- The link with this SHA-256, as long as it can be used, or null.
SELECT l.operator_id, l.expires_at FROM operator_links l LEFT JOIN operators o ON o.id = l.operator_id
WHERE l.hash = :hash AND l.expires_at > now() AND o.disabled_at IS NULL;

-- name: usePassword
-- Uses a link up for an operator's password: sets it, and ends the operator's sessions. Locks the rows of
-- operator_links that it writes.
DELETE FROM operator_links WHERE hash = :hash AND expires_at > now() AND operator_id IS NOT NULL
RETURNING operator_id;

-- name: updateOperators
-- Locks the rows of operators that it writes.
UPDATE operators SET password_hash = :password_hash, version = version + 1 WHERE id = :id AND disabled_at IS NULL
RETURNING id;

-- name: deleteOperatorSessions
-- Locks the rows of operator_sessions that it writes.
DELETE FROM operator_sessions WHERE operator_id = :id;

-- name: useFirst
-- Uses the link of the first administrator up: true when `make` may go on, which it does before anybody else can.
SELECT pg_advisory_xact_lock(:first_lock);

-- name: deleteOperatorLinks
-- Locks the rows of operator_links that it writes.
DELETE FROM operator_links WHERE hash = :hash AND expires_at > now() AND operator_id IS NULL RETURNING id;

-- name: insertOperators
-- Somebody may have been made without a password under this address, as by `svc operators create`. Locks the rows of
-- operators that it writes.
INSERT INTO operators (id, email, email_key, name, password_hash) VALUES (:id, :email, :email_key, :name, :password_hash)
ON CONFLICT (email_key) DO UPDATE SET name = EXCLUDED.name, password_hash = EXCLUDED.password_hash,
  disabled_at = NULL, version = operators.version + 1
RETURNING id;

-- name: deleteOperatorRoles
-- Locks the rows of operator_roles that it writes.
DELETE FROM operator_roles WHERE operator_id = :id AND project_id IS NULL;

-- name: insertOperatorRoles
-- Locks the rows of operator_roles that it writes.
INSERT INTO operator_roles (operator_id, project_id, role) VALUES (:id, NULL, 'administrator');
