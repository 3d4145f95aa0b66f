-- name: knowsTrigrams
-- Whether the functions of pg_trgm are in the search path of this connection.
SELECT to_regoperator('%(text,text)') IS NOT NULL AND to_regproc('similarity') IS NOT NULL AS has;

-- name: insert
-- Inserts the chunks of documents in their order. Headings are passed as JSON, since unnest would flatten an array of
-- arrays. Locks the rows of chunks that it writes.
INSERT INTO chunks (id, project_id, kb_id, document_id, ordinal, heading_path, text, start_offset,
  end_offset, term_count, page)
SELECT i.id, :project, :kb_id, i.document_id, i.ordinal, ARRAY(SELECT jsonb_array_elements_text(i.heading_path)),
  i.text, i.start_offset, i.end_offset, i.term_count, i.page
FROM unnest(:id::uuid[], :document_id::uuid[], :ordinal::integer[], :heading_path::jsonb[], :text::text[],
  :start_offset::integer[], :end_offset::integer[],
    :term_count::integer[], :page::integer[])
  AS i (id, document_id, ordinal, heading_path, text, start_offset, end_offset, term_count, page);

-- name: removeOfDocument
-- Removes the passages of a document from the knowledge base and its index, and returns their number. Locks the rows of
-- documents that it writes.
UPDATE documents SET first_chunk_number = NULL WHERE id = :document_id;

-- name: deleteOfDocument
-- Deletes the passages of a document and returns their totals. Locks the rows of chunks that it writes.
WITH gone AS (DELETE FROM chunks WHERE kb_id = :kb_id AND document_id = :document_id RETURNING term_count)
SELECT count(*) AS chunk_count, coalesce(sum(term_count), 0) AS term_count FROM gone;

-- name: readPostings (prepared)
-- The statements of a search hide the length of their arrays behind a SELECT: otherwise Postgres plans each of them
-- again every time, which takes longer than running it. The blocks of each term are read by the primary key: OFFSET 0
-- prevents other join orders, whatever the planner's statistics are. Long postings are not fetched until they are
-- needed. Each change of a knowledge base or its documents updates its row in `kbs`, so that the transaction that wrote
-- it last identifies the version.
WITH scope AS (
  SELECT id, number, document_count, chunk_count, term_total, blocks, dead_numbers, languages, xmin::text AS version
  FROM kbs
  WHERE project_id = :project AND id = ANY ((SELECT :kb_ids::uuid[])::uuid[]) AND deleted_at IS NULL
), found AS MATERIALIZED (
  SELECT s.number AS kb_number, t.place::integer AS term, b.block, p.postings
  FROM scope s CROSS JOIN unnest((SELECT :terms::text[])) WITH ORDINALITY AS t (term, place)
  CROSS JOIN unnest(s.blocks) AS b (block)
  CROSS JOIN LATERAL (
    SELECT postings FROM kb_postings WHERE kb_number = s.number AND block = b.block AND term = t.term OFFSET 0
  ) AS p
), sizes AS (
  SELECT term, sum(octet_length(postings)) AS bytes FROM found GROUP BY term
), bounds AS MATERIALIZED (
  SELECT term, sum(bytes) OVER w <= {{maxReadPostingsPostingBytes}} OR row_number() OVER w = 1 AS is_read
  FROM sizes WINDOW w AS (ORDER BY bytes, term)
)
SELECT s.id, s.number, s.document_count, s.chunk_count, s.term_total, s.dead_numbers, s.languages, s.version,
  NULL::integer AS term,
  NULL::integer AS block, NULL::integer AS bytes, NULL::bytea AS postings
FROM scope s
UNION ALL
SELECT NULL, f.kb_number, NULL, NULL, NULL, NULL, NULL, NULL, f.term - 1, f.block, octet_length(f.postings),
  CASE WHEN b.is_read THEN f.postings END
FROM found f JOIN bounds b USING (term);

-- name: listAround
-- A passage of this project with the ones around it in its document, in their order.
SELECT c.id, c.kb_id, c.document_id, c.ordinal, c.heading_path, c.text, c.page
FROM chunks a JOIN chunks c ON c.document_id = a.document_id
  AND c.ordinal BETWEEN a.ordinal - :distance AND a.ordinal + :distance
WHERE a.project_id = :project AND a.id = :id ORDER BY c.ordinal;

-- name: list
-- The passages of documents of this project, in their order.
SELECT document_id, heading_path, text, start_offset, end_offset, term_count, page FROM chunks
WHERE project_id = :project AND document_id = ANY (:document_ids::uuid[]) ORDER BY document_id, ordinal;

-- name: findDocuments (prepared)
-- The documents of passages, each once.
SELECT DISTINCT d.id, k.number AS kb_number, d.first_chunk_number, d.chunk_count, d.term_count
FROM unnest((SELECT :kb_id::uuid[]), (SELECT :number::integer[])) AS p (kb_id, number) CROSS JOIN LATERAL (
  SELECT id, first_chunk_number, chunk_count, term_count FROM documents
  WHERE kb_id = p.kb_id AND first_chunk_number <= p.number ORDER BY first_chunk_number DESC LIMIT 1
) AS d JOIN kbs k ON k.id = p.kb_id
WHERE p.number < d.first_chunk_number + d.chunk_count;

-- name: listDocuments (prepared)
-- All documents of knowledge bases that have passages.
SELECT d.id, k.number AS kb_number, d.first_chunk_number, d.chunk_count, d.term_count
FROM kbs k JOIN documents d ON d.kb_id = k.id
WHERE k.id = ANY ((SELECT :kb_ids::uuid[])::uuid[]) AND d.first_chunk_number IS NOT NULL;

-- name: read (prepared)
-- Passages of this project by their documents and ordinals, each with its position in this order; and the versions of
-- the knowledge bases in the same snapshot.
SELECT p.place::integer, c.id AS chunk_id, c.document_id, c.kb_id, d.title, d.url, d.mime, c.ordinal, c.heading_path,
  c.text, c.page, NULL::text AS version
FROM unnest((SELECT :id::uuid[]), (SELECT :first_chunk_number::integer[]), (SELECT :ordinal::integer[])) WITH ORDINALITY
  AS p (document_id, first_chunk_number, ordinal, place)
JOIN documents d ON d.id = p.document_id AND d.first_chunk_number = p.first_chunk_number
JOIN chunks c ON c.document_id = p.document_id AND c.ordinal = p.ordinal
WHERE c.project_id = :project
UNION ALL
SELECT NULL, NULL, NULL, id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, xmin::text FROM kbs
WHERE project_id = :project AND id = ANY ((SELECT :kb_ids::uuid[])::uuid[]) AND deleted_at IS NULL;

-- name: findSimilarWords (prepared)
-- Words of knowledge bases that a misspelled word may stand for: those of `variants` that exist, and, if the extension
-- pg_trgm is installed, the most similar words, best first.
SELECT DISTINCT w.word FROM unnest((SELECT :kb_numbers::integer[])) AS k (number)
CROSS JOIN unnest((SELECT :variants::text[])) AS v (word) JOIN kb_words w ON w.kb_number = k.number AND w.word = v.word;

-- name: listLikeWords (prepared)
-- The words of knowledge bases that are most similar to a word, by the trigram index.
SELECT word FROM kb_words WHERE kb_number = ANY (:kb_numbers::integer[]) AND word % :word
GROUP BY word ORDER BY similarity(word, :word) DESC, word LIMIT {{maxSimilar}};

-- name: rangesOf
-- The numbers of documents' passages.
SELECT id, first_chunk_number AS first, chunk_count AS count FROM documents
WHERE id = ANY (:document_ids::uuid[]) AND first_chunk_number IS NOT NULL;
