-- name: record
-- Records a person's decision about a message. A replaced decision gets a new number, so that replicas notice it. Locks
-- the rows of triage_messages that it writes.
INSERT INTO triage_messages (project_id, message_id, ticket_id, agent_id, text) VALUES (:project, :message_id,
  :ticket_id, :agent_id, :text)
ON CONFLICT (project_id, message_id) DO UPDATE SET seq = DEFAULT, agent_id = excluded.agent_id;

-- name: deleteOldest
-- Deletes all but the last 10,000 decisions of a project. Locks the rows of triage_messages that it writes.
DELETE FROM triage_messages WHERE project_id = :project AND seq <
(SELECT seq FROM triage_messages WHERE project_id = :project ORDER BY seq DESC OFFSET {{maxKept1}} LIMIT 1);

-- name: findMark (prepared)
-- A value that changes whenever the result of `list` does, also by an erasure.
SELECT count(*) || ':' || coalesce(max(seq), 0) || ':' || coalesce((SELECT max(resolved_at)::text FROM tickets
  WHERE project_id = :project AND status = 'resolved'), '')
  || ':' || coalesce((SELECT erasures FROM projects WHERE id = :project), 0) AS mark
FROM triage_messages WHERE project_id = :project;

-- name: list
-- Training data of triage in a project: decisions, newest first, and then the first messages of the last 2,000 resolved
-- tickets, with the agents that had them. The first message of each ticket is found by the index on sequence numbers;
-- texts are truncated before they are sent.
(SELECT agent_id, left(text, {{maxTextChars}}) AS text FROM triage_messages
  WHERE project_id = :project ORDER BY seq DESC)
UNION ALL
(SELECT t.agent_id, left(m.text, {{maxTextChars}}) FROM (
   SELECT id, agent_id, resolved_at FROM tickets WHERE project_id = :project AND status = 'resolved'
   ORDER BY resolved_at DESC NULLS LAST LIMIT {{maxTickets}}
 ) t CROSS JOIN LATERAL (
   SELECT id, text FROM messages WHERE ticket_id = t.id ORDER BY seq LIMIT 1
 ) m
 WHERE t.agent_id IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM triage_messages d WHERE d.project_id = :project AND d.message_id = m.id)
 ORDER BY t.resolved_at DESC NULLS LAST);
