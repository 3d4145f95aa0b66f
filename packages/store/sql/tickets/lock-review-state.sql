-- name: lockReviewState
-- What is decided about, locked.
SELECT home_project_id FROM tickets WHERE project_id = :project AND id = :ticket_id;

-- name: lockChats
-- Locks the rows of chats that it reads.
SELECT review_id, lease_id IS NOT NULL AS is_leased FROM chats
WHERE project_id = :home AND ticket_id = :ticket_id FOR UPDATE;

-- name: lockTickets
-- Locks the rows of tickets that it reads.
SELECT {{ticketColumns}} FROM tickets WHERE project_id = :project AND id = :ticket_id FOR NO KEY UPDATE;

-- name: findMessages
SELECT id, state FROM messages
WHERE project_id = :home AND ticket_id = :ticket_id AND state IN ('held', 'failed') AND covered_by IS NULL ORDER BY seq;

-- name: findMessages2
SELECT (SELECT id FROM messages WHERE project_id = :home AND ticket_id = :ticket_id AND state <> 'received'
  ORDER BY seq DESC LIMIT 1) AS worked_on,
(SELECT id FROM messages WHERE project_id = :home AND ticket_id = :ticket_id AND state = 'received'
  ORDER BY seq LIMIT 1) AS received;

-- name: findReplies
-- A promise comes after the message that it is made for, so what was said before the oldest held one does not matter.
SELECT 1 FROM replies r
WHERE r.project_id = :home AND r.ticket_id = :ticket_id AND r.author = 'system' AND r.seq > (
    SELECT seq FROM messages WHERE project_id = :home AND ticket_id = :ticket_id AND state = 'held' AND covered_by IS NULL
    ORDER BY seq LIMIT 1)
  AND EXISTS (SELECT FROM messages m WHERE m.id = r.in_reply_to AND m.state = 'held' AND m.covered_by IS NULL)
ORDER BY r.seq LIMIT 1;

-- name: findTicketEvents
-- The newest event that says so, or that a reply without a promise has ended it: while a ticket is in review there are
-- few behind that. Reads the ticket's events by their index; locks nothing.
SELECT moves @> :promise::jsonb AS is_open FROM ticket_events
WHERE project_id = :home AND ticket_id = :ticket_id AND (moves @> :promise::jsonb OR moves @> '[{"to": "done"}]')
ORDER BY id DESC LIMIT 1;

-- name: findDrafts
SELECT text, markdown, sources, covers FROM drafts WHERE project_id = :home AND ticket_id = :ticket_id;

-- name: findReviews
SELECT kind, author, text, markdown, sources, file_ids, answers_message_id, covers,
  failure IS NOT NULL AND finished_at IS NOT NULL AS is_failed
FROM reviews WHERE project_id = :home AND ticket_id = :ticket_id ORDER BY id DESC LIMIT 1;
