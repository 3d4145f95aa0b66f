-- fragment: columns
w.id, w.description, w.url, w.sealed_secret, w.previous_sealed_secret, w.previous_until, w.events, w.channels,
w.agent_ids, w.priorities, w.active_since, w.created_at, w.created_by, w.updated_at, w.version

-- name: find
-- A webhook of a project.
SELECT {{columns}} FROM webhooks w WHERE w.project_id = :project AND w.id = :id;

-- name: listPage
-- Webhooks of a project, newest first: those created before the one with id `before`, and with `q` in the description
-- or, for a caller who may see all of it, the URL.
SELECT {{columns}} FROM webhooks w
WHERE w.project_id = :project AND (:before::uuid IS NULL OR w.id < :before)
  AND (:q::text IS NULL OR strpos(
    lower(w.description || CASE WHEN :searches_url::boolean THEN ' ' || w.url ELSE '' END), lower(:q)) > 0)
ORDER BY w.id DESC LIMIT :limit;

-- name: holdProject
-- Locks the project's row, so that concurrent calls cannot exceed the limit of webhooks: the next statement counts all
-- committed ones.
SELECT 1 FROM projects WHERE id = :project AND deleted_at IS NULL FOR NO KEY UPDATE;

-- name: insert
-- Creates a webhook, unless its project has the maximum. Locks the row of webhooks that it writes.
INSERT INTO webhooks (id, project_id, description, url, sealed_secret, events, channels, agent_ids, priorities,
  active_since, created_by)
SELECT :id, :project, :description, :url, :sealed, :events, :channels, :agent_ids, :priorities,
  CASE WHEN :is_active THEN now() END, :created_by
WHERE (SELECT count(*) FROM webhooks WHERE project_id = :project) < {{maxCount}};

-- name: update
-- Changes the given fields and raises the version, if `versions` contains the current one or is null. A webhook that
-- becomes active receives later events only. Locks the row of webhooks that it writes.
UPDATE webhooks SET version = version + 1, updated_at = now(), description = coalesce(:description, description),
  url = coalesce(:url, url), events = coalesce(:events::text[], events), channels = coalesce(:channels::text[], channels),
  agent_ids = coalesce(:agent_ids::uuid[], agent_ids), priorities = coalesce(:priorities::text[], priorities),
  active_since = CASE WHEN coalesce(:is_active, active_since IS NOT NULL) THEN coalesce(active_since, now()) END
WHERE project_id = :project AND id = :id AND (:versions::integer[] IS NULL OR version = ANY (:versions)) RETURNING id;

-- name: rotate
-- Sets a new secret and raises its version. Locks the row of webhooks that it writes.
UPDATE webhooks SET version = version + 1, updated_at = now(), sealed_secret = :sealed,
  previous_sealed_secret = CASE WHEN :overlap_seconds > 0 THEN sealed_secret END,
  previous_until = CASE WHEN :overlap_seconds > 0 THEN now() + :overlap_seconds::integer * interval '1 second' END
WHERE project_id = :project AND id = :id;

-- name: deactivate
-- Deactivates a webhook, if `versions` contains its current version or is null. Locks the row of webhooks that it
-- writes.
UPDATE webhooks SET active_since = NULL
WHERE project_id = :project AND id = :id AND (:versions::integer[] IS NULL OR version = ANY (:versions)) RETURNING id;

-- name: removeDeliveries
-- Deletes some deliveries of a webhook, or of all webhooks of a project, with their attempts. Locks the rows of deliveries
-- and delivery_attempts that it deletes.
WITH held AS MATERIALIZED (
  SELECT id FROM deliveries
  WHERE webhook_id IN (SELECT w.id FROM webhooks w WHERE w.project_id = :project AND (:id::uuid IS NULL OR w.id = :id))
  ORDER BY id LIMIT {{removedMax}} FOR UPDATE
), attempts AS (
  DELETE FROM delivery_attempts a USING held WHERE a.delivery_id = held.id
)
DELETE FROM deliveries d USING held WHERE d.id = held.id RETURNING d.id;

-- name: remove
-- Deletes a webhook, if `versions` contains its current version or is null, with its deliveries, which its foreign key
-- deletes, and their attempts. Locks the deliveries in the order of their ids, then the webhook and the attempts.
WITH held AS MATERIALIZED (
  SELECT id FROM deliveries WHERE webhook_id = :id AND project_id = :project ORDER BY id FOR UPDATE
), gone AS (
  DELETE FROM webhooks
  WHERE project_id = :project AND id = :id AND (:versions::integer[] IS NULL OR version = ANY (:versions))
    AND (SELECT count(*) FROM held) >= 0
  RETURNING id
), attempts AS (
  DELETE FROM delivery_attempts a USING held, gone WHERE a.delivery_id = held.id
)
SELECT id FROM gone;

-- name: listActive
-- The webhooks that currently receive events of these projects.
SELECT w.id, w.project_id AS project, w.url, w.events, w.channels, w.agent_ids, w.priorities, w.active_since
FROM webhooks w WHERE w.project_id = ANY (:projects::uuid[]) AND w.active_since IS NOT NULL ORDER BY w.id;

-- name: insertDeliveries
-- Creates the deliveries of events, in order. A webhook that is being deleted gets none. Locks the rows of webhooks, as
-- the foreign key does.
WITH live AS MATERIALIZED (
  SELECT id FROM webhooks WHERE id = ANY (:webhook_id::uuid[]) ORDER BY id FOR KEY SHARE
)
INSERT INTO deliveries (id, project_id, ticket_id, message_id, type, url, reply_ids, due_at, webhook_id, subject_id,
  ticket_event_id)
SELECT i.id, i.project_id, i.sequence_id, i.event_id, i.type, i.url, '{}', now(), i.webhook_id, i.subject_id,
  i.ticket_event_id
FROM unnest(:id::uuid[], :project_id::uuid[], :sequence_id::uuid[], :event_id::uuid[], :type::text[], :url::text[],
  :webhook_id::uuid[], :subject_id::uuid[], :ticket_event_id::bigint[]) WITH ORDINALITY
  AS i (id, project_id, sequence_id, event_id, type, url, webhook_id, subject_id, ticket_event_id, number)
JOIN live ON live.id = i.webhook_id ORDER BY i.number;

-- name: listTicketEvents
-- Events of tickets after one id up to another one, oldest first, of projects that have a webhook. An event belongs to
-- the project that worked on the ticket at that time: the target of the last move before it, else the project where the
-- ticket came in. A pipeline run reopens a ticket if the last run or decision before it resolved it.
SELECT e.id, e.ticket_id, e.at, e.actor, owner.project, t.channel_id, t.agent_id, t.priority,
  e.moves -> -1 ->> 'to' AS stage, e.data ->> 'decision' AS decision, e.data ->> 'status' AS status,
  e.data ->> 'assignee' AS assignee, coalesce((e.data ->> 'resolves')::boolean, false) AS resolves,
  NOT EXISTS (SELECT FROM ticket_events p WHERE p.ticket_id = e.ticket_id AND p.id < e.id) AS is_first,
  EXISTS (SELECT FROM replies r
    WHERE r.ticket_id = e.ticket_id AND r.created_at = e.at AND r.author <> 'system') AS has_reply,
  e.actor = 'pipeline' AND e.message_id IS NOT NULL AND NOT e.data ? 'review' AND coalesce((
    SELECT p.data ->> 'status' = 'resolved' OR p.data ? 'resolves' FROM ticket_events p
    WHERE p.ticket_id = e.ticket_id AND p.id < e.id
      AND (p.data ->> 'decision' IN ('resolve', 'reopen') OR p.actor = 'pipeline' AND p.message_id IS NOT NULL)
    ORDER BY p.id DESC LIMIT 1), false) AS is_reopened
FROM ticket_events e JOIN tickets t ON t.id = e.ticket_id CROSS JOIN LATERAL (
  SELECT coalesce((
    SELECT coalesce((m.data ->> 'projectId')::uuid, m.project_id) FROM ticket_events m
    WHERE m.ticket_id = e.ticket_id AND m.id <= e.id
      AND (m.data ? 'projectId' OR m.actor = 'service' AND m.data ->> 'decision' = 'reroute')
    ORDER BY m.id DESC LIMIT 1), e.project_id) AS project
) owner
WHERE e.id > :after AND e.id <= :until
  AND owner.project IN (SELECT w.project_id FROM webhooks w WHERE w.active_since IS NOT NULL)
ORDER BY e.id LIMIT :limit;

-- name: findTicketEvent
-- An event of a ticket with its customer message, and the replies that were committed with it. Truncated texts have one
-- more character than is sent.
SELECT e.at, e.actor, e.data, e.moves -> -1 ->> 'why' AS reason, (
    SELECT jsonb_build_object('id', m.id, 'text', left(m.text, {{textMaxChars}} + 1), 'createdAt', m.created_at)
    FROM messages m WHERE m.id = e.message_id AND m.ticket_id = e.ticket_id
  ) AS message, coalesce((
    SELECT jsonb_agg(jsonb_build_object('id', r.id, 'author', r.author, 'text', left(r.text, {{textMaxChars}} + 1),
      'markdown', coalesce(r.markdown, false), 'filename', r.filename) ORDER BY r.seq)
    FROM (SELECT * FROM replies WHERE ticket_id = e.ticket_id AND created_at = e.at AND author <> 'system'
      ORDER BY seq LIMIT {{repliesMaxCount}}) r
  ), '[]') AS replies
FROM ticket_events e WHERE e.ticket_id = :ticket_id AND e.id = :id;

-- name: deleteOldDeliveries
-- Deletes finished deliveries of events after {{keptDays}} days, at most `limit`, with their attempts. SKIP LOCKED
-- shares the work among replicas. Locks the rows of deliveries that it reads, then their attempts.
WITH old AS MATERIALIZED (
  SELECT id FROM deliveries WHERE webhook_id IS NOT NULL AND finished_at < now() - interval '{{keptDays}} days'
  LIMIT :limit FOR UPDATE SKIP LOCKED
), attempts AS (
  DELETE FROM delivery_attempts a USING old WHERE a.delivery_id = old.id
)
DELETE FROM deliveries d USING old WHERE d.id = old.id;
