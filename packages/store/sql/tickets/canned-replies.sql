-- fragment: columns
id, name, text, folder, tags, actions, created_at, updated_at, version

-- name: find
-- A canned reply by its id.
SELECT {{columns}} FROM canned_replies WHERE project_id = :project AND id = :id;

-- name: insert
-- Creates a canned reply. Locks the rows of canned_replies that it writes.
INSERT INTO canned_replies (id, project_id, name, text, folder, tags, actions) VALUES (:id, :project, :name, :text,
  :folder, :tags, :actions)
ON CONFLICT (project_id, name) DO NOTHING RETURNING {{columns}};

-- name: listPage
-- Canned replies, newest first: those created before the one with id `before`, with `q` in name or text, in one folder
-- and with one tag.
SELECT {{columns}} FROM canned_replies
WHERE project_id = :project AND (:before::uuid IS NULL OR id < :before)
  AND (:q::text IS NULL OR strpos(lower(name), lower(:q)) > 0 OR strpos(lower(text), lower(:q)) > 0)
  AND (:folder::text IS NULL OR folder = :folder) AND (:tag::text IS NULL OR :tag = ANY (tags))
ORDER BY id DESC LIMIT :limit;

-- name: update
-- Changes the given fields, if `versions` contains the current version or is null. Locks the rows of canned_replies
-- that it writes.
UPDATE canned_replies SET name = coalesce(:name, name), text = coalesce(:text, text),
  folder = CASE WHEN :sets_folder THEN :folder ELSE folder END, tags = coalesce(:tags, tags), actions = coalesce(:actions, actions), version = version + 1,
  updated_at = now()
WHERE project_id = :project AND id = :id AND (:versions::integer[] IS NULL OR version = ANY (:versions)) RETURNING id;

-- name: remove
-- Deletes a canned reply, where `versions` has its present version or is null. Locks the rows of canned_replies that it
-- writes.
DELETE FROM canned_replies WHERE project_id = :project AND id = :id AND (:versions::integer[] IS NULL
  OR version = ANY (:versions))
RETURNING id;

-- name: findTicketFacts
-- The values of variables in a conversation that this project works on.
SELECT t.user_id, t.chat_id, t.subject, t.channel_id, t.language, a.name AS agent_name, p.name AS project_name
FROM tickets t JOIN projects p ON p.id = t.project_id
LEFT JOIN agents a ON a.id = t.agent_id AND a.project_id = t.project_id
WHERE t.project_id = :project AND t.id = :ticket_id;
