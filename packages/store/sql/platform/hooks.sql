-- fragment: hook_columns
h.id, h.project_id AS project, (SELECT p.name FROM projects p WHERE p.id = h.project_id) AS project_name,
h.name, h.preset, h.auth, h.sealed_secret, h.previous_sealed_secret, h.previous_until, h.mapping, h.filter,
h.created_at, h.created_by, h.updated_at, h.version

-- fragment: body_columns
b.id, b.received_at, b.content_type, b.headers, octet_length(b.content) AS size_bytes, b.outcome,
b.faults, b.event_id, b.message_id, b.ticket_id, b.chat_id, b.user_id, b.tries, b.tried_at

-- name: find
-- A hook of a project.
SELECT {{hook_columns}} FROM hooks h WHERE h.project_id = :project AND h.id = :id;

-- name: findForCall (prepared)
-- The hook with this id, of any project, since calls of hooks have no key. Hooks of deleted projects are not found.
SELECT {{hook_columns}} FROM hooks h WHERE h.id = :id
AND NOT EXISTS (SELECT 1 FROM projects p WHERE p.id = h.project_id AND p.deleted_at IS NOT NULL);

-- name: listPage
-- Hooks of a project, newest first: those created before the one with id `before`, and with `q` in the name.
SELECT {{hook_columns}} FROM hooks h
WHERE h.project_id = :project AND (:before::uuid IS NULL OR h.id < :before)
  AND (:q::text IS NULL OR strpos(lower(h.name), lower(:q)) > 0)
ORDER BY h.id DESC LIMIT :limit;

-- name: insert
-- Creates a hook; no row if its name is taken. Locks the rows of hooks that it writes.
INSERT INTO hooks (project_id, id, name, preset, auth, sealed_secret, mapping, filter, created_by)
VALUES (:project, :id, :name, :preset, :auth, :sealed, :mapping, :filter, :created_by) ON CONFLICT (project_id,
  name) DO NOTHING RETURNING id;

-- name: update
-- Changes fields of a hook and raises its version, if `versions` contains the current one or is null. Locks the rows of
-- hooks that it writes.
UPDATE hooks SET version = version + 1, updated_at = now(), name = coalesce(:name, name),
  auth = coalesce(:auth::jsonb, auth), mapping = coalesce(:mapping::jsonb, mapping),
  filter = coalesce(:filter::jsonb, filter)
WHERE project_id = :project AND id = :id AND (:versions::integer[] IS NULL OR version = ANY (:versions)) RETURNING id;

-- name: rotate
-- Sets a new secret and raises its version. Locks the rows of hooks that it writes.
UPDATE hooks SET version = version + 1, updated_at = now(), sealed_secret = :sealed,
  previous_sealed_secret = CASE WHEN :overlap_seconds > 0 THEN sealed_secret END,
  previous_until = CASE WHEN :overlap_seconds > 0 THEN now() + :overlap_seconds::integer * interval '1 second' END
WHERE project_id = :project AND id = :id;

-- name: remove
-- Deletes a hook with its bodies and events, if `versions` contains its current version or is null. Locks the rows of
-- hooks that it writes.
DELETE FROM hooks
WHERE project_id = :project AND id = :id AND (:versions::integer[] IS NULL OR version = ANY (:versions)) RETURNING id;

-- name: listBodies
-- The last bodies of a hook, newest first, truncated for display.
SELECT {{body_columns}}, substring(b.content FROM 1 FOR {{listedBytes}}) AS content
FROM hook_bodies b WHERE b.project_id = :project AND b.hook_id = :hook_id
ORDER BY b.id DESC LIMIT {{hookLimitsKeptBodies}};

-- name: findBody
-- One of the last bodies of a hook, or null.
SELECT {{body_columns}}, b.content FROM hook_bodies b
WHERE b.project_id = :project AND b.hook_id = :hook_id AND b.id = :body_id;

-- name: claimEvent
-- The first call determines the message; a concurrent call waits for its commit and reads its row. The update changes
-- nothing: without it the statement would not return an existing row. Locks the rows of hook_events that it writes.
INSERT INTO hook_events AS e (project_id, hook_id, event_id, message_id, chat_id)
SELECT :project, h.id, :event_id, :message_id, :chat_id FROM hooks h WHERE h.id = :hook_id AND h.project_id = :project
ON CONFLICT (hook_id, event_id) DO UPDATE SET event_id = e.event_id
RETURNING e.message_id, e.chat_id;

-- name: deleteOld
-- Deletes bodies after 30 days and events after 7, at most `limit` of each. Locks the rows of hook_bodies that it
-- reads.
DELETE FROM hook_bodies WHERE id IN (
  SELECT id FROM hook_bodies WHERE received_at < now() - interval '{{hookLimitsKeptDays}} days'
  LIMIT :limit FOR UPDATE SKIP LOCKED
) RETURNING 1;

-- name: deleteOldEvents
-- Deletes some old events. Rows that another replica is deleting are skipped. Locks the rows of hook_events that it
-- reads.
DELETE FROM hook_events WHERE ctid IN (
  SELECT ctid FROM hook_events WHERE created_at < now() - interval '{{hookLimitsEventDays}} days'
  LIMIT :limit FOR UPDATE SKIP LOCKED
) RETURNING 1;

-- name: addBody
-- Stores a body and deletes all but the newest twenty. A body whose message was erased in the meantime is not stored:
-- the message's row is locked, so that an erasure is either finished, or waits and finds the body. Bodies that another
-- call is deleting are skipped, to avoid deadlocks.
WITH message AS MATERIALIZED (
  SELECT 1 FROM messages WHERE project_id = :project AND id = :message_id::uuid FOR KEY SHARE
), added AS (
  INSERT INTO hook_bodies (project_id, id, hook_id, content_type, headers, content, outcome, faults, event_id,
    message_id, ticket_id, chat_id, user_id)
  SELECT :project, :id, h.id, :content_type, :headers, :content, :outcome, :faults, :event_id, :message_id, :ticket_id,
    :chat_id, :user_id
  FROM hooks h
  WHERE h.id = :hook_id AND h.project_id = :project AND (:message_id::uuid IS NULL OR EXISTS (SELECT 1 FROM message))
)
DELETE FROM hook_bodies WHERE id IN (
  SELECT id FROM hook_bodies WHERE hook_id = :hook_id AND project_id = :project AND id <> :id
  ORDER BY id DESC OFFSET {{hiddenBodies}} FOR UPDATE SKIP LOCKED
);

-- name: recordBodyResult
-- Records the result of another attempt at a body. As in `addBody`, a body whose message was erased in the meantime is
-- deleted; a deleted body stays deleted. Locks the message's row, then the body's, as an erasure does.
WITH message AS MATERIALIZED (
  SELECT 1 FROM messages WHERE project_id = :project AND id = :message_id::uuid FOR KEY SHARE
), erased AS (
  DELETE FROM hook_bodies WHERE project_id = :project AND id = :id AND :message_id::uuid IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM message)
)
UPDATE hook_bodies SET outcome = :outcome, faults = :faults, event_id = :event_id, message_id = :message_id,
  ticket_id = :ticket_id, chat_id = :chat_id, user_id = :user_id, tries = tries + 1, tried_at = now()
WHERE project_id = :project AND id = :id
  AND CASE WHEN :message_id::uuid IS NULL THEN message_id IS NULL ELSE EXISTS (SELECT 1 FROM message) END;
