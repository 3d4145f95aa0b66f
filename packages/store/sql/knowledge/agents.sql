-- name: holdKbs
-- Returns a row if the project has all these knowledge bases. Locks the rows of kbs that it reads.
SELECT id FROM kbs WHERE project_id = :project AND id = ANY (:kb_ids::uuid[]) AND deleted_at IS NULL
ORDER BY id FOR KEY SHARE;

-- name: find
-- An agent by its id.
SELECT {{columns}} FROM agents WHERE project_id = :project AND id = :id;

-- name: readTools
-- The tools of an agent with their sealed headers, for runs of the agent and for changes.
SELECT tools FROM agents WHERE project_id = :project AND id = :id;

-- name: list (prepared)
-- All agents of a project by name, including disabled ones.
SELECT {{columns}} FROM agents WHERE project_id = :project ORDER BY name;

-- name: findMark (prepared)
-- A value that changes whenever the result of `list` does, which is cheaper than reading all examples.
SELECT coalesce(string_agg(id || ':' || version, ' ' ORDER BY id), '') AS mark FROM agents WHERE project_id = :project;

-- name: listPage
-- Agents of a project, newest first: those made before the one with the id `before`, and with `q` in the name.
SELECT {{columns}} FROM agents
WHERE project_id = :project AND (:before::uuid IS NULL OR id < :before)
  AND (:q::text IS NULL OR strpos(lower(name), lower(:q)) > 0)
ORDER BY id DESC LIMIT :limit;

-- name: remove
-- Deletes an agent, where `versions` has its present version or is null. Locks the rows of agents that it writes.
DELETE FROM agents
WHERE project_id = :project AND id = :id AND (:versions::integer[] IS NULL OR version = ANY (:versions)) RETURNING id;

-- name: addKb
-- Adds a knowledge base to an agent. Locks the rows of agents that it writes.
UPDATE agents SET kb_ids = kb_ids || :kb_id::uuid, version = version + 1
WHERE project_id = :project AND id = :id AND NOT :kb_id::uuid = ANY (kb_ids);
