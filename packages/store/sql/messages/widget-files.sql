-- fragment: expire_every
-- Interval at which the files of a project are checked.
interval '1 hour'

-- name: sumChat
-- Total size of the files of one conversation, by its index; the size of a content is known without reading it.
SELECT coalesce(sum(coalesce(object_bytes, octet_length(content))), 0)::float8 AS total,
  coalesce(sum(coalesce(object_bytes, octet_length(content))) FILTER (WHERE created_at > now() - interval '1 day'), 0)::float8 AS day
FROM widget_files WHERE ticket_id = :ticket_id AND project_id = :project;

-- name: insertForMessage
-- Stores a file; a repeated call finds its own file. Locks the rows of widget_files that it writes.
INSERT INTO widget_files (id, project_id, ticket_id, message_id, filename, mime, content)
VALUES (:id, :project, :ticket_id, :message_id, :filename, :mime, :content)
ON CONFLICT (id) DO UPDATE SET message_id = excluded.message_id;

-- name: findOfMessage
-- Name, type and size of a file that is stored for this message, or null.
SELECT id, filename, mime, coalesce(object_bytes, octet_length(content)) AS size_bytes FROM widget_files
WHERE project_id = :project AND message_id = :message_id AND id = :file_id;

-- name: assign
-- Attaches files to a message; repeated for the same message, it finds its own files. Locks the files' rows, in the
-- order of their ids.
WITH wanted AS MATERIALIZED (
  SELECT id FROM widget_files
  WHERE project_id = :project AND ticket_id = :ticket_id AND id = ANY (:file_ids::uuid[]) AND (message_id IS NULL
    OR message_id = :message_id)
  ORDER BY id FOR UPDATE
)
UPDATE widget_files f SET message_id = :message_id FROM wanted
WHERE f.id = wanted.id AND (SELECT count(*) FROM wanted) = cardinality(:file_ids::uuid[])
RETURNING f.id, f.filename, f.mime, coalesce(f.object_bytes, octet_length(f.content)) AS size_bytes;

-- fragment: file
-- A visitor's own file, or the attachment of a reply.
SELECT filename, mime, content, object_id, object_bytes FROM widget_files
WHERE project_id = :project AND ticket_id = :ticket_id AND id = :file_id AND expired_at IS NULL
UNION ALL
SELECT filename, mime, content, NULL, NULL FROM replies
WHERE project_id = :project AND ticket_id = :ticket_id AND id = :file_id AND type = 'attachment'

-- name: read
-- Reads a file of a conversation; with `object_id`, its content is in the object store.
SELECT filename, mime, content, object_id FROM ({{file}}) AS file;

-- name: readPiece
-- A part of the bytes of a file.
SELECT filename, mime, coalesce(object_bytes, octet_length(content)) AS size_bytes, object_id, substring(content FROM :from FOR {{pieceBytes}}) AS piece
FROM ({{file}}) AS file;

-- name: insert
-- Inserts a file unless the unused files of its chat or project are too large together. The sums are not locked: two
-- concurrent uploads may pass a limit by one file each, which is harmless. A limit per chat alone would not bound
-- anything, since visitors create chats.
INSERT INTO widget_files (id, project_id, ticket_id, filename, mime, content)
SELECT :id, :project, :ticket_id, :filename, :mime, :content
WHERE (
  SELECT coalesce(sum(coalesce(object_bytes, octet_length(content))), 0) FROM widget_files
  WHERE ticket_id = :ticket_id AND project_id = :project AND message_id IS NULL
) + octet_length(:content::bytea) <= :chat_max_bytes AND (
  SELECT coalesce(sum(coalesce(object_bytes, octet_length(content))), 0) FROM widget_files WHERE project_id = :project AND message_id IS NULL
) + octet_length(:content::bytea) <= :project_max_bytes;

-- name: claimDueProject
-- Claims the next project to remove files that are older than its `fileRetentionDays`. Locks the rows of projects that
-- it reads.
UPDATE projects SET file_purge_at = now() + {{expire_every}}
WHERE id = (
  SELECT id FROM projects
  WHERE file_retention_days IS NOT NULL AND deleted_at IS NULL AND file_purge_at <= now()
  ORDER BY file_purge_at LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING id, file_retention_days AS days;

-- name: expireSome
-- Locks messages before files, as an erasure does. Another replica with the same batch finds nothing left to do. The
-- message no longer refers to the file, so that it is not offered to readers.
WITH old AS MATERIALIZED (
  SELECT id, ticket_id, message_id FROM widget_files
  WHERE project_id = :id AND expired_at IS NULL AND created_at < now() - make_interval(days => :days)
  ORDER BY created_at LIMIT {{expirePage}}
), held AS MATERIALIZED (
  SELECT m.id FROM messages m WHERE m.id IN (SELECT message_id FROM old) ORDER BY m.id FOR NO KEY UPDATE
), marked AS (
  UPDATE messages m SET attachments = (
    SELECT jsonb_agg(CASE
      WHEN EXISTS (SELECT 1 FROM old o WHERE o.message_id = m.id AND right(a.item ->> 'url', 36) = o.id::text)
      THEN a.item - 'url' || '{"expired":true}' ELSE a.item END ORDER BY a.place)
    FROM jsonb_array_elements(m.attachments) WITH ORDINALITY a (item, place)
  )
  FROM held WHERE m.id = held.id AND jsonb_typeof(m.attachments) = 'array'
), emptied AS (
  UPDATE widget_files f SET content = '', object_id = NULL, object_bytes = NULL, expired_at = now() FROM old
  WHERE f.id = old.id AND f.expired_at IS NULL AND (SELECT count(*) FROM held) >= 0
  RETURNING 1
)
SELECT (SELECT count(*)::integer FROM old) AS seen, (SELECT count(*)::integer FROM emptied) AS expired;

-- name: repeatSoon
-- Schedules a project with more expired files next. Locks the rows of projects that it writes.
UPDATE projects SET file_purge_at = now() WHERE id = :id;

-- name: sweep
-- Deletes unused files, including those of a reserved message that was never committed. SKIP LOCKED shares the work
-- among replicas and skips a file that a message is claiming.
WITH old AS MATERIALIZED (
  SELECT f.id, EXISTS (SELECT 1 FROM messages m WHERE m.id = f.message_id) AS is_used FROM widget_files f
  WHERE NOT f.is_kept AND f.created_at < now() - interval '{{widgetLimitsUnusedFileHours}} hours'
  ORDER BY f.created_at LIMIT {{sweepPage}} FOR UPDATE OF f SKIP LOCKED
), kept AS (
  UPDATE widget_files f SET is_kept = true FROM old WHERE f.id = old.id AND old.is_used
), gone AS (
  DELETE FROM widget_files f USING old WHERE f.id = old.id AND NOT old.is_used RETURNING 1
)
SELECT (SELECT count(*) FROM old) AS seen, (SELECT count(*) FROM gone) AS removed;
