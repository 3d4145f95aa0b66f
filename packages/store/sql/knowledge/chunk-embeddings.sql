-- fragment: chunks
-- SQL for passages `c` with their embeddings `e`. OFFSET 0 makes the planner look up embeddings one by one, in the
-- order of the passages' ids, whatever its statistics are: both statements that use this need only the first few.
chunks c LEFT JOIN LATERAL (
  SELECT chunk_id, model, dimensions, lease_until FROM chunk_embeddings WHERE chunk_id = c.id OFFSET 0
) e ON true

-- fragment: is_missing
-- SQL that is true if passage `c`, with its embedding `e` if there is one, has to be embedded by the model `:model`
-- with `:dimensions` dimensions.
(e.chunk_id IS NULL OR e.model <> :model OR (e.dimensions > 0 AND e.dimensions <> :dimensions)
OR (e.dimensions IS NULL AND e.lease_until < now()))

-- name: announceModel
-- Sets the embedding model of the installation: processes with another model stop embedding. Locks the rows of
-- embedding_model that it writes.
INSERT INTO embedding_model AS m (model, dimensions) VALUES (:model, :dimensions)
ON CONFLICT (is_only_row) DO UPDATE SET model = excluded.model, dimensions = excluded.dimensions,
  chosen_at = now()
WHERE (m.model, m.dimensions) IS DISTINCT FROM (excluded.model, excluded.dimensions);

-- name: isModelOfInstallation
-- Returns a row if this is the model of the installation.
SELECT FROM embedding_model WHERE model = :model AND dimensions = :dimensions;

-- name: findFirstMissing
-- The first passage, by id, that has to be embedded.
(SELECT c.id FROM {{chunks}}
 WHERE c.id >= :id AND {{is_missing}} ORDER BY c.id LIMIT 1)
UNION ALL
(SELECT chunk_id FROM chunk_embeddings WHERE dimensions IS NULL AND lease_until < now()
 ORDER BY chunk_id LIMIT 1)
ORDER BY id LIMIT 1;

-- name: lockClaims
-- Takes the advisory lock under which workers claim passages, until the end of the transaction.
SELECT pg_advisory_xact_lock(:claim_lock);

-- name: claim
-- Claims some passages without an embedding, in the order of their ids, under a lease. The caller holds the lock of
-- `lockClaims`.
WITH missing AS (
  SELECT c.id, c.project_id, c.kb_id FROM {{chunks}}
  WHERE c.id >= :from_id AND {{is_missing}}
    AND EXISTS (SELECT FROM embedding_model WHERE model = :model AND dimensions = :dimensions)
    AND EXISTS (SELECT FROM kbs k WHERE k.id = c.kb_id AND k.deleted_at IS NULL)
  ORDER BY c.id LIMIT :limit FOR KEY SHARE OF c SKIP LOCKED
), claimed AS (
  INSERT INTO chunk_embeddings AS e (chunk_id, project_id, kb_id, model, lease_until)
  SELECT id, project_id, kb_id, :model, now() + :claim_lease_ms * interval '1 millisecond' FROM missing
  ON CONFLICT (chunk_id) DO UPDATE SET model = excluded.model, dimensions = NULL, embedding = NULL,
    lease_until = excluded.lease_until
  RETURNING e.chunk_id
)
SELECT c.id AS chunk_id, d.title, c.heading_path, c.text
FROM claimed m JOIN chunks c ON c.id = m.chunk_id JOIN documents d ON d.id = c.document_id
ORDER BY c.id;

-- name: save
-- Saves embeddings of claimed passages, and returns their number. Locks the rows of chunk_embeddings that it reads.
WITH free AS (
  SELECT chunk_id FROM chunk_embeddings WHERE chunk_id = ANY (:chunk_id::uuid[]) AND model = :model
  FOR UPDATE SKIP LOCKED
)
UPDATE chunk_embeddings e SET embedding = i.embedding::real[],
  dimensions = coalesce(cardinality(i.embedding::real[]), 0), seq = DEFAULT, lease_until = NULL
FROM unnest(:chunk_id::uuid[], :embedding::text[]) AS i (chunk_id, embedding) JOIN free USING (chunk_id)
WHERE e.chunk_id = i.chunk_id
RETURNING e.chunk_id;

-- name: release
-- Releases claimed passages that are not embedded yet. Locks the rows of chunk_embeddings that it reads.
UPDATE chunk_embeddings SET lease_until = '-infinity'
WHERE model = :model AND dimensions IS NULL AND chunk_id IN (
  SELECT chunk_id FROM chunk_embeddings WHERE chunk_id = ANY (:chunk_ids::uuid[]) FOR UPDATE SKIP LOCKED);

-- name: count
-- Counts all passages, those with an embedding of the model, and those that the model rejects.
SELECT (SELECT coalesce(sum(chunk_count), 0) FROM kbs WHERE deleted_at IS NULL)::integer AS passages,
  (count(*) FILTER (WHERE dimensions > 0))::integer AS embedded,
  (count(*) FILTER (WHERE dimensions = 0))::integer AS refused
FROM chunk_embeddings WHERE model = :model;

-- name: findMarks (prepared)
-- How many passages of these knowledge bases of a project are embedded.
SELECT k.id AS kb_id, k.chunk_count, m.embedded_count, m.embedded_count || ':' || m.last_seq AS mark
FROM kbs k CROSS JOIN LATERAL (
  SELECT count(*)::integer AS embedded_count, coalesce(max(seq), 0) AS last_seq FROM chunk_embeddings
  WHERE kb_id = k.id AND model = :model AND dimensions > 0 AND k.chunk_count <= :max_chunks
) m
WHERE k.project_id = :project AND k.id = ANY (:kb_ids::uuid[]) AND k.deleted_at IS NULL ORDER BY k.id;

-- name: listEmbedded
-- The passages of a knowledge base that have an embedding of this model.
SELECT chunk_id FROM chunk_embeddings
WHERE project_id = :project AND kb_id = :kb_id AND model = :model AND dimensions > 0 AND dimensions = :dimensions;

-- name: read
-- The embeddings of these passages. As bytes, which takes half the time of reading the numbers as text.
SELECT chunk_id, array_send(embedding) AS embedding FROM chunk_embeddings
WHERE project_id = :project AND kb_id = ANY (:kb_ids::uuid[]) AND chunk_id = ANY (:chunk_ids::uuid[]) AND model = :model
  AND dimensions = :dimensions;

-- name: readPassages
-- Those of these passages that are in these knowledge bases of the project, in any order.
SELECT c.id AS chunk_id, c.document_id, c.kb_id, d.title, d.url, d.mime, c.ordinal, c.heading_path, c.text,
  c.page
FROM chunks c JOIN documents d ON d.id = c.document_id
WHERE c.project_id = :project AND c.kb_id = ANY (:kb_ids::uuid[]) AND c.id = ANY (:chunk_ids::uuid[]);

-- name: prepareVectors
-- Prepares pgvector if the server has it: creates the extension, and an index for embeddings with this number of
-- dimensions. Locks the table while it builds the index.
SELECT prepare_vector_index(:dimensions) AS is_ready;

-- name: hasVectors
-- Returns a row if this database has pgvector.
SELECT FROM pg_extension WHERE extname = 'vector';

-- name: findClosest
-- The passages that are closest to a query in meaning, closest first. Needs pgvector.
SELECT chunk_id, cosine FROM closest_passages(:project, :kb_ids::uuid[], :model, :embedding::real[], :limit);
