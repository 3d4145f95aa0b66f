-- name: read
-- Data of tickets to index. Indexed texts remain, unless the subject has changed. Another project that works on a ticket
-- does not find it by the stored customer.
SELECT t.id AS ticket_id, t.subject, t.user_id, t.channel_meta, {{createdUs}} AS created_us, x.seq, c.alias, c.name, c.email,
  c.phone, tsvector_to_array(x.document) AS lexemes, t.home_project_id AS project, t.channel_id, t.chat_id, t.language,
  t.created_at, (SELECT m.created_at FROM messages m WHERE m.ticket_id = t.id ORDER BY m.seq DESC LIMIT 1) AS seen_at
FROM tickets t LEFT JOIN ticket_texts x ON x.ticket_id = t.id AND x.subject = t.subject
LEFT JOIN ticket_customers k ON k.ticket_id = t.id AND t.project_id = t.home_project_id
LEFT JOIN customers c ON c.id = k.customer_id
WHERE t.id = ANY (:ticket_ids::uuid[]);

-- name: readSaid
-- Messages and replies share the sequence numbers of their chat, and both have an index on them. Reads one more than
-- are indexed.
SELECT i.ticket_id, said.seq, said.text
FROM unnest(:ticket_id::uuid[], :seq::bigint[]) AS i (ticket_id, seq) CROSS JOIN LATERAL (
  (SELECT seq, text FROM messages m WHERE m.ticket_id = i.ticket_id AND m.seq > i.seq
   ORDER BY seq LIMIT {{stepTexts1}})
  UNION ALL
  (SELECT seq, text FROM replies r WHERE r.ticket_id = i.ticket_id AND r.seq > i.seq AND r.type = 'message'
   ORDER BY seq LIMIT {{stepTexts1}})
  ORDER BY seq LIMIT {{stepTexts1}}
) AS said ORDER BY i.ticket_id, said.seq;

-- name: queueOutdated
-- Queues tickets that an earlier version has indexed, in batches and after all others, unless another replica indexes some
-- that it has not committed: the older version does so while it runs next to this one. Locks the rows of ticket_text_queue
-- that it writes.
INSERT INTO ticket_text_queue (ticket_id, queued_at)
SELECT ticket_id, '-infinity' FROM ticket_texts WHERE words_version < {{wordsVersion}}
  AND NOT EXISTS (SELECT FROM ticket_text_queue WHERE attempts < 2) LIMIT {{stepTickets}}
ON CONFLICT (ticket_id) DO NOTHING;

-- name: claim
-- Claims tickets of the queue: those that changed last, or one alone that was claimed before, since it may have crashed the
-- process. A claim lasts 15 s, and each further one of a ticket four times as long, up to a day. It is committed before the
-- tickets are read, so that a crash leaves its trace. SKIP LOCKED shares the work among replicas. Locks the rows of
-- ticket_text_queue that it writes.
WITH suspect AS MATERIALIZED (
  SELECT ticket_id FROM ticket_text_queue
  WHERE attempts > 0 AND queued_at <= now()
  ORDER BY queued_at LIMIT 1 FOR UPDATE SKIP LOCKED
), fresh AS MATERIALIZED (
  SELECT ticket_id FROM ticket_text_queue WHERE attempts = 0 AND NOT EXISTS (SELECT FROM suspect)
  ORDER BY queued_at DESC LIMIT {{stepTickets}} FOR UPDATE SKIP LOCKED
)
UPDATE ticket_text_queue q SET attempts = least(attempts + 1, 100),
  queued_at = now() + least(interval '1 day', power(4, least(attempts, 10)) * interval '15 seconds')
FROM (SELECT ticket_id FROM suspect UNION ALL SELECT ticket_id FROM fresh) t WHERE q.ticket_id = t.ticket_id
RETURNING q.ticket_id, q.attempts;

-- name: remove
-- Deletes rows before anything is read: a change after the read finds no row and queues the ticket again. A row that
-- another transaction writes stays. If the process crashes, the transaction is rolled back. Locks the rows of
-- ticket_text_queue that it deletes.
DELETE FROM ticket_text_queue WHERE ticket_id IN (
  SELECT ticket_id FROM ticket_text_queue WHERE ticket_id = ANY (:ids::uuid[]) ORDER BY ticket_id FOR UPDATE SKIP LOCKED
) RETURNING ticket_id;

-- name: write
-- Tickets that were erased in the meantime are not in the join; if they were opened again, they have a new row, which
-- is queued again. A concurrent erasure waits for this commit and deletes the words too. Locks the rows of the joined
-- tickets, as the foreign key does, in the order of ids, as every such statement.
INSERT INTO ticket_texts (ticket_id, project_id, document, subject, seq, has_customer, has_customer_row,
  has_friendly_name, words_version)
SELECT t.id, t.project_id,
  array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(i.lexemes)) || (':p:' || t.project_id)), i.subject, i.seq,
    true, true, true, {{wordsVersion}}
FROM unnest(:ticket_id::uuid[], :lexemes::jsonb[], :subject::text[], :seq::bigint[], :created_us::bigint[])
  AS i (ticket_id, lexemes, subject, seq, created_us)
JOIN tickets t ON t.id = i.ticket_id AND {{createdUs}} = i.created_us
ORDER BY t.id FOR KEY SHARE OF t
ON CONFLICT (ticket_id) DO UPDATE SET project_id = excluded.project_id, document = excluded.document,
  subject = excluded.subject, seq = excluded.seq, has_customer = true,
  has_customer_row = true, has_friendly_name = true, words_version = excluded.words_version;

-- name: queueAgain
-- Queues tickets with more texts to index. Locks the rows of ticket_text_queue that it writes.
INSERT INTO ticket_text_queue (ticket_id) SELECT unnest(:unfinished::uuid[]) ON CONFLICT (ticket_id) DO NOTHING;

-- name: isBehind
-- Whether there are events to follow: usually there are none, and a row lock would be a write.
SELECT settled_id < (SELECT coalesce(max(id), 0) FROM ticket_events) AS is_behind FROM ticket_index;

-- name: hold
-- SKIP LOCKED: one replica follows events, the others skip it.
SELECT settled_id, reached_id,
  :sends_emails::boolean OR EXISTS (SELECT FROM push_subscriptions) AS has_recipients,
  :sends_emails AND EXISTS (SELECT FROM projects WHERE reply_emails IS NOT NULL) AS has_reply_emails,
  (SELECT coalesce(max(id), 0) FROM ticket_events) AS top_id,
  pg_snapshot_xmax(pg_current_snapshot())::text AS top_xmax,
  reached_xmax <= pg_snapshot_xmin(pg_current_snapshot()) AS is_reached_settled,
  EXISTS (SELECT FROM webhooks WHERE active_since IS NOT NULL) AS has_webhooks
FROM ticket_index FOR UPDATE SKIP LOCKED;

-- name: notifies
-- Whether any event notifies somebody. Most do not, and then an installation with emails needs no further query.
SELECT FROM ticket_events WHERE id > :settled_id AND (data ?| ARRAY['assignee', 'mentions']
  OR data ->> 'decision' = 'sla_breached' OR moves @> '[{"to": "review"}]' OR moves @> '[{"to": "failed"}]')
LIMIT 1;

-- name: findChanged
-- Compares the columns that identify the state of a ticket, so that processing an event twice costs almost nothing.
-- LATERAL with a limit: however many events the planner expects, it reads only their tickets, by index. With a backlog of
-- millions of events, each step reads the tickets of all of them again.
SELECT t.id AS ticket_id, p.sla_targets <> '[]' OR EXISTS (
  SELECT FROM ticket_deadlines d WHERE d.ticket_id = t.id AND d.ended_at IS NULL) AS has_deadlines
FROM (SELECT DISTINCT ticket_id FROM ticket_events WHERE id > :settled_id) e
CROSS JOIN LATERAL (SELECT id, project_id, version, updated_at FROM tickets WHERE id = e.ticket_id LIMIT 1) t
LEFT JOIN LATERAL (SELECT version, updated_us FROM ticket_list WHERE ticket_id = t.id LIMIT 1) l ON true
JOIN projects p ON p.id = t.project_id
WHERE l.version IS DISTINCT FROM t.version OR l.updated_us <> {{updatedUs}}
LIMIT {{changedMax}};

-- name: follow
-- Both in the order of ids. If another process is indexing one of them and has deleted its queue row without
-- committing, this waits, and queues it again. Locks the rows of ticket_list that it writes.
INSERT INTO ticket_list ({{listColumns}})
SELECT {{listValues}} FROM tickets t WHERE t.id = ANY (:ids::uuid[]) ORDER BY t.id
ON CONFLICT (ticket_id) DO UPDATE SET {{overwritten}};

-- name: queueTexts
-- Queues tickets whose texts have changed. Locks the rows of ticket_text_queue that it writes.
INSERT INTO ticket_text_queue (ticket_id) SELECT id FROM unnest(:id::uuid[]) AS i (id) ORDER BY id
ON CONFLICT (ticket_id) DO UPDATE SET queued_at = now();

-- name: wakeSnoozed
-- Ends snoozes that are due, with an event each, so that lists and the console follow. SKIP LOCKED: a ticket that is
-- being decided on is left to the next step. Locks the rows of tickets that it writes.
WITH due AS (
  SELECT id FROM tickets WHERE snoozed_until <= now() ORDER BY snoozed_until LIMIT {{stepTickets}}
  FOR NO KEY UPDATE SKIP LOCKED
), woken AS (
  UPDATE tickets t SET snoozed_until = NULL, version = version + 1, updated_at = now() FROM due WHERE t.id = due.id
  RETURNING t.id, t.home_project_id
)
INSERT INTO ticket_events (ticket_id, project_id, actor, moves, data)
SELECT id, home_project_id, 'service', '[]', '{"decision": "unsnooze"}' FROM woken RETURNING ticket_id;

-- name: settle
-- Records the last event whose webhook deliveries have been created. Locks the row of ticket_index that it writes.
UPDATE ticket_index SET settled_id = :settled_id WHERE is_only_row;

-- name: updateTicketIndex
-- Updates ticket_list with changes since the last step, and queues the tickets for indexing. Locks the rows of
-- ticket_index that it writes.
UPDATE ticket_index SET settled_id = reached_id, reached_id = :top_id, reached_xmax = :top_xmax::xid8 WHERE is_only_row;
