-- name: markTimeouts
-- Marks messages whose timeout has passed as changed, so that their senders are notified. Locks the rows of callbacks
-- that it reads.
UPDATE callbacks SET has_news = true, news_at = now()
WHERE message_id IN (
  SELECT message_id FROM callbacks WHERE timeout_at <= now() AND NOT has_news
  ORDER BY timeout_at LIMIT :limit FOR UPDATE SKIP LOCKED
)
RETURNING project_id, ticket_id;

-- name: findUnsettled
-- Conversations of all projects with changes that their job has not processed in time, at most `limit`.
SELECT DISTINCT project_id, ticket_id FROM callbacks
WHERE has_news AND news_at < now() - interval '{{sweepAfterMs}} milliseconds' LIMIT :limit;

-- name: findDeliveryId
-- The id of a message's final callback, or null if the project has no such message of mode webhook.
SELECT delivery_id FROM callbacks WHERE message_id = :message_id AND project_id = :project;

-- name: hasSecret
-- Returns a row while the sealed key of a message's sender is stored to sign its callbacks, and is not revoked.
SELECT 1 FROM callbacks cb LEFT JOIN api_keys k ON k.id = cb.api_key_id
WHERE cb.message_id = :message_id AND cb.project_id = :project AND cb.sealed_secret IS NOT NULL
  AND k.revoked_at IS NULL;

-- name: eraseRevokedSecrets
-- Deletes the sealed copies of revoked keys, which sign nothing. Locks the rows of callbacks that it reads.
UPDATE callbacks SET sealed_secret = NULL
WHERE message_id IN (
  SELECT cb.message_id FROM api_keys k JOIN callbacks cb ON cb.api_key_id = k.id
  WHERE k.revoked_at IS NOT NULL AND cb.sealed_secret IS NOT NULL
  LIMIT :limit FOR UPDATE OF cb SKIP LOCKED
)
RETURNING 1;

-- name: eraseOldSecrets
-- Deletes sealed keys that are older than 30 days, at most `limit`. Locked rows are skipped until the next time:
-- waiting for them in another order could cause a deadlock. Locks the rows of callbacks that it reads.
UPDATE callbacks SET sealed_secret = NULL
WHERE message_id IN (
  SELECT message_id FROM callbacks
  WHERE sealed_secret IS NOT NULL AND created_at < now() - interval '{{secretDays}} days'
  LIMIT :limit FOR UPDATE SKIP LOCKED
)
RETURNING 1;

-- name: make (prepared)
-- Compares what each sender has received with the state of its message and with the replies that no callback carries
-- yet. Messages and replies are those of this statement's snapshot, and every change of them also changes the row of
-- callbacks. So a row that has changed since, while this waited for its lock, is left for the next call (`is_moved`), with
-- all of its chat, whose callbacks keep their order. Nothing is written if there are more messages than new ids
-- (`needed`). A conversation that is listed twice is read once. Locks the rows of callbacks in the order of their messages,
-- and inserts deliveries.
WITH locked AS MATERIALIZED (
  SELECT cb.message_id, cb.ticket_id, cb.xmin AS version FROM callbacks cb
  WHERE cb.has_news AND (cb.ticket_id, cb.project_id) IN (
    SELECT ticket_id, project_id FROM unnest(:project_id::uuid[], :ticket_id::uuid[]) AS i (project_id, ticket_id)
  )
  ORDER BY cb.message_id FOR UPDATE OF cb
), seen AS MATERIALIZED (
  SELECT locked.message_id, bool_or(cb.xmin <> locked.version) OVER (PARTITION BY locked.ticket_id) AS is_moved,
    row_number() OVER (ORDER BY locked.message_id) AS number, count(*) OVER () AS needed
  FROM locked JOIN callbacks cb USING (message_id)
), compared AS (
  SELECT cb.message_id, cb.project_id, cb.ticket_id, cb.url, m.seq, (:new_id::uuid[])[seen.number] AS new_id,
    {{typeNow}} AS type, cb.told, cb.is_final_made, cb.delivery_id, coalesce(r.ids, '{}') AS reply_ids
  FROM seen
  JOIN callbacks cb USING (message_id)
  JOIN messages m ON m.id = cb.message_id
  LEFT JOIN LATERAL (
    SELECT array_agg(r.id ORDER BY r.seq) AS ids FROM replies r
    WHERE r.ticket_id = cb.ticket_id AND r.in_reply_to = cb.message_id AND r.delivered_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_id = cb.message_id AND r.id = ANY (d.reply_ids))
  ) r ON true
  WHERE seen.needed <= cardinality(:new_id::uuid[]) AND NOT seen.is_moved
), changed AS (
  SELECT *, type IS NOT NULL AND (type IS DISTINCT FROM told OR reply_ids <> '{}') AS is_made,
    type IN ('message.completed', 'message.rejected') AND NOT is_final_made AS is_final
  FROM compared
), marked AS (
  UPDATE callbacks cb SET has_news = false, told = CASE WHEN c.is_made THEN c.type ELSE cb.told END,
    timeout_at = CASE WHEN c.is_made THEN NULL ELSE cb.timeout_at END,
    is_final_made = cb.is_final_made OR (c.is_made AND c.is_final)
  FROM changed c WHERE cb.message_id = c.message_id
), inserted AS (
  INSERT INTO deliveries (id, project_id, ticket_id, message_id, type, url, reply_ids, due_at)
  SELECT CASE WHEN is_final THEN delivery_id ELSE new_id END, project_id, ticket_id, message_id, type, url, reply_ids,
    now() + interval '{{sweepAfterMs}} milliseconds'
  FROM changed WHERE is_made ORDER BY seq
  RETURNING id, project_id, ticket_id
)
SELECT s.needed, s.is_moved, i.id, i.project_id, i.ticket_id
FROM (SELECT count(*) AS needed, coalesce(bool_or(is_moved), false) AS is_moved FROM seen) s
LEFT JOIN inserted i ON true;
