-- fragment: widget_project
-- SQL for the project that the widget names.
coalesce(widget #>> '{config,project}', '{{defaultProject}}')

-- name: insert
-- Creates a project. Locks the rows of projects that it writes.
INSERT INTO projects (
  id, name, handoff_text, greeting, tables_as_xlsx, retention_days, file_retention_days,
  model_concurrency, model_tokens_per_day, handoff_texts, quotas, business_hours, reply_time_minutes, sla_targets,
  reply_emails
) VALUES (:id, :name, :handoff_text, :greeting, :tables_as_xlsx, :retention_days, :file_retention_days,
  :model_concurrency, :model_tokens_per_day, :handoff_texts,
  jsonb_strip_nulls(:quotas::jsonb), :business_hours, :reply_time_minutes,
  :sla_targets, :reply_emails)
ON CONFLICT (name) DO NOTHING RETURNING {{columns}};

-- name: findWebhookSecrets (prepared)
-- The secrets that sign the callbacks of a project.
SELECT {{secrets}} FROM projects WHERE id = :id AND deleted_at IS NULL;

-- name: list
-- All projects by name.
SELECT {{columns}} FROM projects WHERE deleted_at IS NULL ORDER BY name;

-- name: listPage
-- Projects, newest first: those created before the project with id `before`, and with `q` in the name. strpos has no
-- wildcards, unlike LIKE.
SELECT {{columns}} FROM projects
WHERE deleted_at IS NULL AND (:before::uuid IS NULL OR id < :before) AND (:q::text IS NULL OR strpos(lower(name),
  lower(:q)) > 0)
ORDER BY id DESC LIMIT :limit;

-- name: update
-- Changes the given fields and raises the version, if `versions` contains the current one or is null. Locks the rows of
-- projects that it reads.
SELECT name FROM projects
WHERE id = :id AND deleted_at IS NULL AND (:versions::integer[] IS NULL OR version = ANY (:versions)) FOR UPDATE;

-- name: renameInWidget
-- Updates the project name in the widget's settings after a rename. Locks the rows of channels_config that it writes.
UPDATE channels_config SET version = version + 1, updated_at = now(),
  widget = jsonb_set(widget, '{config,project}', to_jsonb(:after::text))
WHERE {{widget_project}} = :name::text;

-- name: remove
-- Deletes a project, if `versions` contains its current version or is null: it can no longer be found, its name is
-- free, its keys are revoked, its roles and knowledge bases are deleted, and tickets from other projects return to
-- them. Waits for transactions that add something that refers to the project, or assign it to the widget. Locks the
-- rows of projects that it reads.
SELECT name FROM projects
WHERE id = :id AND deleted_at IS NULL AND (:versions::integer[] IS NULL OR version = ANY (:versions)) FOR UPDATE;

-- name: isOfWidget
-- Returns a row if this is the widget's project.
SELECT 1 FROM channels_config WHERE {{widget_project}} = :name::text;

-- name: markDeleted
-- Marks a project as deleted, frees its name and deletes its secrets. Locks the rows of projects that it writes.
UPDATE projects SET deleted_at = now(), purge_at = now(), name = '{{deletedPrefix}}' || id, handoff_text = '',
  handoff_texts = '{}', greeting = '',
  webhook_secret = NULL, previous_webhook_secret = NULL
WHERE id = :id;

-- name: deleteRoles
-- Deletes the roles that operators have in a project. Locks the rows of operator_roles that it writes.
DELETE FROM operator_roles WHERE project_id = :id;

-- name: deleteViews
-- Deletes the views that operators have of a project. Locks the rows of operator_views that it writes.
DELETE FROM operator_views WHERE project_id = :id;

-- name: deactivateWebhooks
-- Deactivates the webhooks of a project, so that nothing more is sent to them. Locks the rows of webhooks that it writes.
UPDATE webhooks SET active_since = NULL WHERE project_id = :id AND active_since IS NOT NULL;

-- name: revokeKeys
-- Revokes the API keys of a project. Locks the rows of api_keys that it writes.
UPDATE api_keys SET revoked_at = now() WHERE project_id = :id AND revoked_at IS NULL;

-- name: deleteKbs
-- Marks the knowledge bases of a project as deleted. Locks the rows of kbs that it writes.
UPDATE kbs SET deleted_at = now() WHERE project_id = :id AND deleted_at IS NULL;

-- name: returnTickets
-- Returns tickets from other projects to them, without the agent that they had here. Locks the tickets in the order of
-- their ids.
WITH lent AS MATERIALIZED (
  SELECT id, home_project_id FROM tickets WHERE project_id = :id AND home_project_id <> :id ORDER BY id FOR UPDATE
), told AS (
  INSERT INTO ticket_events (ticket_id, project_id, actor, data)
  SELECT id, home_project_id, 'service', jsonb_build_object('decision', 'reroute', 'why', 'its project was deleted')
  FROM lent
), dropped AS (
  DELETE FROM drafts d USING lent WHERE d.ticket_id = lent.id
)
UPDATE tickets t SET project_id = t.home_project_id, agent_id = NULL, assignee = NULL, before_close = NULL,
  version = t.version + 1, updated_at = now()
FROM lent WHERE t.id = lent.id;

-- name: countHeld
-- Counts the contents of a project, for display. Conversations are counted by their chats, which exist before their
-- tickets.
SELECT (SELECT count(*) FROM agents WHERE project_id = :id) AS agents,
(SELECT count(*) FROM kbs WHERE project_id = :id AND deleted_at IS NULL) AS "knowledge bases",
(SELECT count(*) FROM documents d JOIN kbs k ON k.id = d.kb_id
 WHERE k.project_id = :id AND k.deleted_at IS NULL) AS documents,
(SELECT count(*) FROM chats WHERE project_id = :id AND chat_id <> '') AS tickets,
(SELECT count(*) FROM api_keys WHERE project_id = :id AND revoked_at IS NULL) AS "API keys",
(SELECT count(*) FROM hooks WHERE project_id = :id) AS hooks,
(SELECT count(*) FROM gaps WHERE project_id = :id) AS gaps,
(SELECT count(*) FROM proposals WHERE project_id = :id) AS proposals,
(SELECT count(*) FROM canned_replies WHERE project_id = :id) AS "canned replies";

-- name: find
-- A project by its id.
SELECT {{columns}} FROM projects WHERE id = :id AND deleted_at IS NULL;

-- name: findByName
-- A project by its name.
SELECT {{columns}} FROM projects WHERE name = :name AND deleted_at IS NULL;
