-- fragment: columns
a.id, a.kb_id, a.gap_id, v.title, a.revision, a.version, a.created_at, a.updated_at, v.actor AS updated_by,
  d.id AS document_id, CASE WHEN d.id IS NULL THEN NULL ELSE a.published_revision END AS published_revision,
  CASE WHEN d.id IS NOT NULL AND a.published_revision = a.revision THEN 'published'
    WHEN a.in_review THEN 'in_review' ELSE 'draft' END AS status

-- fragment: joined
articles a JOIN article_versions v ON v.article_id = a.id AND v.number = a.revision
LEFT JOIN documents d ON d.id = a.document_id
JOIN kbs k ON k.id = a.kb_id AND k.deleted_at IS NULL

-- name: find
-- An article with its newest text.
SELECT {{columns}}, v.text FROM {{joined}} WHERE a.project_id = :project AND a.id = :id;

-- name: listPage
-- Articles without their texts, newest first: those made before the one with the id `before`, with `q` in the title.
SELECT * FROM (SELECT {{columns}} FROM {{joined}}
  WHERE a.project_id = :project AND (:before::uuid IS NULL OR a.id < :before)
    AND (:gap_id::uuid IS NULL OR a.gap_id = :gap_id)
    AND (:q::text IS NULL OR strpos(lower(v.title), lower(:q)) > 0)) listed
WHERE :status::text IS NULL OR status = :status ORDER BY id DESC LIMIT :limit;

-- name: insert
-- Creates an article whose first version is inserted by the same transaction. Locks the row that it writes.
INSERT INTO articles (id, project_id, kb_id, gap_id, key)
SELECT :id, :project, k.id, :gap_id, :key FROM kbs k
WHERE k.id = :kb_id AND k.project_id = :project AND k.deleted_at IS NULL
ON CONFLICT (kb_id, key) DO NOTHING;

-- name: lock
-- Locks an article until the end of the transaction, so that two versions don't get the same number.
SELECT revision, version FROM articles WHERE project_id = :project AND id = :id FOR UPDATE;

-- name: findByKey
-- Finds the article of a document by its key.
SELECT id FROM articles WHERE project_id = :project AND kb_id = :kb_id AND key = :key;

-- name: insertVersion
-- Inserts a version. Locks the row that it writes.
INSERT INTO article_versions (article_id, number, project_id, title, text, actor, restores)
VALUES (:id, :number, :project, :title, :text, :actor, :restores);

-- name: update
-- Sets the newest version and whether it is in review. Locks the row that it writes.
UPDATE articles SET revision = :revision, in_review = :in_review, version = version + 1, updated_at = now()
WHERE project_id = :project AND id = :id;

-- name: dropOldVersions
-- Deletes versions beyond those that are kept; the published one stays. Locks the rows that it deletes.
DELETE FROM article_versions v USING articles a
WHERE a.id = v.article_id AND a.project_id = :project AND a.id = :id AND v.number <= a.revision - {{versionsMaxCount}}
  AND v.number IS DISTINCT FROM a.published_revision;

-- name: setPublished
-- Records the published version and its document. A version that was saved meanwhile stays a draft. Locks the row that
-- it writes.
UPDATE articles SET published_revision = :number, document_id = :document_id,
  in_review = in_review AND revision <> :number, version = version + 1, updated_at = now()
WHERE project_id = :project AND id = :id;

-- name: lockKb
-- Locks the knowledge base of an article before the article is deleted, in the order in which `kbs.purge` locks them.
SELECT k.id FROM articles a JOIN kbs k ON k.id = a.kb_id WHERE a.project_id = :project AND a.id = :id
FOR NO KEY UPDATE OF k;

-- name: remove
-- Deletes an article with its versions and images, if `versions` has its current version or is null. Locks the rows that
-- it deletes.
DELETE FROM articles WHERE project_id = :project AND id = :id
  AND (:versions::integer[] IS NULL OR version = ANY (:versions)) RETURNING kb_id, document_id;

-- name: listVersions
-- The versions of an article without their texts, newest first.
SELECT number, title, actor, restores, created_at FROM article_versions
WHERE project_id = :project AND article_id = :id ORDER BY number DESC;

-- name: findVersion
-- A version with its text.
SELECT number, title, text, actor, restores, created_at FROM article_versions
WHERE project_id = :project AND article_id = :id AND number = :number;

-- name: insertImage
-- Stores an image if the article has room for it. Concurrent uploads may pass the limit by one each. Locks the row that
-- it writes.
INSERT INTO article_images (id, article_id, project_id, mime, content)
SELECT :image_id, a.id, a.project_id, :mime, :content FROM articles a
WHERE a.project_id = :project AND a.id = :id
  AND (SELECT count(*) FROM article_images i WHERE i.article_id = a.id) < {{imagesMaxCount}};

-- name: findImage
-- An image of an article. Articles of a deleted knowledge base have none.
SELECT i.mime, i.content FROM article_images i JOIN articles a ON a.id = i.article_id
JOIN kbs k ON k.id = a.kb_id AND k.deleted_at IS NULL
WHERE i.project_id = :project AND i.article_id = :id AND i.id = :image_id;
