-- name: putPresence
-- Records what a tab shows, and returns what it showed before. Emails about tickets that the operator is viewing are
-- cancelled. Locks the rows of operator_presence, email_notifications that it writes.
WITH before AS (SELECT ticket_id FROM operator_presence WHERE session_id = :session_id AND tab = :tab),
  withdrawn AS (
    UPDATE email_notifications SET outcome = 'withdrawn', finished_at = now()
    WHERE operator_id = :operator_id AND ticket_id = :ticket_id AND finished_at IS NULL),
  written AS (
    INSERT INTO operator_presence (session_id, tab, operator_id, project_id, ticket_id, is_typing)
    SELECT :session_id, :tab, :operator_id, :project, t.id, :is_typing FROM tickets t WHERE t.id = :ticket_id
    ON CONFLICT (session_id, tab) DO UPDATE SET operator_id = EXCLUDED.operator_id,
      project_id = EXCLUDED.project_id, ticket_id = EXCLUDED.ticket_id, is_typing = EXCLUDED.is_typing,
      seen_at = now()
    RETURNING 1)
SELECT (SELECT ticket_id FROM before) AS before FROM written;

-- name: removePresence
-- Records that a tab no longer shows a ticket. Locks the rows of operator_presence that it writes.
DELETE FROM operator_presence WHERE session_id = :session_id AND tab = :tab RETURNING ticket_id;

-- name: sweepPresence
-- Removes viewers that disappeared without notice, and returns the tickets that they viewed. Locks the rows of
-- operator_presence that it writes.
DELETE FROM operator_presence WHERE seen_at < now() - make_interval(secs => :gone_seconds) RETURNING ticket_id;

-- name: listViewers
-- The viewers of each of these tickets, with the project in which they view it.
SELECT p.ticket_id, p.project_id AS project, p.operator_id, o.name, bool_or(p.is_typing) AS is_typing
FROM operator_presence p
JOIN operators o ON o.id = p.operator_id
JOIN operator_sessions s ON s.id = p.session_id
WHERE p.ticket_id = ANY (:ticket_ids::uuid[]) AND p.seen_at > now() - make_interval(secs => :gone_seconds)
GROUP BY p.ticket_id, p.project_id, p.operator_id, o.name ORDER BY o.name, p.operator_id;

-- name: listViews
-- An operator's views, in the order in which they were saved.
SELECT v.name, p.name AS project, v.part AS view, v.filters
FROM operator_views v LEFT JOIN projects p ON p.id = v.project_id
WHERE v.operator_id = :operator_id AND (v.project_id IS NULL OR p.deleted_at IS NULL)
ORDER BY v.created_at, v.name COLLATE "C";

-- name: putView
-- Locks an operator before a view is saved, which replaces one of the same name. Locks the rows of operators that it
-- reads.
SELECT 1 FROM operators WHERE id = :operator_id FOR NO KEY UPDATE;

-- name: insertView
-- Inserts a view, unless the operator has too many. Locks the rows of operator_views that it writes.
INSERT INTO operator_views (operator_id, name, project_id, part, filters)
SELECT :operator_id::uuid, :name::text, :project::uuid, :view::text, :filters::jsonb
WHERE (SELECT count(*) FROM operator_views WHERE operator_id = :operator_id AND name <> :name) < :max_count
ON CONFLICT (operator_id, name) DO UPDATE SET project_id = EXCLUDED.project_id, part = EXCLUDED.part,
  filters = EXCLUDED.filters
RETURNING 1;

-- name: removeView
-- Deletes a view. Locks the rows of operator_views that it writes.
DELETE FROM operator_views WHERE operator_id = :operator_id AND name = :name RETURNING 1;
