-- fragment: columns
id, kb_id, key, title, url, mime, size_bytes, language, status, error, chunk_count, updated_at

-- fragment: has_source
d.source_content_hash = d.content_hash

-- fragment: state
-- A queued ingest of a document is shown before its state; until then its old passages can be found.
d.id, d.kb_id, d.key, d.title, d.url, d.chunk_count, d.updated_at,
CASE WHEN d.language = '{{unreadLanguage}}' THEN NULL ELSE d.language END AS language,
CASE WHEN {{has_source}} THEN d.source_mime ELSE d.mime END AS mime,
CASE WHEN {{has_source}} THEN d.source_size_bytes ELSE d.size_bytes END AS size_bytes,
CASE WHEN i.id IS NULL THEN d.status ELSE 'queued' END AS status,
CASE WHEN i.id IS NULL THEN d.error ELSE i.failure END AS error

-- fragment: with_ingest
documents d LEFT JOIN ingests i ON i.document_id = d.id

-- name: findUnchanged
-- The document with this key if its content is the same and was read.
SELECT id AS document_id, 'unchanged' AS status, chunk_count FROM documents
WHERE project_id = :project AND kb_id = :kb_id AND key = :key AND content_hash = :content_hash AND status = 'ready';

-- name: list
-- Documents of a knowledge base by title.
SELECT {{columns}} FROM documents WHERE project_id = :project AND kb_id = :kb_id ORDER BY title, id;

-- name: find
-- A document of a knowledge base of this project, or null.
SELECT {{state}} FROM {{with_ingest}} WHERE d.project_id = :project AND d.kb_id = :kb_id AND d.id = :id;

-- name: listPage
-- Documents of a knowledge base, newest first: those made before the one with the id `before`, with `q` in title or
-- key, and of one status.
SELECT {{state}} FROM {{with_ingest}}
WHERE d.project_id = :project AND d.kb_id = :kb_id AND (:before::uuid IS NULL OR d.id < :before)
  AND (:q::text IS NULL OR strpos(lower(d.title), lower(:q)) > 0 OR strpos(lower(d.key), lower(:q)) > 0)
  AND (:status::text IS NULL OR :status = CASE WHEN i.id IS NULL THEN d.status ELSE 'queued' END)
ORDER BY d.id DESC LIMIT :limit;

-- name: findBySource
-- The ready document of this key if it was read from a source with this hash, else null.
SELECT d.id AS document_id, 'unchanged' AS status, d.chunk_count FROM documents d
WHERE d.project_id = :project AND d.kb_id = :kb_id AND d.key = :key AND d.source_hash = :hash AND {{has_source}}
  AND d.status = 'ready';

-- name: recordSource
-- Records the source from which the text with this hash was read. Locks the rows of documents that it writes.
UPDATE documents SET source_content_hash = content_hash, source_hash = :hash, source_mime = :mime,
  source_size_bytes = :size_bytes
WHERE project_id = :project AND id = :id AND content_hash = :content_hash;

-- name: remove
-- Removes a document with its passages and queued ingests. As in `put`, changes of documents of one knowledge base are
-- serialized. Locks the rows of kbs that it reads.
SELECT id FROM kbs WHERE project_id = :project AND id = :kb_id FOR NO KEY UPDATE;

-- name: lockDocument
-- Locks a document before it is removed.
SELECT content_hash <> '' AS was_read FROM documents WHERE project_id = :project AND kb_id = :kb_id AND id = :id
FOR UPDATE;

-- name: deleteDocument
-- Deletes a document; its passages are deleted before. Locks the rows of documents that it writes.
DELETE FROM documents WHERE id = :id;

-- name: countRemoval
-- Subtracts a removed document from the sums of its knowledge base, and sets its languages. Locks the rows of kbs that it
-- writes.
UPDATE kbs SET document_count = greatest(document_count - :document_count, 0), chunk_count = chunk_count - :chunk_count,
  term_total = term_total - :term_count, updated_at = now(), languages = kb_languages(id)
WHERE id = :kb_id;

-- name: findAllUnchanged
-- As `findUnchanged` for many documents at once: for each, the document or null.
SELECT i.place::integer, d.id AS document_id, 'unchanged' AS status, d.chunk_count
FROM unnest(:key::text[], :content_hash::bytea[]) WITH ORDINALITY AS i (key, content_hash, place)
JOIN documents d ON d.project_id = :project AND d.kb_id = :kb_id AND d.key = i.key
  AND d.content_hash = i.content_hash AND d.status = 'ready';

-- name: findOutdated
-- Documents of all projects whose postings are in an older format than `version`, in a fixed order, after `after` if
-- given.
SELECT d.id, d.project_id AS project, d.kb_id, d.title, d.language, d.chunk_count, d.index_version
FROM documents d JOIN kbs k ON k.id = d.kb_id AND k.deleted_at IS NULL
WHERE d.index_version < :version AND d.chunk_count > 0
  AND (:index_version::smallint IS NULL OR (d.index_version, d.id) > (:index_version, :id::uuid))
ORDER BY d.index_version, d.id LIMIT :limit;
