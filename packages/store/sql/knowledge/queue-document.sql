-- name: lockDocument
-- The document of this key, locked.
INSERT INTO documents (id, project_id, kb_id, key, title, url, mime, size_bytes, content_hash, language, status)
VALUES (:id, :project, :kb_id, :key, :title, :url, :mime, :size_bytes, '', '{{unreadLanguage}}', 'queued') ON CONFLICT (kb_id, key) DO NOTHING;

-- name: lockDocuments
-- Locks the rows of documents that it reads.
SELECT id FROM documents WHERE kb_id = :kb_id AND key = :key FOR NO KEY UPDATE;

-- name: queueDocument
-- Queues one document in place of what waits under its key.
SELECT id, CASE WHEN source_hash IS NULL THEN kind = :kind AND url = :url ELSE source_hash = :source_hash END AS is_same
FROM ingests WHERE document_id = :document_id;

-- name: deleteIngests
-- What is newer takes the place of what waits; whoever works on that has lost its lease by it. Locks the rows of
-- ingests that it writes.
DELETE FROM ingests WHERE document_id = :document_id;

-- name: insertIngests
-- Locks the rows of ingests that it writes.
INSERT INTO ingests (id, project_id, kb_id, kind, document_id, key, name, mime, title, url, source_hash,
  size_bytes, priority, due_at)
VALUES (:id, :project, :kb_id, :kind, :document_id, :key, :name, :mime, :title, :url, :source_hash, :size_bytes, :priority,
  now() + interval '{{ingestSweepAfterMs}} milliseconds');

-- name: insertParts
-- Locks the rows of ingest_parts that it writes.
INSERT INTO ingest_parts (ingest_id, ordinal, bytes) VALUES (:ingest_id, :ordinal, :bytes);
