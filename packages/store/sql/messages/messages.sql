-- name: findAccepted
-- Finds the ticket and sequence number of a committed message.
SELECT ticket_id, seq FROM messages WHERE id = :id AND project_id = :project;

-- name: accept (prepared)
-- Concurrent messages are committed in one statement. The chat's row assigns sequence numbers; rows are locked in the
-- order of their ids, as in every statement on chats, to avoid deadlocks. The chat_id of an erased chat is restored.
-- `ahead` is how many messages of the project were unfinished before this statement, up to a bound, counted once for
-- all rows; the sweeper publishes messages behind a backlog later. Messages of a project with a daily limit are skipped
-- unless they have been counted, so that only projects with a limit need another statement. PostgreSQL takes an unknown
-- array for ten rows, and would plan the statement again for each array: with the condition on `place`, which all rows
-- meet, it estimates one in both cases.
WITH given AS MATERIALIZED (
  SELECT * FROM unnest(:id::uuid[], :project_id::uuid[], :ticket_id::uuid[], :channel_id::text[], :chat_id::text[],
    :user_id::text[], :text::text[],
    :timestamp_ms::bigint[], :attachments::jsonb[], :channel_meta::jsonb[], :mode::text[], :call_instance::uuid[],
      :callback::jsonb[], :trace::text[], :is_counted::boolean[])
    WITH ORDINALITY AS i (id, project_id, ticket_id, channel_id, chat_id, user_id, text, timestamp_ms, attachments,
      channel_meta, mode, call_instance, callback, trace, is_counted, place)
  WHERE place BETWEEN 1 AND 1000000
), input AS (
  SELECT * FROM given WHERE is_counted
    OR (SELECT p.quotas ? 'messagesPerDay' FROM projects p WHERE p.id = given.project_id) IS NOT TRUE
), callback AS (
  INSERT INTO callbacks (message_id, project_id, ticket_id, url, api_key_id, sealed_secret, delivery_id, timeout_at)
  SELECT i.id, i.project_id, i.ticket_id, c.url, c.api_key_id, c.sealed_secret, c.delivery_id,
    now() + c.timeout_ms * interval '1 millisecond'
  FROM input i CROSS JOIN LATERAL jsonb_to_record(i.callback) AS c
    (url text, api_key_id uuid, sealed_secret text, delivery_id uuid, timeout_ms integer)
  WHERE i.callback IS NOT NULL
), chat AS (
  INSERT INTO chats AS c (ticket_id, project_id, channel_id, chat_id, last_seq)
  SELECT ticket_id, project_id, channel_id, chat_id, count(*) FROM input
  GROUP BY ticket_id, project_id, channel_id, chat_id ORDER BY ticket_id
  ON CONFLICT (ticket_id) DO UPDATE SET last_seq = c.last_seq + excluded.last_seq, chat_id = excluded.chat_id
  RETURNING ticket_id, last_seq
), backlog AS MATERIALIZED (
  SELECT p.project_id, {{backlogOfInput}} AS ahead
  FROM (SELECT DISTINCT project_id FROM input) p
)
INSERT INTO messages AS m (id, project_id, ticket_id, seq, user_id, text, timestamp_ms, attachments, channel_meta, mode,
  call_instance, trace, due_at)
SELECT i.id, i.project_id, i.ticket_id,
  chat.last_seq - count(*) OVER (PARTITION BY i.ticket_id)
    + row_number() OVER (PARTITION BY i.ticket_id ORDER BY i.place),
  i.user_id, i.text, i.timestamp_ms, i.attachments, i.channel_meta, i.mode, i.call_instance, i.trace,
  now() + interval '{{sweepAfterMs}} milliseconds'
    + greatest(0, backlog.ahead - {{backlogFrom}}) * interval '{{backlogMs}} milliseconds'
FROM input i JOIN chat USING (ticket_id) JOIN backlog ON backlog.project_id = i.project_id
RETURNING m.id, m.seq, (SELECT b.ahead FROM backlog b WHERE b.project_id = m.project_id) AS ahead;

-- name: claim (prepared)
-- Claims the lease of each chat that is free and has a message to process, and counts the attempt. Operators' decisions
-- have priority: a chat with a pending decision is skipped. The snapshot may be older than the lock that was waited
-- for, so the UPDATE checks the message's state again: a message that was finished in the meantime is not claimed
-- (IS NOT FALSE, because the planner would otherwise read all unfinished messages of a new installation by index). A
-- claim that a database crash undoes is repeated. A message with an expired lease is only reported (`id` NULL), and
-- judged by `claimExpired`, since that is rare. With `history_limit`, the ticket is opened as by `tickets.open`, fenced
-- here by the lock on the chat (OFFSET 0: blocked customers are checked once), the last texts of the chat are read, and
-- the versions of some of the project's knowledge bases, as in `chunks.readPostings`, so that a search need not read what
-- the process has cached. Planned once, by the condition on `place`, as `accept`. Locks the chats' rows in the order of
-- their ids, then the rows of messages and the tickets' rows of the same chats.
WITH input AS (
  SELECT * FROM unnest(:project_id::uuid[], :ticket_id::uuid[], :lease_id::uuid[], :history_limit::integer[])
    WITH ORDINALITY AS i (project_id, ticket_id, lease_id, history_limit, place)
  WHERE place BETWEEN 1 AND 1000000
), free AS MATERIALIZED (
  SELECT c.project_id, c.ticket_id, c.channel_id, c.chat_id, c.ticket_version, i.lease_id, i.history_limit,
    c.lease_id IS NOT NULL AS is_expired
  FROM chats c JOIN input i ON i.ticket_id = c.ticket_id AND i.project_id = c.project_id
  WHERE (c.lease_until IS NULL OR c.lease_until < now()) AND c.review_id IS NULL
  ORDER BY c.ticket_id FOR UPDATE OF c
), head AS (
  SELECT f.project_id, f.ticket_id, f.channel_id, f.chat_id, f.ticket_version, f.lease_id, f.history_limit, m.id,
    f.is_expired OR m.expired_leases IS NOT NULL AS is_left
  FROM free f CROSS JOIN LATERAL (
    SELECT id, not_before, expired_leases FROM messages
    WHERE ticket_id = f.ticket_id AND state = 'received' ORDER BY seq LIMIT 1
  ) m
  WHERE m.not_before IS NULL OR m.not_before <= now()
), claimed AS (
  UPDATE messages m SET attempts = m.attempts + 1, not_before = NULL, failure = NULL
  FROM head h WHERE m.id = h.id AND NOT h.is_left AND (m.state = 'received') IS NOT FALSE
    AND (m.not_before IS NULL OR m.not_before <= now())
  RETURNING m.id, m.ticket_id, m.seq, m.user_id, m.text, m.channel_meta, m.mode, m.attempts, m.progress, m.trace,
    h.lease_id
), opened AS (
  INSERT INTO tickets AS t (id, home_project_id, project_id, channel_id, chat_id, user_id, subject, channel_meta,
    version, {{openingColumns}})
  SELECT h.ticket_id, h.project_id, h.project_id, h.channel_id, h.chat_id, k.user_id, {{subject}}, k.channel_meta,
    h.ticket_version + 1, {{openingValues}}
  FROM claimed k JOIN head h USING (ticket_id) CROSS JOIN LATERAL (SELECT {{isOfBlocked}} AS is_blocked OFFSET 0) b
  WHERE h.history_limit IS NOT NULL
  ORDER BY h.ticket_id
  ON CONFLICT (id) DO UPDATE SET {{reopenAssignments}}
  RETURNING t.id, t.project_id, t.subject, t.status, t.stage, t.assignee, t.agent_id, t.language, t.version
), leased AS (
  UPDATE chats c SET lease_id = k.lease_id, lease_until = now() + interval '{{leaseMs}} milliseconds',
    lease_holder = :process_id::uuid, lease_group = NULL
  FROM claimed k WHERE c.ticket_id = k.ticket_id
)
SELECT h.project_id, h.ticket_id, h.channel_id, h.chat_id, h.lease_id, k.id, k.seq, k.user_id, k.text, k.channel_meta,
  k.mode, k.attempts, k.progress, k.trace, 0 AS crashes, 0 AS lapses, NULL::integer AS last_group,
  o.project_id AS worked_by, o.subject, o.status, o.stage, o.assignee, o.agent_id, o.language, o.version,
  CASE WHEN h.history_limit > 0 AND k.seq > 1 THEN (
    SELECT json_agg(json_build_object('author', author, 'text', text, 'sources', coalesce(sources, '[]')) ORDER BY seq)
    FROM ({{history}}) s
  ) END AS history,
  CASE WHEN h.history_limit IS NOT NULL THEN (
    SELECT json_object_agg(kb.id, kb.version) FROM (
      SELECT id, xmin::text AS version FROM kbs WHERE project_id = h.project_id AND deleted_at IS NULL
      LIMIT {{claimedKbs}}
    ) kb
  ) END AS kb_versions
FROM head h LEFT JOIN claimed k ON k.id = h.id LEFT JOIN opened o ON o.id = k.ticket_id
WHERE k.id IS NOT NULL OR h.is_left;

-- name: claimExpired (prepared)
-- The same for one chat whose lease expired, now or at an earlier attempt. The expired lease is recorded with the
-- message and not counted as an attempt. A message with which processes have crashed is claimed only if `group`, the
-- number of messages that this process runs exclusively, is at most half of those at the last crash; otherwise the
-- message is unchanged, since a claim whose process crashes before releasing it would count as a crash of the message.
-- Locks the rows of chats that it reads and the rows of messages that it writes.
WITH free AS MATERIALIZED (
  SELECT project_id, ticket_id, channel_id, chat_id, lease_until, {{expiredLease}} AS expired
  FROM chats c
  WHERE ticket_id = :ticket_id AND project_id = :project AND (lease_until IS NULL OR lease_until < now())
    AND review_id IS NULL
  FOR UPDATE
), head AS (
  SELECT f.*, m.id, coalesce(m.expired_leases || f.expired, m.expired_leases, f.expired) AS leases
  FROM free f CROSS JOIN LATERAL (
    SELECT id, not_before, expired_leases FROM messages
    WHERE ticket_id = f.ticket_id AND state = 'received' ORDER BY seq LIMIT 1
  ) m
  WHERE m.not_before IS NULL OR m.not_before <= now()
), judged AS (
  SELECT h.*, s.*, s.crashes >= {{suspectAfterCrashes}}
    AND :group::integer IS DISTINCT FROM 1
    AND (:group::integer IS NULL OR :group::integer > coalesce(s.last_group / 2, :group::integer)) AS is_left
  FROM head h CROSS JOIN LATERAL ({{leaseHistory}}) s
  WHERE h.expired IS NULL OR h.lease_until + {{lapseWait}} <= now()
), claimed AS (
  UPDATE messages m SET attempts = greatest(1, m.attempts + CASE WHEN j.expired IS NULL THEN 1 ELSE 0 END),
    not_before = NULL, failure = CASE WHEN j.expired IS NOT NULL THEN 'lease expired' END, expired_leases = j.leases
  FROM judged j WHERE m.id = j.id AND NOT j.is_left AND m.state = 'received'
    AND (m.not_before IS NULL OR m.not_before <= now())
  RETURNING m.id, m.ticket_id, m.seq, m.user_id, m.text, m.channel_meta, m.mode, m.attempts, m.progress, m.trace
), leased AS (
  UPDATE chats c SET lease_id = :lease_id, lease_until = now() + interval '{{leaseMs}} milliseconds',
    lease_holder = :process_id::uuid, lease_group = CASE
      WHEN j.crashes >= {{suspectAfterCrashes}} THEN :group::integer END
  FROM claimed k JOIN judged j USING (ticket_id) WHERE c.ticket_id = k.ticket_id
)
SELECT j.project_id, j.ticket_id, j.channel_id, j.chat_id, :lease_id::uuid AS lease_id, k.id, k.seq, k.user_id, k.text,
  k.channel_meta, k.mode, k.attempts, k.progress, k.trace, j.crashes, j.lapses, j.last_group
FROM judged j LEFT JOIN claimed k ON k.id = j.id WHERE k.id IS NOT NULL OR j.is_left;

-- name: retryLater
-- Records a failed attempt: releases the lease and delays the message. Fenced by the lease. Locks the rows of chats,
-- messages that it writes.
WITH mine AS (
  UPDATE chats SET lease_id = NULL, lease_until = NULL
  WHERE ticket_id = :ticket_id AND project_id = :project AND lease_id = :lease_id
  RETURNING ticket_id
)
UPDATE messages m SET not_before = now() + :delay_ms * interval '1 millisecond',
  due_at = now() + :delay_ms * interval '1 millisecond', progress = :progress, failure = :failure,
    attempts = m.attempts - :uncounted::integer
FROM mine WHERE m.id = :message_id AND m.ticket_id = mine.ticket_id AND m.state = 'received';

-- name: due
-- Messages that were not finished in time, because their job was lost or never published. Each is postponed by its own
-- age at most, so that a long backlog is not published repeatedly. Every project with due messages gets the same share
-- of `limit`, its oldest first; `place` is the position in that share, and `unfinished` the number of the project's
-- unfinished messages, up to a bound. SKIP LOCKED shares the work among replicas.
-- Locks the rows of messages that it writes.
WITH RECURSIVE oldest AS (
  (SELECT project_id, due_at FROM messages WHERE state = 'received' ORDER BY project_id, due_at LIMIT 1)
  UNION ALL
  SELECT next.project_id, next.due_at FROM oldest o CROSS JOIN LATERAL (
    SELECT project_id, due_at FROM messages WHERE state = 'received' AND project_id > o.project_id
    ORDER BY project_id, due_at LIMIT 1
  ) next
), waiting AS MATERIALIZED (
  SELECT o.project_id, {{backlogOfOldest}} AS unfinished
  FROM oldest o WHERE o.due_at <= now()
), due AS MATERIALIZED (
  SELECT d.id, d.channel_id, d.chat_id, w.unfinished,
    row_number() OVER (PARTITION BY w.project_id ORDER BY d.due_at) AS place
  FROM waiting w CROSS JOIN LATERAL (
    SELECT m.id, m.due_at, c.channel_id, c.chat_id FROM messages m JOIN chats c USING (ticket_id)
    WHERE m.project_id = w.project_id AND m.state = 'received' AND m.due_at <= now()
      AND (c.lease_until IS NULL OR c.lease_until < now()) AND c.review_id IS NULL
    ORDER BY m.due_at LIMIT (SELECT greatest(1, :limit::integer / count(*)) FROM waiting)
    FOR UPDATE OF m SKIP LOCKED
  ) d
)
UPDATE messages m
SET due_at = now() + least(interval '10 seconds', greatest(interval '2 seconds', now() - m.created_at))
FROM due WHERE m.id = due.id
RETURNING m.id, m.ticket_id, m.project_id,
  m.attempts + coalesce(jsonb_array_length(m.expired_leases), 0) AS attempts, due.channel_id, due.chat_id, due.place,
  due.unfinished;

-- name: oldestWaitingMs
-- Age in milliseconds of the oldest customer message that the pipeline could process.
SELECT (extract(epoch FROM now() - min(greatest(m.created_at, m.not_before))) * 1000)::float8 AS age
FROM messages m JOIN chats c USING (ticket_id)
WHERE m.state = 'received' AND (m.not_before IS NULL OR m.not_before < now())
  AND (c.lease_until IS NULL OR c.lease_until < now())
  AND NOT (c.channel_id = 'api' AND starts_with(coalesce(c.chat_id, ''), :issue_chat_prefix));

-- name: findTraces
-- The `traceparent` of messages.
SELECT id, trace FROM messages WHERE project_id = :project AND id = ANY (:message_ids::uuid[]) AND trace IS NOT NULL;

-- name: findState
-- State of a message, or null if this project has no such message.
SELECT state FROM messages WHERE id = :message_id AND project_id = :project;

-- name: findMeta
-- The channel's metadata of a message.
SELECT channel_meta FROM messages WHERE id = :message_id AND project_id = :project;

-- name: findLastMeta
-- The channel's metadata of the newest message of a conversation.
SELECT channel_meta FROM messages WHERE ticket_id = :ticket_id AND project_id = :project ORDER BY seq DESC LIMIT 1;

-- name: findSyncCall
-- The text and the chat of a sync call's message.
SELECT c.chat_id, m.text FROM messages m JOIN chats c USING (ticket_id)
WHERE m.id = :message_id AND m.project_id = :project AND m.mode = 'sync' AND c.project_id = :project;

-- name: listDeadLetters
-- The dead letters of the tickets that a project works on, newest first, at most `limit`. Most tickets belong to the
-- project where they came in; a message may also have failed before its ticket was opened.
WITH dead AS (
  (SELECT m.id, m.ticket_id, m.text, m.failure, m.finished_at
   FROM messages m
   WHERE m.project_id = :project AND m.state = 'failed'
     AND NOT EXISTS (SELECT FROM tickets t WHERE t.id = m.ticket_id AND t.project_id <> :project)
   ORDER BY m.finished_at DESC LIMIT :limit)
  UNION ALL
  SELECT m.id, m.ticket_id, m.text, m.failure, m.finished_at
  FROM tickets t JOIN messages m ON m.ticket_id = t.id
  WHERE t.project_id = :project AND t.home_project_id <> :project AND t.project_id <> t.home_project_id
    AND m.state = 'failed'
)
SELECT dead.*, c.channel_id, c.chat_id FROM dead JOIN chats c USING (ticket_id)
ORDER BY finished_at DESC LIMIT :limit;

-- name: findDeadLetter
-- Finds a dead letter; null if its ticket is not one that this project works on, or if a reply to it is pending.
SELECT m.id, m.project_id, m.ticket_id, t.id IS NOT NULL AS is_opened
FROM messages m LEFT JOIN tickets t ON t.id = m.ticket_id
WHERE m.id = :message_id AND m.state = 'failed' AND m.covered_by IS NULL AND coalesce(t.project_id,
  m.project_id) = :project;
