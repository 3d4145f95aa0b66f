-- name: hideOldNumbers
-- The first version numbered the passages of a document from 1. Locks the rows of chunks that it writes.
UPDATE chunks c SET ordinal = -c.ordinal
FROM (SELECT document_id FROM chunks WHERE document_id = ANY (:document_ids::uuid[])
  GROUP BY document_id HAVING min(ordinal) = 1) late
WHERE c.document_id = late.document_id;

-- name: numberFromZero
-- The second step: numbers passages from 0. Locks the rows of chunks that it writes.
UPDATE chunks SET ordinal = -ordinal - 1 WHERE document_id = ANY (:document_ids::uuid[]) AND ordinal < 0;

-- name: lockUnchanged
-- Locks the documents whose postings are rebuilt, from the passages that they had when they were read.
SELECT d.id FROM documents d JOIN unnest(:id::uuid[], :version::smallint[], :chunk_count::integer[]) AS i (id,
  version, chunk_count)
  ON d.id = i.id AND d.index_version < i.version AND d.chunk_count = i.chunk_count
WHERE d.kb_id = :kb_id;

-- name: deleteTerms
-- Deletes the terms that the first version stored for passages. Locks the rows of chunk_terms that it writes.
DELETE FROM chunk_terms WHERE chunk_id IN (SELECT id FROM chunks WHERE document_id = ANY (:ids::uuid[]));

-- name: saveTermCounts
-- Stores the number of terms of passages. Locks the rows of chunks that it writes.
UPDATE chunks c SET term_count = i.term_count
FROM unnest(:document_id::uuid[], :ordinal::integer[], :term_count::integer[]) AS i (document_id, ordinal, term_count)
WHERE c.document_id = i.document_id AND c.ordinal = i.ordinal AND c.term_count <> i.term_count;

-- name: savePlaces
-- Stores the positions of documents' passages in the index. Locks the rows of documents that it writes.
UPDATE documents d SET first_chunk_number = i.first, term_count = i.term_count, index_version = i.version
FROM unnest(:id::uuid[], :first::integer[], :term_count::integer[], :version::smallint[]) AS i (id, first, term_count,
  version)
WHERE d.id = i.id;

-- name: sumTerms
-- Counts the terms of a knowledge base again. Locks the rows of kbs that it writes.
UPDATE kbs SET term_total = (SELECT coalesce(sum(c.term_count), 0) FROM chunks c JOIN documents d
ON d.id = c.document_id WHERE d.kb_id = :kb_id) WHERE id = :kb_id;

-- name: lockKb
-- Locks a knowledge base, so that one transaction at a time changes its index.
SELECT id FROM kbs WHERE project_id = :project AND id = :kb_id AND deleted_at IS NULL FOR NO KEY UPDATE;

-- name: findExisting
-- The existing documents with these keys, and whether their content is the same.
SELECT d.id, d.key, d.chunk_count, d.content_hash <> '' AS was_read,
  d.content_hash = i.content_hash AND d.status = 'ready' AS is_same
FROM unnest(:key::text[], :content_hash::bytea[]) AS i (key, content_hash) JOIN documents d
  ON d.project_id = :project AND d.kb_id = :kb_id AND d.key = i.key;

-- name: deleteChunks
-- Deletes the passages of replaced documents and returns their totals. Locks the rows of chunks that it writes.
WITH gone AS (DELETE FROM chunks WHERE document_id = ANY (:ids::uuid[]) RETURNING term_count)
SELECT count(*) AS chunk_count, coalesce(sum(term_count), 0) AS term_count FROM gone;

-- name: writeDocuments
-- A replaced document keeps its id, and with it the links to it. Locks the rows of documents that it writes.
INSERT INTO documents (id, project_id, kb_id, key, title, url, mime, size_bytes, content_hash, language, status,
  chunk_count, first_chunk_number, term_count, index_version)
SELECT i.id, :project, :kb_id, i.key, i.title, i.url, i.mime, i.size_bytes, i.content_hash, i.language, 'ready',
  i.chunk_count, i.first, i.term_count, i.version
FROM unnest(:id::uuid[], :key::text[], :title::text[], :url::text[], :mime::text[], :size_bytes::integer[],
  :content_hash::bytea[], :language::text[],
    :chunk_count::integer[], :first::integer[], :term_count::integer[], :version::smallint[])
  AS i (id, key, title, url, mime, size_bytes, content_hash, language, chunk_count, first, term_count, version)
ON CONFLICT (kb_id, key) DO UPDATE SET title = excluded.title, url = excluded.url, mime = excluded.mime,
  size_bytes = excluded.size_bytes, content_hash = excluded.content_hash, language = excluded.language,
  status = 'ready', error = NULL, chunk_count = excluded.chunk_count, updated_at = now(),
  first_chunk_number = excluded.first_chunk_number, term_count = excluded.term_count,
  index_version = excluded.index_version;

-- name: deleteQueuedIngests
-- Drops queued ingests of documents that a newer version replaces. Locks the rows of ingests that it writes.
DELETE FROM ingests WHERE project_id = :project AND document_id = ANY (:document_ids::uuid[]);

-- name: countChanges
-- Adds to the totals of a knowledge base, and sets its languages: see `kb_languages`. More documents in its only
-- language cannot change them, so the languages are not counted then. The caller has locked its row.
UPDATE kbs SET document_count = document_count + :documents, chunk_count = chunk_count + :chunks,
  term_total = term_total + :terms, updated_at = now(),
  languages = CASE WHEN languages = :languages::text[] AND cardinality(languages) = 1 THEN languages
    ELSE kb_languages(id) END
WHERE id = :kb_id;
