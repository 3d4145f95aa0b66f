-- name: insert
-- The sum is not locked: two uploads at once may pass the limit by one file, which does no harm.
INSERT INTO operator_files (id, project_id, ticket_id, filename, mime, content)
SELECT :id, :home, :ticket_id, :filename, :mime, :content
WHERE (
  SELECT coalesce(sum(octet_length(content)), 0) FROM operator_files
  WHERE ticket_id = :ticket_id AND project_id = :home AND NOT is_used
) + octet_length(:content::bytea) <= {{operatorFileLimitsUnusedMaxBytes}}
RETURNING id;

-- name: read
-- These files, in their order.
SELECT f.filename, f.mime, f.content FROM unnest(:ids::uuid[]) WITH ORDINALITY wanted (id, place)
JOIN operator_files f ON f.id = wanted.id AND f.project_id = :home AND f.ticket_id = :ticket_id
ORDER BY wanted.place;

-- name: sweep
-- SKIP LOCKED shares the work among replicas, and leaves a file alone that a decision is just taking.
DELETE FROM operator_files WHERE id IN (
  SELECT id FROM operator_files
  WHERE NOT is_used AND created_at < now() - interval '{{operatorFileLimitsUnusedHours}} hours'
  ORDER BY created_at LIMIT {{sweepPage}} FOR UPDATE SKIP LOCKED
) RETURNING 1;

-- name: takeOperatorFiles
-- Gives files of a ticket to a decision, within its transaction. Locks the rows of operator_files that it writes.
UPDATE operator_files SET is_used = true
WHERE project_id = :home AND ticket_id = :ticket_id AND id = ANY (:ids::uuid[]) RETURNING 1;

-- name: freeOperatorFiles
-- Lets go of files of a reply that was given up and will not be tried again, within the transaction that says so: like
-- those that no decision names, they are gone after a day. Locks the rows of operator_files that it writes.
UPDATE operator_files SET is_used = false, created_at = now()
WHERE project_id = :home AND ticket_id = :ticket_id AND id = ANY (:ids::uuid[]);

-- name: dropOperatorFiles
-- Removes files whose reply is sent, within its transaction. Locks the rows of operator_files that it writes.
DELETE FROM operator_files WHERE project_id = :home AND ticket_id = :ticket_id AND id = ANY (:ids::uuid[]);
