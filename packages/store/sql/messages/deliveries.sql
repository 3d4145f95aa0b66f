-- fragment: item
(SELECT c.chat_id FROM chats c
  WHERE c.ticket_id = coalesce(d.subject_id, d.ticket_id) AND c.project_id = d.project_id) AS chat_id,
d.id, d.type, d.ticket_id, d.message_id, d.webhook_id, d.subject_id, d.url, d.state, d.next_at, d.created_at,
coalesce((SELECT jsonb_agg(jsonb_build_object('at', a.at, 'status', a.status, 'ms', a.duration_ms, 'error', a.error)
  ORDER BY a.number) FROM delivery_attempts a WHERE a.delivery_id = d.id), '[]') AS attempts

-- name: postpone (prepared)
-- Nothing was sent: an attempt that was recorded anyway, because the response to `begin` was lost, is removed. Locks
-- the rows of deliveries, delivery_attempts that it writes.
WITH mine AS (
  UPDATE deliveries SET lease_id = NULL, lease_until = NULL,
    next_at = now() + :delay_ms * interval '1 millisecond', due_at = now() + :delay_ms * interval '1 millisecond'
  WHERE id = :id AND lease_id = :lease_id RETURNING id
)
DELETE FROM delivery_attempts a USING mine WHERE a.delivery_id = mine.id AND a.number = :attempt
  AND a.duration_ms IS NULL;

-- name: claim (prepared)
-- For each chat, only its oldest pending callback can be claimed: while it waits for a retry, it delays the later ones.
-- The row is locked and not skipped, so that two workers cannot claim two callbacks of one chat. If it has ended while
-- this statement waited for the lock, `has_moved` says that another is the oldest now. A claim is not an attempt: that
-- starts with `begin`. A lease that expired without a result counts as a lapse; from the second consecutive one on,
-- `next_at` is set to when the next claim may follow if this lease expires too, so that a callback that crashes its
-- process is retried with growing delays. An event is sent to the current URL of its webhook. Each chat is given once.
-- Planned once, like `messages.accept`; IS NOT FALSE as in `messages.claim`. Locks the rows of deliveries in the order of
-- their ids.
WITH oldest AS MATERIALIZED (
  SELECT d.id, i.lease_id
  FROM unnest(:project::uuid[], :ticket_id::uuid[], :lease_id::uuid[])
    WITH ORDINALITY AS i (project_id, ticket_id, lease_id, item)
  CROSS JOIN LATERAL (
    SELECT id FROM deliveries WHERE ticket_id = i.ticket_id AND project_id = i.project_id AND state = 'pending'
    ORDER BY place LIMIT 1
  ) d
  WHERE i.item BETWEEN 1 AND 1000000
), head AS MATERIALIZED (
  SELECT d.id, oldest.lease_id FROM oldest JOIN deliveries d USING (id)
  WHERE (d.state = 'pending') IS NOT FALSE ORDER BY d.id FOR UPDATE OF d
), claimed AS (
  UPDATE deliveries d SET lease_id = head.lease_id, lease_until = now() + interval '{{leaseMs}} milliseconds',
    lapses = CASE WHEN d.lease_id IS NULL THEN 0 ELSE d.lapses + 1 END,
    url = coalesce((SELECT w.url FROM webhooks w WHERE w.id = d.webhook_id), d.url),
    next_at = CASE WHEN d.lease_id IS NULL OR d.lapses = 0 THEN d.next_at
      ELSE now() + least(interval '6 hours', interval '30 seconds' * power(4, d.lapses - 1)) END
  FROM head WHERE d.id = head.id AND (d.state = 'pending') IS NOT FALSE AND d.next_at <= now()
    AND (d.lease_until IS NULL OR d.lease_until < now())
  RETURNING d.id, d.lease_id, d.message_id, d.type, d.url, d.reply_ids, d.created_at, d.tries, d.lapses, d.webhook_id,
    d.subject_id, d.ticket_event_id,
    1 + coalesce((SELECT max(number) FROM delivery_attempts a WHERE a.delivery_id = d.id), 0) AS number,
    (SELECT m.trace FROM messages m WHERE m.id = d.message_id) AS trace
)
SELECT o.lease_id, head.id IS NULL AS has_moved, c.id, c.message_id, c.type, c.url, c.reply_ids, c.created_at, c.tries,
  c.lapses, c.webhook_id, c.subject_id, c.ticket_event_id, c.number, c.trace
FROM oldest o LEFT JOIN head USING (id) LEFT JOIN claimed c USING (id)
WHERE head.id IS NULL OR c.id IS NOT NULL;

-- name: replies (prepared)
-- The replies that callbacks carry.
SELECT {{replyColumns}} FROM replies r
WHERE r.ticket_id = ANY (:ticket_ids::uuid[]) AND r.project_id = ANY (:projects::uuid[])
  AND r.id = ANY (:reply_ids::uuid[]) ORDER BY r.seq;

-- name: begin (prepared)
-- Starts attempts: each is recorded, and its lease lasts for the maximum duration of the request. Fenced by the lease.
-- Locks the rows of deliveries in the order of their ids, then those of delivery_attempts that it writes.
WITH given AS (
  SELECT * FROM unnest(:id::uuid[], :project::uuid[], :lease_id::uuid[], :attempt::integer[])
    AS i (id, project_id, lease_id, attempt)
), held AS MATERIALIZED (
  SELECT d.id, i.attempt FROM given i JOIN deliveries d USING (id, project_id, lease_id)
  WHERE d.state = 'pending' ORDER BY d.id FOR NO KEY UPDATE OF d
), begun AS (
  UPDATE deliveries d SET lease_until = now() + interval '{{leaseMs}} milliseconds'
  FROM held WHERE d.id = held.id RETURNING d.id, d.project_id, d.message_id, d.webhook_id, d.type, held.attempt
), content AS (
  SELECT begun.id, begun.attempt, c.chat_id, m.channel_meta, {{coveredBy}} AS covered_by, cb.sealed_secret,
    k.revoked_at IS NOT NULL AS is_key_revoked, NULL::jsonb AS webhook
  FROM begun JOIN messages m ON m.id = begun.message_id AND m.project_id = begun.project_id JOIN chats c USING (ticket_id)
  JOIN callbacks cb ON cb.message_id = m.id LEFT JOIN api_keys k ON k.id = cb.api_key_id
  UNION ALL
  SELECT begun.id, begun.attempt, '', '{}', NULL, NULL, false, jsonb_build_object(
    'isActive', w.active_since IS NOT NULL OR begun.type = '{{testEvent}}',
    'webhookSecret', jsonb_build_object('sealed', w.sealed_secret),
    'previousWebhookSecret', CASE WHEN w.previous_until IS NOT NULL
      THEN jsonb_build_object('sealed', w.previous_sealed_secret, 'until', w.previous_until) END)
  FROM begun JOIN webhooks w ON w.id = begun.webhook_id
), attempt AS (
  INSERT INTO delivery_attempts (delivery_id, number) SELECT id, attempt FROM content ON CONFLICT DO NOTHING
)
SELECT id, chat_id, channel_meta, covered_by, sealed_secret, is_key_revoked, webhook FROM content;

-- name: interrupt (prepared)
-- Records an attempt that was aborted after its request was sent, which is not a failure. Locks the rows of
-- delivery_attempts, deliveries that it writes.
WITH attempt AS (
  UPDATE delivery_attempts SET duration_ms = :duration_ms, error = :error WHERE delivery_id = :id AND number = :attempt
)
UPDATE deliveries SET lease_id = NULL, lease_until = NULL, next_at = now(), due_at = now()
WHERE id = :id AND lease_id = :lease_id;

-- name: oldestDueMs
-- Age in milliseconds of the oldest delivery that is due and not claimed.
SELECT (extract(epoch FROM now() - min(greatest(d.created_at, d.next_at))) * 1000)::float8 AS age
FROM deliveries d
WHERE d.state = 'pending' AND d.due_at <= now() AND d.next_at <= now()
  AND (d.lease_until IS NULL OR d.lease_until < now())
  AND NOT EXISTS (SELECT 1 FROM deliveries earlier WHERE earlier.ticket_id = d.ticket_id
    AND earlier.state = 'pending' AND earlier.place < d.place);

-- name: due
-- As with messages, each is postponed by its own age at most, and SKIP LOCKED shares the work among replicas. A
-- delivery that waits for an earlier one is postponed until that is due and is not announced: the process that finishes
-- the earlier one continues with it, and the backlog of an unavailable receiver must not fill the queue.
WITH due AS (
  SELECT id, ticket_id, place FROM deliveries
  WHERE state = 'pending' AND due_at <= now() AND (lease_until IS NULL OR lease_until < now())
  ORDER BY due_at LIMIT :limit FOR UPDATE SKIP LOCKED
), placed AS (
  SELECT due.id, head.id = due.id AS is_head, head.next_at AS head_at
  FROM due CROSS JOIN LATERAL (
    SELECT h.id, h.next_at FROM deliveries h
    WHERE h.ticket_id = due.ticket_id AND h.state = 'pending' ORDER BY h.place LIMIT 1
  ) head
), put_off AS (
  UPDATE deliveries d SET due_at = greatest(placed.head_at,
    now() + least(interval '10 seconds', greatest(interval '2 seconds', now() - d.created_at)))
  FROM placed WHERE d.id = placed.id
  RETURNING d.id, d.project_id, d.ticket_id, d.tries, placed.is_head
)
SELECT id, project_id, ticket_id, tries FROM put_off WHERE is_head;

-- name: listPage
-- At most `limit` deliveries of a project after the one with the id `before`, newest first, optionally of one state and
-- one webhook.
SELECT {{item}} FROM deliveries d
WHERE d.project_id = :project AND (:state::text IS NULL OR d.state = :state)
  AND (:webhook_id::uuid IS NULL OR d.webhook_id = :webhook_id)
  AND (:id::uuid IS NULL OR d.place < (SELECT place FROM deliveries WHERE id = :id))
ORDER BY d.place DESC LIMIT :limit;

-- name: find
-- A delivery of this project, or null.
SELECT {{item}} FROM deliveries d WHERE d.project_id = :project AND d.id = :id;

-- name: replay
-- Makes a finished delivery pending again, with new attempts. Locks the rows of deliveries, replies that it writes.
WITH again AS (
  UPDATE deliveries SET state = 'pending', tries = CASE state WHEN 'pending' THEN tries ELSE 0 END, lapses = 0,
    next_at = now(), due_at = now(), finished_at = NULL
  WHERE project_id = :project AND id = :id RETURNING ticket_id, reply_ids, tries
), unbuffered AS (
  UPDATE replies r SET undeliverable_at = NULL FROM again
  WHERE r.id = ANY (again.reply_ids) AND r.delivered_at IS NULL
)
SELECT ticket_id, tries FROM again;

-- name: countFailing
-- Counts deliveries of all projects that have failed at least this number of times and are still retried.
SELECT count(*) AS count FROM deliveries WHERE state = 'pending' AND tries >= :tries;

-- name: countDead
-- Counts dead deliveries of all projects.
SELECT count(*) AS count FROM deliveries WHERE state = 'dead';

-- fragment: recorded
-- A result may have no recorded attempt, if the request could not be made.
attempt AS (
  INSERT INTO delivery_attempts (delivery_id, number, duration_ms, status, error)
  SELECT id, :attempt, :duration_ms, :status, :error FROM deliveries WHERE id = :id
  ON CONFLICT (delivery_id, number) DO UPDATE
    SET duration_ms = excluded.duration_ms, status = excluded.status, error = excluded.error
)

-- name: finishDelivered (prepared)
-- Marks the replies of delivered callbacks as delivered. After a message's final callback the sender's key is deleted.
-- A result may have no recorded attempt, if the request could not be made. Planned once, like `messages.accept`; IS NOT
-- FALSE as in `messages.claim`. Locks the deliveries and their attempts, then the callbacks, both in the order of their
-- ids, then the replies.
WITH given AS (
  SELECT * FROM unnest(:id::uuid[], :lease_id::uuid[], :attempt::integer[], :duration_ms::integer[], :status::integer[])
    WITH ORDINALITY AS i (id, lease_id, attempt, duration_ms, status, place)
  WHERE place BETWEEN 1 AND 1000000
), known AS MATERIALIZED (
  SELECT i.*, d.lease_id = i.lease_id AS is_held FROM given i JOIN deliveries d USING (id)
  ORDER BY d.id FOR NO KEY UPDATE OF d
), attempt AS (
  INSERT INTO delivery_attempts (delivery_id, number, duration_ms, status)
  SELECT id, attempt, duration_ms, status FROM known
  ON CONFLICT (delivery_id, number) DO UPDATE
    SET duration_ms = excluded.duration_ms, status = excluded.status, error = NULL
), ended AS (
  UPDATE deliveries d SET state = 'delivered', finished_at = now(), lease_id = NULL, lease_until = NULL
  FROM known WHERE d.id = known.id AND known.is_held RETURNING d.id, d.message_id, d.reply_ids
), final AS MATERIALIZED (
  SELECT cb.message_id FROM callbacks cb JOIN ended ON cb.message_id = ended.message_id AND cb.delivery_id = ended.id
  WHERE cb.sealed_secret IS NOT NULL ORDER BY cb.message_id FOR NO KEY UPDATE OF cb
), secret AS (
  UPDATE callbacks cb SET sealed_secret = NULL FROM final WHERE cb.message_id = final.message_id
)
UPDATE replies r SET delivered_at = now()
WHERE r.id IN (SELECT unnest(reply_ids) FROM ended) AND (r.delivered_at IS NULL) IS NOT FALSE;

-- name: finishDead (prepared)
-- Marks a delivery as dead: its replies go to the buffer, each with a new sequence number at the end of the chat, so
-- that a reader whose cursor is beyond the old one finds them too. Locks the delivery and its attempt, then the chat's
-- row, which a pipeline run holds for one statement only, and then the replies.
WITH {{recorded}}, ended AS (
  UPDATE deliveries SET state = 'dead', finished_at = now(), lease_id = NULL, lease_until = NULL
  WHERE id = :id AND lease_id = :lease_id RETURNING ticket_id, reply_ids
), moved AS (
  SELECT r.id, row_number() OVER (ORDER BY r.seq) AS number, count(*) OVER () AS total
  FROM ended JOIN replies r ON r.id = ANY (ended.reply_ids) WHERE r.delivered_at IS NULL
), chat AS (
  UPDATE chats c SET last_seq = c.last_seq + (SELECT count(*) FROM moved)
  FROM ended WHERE c.ticket_id = ended.ticket_id RETURNING c.last_seq
)
UPDATE replies r SET seq = chat.last_seq - moved.total + moved.number, undeliverable_at = now()
FROM moved, chat WHERE r.id = moved.id;

-- name: finishLater (prepared)
-- Records a failed attempt and releases the lease until the next one. Locks the delivery and its attempt.
WITH {{recorded}}
UPDATE deliveries SET lease_id = NULL, lease_until = NULL, tries = tries + 1,
  next_at = now() + :delay_ms * interval '1 millisecond', due_at = now() + :delay_ms * interval '1 millisecond'
WHERE id = :id AND lease_id = :lease_id;
