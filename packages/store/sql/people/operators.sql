-- fragment: columns
o.id, o.email, o.name, o.password_hash IS NOT NULL AS has_password, o.on_duty, o.created_at, o.last_seen_at,
o.disabled_at, o.version, o.notifications, (
  SELECT coalesce(jsonb_agg(jsonb_build_object('project', coalesce(p.name, '*'), 'role', r.role)
    ORDER BY p.name NULLS FIRST), '[]'::jsonb)
  FROM operator_roles r LEFT JOIN projects p ON p.id = r.project_id
  WHERE r.operator_id = o.id AND p.deleted_at IS NULL
) AS roles

-- name: findProfile
-- The public profile of an operator, which customers see.
SELECT signature, public_name, picture FROM operators WHERE id = :id;

-- name: setProfile
-- Updates the public profile of an operator. Locks the row of operators that it writes.
UPDATE operators SET signature = coalesce(:signature, signature), public_name = coalesce(:public_name, public_name),
  picture = coalesce(:picture, picture) WHERE id = :id;

-- name: deleteRoles
-- Deletes the roles of an operator. Locks the rows of operator_roles that it writes.
DELETE FROM operator_roles WHERE operator_id = :id;

-- name: insertRoles
-- Inserts roles of an operator. Locks the rows of operator_roles that it writes.
INSERT INTO operator_roles (operator_id, project_id, role)
SELECT :id, r.project_id, r.role FROM unnest(:projects::uuid[], :roles::text[]) AS r (project_id, role);

-- name: lockAdministrators
-- Locks the operators who are administrators of everything and may sign in. Locks the rows of operators that it reads.
SELECT o.id FROM operators o WHERE o.disabled_at IS NULL AND EXISTS (
  SELECT 1 FROM operator_roles r
  WHERE r.operator_id = o.id AND r.project_id IS NULL AND r.role = 'administrator')
ORDER BY o.id FOR UPDATE OF o;

-- name: findPassword
-- The password hash of an operator.
SELECT id, password_hash FROM operators
WHERE email_key = :email_key AND password_hash IS NOT NULL AND disabled_at IS NULL;

-- name: insert
-- Creates an operator. Locks the rows of operators that it writes.
INSERT INTO operators (id, email, email_key, name, password_hash) VALUES (:id, :email, :email_key, :name,
  :password_hash)
ON CONFLICT (email_key) DO NOTHING RETURNING id;

-- name: listPage
-- Operators, newest first: those created before the one with id `before`, and with `q` in name or e-mail address.
SELECT {{columns}} FROM operators o
WHERE (:before::uuid IS NULL OR o.id < :before)
  AND (:q::text IS NULL OR strpos(lower(o.name), lower(:q)) > 0 OR strpos(lower(o.email), lower(:q)) > 0)
ORDER BY o.id DESC LIMIT :limit;

-- name: listOfProject
-- Operators who may sign in and have one of these roles in a project, or in all of them: the first `limit` by name.
SELECT o.id, o.name, array_agg(DISTINCT r.role) AS roles FROM operators o
JOIN operator_roles r ON r.operator_id = o.id AND (r.project_id IS NULL OR r.project_id = :project)
WHERE o.disabled_at IS NULL
GROUP BY o.id, o.name ORDER BY lower(o.name), o.id LIMIT :limit;

-- name: update
-- Changes the given fields, if `versions` contains the current version or is null. The version only rises if a field or
-- the roles, which the caller sets afterwards, change, or with a password. Locks the rows of operators that it writes.
UPDATE operators SET email = coalesce(:email, email), email_key = coalesce(:email_key, email_key),
  name = coalesce(:name, name), password_hash = CASE WHEN :sets_password::boolean THEN :password_hash
    ELSE password_hash END,
  disabled_at = CASE :disabled::boolean WHEN true THEN coalesce(disabled_at, now()) WHEN false THEN NULL
    ELSE disabled_at END,
  on_duty = coalesce(:on_duty::boolean, on_duty), notifications = coalesce(:notifications::jsonb, notifications),
  version = version + (:sets_password OR :roles::text[] IS NOT NULL AND EXISTS (
      WITH given AS (SELECT * FROM unnest(:projects::uuid[], :roles::text[]) AS r (project_id, role)),
        known AS (SELECT project_id, role FROM operator_roles WHERE operator_id = :id)
      (TABLE given EXCEPT TABLE known) UNION ALL (TABLE known EXCEPT TABLE given)
    ) OR (email, name, disabled_at IS NULL, on_duty, notifications) IS DISTINCT FROM (coalesce(:email, email), coalesce(:name, name), coalesce(NOT :disabled, disabled_at IS NULL),
    coalesce(:on_duty, on_duty), coalesce(:notifications, notifications)))::integer
WHERE id = :id AND (:versions::integer[] IS NULL OR version = ANY (:versions)) RETURNING id;

-- name: setDuty
-- Puts an operator on duty or takes them off. Locks the rows of operators that it writes.
UPDATE operators SET on_duty = :on_duty::boolean, version = version + 1 WHERE id = :id AND on_duty <> :on_duty;

-- name: deleteSessions
-- Ends the sessions of an operator, and the push notifications of all their browsers. Locks the rows of operator_sessions and
-- push_subscriptions that it writes.
WITH pushes AS (DELETE FROM push_subscriptions WHERE operator_id = :id)
DELETE FROM operator_sessions WHERE operator_id = :id;

-- name: deleteLinks
-- Deletes the links of an operator. Locks the rows of operator_links that it writes.
DELETE FROM operator_links WHERE operator_id = :id;

-- name: remove
-- Deletes an operator, if `versions` contains the current version or is null. Locks the rows of operators that it
-- writes.
DELETE FROM operators WHERE id = :id AND (:versions::integer[] IS NULL OR version = ANY (:versions)) RETURNING id;

-- name: find
-- An operator by id.
SELECT {{columns}} FROM operators o WHERE o.id = :id;

-- name: findByEmail
-- An operator by e-mail address, normalized.
SELECT {{columns}} FROM operators o WHERE o.email_key = :email_key;
