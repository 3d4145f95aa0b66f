-- name: findNewest
-- The id of the newest event.
SELECT max(id) AS id FROM ticket_events;

-- name: listAfter
-- Events after this one except known ones, oldest first, with the current state of their tickets. Uses the primary key;
-- tickets are looked up one by one, and, for the few events that move a ticket to another project, so is the previous
-- move, which names the previous project; without one it is the project where the ticket came in.
SELECT e.id, e.ticket_id, t.project_id AS project, t.version, t.status, t.stage, t.assignee, e.actor,
  CASE WHEN e.data ? 'projectId' OR e.actor = 'service' AND e.data ->> 'decision' = 'reroute' THEN coalesce((
    SELECT coalesce((m.data ->> 'projectId')::uuid, m.project_id) FROM ticket_events m
    WHERE m.ticket_id = e.ticket_id AND m.id < e.id
      AND (m.data ? 'projectId' OR m.actor = 'service' AND m.data ->> 'decision' = 'reroute')
    ORDER BY m.id DESC LIMIT 1
  ), e.project_id) END AS former_project,
  ARRAY(SELECT move ->> 'to' FROM jsonb_array_elements(e.moves) WITH ORDINALITY AS m (move, place)
        ORDER BY place) AS stages,
  ARRAY(SELECT jsonb_array_elements_text(e.data -> 'mentions')) AS mentions
FROM (SELECT * FROM ticket_events WHERE id > :id AND id <> ALL (:known::bigint[]) ORDER BY id LIMIT :limit) e
JOIN tickets t ON t.id = e.ticket_id ORDER BY e.id;

-- name: listMentions
-- Notes that mention this operator, in tickets that one of these projects works on, newest first. The index on mentions
-- finds the few events. A note belongs to the project that had the ticket at the time.
SELECT e.id, e.ticket_id AS "ticketId", t.project_id AS "projectId", t.subject, e.at, e.actor,
  o.name AS author, e.data ->> 'note' AS text
FROM ticket_events e JOIN tickets t ON t.id = e.ticket_id AND t.project_id = ANY (:projects::uuid[])
LEFT JOIN operators o ON 'operator:' || o.id::text = e.actor
WHERE e.data ? 'mentions' AND e.data -> 'mentions' @> to_jsonb(:operator_id::text) AND NOT EXISTS (
  SELECT FROM ticket_events moved WHERE moved.ticket_id = e.ticket_id AND moved.id > e.id
    AND moved.data ? 'projectId'
)
ORDER BY e.id DESC LIMIT :limit;

-- name: listOperatorReplies
-- Operator replies to messages. Erased replies do not exist any more, and replies without a message are skipped. A
-- reply that failed and was sent again counts once, at the successful attempt; that one has no event with the original
-- decision's name, so its author identifies the operator. Locks nothing.
SELECT t.home_project_id AS home, r.ticket_id, asked.message_id, asked.first_seq, asked.questions, t.language, r.author,
  r.text, r.created_at AS decided_at, (
    SELECT e.data ->> 'decision' FROM ticket_events e
    WHERE e.ticket_id = r.ticket_id AND e.project_id = r.project_id AND e.message_id = r.answers_message_id
      AND e.data ->> 'decision' IN ('approve', 'edit', 'reply') AND e.at <= r.created_at + interval '1 second'
    ORDER BY e.id DESC LIMIT 1
  ) AS decision
FROM tickets t JOIN reviews r ON r.ticket_id = t.id AND r.project_id = t.home_project_id
CROSS JOIN LATERAL (
  SELECT min(m.seq) AS first_seq, array_agg(m.text ORDER BY m.seq) AS questions,
    (array_agg(m.id ORDER BY m.seq DESC))[1] AS message_id
  FROM messages m WHERE m.project_id = r.project_id AND m.ticket_id = r.ticket_id AND m.id = ANY (r.covers)
) asked
WHERE t.project_id = :project AND t.status <> 'spam'
  AND (:ticket_ids::uuid[] IS NULL AND t.agent_id = :agent_id OR t.id = ANY (:ticket_ids))
  AND r.kind = 'send' AND r.finished_at IS NOT NULL AND r.failure IS NULL AND btrim(r.text) <> ''
  AND (:from::timestamptz IS NULL OR r.created_at >= :from) AND (:to::timestamptz IS NULL OR r.created_at < :to)
  AND asked.message_id IS NOT NULL
ORDER BY r.created_at DESC, r.id DESC LIMIT :limit;

-- name: findTickets
-- Those of these tickets that operators of the project work on.
SELECT id FROM tickets WHERE project_id = :project AND id = ANY (:ticket_ids::uuid[]);
