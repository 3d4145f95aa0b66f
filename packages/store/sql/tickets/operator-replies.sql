-- name: list
-- What has been erased is not there any more. A reply that answers no message was sent without being asked, and is left
-- out. A reply that failed and was sent again counts once, by the try that succeeded; that one has no event of its own
-- with the former decision's name, and its author tells whose words it has. Locks nothing.
SELECT t.home_project_id, r.ticket_id, asked.message_id, asked.first_seq, asked.questions, t.language, r.author,
  r.text, r.created_at, (
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
-- Which of these tickets people of the project work on.
SELECT id FROM tickets WHERE project_id = :project AND id = ANY (:ticket_ids::uuid[]);
