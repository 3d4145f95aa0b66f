-- fragment: columns
id, catalog_id, state, status, completed_bytes, total_bytes, version, error_code, error

-- fragment: lease
now() + interval '{{modelPullLeaseMs}} milliseconds'

-- name: find
-- The last pull of a model.
SELECT {{columns}} FROM model_pulls WHERE catalog_id = :catalog_id;

-- name: listRunning
-- All pulls in progress.
SELECT {{columns}} FROM model_pulls WHERE state = 'running' ORDER BY catalog_id;

-- name: begin
-- Starts a pull of a model, unless it is in progress: of concurrent calls, exactly one starts it. That one locks the
-- row; the others wait, and then find the pull in progress.
INSERT INTO model_pulls AS p (catalog_id, id, state, status, due_at)
VALUES (:catalog_id, :id, 'running', '{{queued}}', now() + interval '{{sweepAfterMs}} milliseconds')
ON CONFLICT (catalog_id) DO UPDATE SET id = excluded.id, state = 'running', status = excluded.status,
  completed_bytes = 0, total_bytes = NULL, version = 1, error_code = NULL, error = NULL, attempts = 0,
  lease_id = NULL, lease_until = NULL, next_at = now(), due_at = excluded.due_at, started_at = now(),
  updated_at = now()
WHERE p.state <> 'running'
RETURNING {{columns}};

-- name: cancel
-- Cancels the pull of a model. Locks the rows of model_pulls that it writes.
UPDATE model_pulls SET state = 'cancelled', status = 'cancelled', lease_id = NULL, lease_until = NULL,
  version = version + 1, updated_at = now()
WHERE catalog_id = :catalog_id AND state = 'running' RETURNING {{columns}};

-- name: claim
-- Claims the lease on what is to be pulled next. The row is locked and claimed in one statement; SKIP LOCKED lets two
-- workers claim different ones.
WITH next AS (
  SELECT catalog_id FROM model_pulls
  WHERE state = 'running' AND next_at <= now() AND (lease_until IS NULL OR lease_until < now())
  ORDER BY next_at, catalog_id LIMIT 1 FOR UPDATE SKIP LOCKED
)
UPDATE model_pulls p SET lease_id = :lease_id, lease_until = {{lease}}
FROM next WHERE p.catalog_id = next.catalog_id
RETURNING p.id, p.catalog_id, p.status, p.completed_bytes, p.total_bytes, p.lease_id, p.attempts + 1 AS attempts,
  p.started_at;

-- name: saveProgress
-- Renews the lease, and records the progress of the pull. Locks the rows of model_pulls that it writes.
UPDATE model_pulls SET lease_until = {{lease}}, attempts = CASE WHEN :has_grown THEN 0 ELSE attempts END,
  version = version
    + CASE WHEN (status, completed_bytes, total_bytes) IS DISTINCT FROM (:status, :completed_bytes,
      :total_bytes) THEN 1 ELSE 0 END,
  status = :status, completed_bytes = :completed_bytes, total_bytes = :total_bytes, updated_at = now()
WHERE catalog_id = :catalog_id AND lease_id = :lease_id AND state = 'running' RETURNING 1;

-- name: finish
-- Ends a pull. Locks the rows of model_pulls that it writes.
UPDATE model_pulls SET state = :state, status = CASE WHEN :state = 'done' THEN 'success' ELSE 'failed' END,
  completed_bytes = CASE WHEN :state = 'done' THEN coalesce(total_bytes, completed_bytes) ELSE completed_bytes END,
  error_code = :error_code, error = :error, lease_id = NULL, lease_until = NULL, version = version + 1,
    updated_at = now()
WHERE catalog_id = :catalog_id AND lease_id = :lease_id AND state = 'running' RETURNING 1;

-- name: retryLater
-- Releases the lease: the next attempt follows after `delayMs`, and this one is counted as failed only if `counts`.
-- Locks the rows of model_pulls that it writes.
UPDATE model_pulls SET lease_id = NULL, lease_until = NULL, error = coalesce(:failure, error),
  attempts = attempts + :counted, next_at = now() + :delay_ms * interval '1 millisecond',
  due_at = now() + :delay_ms * interval '1 millisecond', updated_at = now()
WHERE catalog_id = :catalog_id AND lease_id = :lease_id AND state = 'running';

-- name: purge
-- Deletes old finished pulls. Locks the rows of model_pulls that it writes.
DELETE FROM model_pulls WHERE state <> 'running' AND updated_at < now() - interval '{{keptDays}} days';

-- name: claimDue
-- Up to `limit` pulls that are due and not claimed, for the sweeper to publish. Locks the rows of model_pulls that it
-- reads.
WITH due AS (
  SELECT catalog_id FROM model_pulls
  WHERE state = 'running' AND due_at <= now() AND next_at <= now()
    AND (lease_until IS NULL OR lease_until < now())
  ORDER BY due_at LIMIT :limit FOR UPDATE SKIP LOCKED
)
UPDATE model_pulls p SET due_at = now() + interval '2 seconds'
FROM due WHERE p.catalog_id = due.catalog_id RETURNING p.id AS pull_id, p.catalog_id,
  p.attempts + CASE WHEN p.lease_id IS NULL THEN 0 ELSE 1 END AS attempts;
