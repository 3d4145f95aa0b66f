-- fragment: lapse_wait
-- After many expired leases, the next attempt is delayed.
({{lapseWait}})

-- name: insertImport
-- Starts the import of a sitemap. Locks the rows of imports that it writes.
INSERT INTO imports (id, project_id, kb_id, url, max_pages) VALUES (:id, :project, :kb_id, :url, :max_pages);

-- name: sumQueued
-- Sums the queue, to reject an ingest that exceeds its limits.
SELECT count(*) AS count, coalesce(sum(size_bytes), 0)::float8 AS bytes FROM ingests WHERE project_id = :project;

-- name: lockKb
-- Locks the knowledge base and the document in the transaction that finishes an ingest, which continues only while the
-- lease is held.
SELECT id FROM kbs WHERE project_id = :project AND id = :kb_id AND deleted_at IS NULL FOR NO KEY UPDATE;

-- name: lockDocument
-- Locks the document that an ingest reads.
SELECT id FROM documents WHERE id = :document_id FOR NO KEY UPDATE;

-- name: deleteOwned
-- Deletes an ingest if this worker still has its lease. Locks the rows of ingests that it writes.
DELETE FROM ingests WHERE id = :id AND project_id = :project AND lease_id = :lease_id RETURNING id;

-- name: insertDocuments
-- Queues pages of an import that are not queued yet, as documents. Locks the rows of documents that it writes.
INSERT INTO documents (id, project_id, kb_id, key, title, url, mime, size_bytes, content_hash, language, status)
SELECT i.id, :project, :kb_id, i.key, i.key, i.key, 'text/html', 0, '', '{{unreadLanguage}}', 'queued'
FROM unnest(:id::uuid[], :key::text[]) AS i (id, key) ON CONFLICT (kb_id, key) DO NOTHING;

-- name: lockDocuments
-- In the order of the input, since the database may sort text differently. Locks the rows of documents that it reads.
SELECT d.id FROM unnest(:key::text[]) WITH ORDINALITY AS i (key, place)
JOIN documents d ON d.kb_id = :kb_id AND d.key = i.key ORDER BY i.place FOR NO KEY UPDATE OF d;

-- name: insertPages
-- Queues the pages of an import that are not queued yet. Locks the rows of ingests that it writes.
INSERT INTO ingests AS w (id, project_id, kb_id, kind, document_id, import_id, key, name, url, priority, due_at)
SELECT i.id, :project, :kb_id, 'page', d.id, :import_id, d.key, d.key, d.key, {{ingestPriorityOfSitemap}},
  now() + interval '{{ingestSweepAfterMs}} milliseconds'
FROM unnest(:id::uuid[], :key::text[]) AS i (id, key) JOIN documents d ON d.kb_id = :kb_id AND d.key = i.key
ON CONFLICT (document_id) DO UPDATE SET import_id = excluded.import_id WHERE w.kind = 'page'
RETURNING w.id;

-- name: insertSitemap
-- Accepts a sitemap. Locks the rows of ingests that it writes.
INSERT INTO ingests (id, project_id, kb_id, kind, import_id, key, name, url, priority, due_at)
VALUES (:ingest_id, :project, :kb_id, 'sitemap', :import_id, '', '', :url, {{ingestPriorityOfSitemap}},
  now() + interval '{{ingestSweepAfterMs}} milliseconds');

-- name: claim (prepared)
-- Projects take turns: "ring" goes from the project that was served last to the next one with queued work, and from the
-- last project to the first (lap 2), with one index look-up each; only as many steps as needed are evaluated. The row
-- is locked and claimed in one statement; SKIP LOCKED lets two workers claim different ones. Ingests of a deleted
-- knowledge base are left to its removal; this is checked for each row, since a join might sort the whole queue.
WITH RECURSIVE ring (project_id, lap) AS (
  SELECT :project_id::uuid, 0
  UNION ALL
  SELECT step.project_id, step.lap FROM ring CROSS JOIN LATERAL (
    (SELECT i.project_id, greatest(ring.lap, 1) AS lap FROM ingests i
     WHERE i.project_id > ring.project_id ORDER BY i.project_id LIMIT 1)
    UNION ALL
    (SELECT i.project_id, 2 FROM ingests i WHERE ring.lap < 2 ORDER BY i.project_id LIMIT 1)
    LIMIT 1
  ) AS step WHERE step.lap = 1 OR step.project_id <= :project_id
), next AS (
  SELECT first.id FROM ring CROSS JOIN LATERAL (
    SELECT i.id FROM ingests i
    WHERE i.project_id = ring.project_id AND i.priority BETWEEN :handed_in AND :of_sitemap AND i.next_at <= now()
      AND i.size_bytes <= :max_bytes
      AND (i.priority = {{ingestPriorityHandedIn}} OR i.project_id <> ALL (:fetching_for::uuid[]))
      AND (i.lease_until IS NULL OR i.lease_until + {{lapse_wait}} < now())
      AND (SELECT k.deleted_at FROM kbs k WHERE k.id = i.kb_id) IS NULL
    ORDER BY i.priority, i.next_at, i.id LIMIT 1 FOR UPDATE OF i SKIP LOCKED
  ) AS first WHERE ring.lap > 0 LIMIT 1
), claimed AS (
  UPDATE ingests i SET lease_id = :lease_id, lease_until = now() + interval '{{ingestLeaseMs}} milliseconds',
    lease_holder = :process_id::uuid,
    attempts = greatest(1, i.attempts + CASE WHEN i.lease_id IS NULL THEN 1 ELSE 0 END),
    expired_leases = coalesce(i.expired_leases || {{expiredLease}}, i.expired_leases, {{expiredLease}})
  FROM next WHERE i.id = next.id
  RETURNING i.id, i.project_id, i.lease_id, i.kb_id, i.kind, i.document_id, i.import_id, i.key, i.name, i.mime,
    i.title, i.url, i.source_hash, i.size_bytes, i.attempts, i.expired_leases,
    (SELECT max_pages FROM imports m WHERE m.id = i.import_id AND i.kind = 'sitemap') AS max_pages
)
SELECT claimed.id, claimed.project_id AS project, claimed.lease_id, claimed.kb_id, claimed.kind, claimed.document_id,
  claimed.import_id, claimed.key, claimed.name, claimed.mime, claimed.title, claimed.url, claimed.source_hash,
  claimed.size_bytes, claimed.attempts, claimed.max_pages, s.crashes, s.lapses
FROM claimed CROSS JOIN LATERAL ({{leaseHistory}}) s;

-- name: renew (prepared)
-- Extends the lease of an ingest that is still held. Locks the rows of ingests that it writes.
UPDATE ingests SET lease_until = now() + interval '{{ingestLeaseMs}} milliseconds'
WHERE id = :id AND lease_id = :lease_id RETURNING 1;

-- name: readBytes
-- The stored bytes of an ingest, in parts.
SELECT p.bytes FROM ingest_parts p JOIN ingests i ON i.id = p.ingest_id
WHERE p.ingest_id = :id AND p.ordinal = :ordinal AND i.project_id = :project;

-- name: failImport
-- Ends an ingest whose document cannot be read, with a description of the reason. Locks the rows of imports that it
-- writes.
UPDATE imports SET error = :error, updated_at = now() WHERE id = :import_id;

-- name: failDocument
-- Records why a document cannot be read. Locks the rows of documents that it writes.
UPDATE documents SET status = 'failed', error = :error, updated_at = now() WHERE id = :document_id;

-- name: countFound
-- Records how many pages a sitemap has, which are queued from then on, and why others are missing. Locks the rows of
-- imports that it writes.
UPDATE imports SET found_count = :found, error = :incomplete, updated_at = now() WHERE id = :import_id;

-- name: retryLater
-- Releases a lease: the next attempt follows after `delayMs`, and this one does not count unless `counts`. Locks the
-- rows of ingests that it writes.
UPDATE ingests SET lease_id = NULL, lease_until = NULL, failure = coalesce(:failure, failure),
  attempts = greatest(attempts - :uncounted, 0), next_at = now() + :delay_ms * interval '1 millisecond',
  due_at = now() + :delay_ms * interval '1 millisecond'
WHERE id = :id AND lease_id = :lease_id;

-- name: due
-- Each is put off by its own age, between 2 s and a minute; workers continue by themselves from one to the next, so a
-- Each ingest is postponed by its own age, between 2 s and a minute; a worker continues with the next one by itself, so
-- a few announcements start any number of ingests. Locks the rows of ingests that it reads.
WITH due AS (
  SELECT id FROM ingests
  WHERE due_at <= now() AND next_at <= now() AND (lease_until IS NULL OR lease_until < now())
  ORDER BY due_at LIMIT :limit FOR UPDATE SKIP LOCKED
)
UPDATE ingests i SET due_at = now() + least(interval '1 minute', greatest(interval '2 seconds', now() - i.created_at))
FROM due WHERE i.id = due.id RETURNING i.id AS ingest_id, i.project_id AS project,
  i.attempts + coalesce(jsonb_array_length(i.expired_leases), 0) + (i.lease_id IS NOT NULL)::integer AS attempts;

-- name: countInImport
-- Counts a processed page of an import, as done or failed. Locks the import.
UPDATE imports SET done_count = done_count + :done, failed_count = failed_count + :failed, updated_at = now()
WHERE id = :id;
