-- fragment: steps
-- The steps of the project's tickets from the beginning of the span on, each with the two that follow it in its ticket.
-- An answer that another one replaced before a person decided does not count; nor does a decision that was undone
-- before another one. Steps belong to the project that their ticket came in to; those of tickets from elsewhere are
-- found by ticket, as in the other statistics. The index on steps has all columns that this reads.
SELECT id, ticket_id, at, answer_step AS step, answer_confidence AS confidence, answer_agent_id AS agent_id
FROM ticket_events

-- name: buckets
WITH steps AS (
  SELECT s.*, lead(s.step) OVER w AS next, lead(s.step, 2) OVER w AS after_next
  FROM (
    {{steps}} WHERE project_id = :project AND at >= :from AND answer_step IS NOT NULL
    UNION ALL
    {{steps}}
    WHERE ticket_id IN (SELECT ticket_id FROM ticket_list WHERE project_id = :project AND foreign_chat_id IS NOT NULL)
      AND project_id <> :project AND at >= :from AND answer_step IS NOT NULL
  ) s
  JOIN ticket_list l ON l.ticket_id = s.ticket_id AND l.project_id = :project AND (:channel_id::text IS NULL OR l.channel_id = :channel_id)
  WINDOW w AS (PARTITION BY s.ticket_id ORDER BY s.id)
), answers AS (
  SELECT agent_id, step, floor(confidence::float8 * 100 + 1e-4)::int AS percent,
    CASE
      WHEN step = 'sent' THEN CASE WHEN next IN ('person', 'badRating') THEN next ELSE 'approve' END
      WHEN next = 'reject' AND after_next IN ('approve', 'edit') THEN after_next
      WHEN next IN ('approve', 'edit') AND after_next IN ('person', 'badRating') THEN after_next
      WHEN next IN ('approve', 'edit', 'reject') THEN next
      ELSE 'undecided'
    END AS outcome
  FROM steps
  WHERE step IN ('sent', 'held') AND at < :to AND (:agent_id::uuid IS NULL OR agent_id = :agent_id)
    AND NOT (step = 'held' AND coalesce(next, '') IN ('sent', 'held'))
)
SELECT agent_id, percent, count(*) AS answers,
  count(*) FILTER (WHERE step = 'sent') AS automatic,
  count(*) FILTER (WHERE outcome = 'approve') AS accepted,
  count(*) FILTER (WHERE outcome = 'edit') AS edited,
  count(*) FILTER (WHERE outcome = 'person') AS "askedPerson",
  count(*) FILTER (WHERE outcome = 'badRating') AS "ratedBadly",
  count(*) FILTER (WHERE outcome = 'reject') AS rejected,
  count(*) FILTER (WHERE outcome = 'undecided') AS undecided
FROM answers GROUP BY agent_id, percent ORDER BY agent_id, percent;

-- name: listAgents
-- The agents of the project that have these ids.
SELECT id, name, review_policy, auto_threshold FROM agents WHERE project_id = :project AND id = ANY (:ids::uuid[]);
