-- fragment: ofOperator
-- A ticket that is the operator's, or nobody's.
(t.assignee IS NULL OR t.assignee = 'operator:' || o.id)

-- fragment: hasRole
-- Viewers get only what mentions them.
EXISTS (SELECT FROM operator_roles r
  WHERE r.operator_id = o.id AND (r.project_id IS NULL OR r.project_id = t.project_id)
    AND (r.role <> 'viewer' OR n.kind = 'mentioned'))

-- name: insertForEvents
-- Notifications for what has happened since the position that all events up to it are settled at. An event that is read
-- again adds nothing: its rows are there, whatever has become of them. Nobody is notified of what they did themselves. An
-- operator is a recipient of emails, and each of the operator's browsers one of push notifications.
-- Locks the rows of email_notifications that it writes.
INSERT INTO email_notifications (recipient_id, kind, source, operator_id, ticket_id, next_at)
SELECT w.recipient_id, n.kind, e.id::text, o.id, t.id, now() + w.delay_seconds * interval '1 second'
FROM ticket_events e JOIN tickets t ON t.id = e.ticket_id CROSS JOIN LATERAL (
  SELECT 'assigned' AS kind, 'assigned' AS setting, true AS is_default, {{delaySeconds}} AS delay_seconds
  WHERE e.data ? 'assignee'
  UNION ALL SELECT 'mentioned', 'mentioned', true, {{delaySeconds}} WHERE e.data ? 'mentions'
  UNION ALL SELECT 'sla_breached', 'slaBreached', true, {{delaySeconds}} WHERE e.data ->> 'decision' = 'sla_breached'
  UNION ALL SELECT 'needs_review', 'needsReview', false, {{reviewDelaySeconds}}
  WHERE e.moves @> '[{"to": "review"}]' OR e.moves @> '[{"to": "failed"}]'
) n JOIN operators o ON o.disabled_at IS NULL AND 'operator:' || o.id <> e.actor
  AND CASE n.kind WHEN 'assigned' THEN e.data ->> 'assignee' = 'operator:' || o.id
    WHEN 'mentioned' THEN e.data -> 'mentions' @> to_jsonb(o.id::text)
    ELSE {{ofOperator}} END
CROSS JOIN LATERAL (
  SELECT o.id AS recipient_id, o.notifications AS settings, n.delay_seconds WHERE :sends_emails
  UNION ALL SELECT s.id, o.notifications -> 'push', {{pushDelaySeconds}}
  FROM push_subscriptions s WHERE s.operator_id = o.id
) w
WHERE e.id > :settled_id AND {{hasRole}} AND coalesce((w.settings ->> n.setting)::boolean, n.is_default)
ORDER BY w.recipient_id, n.kind, e.id
ON CONFLICT DO NOTHING;

-- name: insertReplies
-- Replies of the widget since the position that all events up to it are settled at, in projects that send them by email to
-- customers who have left. What a browser has already is left out; what it gets later is withdrawn. A reply has the time of
-- the event that its transaction leaves. Locks the rows of email_notifications that it writes.
INSERT INTO email_notifications (recipient_id, kind, source, ticket_id, next_at)
SELECT t.id, 'reply', r.id::text, t.id, r.created_at + (p.reply_emails ->> 'delayMinutes')::integer * interval '1 minute'
FROM ticket_events e JOIN tickets t ON t.id = e.ticket_id AND t.channel_id = 'widget'
JOIN projects p ON p.id = t.home_project_id AND p.reply_emails IS NOT NULL
JOIN replies r ON r.ticket_id = t.id AND r.created_at = e.at AND r.delivered_at IS NULL AND r.author <> 'system'
WHERE e.id > :settled_id ORDER BY t.id, r.id ON CONFLICT DO NOTHING;

-- name: listDue
-- Recipients with a due email and the time since which it is due, those that have waited longest first.
SELECT recipient_id, min(next_at) AS due_at FROM email_notifications WHERE finished_at IS NULL AND next_at <= now()
GROUP BY recipient_id ORDER BY due_at LIMIT :limit;

-- name: claim
-- Claims the content of the next email of a recipient: that of an earlier attempt, or all new notifications. Replies of
-- a conversation are sent together, including those that are not due yet. SKIP LOCKED: rows that another worker is
-- claiming are skipped. Locks the rows of email_notifications that it writes.
WITH due AS MATERIALIZED (
  SELECT recipient_id, kind, source, email_id, created_at FROM email_notifications
  WHERE recipient_id = :recipient_id AND finished_at IS NULL AND (next_at <= now() OR kind = 'reply'
    AND email_id IS NULL AND EXISTS (SELECT FROM email_notifications d
      WHERE d.recipient_id = :recipient_id AND d.finished_at IS NULL AND d.next_at <= now()))
  FOR NO KEY UPDATE SKIP LOCKED
), batch AS (
  SELECT * FROM due WHERE email_id IS NOT DISTINCT FROM (SELECT d.email_id FROM due d ORDER BY d.email_id LIMIT 1)
  ORDER BY created_at LIMIT {{batchMax}}
)
UPDATE email_notifications n SET lease_id = :lease_id, next_at = now() + interval '{{leaseMs}} milliseconds',
  email_id = coalesce(n.email_id, :email_id), attempts = n.attempts + 1
FROM batch b WHERE n.recipient_id = b.recipient_id AND n.kind = b.kind AND n.source = b.source
RETURNING n.kind, n.source, n.email_id, n.attempts, n.created_at,
  n.operator_id IS NOT NULL AND n.operator_id <> n.recipient_id AS is_push;

-- name: findOperator
-- The recipient of an email, and whether the console was open a moment ago.
SELECT o.email, o.name, o.notifications, o.disabled_at IS NOT NULL AS is_disabled, EXISTS (
  SELECT FROM operator_presence p WHERE p.operator_id = o.id AND p.seen_at > now() - interval '{{goneSeconds}} seconds'
) AS is_online
FROM operators o WHERE o.id = :id;

-- name: readClaimed
-- What an email says, as it is now, and which of it has no reason any more. A digest has no ticket.
SELECT n.kind, n.source, n.created_at, p.name AS project, t.id AS ticket_id, t.subject, e.actor,
  author.name AS author, e.data ->> 'note' AS note, e.data ->> 'target' AS target,
  NOT {{hasRole}} OR p.deleted_at IS NOT NULL OR t.status IN ('resolved', 'spam') AND n.kind <> 'mentioned'
  OR CASE n.kind
    WHEN 'assigned' THEN t.assignee IS DISTINCT FROM 'operator:' || o.id
    WHEN 'needs_review' THEN t.stage NOT IN ('review', 'failed') OR t.snoozed_until IS NOT NULL OR NOT {{ofOperator}}
    WHEN 'sla_breached' THEN NOT {{ofOperator}} OR NOT EXISTS (
      SELECT FROM ticket_deadlines d WHERE d.ticket_id = t.id AND d.kind = e.data ->> 'target' AND d.ended_at IS NULL)
    ELSE false
  END AS is_moot
FROM email_notifications n JOIN operators o ON o.id = n.operator_id JOIN tickets t ON t.id = n.ticket_id
JOIN projects p ON p.id = t.project_id JOIN ticket_events e ON e.id = n.source::bigint
LEFT JOIN operators author ON 'operator:' || author.id = e.actor
WHERE n.recipient_id = :recipient_id AND n.lease_id = :lease_id AND n.finished_at IS NULL AND n.kind <> 'digest'
ORDER BY n.created_at, n.source;

-- name: findConversation
-- The conversation whose replies an email contains, and its customer, as they are now. The customer follows the first message
-- with a delay.
SELECT p.id AS project, p.name AS project_name, p.reply_emails,
  p.deleted_at IS NOT NULL OR coalesce(c.is_blocked, false) OR t.status = 'spam' AS is_closed, c.id AS customer_id, c.email,
  coalesce('email' = ANY (c.edited), false) AS is_email_edited, (SELECT i.value FROM customer_identities i
    WHERE i.customer_id = c.id AND i.kind = 'email' ORDER BY i.created_at, i.value LIMIT 1) AS proven_email,
  coalesce(t.language, left(t.channel_meta ->> 'locale', 2), c.language) AS language
FROM tickets t JOIN projects p ON p.id = t.home_project_id LEFT JOIN ticket_customers k ON k.ticket_id = t.id
LEFT JOIN customers c ON c.id = k.customer_id WHERE t.id = :ticket_id;

-- name: readUnseen
-- The claimed replies that no browser has fetched or shown, oldest first. One that was erased or is too old is missing.
SELECT r.id, r.seq, r.type, r.text, coalesce(r.markdown, false) AS markdown, r.filename
FROM email_notifications n JOIN replies r ON r.ticket_id = n.ticket_id AND r.id = n.source::uuid
LEFT JOIN visitors v ON v.ticket_id = r.ticket_id
WHERE n.recipient_id = :recipient_id AND n.lease_id = :lease_id AND n.finished_at IS NULL AND n.kind = 'reply'
  AND r.delivered_at IS NULL AND r.seq > coalesce(v.read_seq, 0)
  AND n.created_at > now() - interval '{{replyMaxDays}} days'
ORDER BY r.seq;

-- name: findQuestion
-- What the customer wrote last before a reply, and the page it was written on.
SELECT text, channel_meta #>> '{page,url}' AS page_url FROM messages
WHERE ticket_id = :ticket_id AND seq < :seq ORDER BY seq DESC LIMIT 1;

-- name: isUnsubscribed
-- Whether this customer, or this address, gets no emails of the project.
SELECT FROM customers WHERE id = :customer_id AND project_id = :project AND unsubscribed_at IS NOT NULL
UNION ALL
SELECT FROM email_unsubscribes WHERE project_id = :project AND address_hash = :address_hash
LIMIT 1;

-- name: unsubscribe
-- Records that an address gets no emails of a project, unless that is deleted. Locks the row of email_unsubscribes that it
-- writes.
INSERT INTO email_unsubscribes (project_id, address_hash) SELECT id, :address_hash FROM projects WHERE id = :project
ON CONFLICT DO NOTHING;

-- name: resubscribe
-- Resubscribes addresses to emails of a project. Locks the rows of email_unsubscribes that it removes.
DELETE FROM email_unsubscribes WHERE project_id = :project AND address_hash = ANY (:address_hashes::text[]);

-- name: lockAddress
-- Serializes writers that count the emails to an address.
SELECT pg_advisory_xact_lock(:address_lock, hashtext(:address_hash));

-- name: reserveAddress
-- Counts the claimed email to its address, unless that gets the most that are allowed in 24 hours already. Fenced by the
-- lease. Locks the rows of email_notifications that it writes.
UPDATE email_notifications SET address_hash = :address_hash
WHERE recipient_id = :recipient_id AND lease_id = :lease_id AND (
  SELECT count(DISTINCT s.email_id) FROM email_notifications s
  WHERE s.address_hash = :address_hash AND s.email_id <> :email_id AND s.outcome IS DISTINCT FROM 'withdrawn'
    AND coalesce(s.finished_at, now()) > now() - interval '24 hours') < :max_per_day
RETURNING 1;

-- name: readDigest
-- Open work of an operator in each project in which they are not a viewer only.
SELECT p.name AS project,
  count(*) FILTER (WHERE l.stage IN ('review', 'failed') AND NOT l.is_snoozed)::integer AS needs_review,
  count(*) FILTER (WHERE l.due_us <= extract(epoch FROM now()) * 1000000)::integer AS overdue,
  count(*) FILTER (WHERE l.assignee = 'operator:' || :operator_id::uuid AND l.status IN ('open', 'pending'))::integer
    AS assigned
FROM projects p JOIN ticket_list l ON l.project_id = p.id
  AND (l.stage <> 'done' OR l.assignee = 'operator:' || :operator_id::uuid OR l.due_us < 9007199254740991)
WHERE p.deleted_at IS NULL AND EXISTS (SELECT FROM operator_roles r
  WHERE r.operator_id = :operator_id AND (r.project_id IS NULL OR r.project_id = p.id) AND r.role <> 'viewer')
GROUP BY p.name ORDER BY p.name;

-- name: listDigests
-- Operators who want a digest.
SELECT id, notifications FROM operators
WHERE disabled_at IS NULL AND (notifications ->> 'digest')::boolean;

-- name: insertDigest
-- One digest of an operator on a day; a second one adds nothing. Locks the rows of email_notifications that it
-- writes.
INSERT INTO email_notifications (recipient_id, kind, source, operator_id, next_at)
VALUES (:operator_id::uuid, 'digest', :day, :operator_id::uuid, now()) ON CONFLICT DO NOTHING;

-- name: finish
-- Ends what was claimed; what is not among `sources` had no reason any more. Fenced by the lease. Locks the rows of
-- email_notifications that it writes.
UPDATE email_notifications SET finished_at = now(), lease_id = NULL, failure = coalesce(:failure, failure),
  outcome = CASE WHEN :sources::text[] IS NULL OR kind || ' ' || source = ANY (:sources) THEN :outcome
    ELSE 'withdrawn' END
WHERE recipient_id = :recipient_id AND lease_id = :lease_id;

-- name: retryLater
-- Releases the lease; the next attempt follows after `delayMs`, and this one counts or not. An email that was never tried
-- includes what comes until then. Locks the rows of email_notifications that it writes.
UPDATE email_notifications SET lease_id = NULL, next_at = now() + :delay_ms::float8 * interval '1 millisecond',
  attempts = CASE WHEN :counts THEN attempts ELSE attempts - 1 END,
  email_id = CASE WHEN :counts OR attempts > 1 THEN email_id END, failure = coalesce(:failure, failure)
WHERE recipient_id = :recipient_id AND lease_id = :lease_id;

-- name: purge
-- Deletes notifications that ended more than {{keptDays}} days ago. Locks the rows of email_notifications that it
-- writes.
DELETE FROM email_notifications WHERE finished_at < now() - interval '{{keptDays}} days';

-- name: readState
-- Counts notifications that have failed and are retried, with the creation time of the oldest and the last error.
SELECT count(*)::integer AS failing, min(created_at) AS since, (array_agg(failure ORDER BY next_at DESC))[1] AS failure
FROM email_notifications WHERE finished_at IS NULL AND failure IS NOT NULL;
