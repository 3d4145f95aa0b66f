-- fragment: state
-- Counted on read: a counter in the row of the knowledge base would make concurrent writers of documents wait for each
-- other.
k.id, k.name, k.chunk_count, k.created_at, k.updated_at, k.version,
(SELECT count(*) FROM documents d WHERE d.kb_id = k.id) AS document_count,
(SELECT count(*) FROM ingests i WHERE i.kb_id = k.id) AS queued_count,
(SELECT count(*) FROM documents d WHERE d.kb_id = k.id AND d.status = 'failed'
   AND NOT EXISTS (SELECT 1 FROM ingests i WHERE i.document_id = d.id)) AS failed_count

-- fragment: columns
id, name, document_count, chunk_count, languages, created_at, updated_at, version

-- name: findState
-- A knowledge base with the state of its documents.
SELECT {{state}} FROM kbs k WHERE k.project_id = :project AND k.id = :id AND k.deleted_at IS NULL;

-- name: ensure
-- Creates a knowledge base, or returns the one of this project that has this name. Locks the rows of kbs that it
-- writes.
INSERT INTO kbs (id, project_id, name) VALUES (:id, :project, :name) ON CONFLICT (project_id, name) DO NOTHING
RETURNING {{columns}};

-- name: findByName
-- A knowledge base by its name.
SELECT {{columns}} FROM kbs WHERE project_id = :project AND name = :name AND deleted_at IS NULL;

-- name: insert
-- Creates a knowledge base. Locks the rows of kbs that it writes.
INSERT INTO kbs (id, project_id, name) VALUES (:id, :project, :name) ON CONFLICT (project_id, name) DO NOTHING
RETURNING id;

-- name: list
-- All knowledge bases of a project by name.
SELECT {{columns}} FROM kbs WHERE project_id = :project AND deleted_at IS NULL ORDER BY name;

-- name: listPage
-- Knowledge bases of a project, newest first: those created before the one with id `before`, and with `q` in the name.
SELECT {{state}} FROM kbs k
WHERE k.project_id = :project AND k.deleted_at IS NULL AND (:before::uuid IS NULL OR k.id < :before)
  AND (:q::text IS NULL OR strpos(lower(k.name), lower(:q)) > 0)
ORDER BY k.id DESC LIMIT :limit;

-- name: findAll (prepared)
-- Those of these knowledge bases that this project has.
SELECT {{columns}} FROM kbs WHERE project_id = :project AND id = ANY (:ids::uuid[]) AND deleted_at IS NULL
ORDER BY name;

-- name: update
-- Changes the name and raises the version, if `versions` contains the current one or is null. Locks the rows of kbs
-- that it writes.
UPDATE kbs SET name = coalesce(:name, name), version = version + 1, updated_at = now()
WHERE project_id = :project AND id = :id AND deleted_at IS NULL AND (:versions::integer[] IS NULL
  OR version = ANY (:versions))
RETURNING id;

-- name: remove
-- Deletes a knowledge base, if `versions` contains its current version or is null: it can no longer be found, its name
-- is free, and agents lose it. The name is part of a key, so this waits for transactions that put or accept a document
-- in it. Locks the rows of kbs that it writes.
UPDATE kbs SET deleted_at = now(), name = '{{deletedPrefix}}' || id
WHERE project_id = :project AND id = :id AND deleted_at IS NULL AND (:versions::integer[] IS NULL
  OR version = ANY (:versions))
RETURNING id;

-- name: removeFromAgents
-- Removes a knowledge base from the agents that have it. Locks the rows of agents that it writes.
UPDATE agents SET kb_ids = array_remove(kb_ids, :id::uuid), version = version + 1
WHERE project_id = :project AND :id::uuid = ANY (kb_ids);

-- name: purge
-- Locks a deleted knowledge base of any project whose content is removed in short transactions. One process at a time,
-- since rows that another process is deleting would look like the end of a step. Locks the rows of kbs that it reads.
SELECT id FROM kbs WHERE deleted_at IS NOT NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;

-- name: holdKb
-- Locks a knowledge base against its deletion until the commit.
SELECT id FROM kbs WHERE project_id = :project AND id = :kb_id AND deleted_at IS NULL FOR KEY SHARE;

-- name: purgeIngests
-- Deletes up to 20 ingests of a deleted knowledge base. Locks them.
DELETE FROM ingests WHERE id IN (SELECT id FROM ingests WHERE kb_id = :id ORDER BY id LIMIT 20);

-- name: purgeDocuments
-- Deletes at least one document of a deleted knowledge base, and up to 200 with at most 2,000 passages together, to
-- keep the statement short. Locks them.
DELETE FROM documents WHERE id IN (
  SELECT id FROM (
    SELECT id, sum(chunk_count) OVER (ORDER BY id) - chunk_count AS chunks_before
    FROM (SELECT id, chunk_count FROM documents WHERE kb_id = :id ORDER BY id LIMIT 200) AS d
  ) AS counted WHERE chunks_before < 2000
);

-- name: purgeArticleImages
-- Deletes up to 20 images of articles of a deleted knowledge base. Locks them.
DELETE FROM article_images WHERE id IN (
  SELECT i.id FROM articles a JOIN article_images i ON i.article_id = a.id WHERE a.kb_id = :id LIMIT 20
);

-- name: purgeArticles
-- Deletes up to 20 articles of a deleted knowledge base with their versions; their images are deleted before. Locks them.
DELETE FROM articles WHERE id IN (SELECT id FROM articles WHERE kb_id = :id LIMIT 20);

-- name: purgePostings
-- Deletes up to 5,000 postings of a deleted knowledge base. Locks them.
DELETE FROM kb_postings WHERE ctid = ANY (ARRAY(
  SELECT p.ctid FROM kb_postings p JOIN kbs k ON k.number = p.kb_number WHERE k.id = :id LIMIT 5000
));

-- name: purgeWords
-- Deletes up to 5,000 words of a deleted knowledge base. Locks them.
DELETE FROM kb_words WHERE ctid = ANY (ARRAY(
  SELECT w.ctid FROM kb_words w JOIN kbs k ON k.number = w.kb_number WHERE k.id = :id LIMIT 5000
));

-- name: purgeTerms
-- Deletes up to 5,000 terms of a deleted knowledge base. Locks them.
DELETE FROM kb_terms WHERE ctid = ANY (ARRAY(SELECT ctid FROM kb_terms WHERE kb_id = :id LIMIT 5000));

-- name: purgeSelf
-- Deletes a deleted knowledge base of which nothing else is left. Locks it.
DELETE FROM kbs WHERE id = :id AND deleted_at IS NOT NULL;
