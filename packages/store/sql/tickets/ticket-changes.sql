-- name: findNewest
-- The newest event there is.
SELECT max(id) AS id FROM ticket_events;

-- name: listAfter
-- Events after this one but those that are known, oldest first, with their tickets as they are now. Along the primary
-- key; tickets are looked up one by one, and so is, for the few events that move a ticket to another project, the move
-- before: who had it until then, which is where it came in when there was none.
SELECT e.id, e.ticket_id, t.project_id, t.version, t.status, t.stage, t.assignee, e.actor,
  CASE WHEN e.data ? 'projectId' OR e.actor = 'service' AND e.data ->> 'decision' = 'reroute' THEN coalesce((
    SELECT coalesce((m.data ->> 'projectId')::uuid, m.project_id) FROM ticket_events m
    WHERE m.ticket_id = e.ticket_id AND m.id < e.id
      AND (m.data ? 'projectId' OR m.actor = 'service' AND m.data ->> 'decision' = 'reroute')
    ORDER BY m.id DESC LIMIT 1
  ), e.project_id) END AS former_project_id,
  ARRAY(SELECT move ->> 'to' FROM jsonb_array_elements(e.moves) WITH ORDINALITY AS m (move, place)
        ORDER BY place) AS stages,
  ARRAY(SELECT jsonb_array_elements_text(e.data -> 'mentions')) AS mentions
FROM (SELECT * FROM ticket_events WHERE id > :id AND id <> ALL (:known::bigint[]) ORDER BY id LIMIT :limit) e
JOIN tickets t ON t.id = e.ticket_id ORDER BY e.id;

-- name: listMentions
-- Notes for this operator in tickets that one of these projects works on, the newest first. The index on mentions leads
-- to the few events; a note from when another project had the ticket is that one's own.
SELECT e.id, e.ticket_id AS "ticketId", t.project_id AS "projectId", t.subject, e.at, e.actor,
  o.name AS author, e.data ->> 'note' AS text
FROM ticket_events e JOIN tickets t ON t.id = e.ticket_id AND t.project_id = ANY (:projects::uuid[])
LEFT JOIN operators o ON 'operator:' || o.id::text = e.actor
WHERE e.data ? 'mentions' AND e.data -> 'mentions' @> to_jsonb(:operator_id::text) AND NOT EXISTS (
  SELECT FROM ticket_events moved WHERE moved.ticket_id = e.ticket_id AND moved.id > e.id
    AND moved.data ? 'projectId'
)
ORDER BY e.id DESC LIMIT :limit;
