-- name: noteNews
-- Whoever makes callbacks of these messages learns of news. Locks the rows of callbacks that it reads.
WITH called AS MATERIALIZED (
  SELECT message_id FROM callbacks WHERE project_id = :project AND message_id = ANY (:message_ids::uuid[])
  ORDER BY message_id FOR UPDATE
)
UPDATE callbacks cb SET has_news = true, news_at = now(),
  told = CASE WHEN :forgets_failure AND cb.told = 'message.failed' THEN NULL ELSE cb.told END
FROM called WHERE cb.message_id = called.message_id;

-- name: findWebhookMessage
-- One of these messages that is of mode webhook, or null.
SELECT id FROM messages WHERE project_id = :project AND id = ANY (:message_ids::uuid[]) AND mode = 'webhook' ORDER BY seq LIMIT 1;

-- name: receiveAgain
-- Messages go through the pipeline again, with fresh tries. Locks the rows of messages that it writes.
UPDATE messages SET state = 'received', attempts = 0, not_before = now(), due_at = now(), finished_at = NULL,
  progress = NULL, expired_leases = NULL, covered_by = NULL
WHERE project_id = :project AND id = ANY (:message_ids::uuid[]) AND state IN ('held', 'failed');
