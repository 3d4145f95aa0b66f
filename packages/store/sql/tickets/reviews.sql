-- name: endLease
-- Locks the chat of a claimed decision and releases it; no row if the lease was lost.
UPDATE chats SET lease_id = NULL, lease_until = NULL, review_id = NULL, last_seq = last_seq + :reply_count
WHERE project_id = :project AND ticket_id = :ticket_id AND lease_id = :lease_id
  AND review_id = :review_id RETURNING last_seq;

-- name: endReview
-- Records the end of a decision. Locks the rows of reviews that it writes.
UPDATE reviews SET finished_at = now(), failure = :failure, attempts = :attempts WHERE project_id = :project
  AND id = :review_id;

-- name: findRest
-- The stage of a ticket after a decision was carried out or failed: review while a message is held, else failed while
-- one is a dead letter. Locks the rows of tickets that it reads.
SELECT t.stage, EXISTS (
  SELECT 1 FROM messages m WHERE m.ticket_id = t.id AND m.state = 'held' AND m.covered_by IS NULL
) AS is_held, EXISTS (
  SELECT 1 FROM messages m WHERE m.ticket_id = t.id AND m.state = 'failed' AND m.covered_by IS NULL
) AS is_failed
FROM tickets t WHERE t.home_project_id = :project AND t.id = :ticket_id FOR NO KEY UPDATE OF t;

-- name: moveTicket
-- Moves a ticket after a decision was carried out or failed. If it is resolved with its reply, no message is
-- unanswered, and the state from an earlier closing must not be restored when it is reopened. Locks the rows of tickets
-- that it writes.
UPDATE tickets SET stage = :stage, status = coalesce(:status, status),
  resolved_at = CASE WHEN :status IS NULL THEN resolved_at WHEN :status = 'resolved' THEN now() END,
  before_close = CASE WHEN :status = 'resolved' THEN NULL ELSE before_close END,
  first_reply_at = CASE WHEN :is_replied THEN coalesce(first_reply_at, now()) ELSE first_reply_at END,
  version = version + 1, updated_at = now()
WHERE home_project_id = :project AND id = :ticket_id;

-- name: insertReply
-- Inserts a reply that a decision sends, by the operator who decided or the ticket's agent. Locks the rows of replies that
-- it writes.
INSERT INTO replies (id, project_id, ticket_id, seq, in_reply_to, author, author_id, type, text, markdown, sources,
  filename, mime, content)
SELECT :id, :project, :ticket_id, :seq, :answers, :author, CASE :author::text
    WHEN 'operator' THEN (SELECT o.id FROM reviews v JOIN operators o ON v.actor = 'operator:' || o.id
      WHERE v.id = :review_id)
    WHEN 'agent' THEN (SELECT agent_id FROM tickets WHERE id = :ticket_id) END,
  :type, :text, :markdown::boolean, :sources::jsonb, :filename, :mime, :content::bytea;

-- name: wantReplies
-- Makes the outbox of a chat send its replies, on channels that push them. Locks the rows of outboxes that it writes.
INSERT INTO outboxes (ticket_id, project_id, channel_id, wanted_seq)
SELECT ticket_id, project_id, channel_id, last_seq FROM chats
WHERE ticket_id = :ticket_id AND project_id = :project AND channel_id = ANY (:pushing_channels::text[])
ON CONFLICT (ticket_id) DO UPDATE SET wanted_seq = excluded.wanted_seq;

-- name: claim (prepared)
-- Claims the lease on a chat with a pending decision, and records the previous lease if it expired. `attempts` is the
-- number of failed attempts, which are counted with their results: a claim without a result does not count. The UPDATE
-- checks the decision's state again, since the snapshot may be older than the lock that was waited for. A claim that a
-- database crash undoes is repeated. A decision with which processes have crashed is claimed only by a process that
-- runs it exclusively (`:is_exclusive`), and otherwise only reported (`id` NULL).
WITH free AS MATERIALIZED (
  SELECT ticket_id, channel_id, chat_id, review_id, lease_until, {{expiredLease}} AS expired FROM chats
  WHERE ticket_id = :ticket_id AND project_id = :project AND review_id IS NOT NULL
    AND (lease_until IS NULL OR lease_until < now())
  FOR UPDATE
), next AS (
  SELECT free.*, l.leases, s.crashes, s.lapses, s.crashes >= {{suspectAfterCrashes}}
    AND NOT :is_exclusive::boolean AS is_left
  FROM free JOIN reviews r ON r.id = free.review_id
  CROSS JOIN LATERAL (
    SELECT coalesce(r.expired_leases || free.expired, r.expired_leases, free.expired) AS leases
  ) l CROSS JOIN LATERAL ({{leaseHistory}}) s
  WHERE free.expired IS NULL OR free.lease_until + {{lapseWait}} <= now()
), claimed AS (
  UPDATE reviews r SET expired_leases = next.leases
  FROM next WHERE r.id = next.review_id AND NOT next.is_left AND r.finished_at IS NULL AND r.not_before <= now()
  RETURNING r.id, r.ticket_id, r.kind, r.actor, r.author, r.text, r.markdown, r.sources, r.file_ids, r.resolves,
    r.answers_message_id, r.covers, r.attempts + 1 AS attempts
), leased AS (
  UPDATE chats c SET lease_id = :lease_id, lease_until = now() + interval '{{leaseMs}} milliseconds',
    lease_holder = :process_id::uuid,
    lease_group = NULL
  FROM claimed WHERE c.ticket_id = claimed.ticket_id
)
SELECT claimed.*, next.channel_id, next.chat_id, next.crashes, next.lapses, m.id AS message_id, m.seq, m.user_id,
  m.text AS message_text, m.channel_meta, m.mode
FROM next LEFT JOIN claimed ON claimed.id = next.review_id LEFT JOIN messages m ON m.id = claimed.answers_message_id
WHERE next.is_left OR claimed.id IS NOT NULL;

-- name: decide
-- Limits the transaction of a decision on a ticket, in which `plan` reads the state and returns the changes, or throws:
-- all changes are committed or none. A process that stops responding must not hold the chat for longer.
SET LOCAL idle_in_transaction_session_timeout = '5s';

-- name: retryUnopened
-- Limits the transaction that sends a dead letter without a ticket through the pipeline again, since no decision on a
-- ticket can.
SET LOCAL idle_in_transaction_session_timeout = '5s';

-- name: lockChat
-- Locks the chat of a message that is sent through the pipeline again.
SELECT FROM chats WHERE project_id = :project AND ticket_id = :ticket_id FOR UPDATE;

-- name: findDeadLetter
-- Returns a row if a message is a dead letter without a ticket.
SELECT FROM messages m WHERE m.project_id = :project AND m.ticket_id = :ticket_id AND m.id = :message_id
  AND m.state = 'failed'
AND NOT EXISTS (SELECT FROM tickets t WHERE t.id = m.ticket_id);

-- name: listEarlier
-- The other held messages that a regenerated draft has to answer besides the claimed one, oldest first.
SELECT id, seq, user_id, text AS message_text, channel_meta, mode FROM messages
WHERE project_id = :project AND ticket_id = :ticket_id AND id = ANY (:covers::uuid[]) AND id <> :answers
  AND state = 'held'
ORDER BY seq;

-- name: finishSend
-- Commits an operator's reply and releases the lease in one transaction: its items with sequence numbers, the messages
-- that it answers, the ticket, the event, and the changes for callbacks. Locks the rows of messages that it writes.
UPDATE messages SET state = 'answered', failure = NULL, finished_at = now()
WHERE project_id = :project AND id = ANY (:answered::uuid[]) AND state IN ('held', 'failed', 'rejected');

-- name: deleteDraft
-- Deletes the draft of a ticket. Locks the rows of drafts that it writes.
DELETE FROM drafts WHERE project_id = :project AND ticket_id = :ticket_id;

-- name: finishDraft
-- Replaces the draft with the regenerated one and releases the lease. Locks the rows of drafts that it writes.
INSERT INTO drafts (ticket_id, project_id, text, markdown, sources, confidence, why, covers)
VALUES (:ticket_id, :project, :text, :markdown, :sources, :confidence, :why, :covers)
ON CONFLICT (ticket_id) DO UPDATE SET text = excluded.text, markdown = excluded.markdown,
  sources = excluded.sources, confidence = excluded.confidence, why = excluded.why,
  covers = excluded.covers, created_at = now();

-- name: reviewTicket
-- Moves a ticket to review with its new draft. Locks the rows of tickets that it writes.
UPDATE tickets SET stage = 'review', agent_id = coalesce(:agent_id, agent_id), confidence = :confidence,
  language = coalesce(:language, language), version = version + 1, updated_at = now()
WHERE home_project_id = :project AND id = :ticket_id;

-- name: giveUp
-- Records the failure of a decision after its last attempt and releases the lease: its messages wait for a person
-- again, with the previous draft. Locks the rows of messages that it writes.
UPDATE messages SET covered_by = NULL
WHERE project_id = :project AND id = ANY (:covers::uuid[]) AND state IN ('held', 'failed');

-- name: retryLater
-- Releases the lease: the next attempt follows after `delayMs`. Locks the rows of chats, reviews that it writes.
WITH mine AS (
  UPDATE chats SET lease_id = NULL, lease_until = NULL
  WHERE project_id = :project AND ticket_id = :ticket_id AND lease_id = :lease_id RETURNING ticket_id
)
UPDATE reviews r SET not_before = now() + :delay_ms * interval '1 millisecond',
  due_at = now() + :delay_ms * interval '1 millisecond', failure = :failure, attempts = r.attempts + :counted::integer
FROM mine WHERE r.id = :review_id AND r.finished_at IS NULL;

-- name: oldestWaitingMs
-- Age in milliseconds of the oldest decision of all projects that is due.
SELECT (extract(epoch FROM now() - min(greatest(created_at, not_before))) * 1000)::float8 AS age
FROM reviews WHERE finished_at IS NULL AND not_before < now();

-- name: due
-- Decisions whose job was lost: each is postponed by its own age, so that a long backlog is not published repeatedly.
-- SKIP LOCKED shares the work among replicas. Locks the rows of reviews that it reads.
WITH due AS MATERIALIZED (
  SELECT r.id, c.lease_id FROM reviews r JOIN chats c USING (ticket_id)
  WHERE r.finished_at IS NULL AND r.due_at <= now() AND (c.lease_until IS NULL OR c.lease_until < now())
  ORDER BY r.due_at LIMIT :limit FOR UPDATE OF r SKIP LOCKED
)
UPDATE reviews r
SET due_at = now() + least(interval '10 seconds', greatest(interval '2 seconds', now() - r.created_at))
FROM due WHERE r.id = due.id
RETURNING r.id AS review_id, r.project_id AS project, r.ticket_id,
  r.attempts + coalesce(jsonb_array_length(r.expired_leases), 0) + (due.lease_id IS NOT NULL)::integer AS attempts;
