-- fragment: import
m.id, m.kb_id, m.url, m.max_pages, m.found_count, m.done_count, m.failed_count, m.error, m.created_at,
m.updated_at, (SELECT count(*) FROM ingests i WHERE i.import_id = m.id) AS waiting_count

-- name: purge
-- Removes imports of all projects that ended long ago, some at a time. Locks the rows of ingests that it reads and the
-- rows of imports that it writes.
DELETE FROM imports WHERE id IN (
  SELECT m.id FROM imports m
  WHERE m.created_at < now() - interval '{{importKeptDays}} days'
    AND m.updated_at < now() - interval '{{importKeptDays}} days'
    AND NOT EXISTS (SELECT 1 FROM ingests i WHERE i.import_id = m.id)
  ORDER BY m.created_at LIMIT {{importBatch}} FOR UPDATE SKIP LOCKED
) RETURNING 1;

-- name: find
-- The import with this id, of a knowledge base of this project, or null.
SELECT {{import}} FROM imports m JOIN kbs k ON k.id = m.kb_id AND k.deleted_at IS NULL
WHERE m.project_id = :project AND m.kb_id = :kb_id AND m.id = :id;

-- name: list
-- Imports of a knowledge base, newest first: those made before the one with the id `before`.
SELECT {{import}} FROM imports m
WHERE m.project_id = :project AND m.kb_id = :kb_id AND (:id::uuid IS NULL OR m.id < :id)
  AND (:q::text IS NULL OR strpos(lower(m.url), lower(:q)) > 0)
ORDER BY m.id DESC LIMIT :limit;
