-- name: lockRoute
-- Locks the project that triage has chosen for an issue, in the transaction that finishes the run. Locks the rows of
-- projects that it reads.
SELECT 1 FROM projects WHERE id = :project AND deleted_at IS NULL FOR KEY SHARE;

-- name: applyRoute
-- Moves the ticket, whose row this transaction has locked, to a project.
UPDATE tickets SET project_id = :project, priority = coalesce(:priority, priority) WHERE home_project_id = :home
  AND id = :ticket_id;

-- name: find
-- Result of an issue that came in to this project.
SELECT t.project_id AS project, p.name AS project_name, t.agent_id, t.confidence, t.stage, (
  SELECT CASE WHEN coalesce(moved.project_id, e.project_id) = t.project_id THEN e.data -> 'triage' ->> 'why' END
  FROM ticket_events e LEFT JOIN LATERAL (
    SELECT coalesce((m.data ->> 'projectId')::uuid, m.project_id) AS project_id FROM ticket_events m
    WHERE m.project_id = :home AND m.ticket_id = :ticket_id AND m.id <= e.id
      AND (m.data ? 'projectId' OR m.actor = 'service' AND m.data ->> 'decision' = 'reroute')
    ORDER BY m.id DESC LIMIT 1
  ) moved ON true
  WHERE e.project_id = :home AND e.ticket_id = :ticket_id AND e.data ? 'possibleDuplicates' ORDER BY e.id DESC LIMIT 1
) AS why
FROM tickets t JOIN projects p ON p.id = t.project_id WHERE t.home_project_id = :home AND t.id = :ticket_id;

-- name: isRouted
-- Returns a row if triage or a person has already routed an issue: a further run does not move it.
SELECT 1 FROM ticket_events WHERE project_id = :home AND ticket_id = :ticket_id
AND (data ? 'possibleDuplicates' OR data ->> 'decision' = 'reroute') LIMIT 1;

-- name: findResolutions
-- The number of times that an issue's ticket was resolved, and whether it is resolved now.
SELECT t.status = 'resolved' AS is_resolved, (
  SELECT count(*)::int FROM ticket_events
  WHERE project_id = :home AND ticket_id = :ticket_id AND data ->> 'decision' = 'resolve'
) AS count
FROM tickets t WHERE t.home_project_id = :home AND t.id = :ticket_id;

-- name: isFirst
-- Returns a row if the message is the first remaining one of its chat.
SELECT 1 FROM messages WHERE project_id = :home AND ticket_id = :ticket_id AND seq < :seq LIMIT 1;

-- name: listComparable
-- Open tickets of a project that may duplicate another one: the newest ones, and those with two of these words, whose
-- index may lag by a second.
WITH near AS (
  (SELECT id FROM tickets WHERE project_id = :project ORDER BY created_at DESC LIMIT {{newest}})
  UNION
  (SELECT ticket_id FROM ticket_texts WHERE :any_two::text <> '' AND document @@ :any_two::tsquery
    AND project_id = :project
   LIMIT {{withWords}})
)
SELECT t.id AS ticket_id, t.subject, left(m.text, {{maxTextChars}}) AS text
FROM near JOIN tickets t USING (id) CROSS JOIN LATERAL (
  SELECT text FROM messages WHERE ticket_id = t.id ORDER BY seq LIMIT 1
) m
WHERE t.project_id = :project AND t.id <> :ticket_id AND t.status IN ('open', 'pending')
ORDER BY t.created_at, t.id;

-- name: listBriefs
-- Those of these tickets that the project works on.
SELECT id AS ticket_id, subject, status, stage FROM tickets WHERE project_id = :project AND id = ANY (:ticket_ids::uuid[]);
