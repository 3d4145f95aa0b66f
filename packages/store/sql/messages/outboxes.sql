-- fragment: settled
-- Continues with the next reply of the conversation. Fenced, so that a late sender changes nothing.
box AS (
  UPDATE outboxes SET settled_seq = greatest(settled_seq, :seq), tries = 0, deferrals = 0, sent_parts = 0,
    expired_leases = NULL
  WHERE ticket_id = :ticket_id AND project_id = :project AND lease_id = :lease_id RETURNING ticket_id
)

-- name: claim (prepared)
-- Claims or renews the lease and counts the attempt, or records that another worker's lease expired. If no reply is
-- left, everything in the snapshot counts as sent, but not what was committed while this waited for the lock. Locks the
-- outbox alone.
WITH seen AS MATERIALIZED (
  SELECT wanted_seq FROM outboxes WHERE ticket_id = :ticket_id AND project_id = :project
), box AS MATERIALIZED (
  SELECT o.ticket_id, o.settled_seq, CASE WHEN o.lease_id <> :lease_id::uuid THEN {{expiredLease}} END AS expired
  FROM outboxes o
  WHERE o.ticket_id = :ticket_id AND o.project_id = :project
    AND (o.lease_id = :lease_id OR ((o.lease_until IS NULL OR o.lease_until < now()) AND o.next_at <= now()))
  FOR UPDATE
), oldest AS MATERIALIZED (
  SELECT r.id FROM box JOIN replies r ON r.ticket_id = box.ticket_id AND r.seq > box.settled_seq
    AND r.delivered_at IS NULL AND r.undeliverable_at IS NULL
  ORDER BY r.seq LIMIT 1
), claimed AS (
  UPDATE outboxes o SET
    lease_id = CASE WHEN oldest.id IS NULL THEN NULL ELSE :lease_id::uuid END,
    lease_until = CASE WHEN oldest.id IS NULL THEN NULL ELSE now() + interval '{{outboxLeaseMs}} milliseconds' END,
    lease_holder = :process_id::uuid,
    tries = CASE WHEN oldest.id IS NULL THEN 0 WHEN box.expired IS NULL THEN o.tries + 1 ELSE greatest(1, o.tries) END,
    expired_leases = CASE WHEN oldest.id IS NOT NULL
      THEN coalesce(o.expired_leases || box.expired, o.expired_leases, box.expired) END,
    settled_seq = CASE WHEN oldest.id IS NULL THEN greatest(o.settled_seq, seen.wanted_seq) ELSE o.settled_seq END
  FROM box JOIN seen ON true LEFT JOIN oldest ON true WHERE o.ticket_id = box.ticket_id
  RETURNING o.ticket_id, o.channel_id, o.tries, o.deferrals, o.sent_parts, o.expired_leases
)
SELECT claimed.channel_id, c.chat_id, claimed.tries, claimed.deferrals, claimed.sent_parts, s.crashes, s.lapses,
  {{replyColumns}}
FROM claimed CROSS JOIN LATERAL ({{leaseHistory}}) s JOIN chats c ON c.ticket_id = claimed.ticket_id JOIN oldest
  ON true JOIN replies r ON r.id = oldest.id;

-- name: renew (prepared)
-- Extends the lease of an outbox that is still held. Locks the rows of outboxes that it writes.
UPDATE outboxes SET lease_until = now() + interval '{{outboxLeaseMs}} milliseconds'
WHERE ticket_id = :ticket_id AND project_id = :project AND lease_id = :lease_id RETURNING 1;

-- name: recordSentParts (prepared)
-- Records how many parts of the current reply are sent, and extends the lease. Locks the rows of outboxes that it
-- writes.
UPDATE outboxes SET sent_parts = greatest(sent_parts, :parts), deferrals = 0,
  lease_until = now() + interval '{{outboxLeaseMs}} milliseconds'
WHERE ticket_id = :ticket_id AND project_id = :project AND lease_id = :lease_id RETURNING 1;

-- name: delivered (prepared)
-- Records that the receiver has the reply. Locks the rows of outboxes, replies that it writes.
WITH {{settled}}
UPDATE replies r SET delivered_at = now() FROM box WHERE r.ticket_id = box.ticket_id AND r.id = :id
  AND r.delivered_at IS NULL RETURNING 1;

-- name: retryLater (prepared)
-- Releases the lease; the reply is sent again later. Locks the rows of outboxes that it writes.
UPDATE outboxes SET lease_id = NULL, lease_until = NULL, next_at = now() + make_interval(secs => :delay_seconds),
  tries = CASE WHEN :counts THEN tries ELSE greatest(tries - 1, 0) END,
  deferrals = CASE WHEN :counts THEN 0 ELSE deferrals + 1 END
WHERE ticket_id = :ticket_id AND project_id = :project AND lease_id = :lease_id;

-- name: release
-- Releases a lease without an attempt. Locks the rows of outboxes that it writes.
UPDATE outboxes SET lease_id = NULL, lease_until = NULL WHERE project_id = :project AND ticket_id = :ticket_id
  AND lease_id = :lease_id;

-- name: due (prepared)
-- Outboxes whose reply could be sent now.
SELECT project_id, ticket_id FROM outboxes
WHERE channel_id = :channel_id AND settled_seq < wanted_seq AND next_at <= now() AND (lease_until IS NULL
  OR lease_until < now())
ORDER BY next_at LIMIT :limit;

-- name: oldestDueMs
-- Age in milliseconds of the oldest channel reply that is due.
SELECT (extract(epoch FROM now() - min(next_at)) * 1000)::float8 AS age FROM outboxes
WHERE channel_id = :channel_id AND settled_seq < wanted_seq AND next_at <= now()
  AND (lease_until IS NULL OR lease_until < now());

-- name: listDead
-- The undeliverable replies of a project, newest first.
SELECT r.id, r.ticket_id, c.channel_id, c.chat_id, coalesce(r.text, r.filename) AS text, r.failure, r.undeliverable_at
FROM replies r JOIN tickets t ON t.id = r.ticket_id JOIN chats c ON c.ticket_id = r.ticket_id
WHERE r.is_dead AND t.project_id = :project ORDER BY r.undeliverable_at DESC LIMIT :limit;

-- name: insertNotice
-- Adds a text to a conversation that is not a reply to a message, and is sent after the pending ones. Locks the rows of
-- chats that it writes.
UPDATE chats SET last_seq = last_seq + 1 WHERE project_id = :project AND ticket_id = :ticket_id AND chat_id <> ''
RETURNING last_seq, channel_id;

-- name: insertReply
-- Inserts the reply that an operator sends again, at the end of its chat. Locks the rows of replies that it writes.
INSERT INTO replies (id, project_id, ticket_id, seq, author, type, text, markdown)
VALUES (:id, :project, :ticket_id, :last_seq, 'system', 'message', :text, false);

-- name: wantReply
-- Makes the outbox of a chat send up to this reply. Locks the rows of outboxes that it writes.
INSERT INTO outboxes (ticket_id, project_id, channel_id, wanted_seq) VALUES (:ticket_id, :project, :channel_id,
  :last_seq)
ON CONFLICT (ticket_id) DO UPDATE SET wanted_seq = excluded.wanted_seq;

-- name: findOutcome
-- State of a reply.
SELECT delivered_at IS NOT NULL AS is_delivered,
  CASE WHEN undeliverable_at IS NOT NULL THEN coalesce(failure, '') END AS failure
FROM replies WHERE project_id = :project AND id = :reply_id;

-- name: sendAgain
-- Restarts the outbox at a reply; later replies that were delivered are skipped. The ticket records the operator. Locks
-- the rows of replies, outboxes, ticket_events that it writes.
WITH again AS (
  UPDATE replies r SET undeliverable_at = NULL, failure = NULL, is_dead = false FROM tickets t
  WHERE t.id = r.ticket_id AND t.project_id = :project AND r.id = :reply_id AND r.undeliverable_at IS NOT NULL
    AND r.delivered_at IS NULL AND EXISTS (SELECT 1 FROM outboxes o WHERE o.ticket_id = r.ticket_id)
  RETURNING r.ticket_id, r.seq
), box AS (
  UPDATE outboxes o SET settled_seq = least(o.settled_seq, again.seq - 1), wanted_seq = greatest(o.wanted_seq,
    again.seq),
    tries = 0, deferrals = 0, sent_parts = 0, expired_leases = NULL, next_at = now()
  FROM again WHERE o.ticket_id = again.ticket_id RETURNING o.ticket_id, o.project_id
), noted AS (
  INSERT INTO ticket_events (ticket_id, project_id, actor, data)
  SELECT t.id, t.project_id, :actor, jsonb_build_object('sentAgain', :reply_id::text) FROM box JOIN tickets t
    ON t.id = box.ticket_id
)
SELECT ticket_id, project_id FROM box;

-- name: undelivered (prepared)
-- Marks a reply as undeliverable; the ticket records that its customer has not received it. Locks the outbox, then the
-- reply.
WITH {{settled}}, lost AS (
  UPDATE replies r SET undeliverable_at = now(), failure = :reason, is_dead = :is_dead FROM box
  WHERE r.ticket_id = box.ticket_id AND r.id = :id AND r.delivered_at IS NULL RETURNING r.ticket_id, r.id
)
INSERT INTO ticket_events (ticket_id, project_id, actor, data)
SELECT t.id, t.project_id, 'channel', jsonb_build_object('undelivered',
  jsonb_build_object('replyId', lost.id, 'reason', :reason::text, 'isDead', :is_dead::boolean))
FROM lost JOIN tickets t ON t.id = lost.ticket_id;
