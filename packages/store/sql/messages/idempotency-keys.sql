-- fragment: is_expired
k.created_at < now() - interval '{{idempotencyHours}} hours'

-- name: storeResponse (prepared)
-- Stores the response that the caller has, the delivery of its replies, and the end of the call together: a repeated
-- call finds either all of it, or the replies where they were. Concurrent calls share the statement. Planned once, like
-- `messages.accept`; IS NOT FALSE as in `messages.claim`. Locks the rows of idempotency_keys, messages, replies that it
-- writes.
WITH kept AS (
  UPDATE idempotency_keys k SET call_id = NULL, call_instance = NULL, status = a.status, headers = a.headers,
    body = a.body
  FROM unnest(:api_key_id::uuid[], :method::text[], :path::text[], :key::text[], :call_id::uuid[], :status::integer[],
    :headers::jsonb[], :body::text[])
    WITH ORDINALITY AS a (api_key_id, method, path, key, call_id, status, headers, body, place)
  WHERE a.place BETWEEN 1 AND 1000000 AND k.api_key_id = a.api_key_id AND k.method = a.method AND k.path = a.path
    AND k.key = a.key AND k.call_id = a.call_id
), ended AS (
  UPDATE messages m SET call_ended_at = now()
  FROM unnest(:project_id::uuid[], :id::uuid[]) WITH ORDINALITY AS e (project_id, id, place)
  WHERE m.id = e.id AND m.project_id = e.project_id AND m.call_ended_at IS NULL AND e.place BETWEEN 1 AND 1000000
)
UPDATE replies r SET delivered_at = now(), taken_by = NULL
FROM unnest(:project_id2::uuid[], :id2::uuid[]) WITH ORDINALITY AS d (project_id, id, place)
WHERE r.id = d.id AND r.project_id = d.project_id AND (r.delivered_at IS NULL) IS NOT FALSE
  AND d.place BETWEEN 1 AND 1000000;

-- name: read (prepared)
-- The slot of a key, and whether another call may claim it.
SELECT message_id, chat_id, body_hash, status, headers, body,
  {{isClaimable}} AS is_claimable
FROM idempotency_keys k WHERE api_key_id = :api_key_id AND method = :method AND path = :path AND key = :key;

-- name: claim (prepared)
-- The first call inserts the row; if its process has crashed or its client disconnected, the next call claims it; an
-- expired row starts again. Locks the rows of idempotency_keys that it writes.
INSERT INTO idempotency_keys AS k
  (api_key_id, project_id, method, path, key, body_hash, message_id, chat_id, call_id, call_instance)
VALUES (:api_key_id, :project, :method, :path, :key, :body_hash, :message_id, :chat_id, :call_id, :instance)
ON CONFLICT (api_key_id, method, path, key) DO UPDATE SET
  call_id = excluded.call_id, call_instance = excluded.call_instance, project_id = excluded.project_id,
  body_hash = excluded.body_hash,
  message_id = CASE WHEN {{is_expired}} THEN excluded.message_id ELSE k.message_id END,
  chat_id = CASE WHEN {{is_expired}} THEN excluded.chat_id ELSE k.chat_id END,
  status = NULL, headers = NULL, body = NULL,
  created_at = CASE WHEN {{is_expired}} THEN now() ELSE k.created_at END
WHERE {{isClaimable2}}
RETURNING message_id, chat_id;

-- name: reclaim
-- Claims a key that has this response, to replace it with a better one. Locks the rows of idempotency_keys that it
-- writes.
UPDATE idempotency_keys k SET call_id = :call_id, call_instance = :instance
WHERE api_key_id = :api_key_id AND method = :method AND path = :path AND key = :key AND status = :status
  AND body = :body
  AND {{isFree}}
RETURNING 1;

-- name: release
-- Releases a key: the next call with it replaces this one. Locks the rows of idempotency_keys that it writes.
UPDATE idempotency_keys SET call_id = NULL, call_instance = NULL
WHERE api_key_id = :api_key_id AND method = :method AND path = :path AND key = :key AND call_id = :call_id;

-- name: deleteExpired
-- Deletes keys that are older than 24 hours, at most `limit`. Locks the rows of idempotency_keys that it reads.
DELETE FROM idempotency_keys WHERE ctid IN (
  SELECT k.ctid FROM idempotency_keys k WHERE {{is_expired}} LIMIT :limit FOR UPDATE SKIP LOCKED
) RETURNING 1;
