-- name: read
-- The data from which deadlines of tickets are calculated. A message that a draft covers waits, although an agent may
-- have replied to a later one. Messages and replies are read along their index on (ticket_id, seq).
SELECT t.id AS ticket_id, t.priority, t.channel_id, t.status, t.stage, t.assignee, t.first_reply_at, t.updated_at,
  coalesce((SELECT min(m.created_at) FROM drafts d JOIN messages m ON m.id = ANY (d.covers) WHERE d.ticket_id = t.id),
  (SELECT m.created_at FROM messages m
   WHERE m.ticket_id = t.id AND m.project_id = t.home_project_id AND m.seq > coalesce((
     SELECT r.seq FROM replies r
     WHERE r.ticket_id = t.id AND r.project_id = t.home_project_id AND r.author <> 'system'
     ORDER BY r.seq DESC LIMIT 1), 0)
   ORDER BY m.seq LIMIT 1)) AS waiting_since,
  d.started_at AS resolution_started_at, p.sla_targets, p.business_hours
FROM tickets t JOIN projects p ON p.id = t.project_id
LEFT JOIN ticket_deadlines d ON d.ticket_id = t.id AND d.kind = 'resolution' AND d.ended_at IS NULL
WHERE t.id = ANY (:ids::uuid[]);

-- name: write
-- Stores the current deadlines of tickets, and deletes their other ones. A recorded breach remains during the same
-- wait. Locks the rows of ticket_deadlines that it writes; only the process that follows the tickets does.
WITH given AS (
  SELECT * FROM unnest(:ticket_id::uuid[], :kind::text[], :started_at::timestamptz[], :due_at::timestamptz[])
    AS g (ticket_id, kind, started_at, due_at)
), ended AS (
  UPDATE ticket_deadlines d SET ended_at = now()
  WHERE d.ticket_id = ANY (:ids::uuid[]) AND d.ended_at IS NULL
    AND NOT EXISTS (SELECT FROM given g WHERE g.ticket_id = d.ticket_id AND g.kind = d.kind)
)
INSERT INTO ticket_deadlines AS d (ticket_id, kind, started_at, due_at)
SELECT g.ticket_id, g.kind, g.started_at, g.due_at FROM given g JOIN tickets t ON t.id = g.ticket_id
ORDER BY g.ticket_id, g.kind
ON CONFLICT (ticket_id, kind) DO UPDATE SET
  breached_at = CASE WHEN d.started_at = excluded.started_at THEN d.breached_at END,
  started_at = excluded.started_at, due_at = excluded.due_at, ended_at = NULL;

-- name: recordBreaches
-- Marks expired deadlines as breached, with an event each. The version of a ticket is unchanged, since it has not been
-- edited. A ticket with newer events than its list row may have been answered in the meantime: it is skipped until the
-- row is updated. SKIP LOCKED shares the work among replicas. Locks the rows of ticket_deadlines that it writes.
WITH due AS (
  SELECT d.ticket_id, d.kind FROM ticket_deadlines d
  JOIN tickets t ON t.id = d.ticket_id JOIN ticket_list l ON l.ticket_id = t.id AND l.version = t.version
  WHERE d.ended_at IS NULL AND d.breached_at IS NULL AND d.due_at <= now()
  ORDER BY d.due_at LIMIT {{stepTickets}} FOR NO KEY UPDATE OF d SKIP LOCKED
), late AS (
  UPDATE ticket_deadlines d SET breached_at = now() FROM due
  WHERE d.ticket_id = due.ticket_id AND d.kind = due.kind RETURNING d.ticket_id, d.kind, d.due_at
)
INSERT INTO ticket_events (ticket_id, project_id, actor, moves, data)
SELECT t.id, t.home_project_id, 'service', '[]',
  jsonb_build_object('decision', 'sla_breached', 'target', late.kind, 'dueAt', late.due_at)
FROM late JOIN tickets t ON t.id = late.ticket_id RETURNING ticket_id;
