-- name: listToMove
-- Files whose content is in PostgreSQL, oldest first.
SELECT id FROM widget_files WHERE object_id IS NULL AND expired_at IS NULL AND octet_length(content) > 0
ORDER BY created_at LIMIT {{movePage}};

-- name: readContent
-- The content of a file that is in PostgreSQL.
SELECT content FROM widget_files WHERE id = :id AND object_id IS NULL AND expired_at IS NULL;

-- name: reserve
-- Reserves the id of an object before it is written, so that it is deleted if no file refers to it by then. Locks the
-- rows of object_deletions that it writes.
INSERT INTO object_deletions (object_id, is_reserved, due_at)
VALUES (:object_id, true, now() + interval '{{reservedMinutes}} minutes');

-- name: setObject
-- Makes a file refer to its object, unless the file was removed, expired or moved by another process in the meantime; the
-- object is deleted then. Locks the row of object_deletions, then that of widget_files.
WITH reserved AS MATERIALIZED (
  SELECT object_id FROM object_deletions WHERE object_id = :object_id AND is_reserved FOR UPDATE
), moved AS (
  UPDATE widget_files f SET content = '', object_id = r.object_id, object_bytes = :bytes
  FROM reserved r WHERE f.id = :id AND f.object_id IS NULL AND f.expired_at IS NULL RETURNING f.object_id
)
DELETE FROM object_deletions d USING moved WHERE d.object_id = moved.object_id;

-- name: claimDeletions
-- Claims some objects that are due for deletion; after a crash they are due again after a minute. SKIP LOCKED shares
-- the work among replicas.
UPDATE object_deletions SET is_reserved = false, due_at = now() + interval '1 minute'
WHERE object_id IN (
  SELECT object_id FROM object_deletions WHERE due_at <= now() ORDER BY due_at LIMIT {{deletePage}} FOR UPDATE SKIP LOCKED
) RETURNING object_id;

-- name: endDeletion
-- Removes the record of a deleted object. Locks the rows of object_deletions that it writes.
DELETE FROM object_deletions WHERE object_id = :object_id;
