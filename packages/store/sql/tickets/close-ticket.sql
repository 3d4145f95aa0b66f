-- name: readClosedState
-- Reads what closing this ticket ended.
SELECT before_close - 'draft' AS before FROM tickets WHERE home_project_id = :home_project AND id = :id;

-- name: findMessages
-- A dead letter keeps the failure of its last attempt; a message that was held has none.
SELECT m.id, CASE WHEN m.failure IS NULL THEN 'held' ELSE 'failed' END AS state
FROM messages m JOIN tickets t ON t.id = m.ticket_id
WHERE m.project_id = :home_project AND m.ticket_id = :id AND m.state = 'rejected'
  AND m.finished_at >= coalesce((t.before_close ->> 'at')::timestamptz, t.resolved_at)
ORDER BY m.seq;

-- name: keepBeforeClosing
-- Stores what a ticket is before it is closed, with its draft. Locks the rows of tickets that it writes.
UPDATE tickets t SET before_close = jsonb_build_object('at', now(), 'status', status, 'stage', stage,
  'assignee', assignee, 'draft', (SELECT to_jsonb(d) FROM drafts d WHERE d.project_id = :home_project AND d.ticket_id = :id))
WHERE home_project_id = :home_project AND id = :id;

-- name: dropBeforeClosing
-- Drops what was stored: after that, reopening brings no draft back. Locks the rows of tickets that it writes.
UPDATE tickets SET before_close = NULL
WHERE home_project_id = :home_project AND id = :id AND before_close IS NOT NULL;

-- name: restoreClosed
-- Returns the messages that closing ended to where they were, and the draft with them. Locks the rows of messages that
-- it writes.
UPDATE messages SET state = CASE WHEN failure IS NULL THEN 'held' ELSE 'failed' END
WHERE project_id = :home_project AND id = ANY (:id::uuid[]) AND state = 'rejected';

-- name: insertDrafts
-- Locks the rows of drafts that it writes.
INSERT INTO drafts SELECT d.* FROM tickets t, jsonb_populate_record(NULL::drafts, t.before_close -> 'draft') d
WHERE t.home_project_id = :home_project AND t.id = :id AND jsonb_typeof(t.before_close -> 'draft') = 'object'
ON CONFLICT (ticket_id) DO NOTHING;
