-- name: lockDocument
-- Inserts the document with this key if it does not exist, and locks it.
INSERT INTO documents (id, project_id, kb_id, key, title, url, mime, size_bytes, content_hash, language, status)
VALUES (:id, :project, :kb_id, :key, :title, :url, :mime, :size_bytes, '', '{{unreadLanguage}}', 'queued')
  ON CONFLICT (kb_id, key) DO NOTHING;

-- name: lockByKey
-- Locks the document with this key, if there is one.
SELECT id FROM documents WHERE kb_id = :kb_id AND key = :key FOR NO KEY UPDATE;

-- name: queueDocument
-- Queues one document, replacing what is queued for its key.
SELECT id, CASE WHEN source_hash IS NULL THEN kind = :kind AND url = :url ELSE source_hash = :source_hash END AS is_same
FROM ingests WHERE document_id = :document_id;

-- name: deleteIngests
-- Deletes queued ingests that a newer one replaces; a worker that processes one loses its lease. Locks the rows of
-- ingests that it writes.
DELETE FROM ingests WHERE document_id = :document_id;

-- name: insertIngest
-- Queues a document to be read. Locks the rows of ingests that it writes.
INSERT INTO ingests (id, project_id, kb_id, kind, document_id, key, name, mime, title, url, source_hash,
  size_bytes, priority, due_at)
VALUES (:id, :project, :kb_id, :kind, :document_id, :key, :name, :mime, :title, :url, :source_hash, :size_bytes,
  :priority,
  now() + interval '{{ingestSweepAfterMs}} milliseconds');

-- name: insertPart
-- Stores a part of the bytes of a queued document. Locks the rows of ingest_parts that it writes.
INSERT INTO ingest_parts (ingest_id, ordinal, bytes) VALUES (:ingest_id, :ordinal, :bytes);

-- fragment: import
m.id, m.kb_id, m.url, m.max_pages, m.found_count, m.done_count, m.failed_count, coalesce(m.error,
  (SELECT i.failure FROM ingests i WHERE i.import_id = m.id AND i.kind = 'sitemap')) AS error, m.created_at,
m.updated_at, (SELECT count(*) FROM ingests i WHERE i.import_id = m.id) AS waiting_count

-- name: purgeImports
-- Removes old finished imports of all projects, in batches. Locks the rows of ingests that it reads and the rows of
-- imports that it writes.
DELETE FROM imports WHERE id IN (
  SELECT m.id FROM imports m
  WHERE m.created_at < now() - interval '{{importKeptDays}} days'
    AND m.updated_at < now() - interval '{{importKeptDays}} days'
    AND NOT EXISTS (SELECT 1 FROM ingests i WHERE i.import_id = m.id)
  ORDER BY m.created_at LIMIT {{importBatch}} FOR UPDATE SKIP LOCKED
) RETURNING 1;

-- name: findImport
-- The import with this id, of a knowledge base of this project, or null.
SELECT {{import}} FROM imports m JOIN kbs k ON k.id = m.kb_id AND k.deleted_at IS NULL
WHERE m.project_id = :project AND m.kb_id = :kb_id AND m.id = :id;

-- name: deleteImport
-- Removes a finished import: nothing of it waits, so no document loses its place in the queue. Locks the rows of imports
-- that it writes.
DELETE FROM imports m WHERE m.project_id = :project AND m.kb_id = :kb_id AND m.id = :id
  AND NOT EXISTS (SELECT 1 FROM ingests i WHERE i.import_id = m.id);

-- name: listImports
-- Imports of a knowledge base, newest first: those created before the one with id `before`.
SELECT {{import}} FROM imports m
WHERE m.project_id = :project AND m.kb_id = :kb_id AND (:before::uuid IS NULL OR m.id < :before)
  AND (:q::text IS NULL OR strpos(lower(m.url), lower(:q)) > 0)
ORDER BY m.id DESC LIMIT :limit;
