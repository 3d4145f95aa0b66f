-- name: readClosedState
-- Reads the state from before a ticket was closed, and whether its assignee can have it again.
SELECT before_close - 'draft' AS before, coalesce(assignee NOT LIKE 'operator:%' OR EXISTS (
  SELECT FROM operators o WHERE o.disabled_at IS NULL AND tickets.assignee = 'operator:' || o.id), true)
  AS is_assignee_active
FROM tickets WHERE home_project_id = :home_project AND id = :id;

-- name: findEnded
-- The messages that closing ended. A dead letter has the failure of its last attempt; a held message has none.
SELECT m.id, CASE WHEN m.failure IS NULL THEN 'held' ELSE 'failed' END AS state
FROM messages m JOIN tickets t ON t.id = m.ticket_id
WHERE m.project_id = :home_project AND m.ticket_id = :id AND m.state = 'rejected'
  AND m.finished_at >= coalesce((t.before_close ->> 'at')::timestamptz, t.resolved_at)
ORDER BY m.seq;

-- name: saveStateBeforeClosing
-- Stores the state of a ticket before it is closed, with its draft. Locks the rows of tickets that it writes.
UPDATE tickets t SET before_close = jsonb_build_object('at', now(), 'status', status, 'stage', stage,
  'assignee', assignee, 'draft', (SELECT to_jsonb(d) FROM drafts d WHERE d.project_id = :home_project
    AND d.ticket_id = :id))
WHERE home_project_id = :home_project AND id = :id;

-- name: deleteStateBeforeClosing
-- Deletes the stored state: reopening no longer restores a draft. Locks the rows of tickets that it writes.
UPDATE tickets SET before_close = NULL
WHERE home_project_id = :home_project AND id = :id AND before_close IS NOT NULL;

-- name: restoreClosed
-- Restores the state of messages that closing ended. Locks the rows of messages that it writes.
UPDATE messages SET state = CASE WHEN failure IS NULL THEN 'held' ELSE 'failed' END
WHERE project_id = :home_project AND id = ANY (:id::uuid[]) AND state = 'rejected';

-- name: restoreDraft
-- Restores the draft that was stored when the ticket was closed. Locks the rows of drafts that it writes.
INSERT INTO drafts SELECT d.* FROM tickets t, jsonb_populate_record(NULL::drafts, t.before_close -> 'draft') d
WHERE t.home_project_id = :home_project AND t.id = :id AND jsonb_typeof(t.before_close -> 'draft') = 'object'
ON CONFLICT (ticket_id) DO NOTHING;

-- name: findHome
-- The home project of a ticket that is being decided on.
SELECT home_project_id FROM tickets WHERE project_id = :project AND id = :ticket_id;

-- name: lockChat
-- Locks the chat of a ticket, so that no message is accepted and no pipeline run finishes before the commit.
SELECT review_id, lease_id IS NOT NULL AS is_leased FROM chats
WHERE project_id = :home AND ticket_id = :ticket_id FOR UPDATE;

-- name: lockTicket
-- Locks a ticket that is being decided on.
SELECT {{ticketColumns}} FROM tickets WHERE project_id = :project AND id = :ticket_id FOR NO KEY UPDATE;

-- name: listWaiting
-- The messages of a ticket that wait for an operator, oldest first.
SELECT id, state FROM messages
WHERE project_id = :home AND ticket_id = :ticket_id AND state IN ('held', 'failed') AND covered_by IS NULL ORDER BY seq;

-- name: findEnds
-- The message that was processed last, and the oldest one that the pipeline has not finished.
SELECT (SELECT id FROM messages WHERE project_id = :home AND ticket_id = :ticket_id AND state <> 'received'
  ORDER BY seq DESC LIMIT 1) AS worked_on,
(SELECT id FROM messages WHERE project_id = :home AND ticket_id = :ticket_id AND state = 'received'
  ORDER BY seq LIMIT 1) AS received;

-- name: hasReply
-- Returns a row if a held message has a system reply, which is the project's handoff text. Such a reply follows its
-- message, so only replies after the oldest held message are read.
SELECT 1 FROM replies r
WHERE r.project_id = :home AND r.ticket_id = :ticket_id AND r.author = 'system' AND r.seq > (
    SELECT seq FROM messages WHERE project_id = :home AND ticket_id = :ticket_id AND state = 'held'
      AND covered_by IS NULL
    ORDER BY seq LIMIT 1)
  AND EXISTS (SELECT FROM messages m WHERE m.id = r.in_reply_to AND m.state = 'held' AND m.covered_by IS NULL)
ORDER BY r.seq LIMIT 1;

-- name: findPromise
-- The newest event that records a promise or its end by a reply: while a ticket is in review, few events are newer.
-- Reads the ticket's events by their index; locks nothing.
SELECT moves @> :promise::jsonb AS is_open FROM ticket_events
WHERE project_id = :home AND ticket_id = :ticket_id AND (moves @> :promise::jsonb OR moves @> '[{"to": "done"}]')
ORDER BY id DESC LIMIT 1;

-- name: readDraft
-- The draft of a ticket.
SELECT text, markdown, sources, covers FROM drafts WHERE project_id = :home AND ticket_id = :ticket_id;

-- name: findReview
-- The newest decision that is pending or has failed.
SELECT kind, author, text, markdown, sources, file_ids, resolves, answers_message_id, covers,
  failure IS NOT NULL AND finished_at IS NOT NULL AS is_failed
FROM reviews WHERE project_id = :home AND ticket_id = :ticket_id ORDER BY id DESC LIMIT 1;

-- name: markCallbacks
-- Marks messages as changed for the process that creates their callbacks. Locks the rows of callbacks that it reads.
WITH called AS MATERIALIZED (
  SELECT message_id FROM callbacks WHERE project_id = :project AND message_id = ANY (:message_ids::uuid[])
  ORDER BY message_id FOR UPDATE
)
UPDATE callbacks cb SET has_news = true, news_at = now(),
  told = CASE WHEN :forgets_failure AND cb.told = 'message.failed' THEN NULL ELSE cb.told END
FROM called WHERE cb.message_id = called.message_id;

-- name: findWebhookMessage
-- One of these messages with mode webhook, or null.
SELECT id FROM messages WHERE project_id = :project AND id = ANY (:message_ids::uuid[])
  AND mode = 'webhook' ORDER BY seq LIMIT 1;

-- name: processAgain
-- Sends messages through the pipeline again, with new attempts. Locks the rows of messages that it writes.
UPDATE messages SET state = 'received', attempts = 0, not_before = now(), due_at = now(), finished_at = NULL,
  progress = NULL, expired_leases = NULL, covered_by = NULL
WHERE project_id = :project AND id = ANY (:message_ids::uuid[]) AND state IN ('held', 'failed');

-- name: insertReviewEvent
-- Ticket events belong to the project that the ticket came in to. Locks the rows of ticket_events that it writes.
INSERT INTO ticket_events (ticket_id, project_id, message_id, actor, moves, data, answer_step, answer_confidence,
  answer_agent_id)
VALUES (:ticket_id, :project, :message_id, :actor, :moves, :data, :answer_step, :answer_confidence, :answer_agent_id);
