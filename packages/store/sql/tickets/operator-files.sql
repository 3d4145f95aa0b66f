-- name: insert
-- The sum is not locked: concurrent uploads may exceed the limit by one file, which is harmless.
INSERT INTO operator_files (id, project_id, ticket_id, filename, mime, content)
SELECT :id, :home, :ticket_id, :filename, :mime, :content
WHERE (
  SELECT coalesce(sum(octet_length(content)), 0) FROM operator_files
  WHERE ticket_id = :ticket_id AND project_id = :home AND NOT is_used
) + octet_length(:content::bytea) <= {{operatorFileLimitsUnusedMaxBytes}}
RETURNING id;

-- name: read
-- These files, in this order.
SELECT f.filename, f.mime, f.content FROM unnest(:ids::uuid[]) WITH ORDINALITY wanted (id, place)
JOIN operator_files f ON f.id = wanted.id AND f.project_id = :home AND f.ticket_id = :ticket_id
ORDER BY wanted.place;

-- name: sweep
-- SKIP LOCKED shares the work among replicas, and skips a file that a decision is claiming.
DELETE FROM operator_files WHERE id IN (
  SELECT id FROM operator_files
  WHERE NOT is_used AND created_at < now() - interval '{{operatorFileLimitsUnusedHours}} hours'
  ORDER BY created_at LIMIT {{sweepPage}} FOR UPDATE SKIP LOCKED
) RETURNING 1;

-- name: assignOperatorFiles
-- Assigns files of a ticket to a decision, within its transaction. Locks the rows of operator_files that it writes.
UPDATE operator_files SET is_used = true
WHERE project_id = :home AND ticket_id = :ticket_id AND id = ANY (:ids::uuid[]) RETURNING 1;

-- name: releaseOperatorFiles
-- Releases files of an undeliverable reply that will not be sent again, in the transaction that records that: like
-- unused files, they are deleted after a day. Locks the rows of operator_files that it writes.
UPDATE operator_files SET is_used = false, created_at = now()
WHERE project_id = :home AND ticket_id = :ticket_id AND id = ANY (:ids::uuid[]);

-- name: deleteOperatorFiles
-- Deletes files whose reply was sent, in the same transaction. Locks the rows of operator_files that it writes.
DELETE FROM operator_files WHERE project_id = :home AND ticket_id = :ticket_id AND id = ANY (:ids::uuid[]);
